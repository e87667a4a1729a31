//! Commands that write to a folder or a bucket, and the states that are allowed after a run that did not end by itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{collection_jsonl, copy_folder};
use crate::s3_server::{Server, end};

/// A folder, and a bucket of the server.
pub(crate) const ROOTS: [&str; 2] = ["here", "s3://box"];

/// A folder or a bucket in which commands are run. Their lines name it `@`.
pub(crate) struct Scene {
    pub(crate) server: Server,
    pub(crate) root: &'static str,
}

impl Scene {
    pub(crate) fn new(root: &'static str) -> Self {
        Self { server: Server::start(), root }
    }

    /// Returns the folder with all files of the scene, without the server's log.
    pub(crate) fn folder(&self) -> PathBuf {
        self.server.place.path(if self.root.contains("://") { "buckets" } else { self.root })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        if self.root.contains("://") { self.server.object(name) } else { self.folder().join(name) }
    }

    pub(crate) fn write(&self, name: &str, contents: String) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        self.server.with_key(line.replace('@', self.root).split(' '))
    }

    #[track_caller]
    pub(crate) fn ok(&self, line: &str) {
        let ended = end(self.command(line));
        assert_eq!(ended.code, Some(0), "{line}\n{}", ended.err);
    }

    /// Kills a command after a while.
    pub(crate) fn kill(&self, line: &str, time: Duration) {
        let mut child = self.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(time);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// The contents of the files that a command writes.
type State = Vec<Vec<u8>>;

/// A command that replaces the output of an earlier run over other documents, which may be none.
pub(crate) struct Trial {
    pub(crate) scene: Scene,
    pub(crate) line: String,
    /// The time that the command takes.
    pub(crate) whole_run: Duration,
    folders: &'static [&'static str],
    state: Box<dyn Fn(&Scene) -> State>,
    before: State,
    /// The new state, and the number of files, after `ibid gc`.
    after: (State, usize),
}

impl Trial {
    /// Returns a trial that writes a file of passages.
    pub(crate) fn passages(root: &'static str, documents: [usize; 2]) -> Self {
        let state = |scene: &Scene| vec![scene.read("out.parquet")];
        Self::new(root, "passages @/new.jsonl -o @/out.parquet", documents, &["@"], state)
    }

    /// Returns a trial that writes a folder.
    pub(crate) fn ingest(root: &'static str, documents: [usize; 2]) -> Self {
        Self::new(root, "ingest @/new.jsonl -o @/corpus", documents, &["@", "@/corpus"], |scene| {
            let manifest = scene.read("corpus/manifest.json");
            let names: Value = serde_json::from_slice(&manifest).unwrap();
            let files = names["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap());
            std::iter::once(manifest.clone()).chain(files.map(|name| scene.read(&format!("corpus/{name}")))).collect()
        })
    }

    /// Returns a trial that adds to an index, and writes the rows that the new documents add.
    pub(crate) fn addition(root: &'static str, method: &str, documents: [usize; 2]) -> Self {
        let line = format!("{method} @/index --add @/new.jsonl -o @/out.csv");
        Self::new(root, &line, documents, &["@", "@/index"], move |scene| {
            let sql = format!("SELECT doc_id FROM '{}/index/documents.parquet' ORDER BY doc_id", scene.root);
            let ids = end(scene.server.with_key(["sql", &sql, "--format", "csv"]));
            let has_none = ["there is no", "has no documents yet"].iter().any(|said| ids.err.contains(said));
            assert!(ids.code == Some(0) || has_none, "{}", ids.err);
            let mut state = vec![ids.out.clone()];
            // The rows are written before the documents are in the index.
            if ids.text().lines().count() > documents.iter().sum() {
                state.push(scene.read("out.csv"));
            }
            state
        })
    }

    pub(crate) fn new(
        root: &'static str,
        line: &str,
        documents: [usize; 2],
        folders: &'static [&'static str],
        state: impl Fn(&Scene) -> State + 'static,
    ) -> Self {
        let made = collection_jsonl(documents.iter().sum(), 2);
        let (old, new) = made.split_at(made.split_inclusive('\n').take(documents[0]).map(str::len).sum());
        let scene = Scene::new(root);
        scene.write("old.jsonl", old.to_owned());
        scene.write("new.jsonl", new.to_owned());
        if !old.is_empty() {
            scene.ok(&line.replace("new", "old"));
        }
        let before = state(&scene);
        copy_folder(&scene.folder(), &scene.server.place.path("before"));
        let began = Instant::now();
        scene.ok(line);
        let whole_run = began.elapsed();
        let after = (Vec::new(), 0);
        let line = line.to_owned();
        let mut trial = Self { scene, line, whole_run, folders, state: Box::new(state), before, after };
        trial.after = trial.cleaned();
        assert!(trial.before != trial.after.0);
        trial
    }

    /// Restores the state before the command.
    pub(crate) fn restore(&self) {
        copy_folder(&self.scene.server.place.path("before"), &self.scene.folder());
    }

    /// Fails unless the old or the new state is there, the next run gives the new one, and `ibid gc` removes all
    /// leftover files. Returns true if the old state was there.
    pub(crate) fn is_kept(&self, said: &str) -> bool {
        let said = format!("{}, in {}, {said}", self.line, self.scene.root);
        let now = (self.state)(&self.scene);
        let is_kept = now == self.before;
        if is_kept {
            self.scene.ok(&self.line);
        } else {
            assert!(now == self.after.0, "neither the old nor the new: {said}");
            if self.folders.contains(&"@/index") {
                self.scene.ok("verify @/index");
            }
        }
        assert!(self.cleaned() == self.after, "{said}");
        is_kept
    }

    fn cleaned(&self) -> (State, usize) {
        self.folders.iter().for_each(|folder| self.scene.ok(&format!("gc {folder} --grace 0s")));
        ((self.state)(&self.scene), files(&self.scene.path("")).len())
    }

    /// Fails unless `ibid gc` removes all temporary tables.
    pub(crate) fn check_temporary_folder(&self) {
        self.scene.ok("gc tmp --grace 0s");
        let left = entries(&self.scene.server.place.path("tmp"));
        assert_eq!(left, Vec::<PathBuf>::new(), "{}, in {}", self.line, self.scene.root);
    }
}

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Returns all files in a folder and below.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries(folder).into_iter().flat_map(below).collect()
}

/// Returns the number of complete tables in a folder of `--resume`, or 0 if the folder does not exist.
pub(crate) fn tables_kept(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.filter(|name| !name.to_str().unwrap().starts_with('.')).count()
}
