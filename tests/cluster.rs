//! Methods and SQL on a cluster: a scheduler and executors on this machine, and a server of S3 that all of them reach.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Ended, collection_jsonl};
use crate::s3_server::{Server, end};

/// A scheduler and executors, which end with it.
struct Cluster {
    server: Server,
    scheduler: Child,
    executors: Vec<Child>,
    address: String,
}

impl Cluster {
    fn start(executors: usize) -> Self {
        let server = Server::start();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let scheduler = quiet(program(&server, &["scheduler", "--bind", &address]));
        let mut cluster = Self { server, scheduler, executors: Vec::new(), address };
        let began = Instant::now();
        while TcpStream::connect(&cluster.address).is_err() {
            assert!(began.elapsed() < Duration::from_secs(20), "the scheduler does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        (0..executors).for_each(|_| cluster.add_executor());
        cluster
    }

    fn add_executor(&mut self) {
        let line = ["executor", "--scheduler", &self.address, "--memory", "1GiB", "--tasks", "2"];
        self.executors.push(quiet(program(&self.server, &line)));
    }

    /// The command of a line, on the cluster.
    fn command(&self, line: &str) -> Command {
        let mut command = program(&self.server, &line.split(' ').collect::<Vec<_>>());
        command.args(["--cluster", &format!("df://{}", self.address)]);
        command
    }

    #[track_caller]
    fn ok(&self, line: &str) -> Ended {
        let ended = end(self.command(line));
        assert_eq!(ended.code, Some(0), "{line}\n{}", ended.err);
        ended
    }

    /// Returns the output of a command, here and on the cluster, as lines of CSV.
    #[track_caller]
    fn gives_the_same(&self, line: &str, there: &str) {
        let here = self.server.ok(&format!("{line} --format csv"));
        assert!(here.text().lines().count() > 2, "{line} gives nothing");
        let there = format!("{line} --format csv {there}");
        assert_eq!(self.ok(&there).text(), here.text(), "{there}");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in self.executors.iter_mut().chain([&mut self.scheduler]) {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The program `ibid-cluster`, in the place of a server, with the key for it.
fn program(server: &Server, arguments: &[&str]) -> Command {
    let like = server.with_key([]);
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_ibid")).with_file_name("ibid-cluster"));
    command.current_dir(like.get_current_dir().unwrap()).args(arguments).arg("--allow-http").stdin(Stdio::null());
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

fn quiet(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The objects below a folder of the server, which keeps empty folders.
fn objects_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { objects_below(&path) } else { vec![path] }).collect()
}

/// Passages with families and coverage, pairs, clusters, containment, dedup and a query, of a corpus in a store.
#[test]
fn a_cluster_gives_the_rows_of_one_process() {
    let mut cluster = Cluster::start(2);
    cluster.server.place.write("made.jsonl", collection_jsonl(120, 7));
    cluster.server.ok("ingest made.jsonl -o s3://box/made/");
    for method in
        ["pairs --threshold 0.05", "pairs --unit sentence --threshold 0.6", "containment", "passages --profile edited"]
    {
        cluster.gives_the_same(&format!("{method} s3://box/made/"), "--tables s3://box/tables");
    }
    for partitions in [1, 3, 16] {
        let tables = format!("--partitions {partitions} --tables s3://box/of-{partitions}");
        cluster.gives_the_same("passages s3://box/made/", &tables);
    }
    for (method, table) in
        [("passages", "families"), ("passages", "coverage"), ("dedup", "removed"), ("clusters", "clusters")]
    {
        cluster.server.ok(&format!("{method} s3://box/made/ -o s3://box/here-{method}/"));
        cluster.ok(&format!("{method} s3://box/made/ -o s3://box/there-{method}/ --tables s3://box/tables"));
        let rows = |place| cluster.server.sql(&format!("SELECT * FROM 's3://box/{place}-{method}/{table}.parquet'"));
        assert_eq!(rows("here"), rows("there"), "{method} {table}");
    }
    let query = "SELECT a.doc_id, b.doc_id AS other, count(*) AS n FROM (SELECT doc_id, shingles(words(normalize(text)), 2) AS set FROM \
                 's3://box/made/sentences.parquet') AS a JOIN (SELECT doc_id, shingles(words(normalize(text)), 2) AS set FROM \
                 's3://box/made/sentences.parquet') AS b ON jaccard(a.set, b.set) >= 0.6 AND a.doc_id < b.doc_id GROUP BY a.doc_id, \
                 b.doc_id ORDER BY 1, 2";
    cluster.server.place.write("query.sql", query);
    cluster.gives_the_same("sql -f query.sql", "--partitions 5");
    // Files that the command reads, and makes a corpus of for all machines; nothing of it stays.
    cluster.server.ok("pairs made.jsonl --unit sentence -o s3://box/here.csv");
    cluster.ok("pairs made.jsonl --unit sentence -o s3://box/there.csv");
    assert_eq!(cluster.server.get("there.csv"), cluster.server.get("here.csv"));
    assert_eq!(objects_below(&cluster.server.object("there.csv.tables")), Vec::<PathBuf>::new());
    // Half of the machines go while a command runs, and others come.
    let mut running = cluster.command("passages s3://box/made/ --tables s3://box/killed --format csv");
    let running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    cluster.executors[0].kill().unwrap();
    cluster.add_executor();
    let ended = running.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let here = cluster.server.ok("passages s3://box/made/ --format csv");
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), here.text(), "{said}");
}

#[test]
fn a_cluster_that_is_not_there_is_said() {
    let server = Server::start();
    server.place.write("made.jsonl", collection_jsonl(20, 7));
    server.ok("ingest made.jsonl -o s3://box/made/");
    for (line, said) in [
        (
            "pairs s3://box/made/ --cluster df://127.0.0.1:1 --tables s3://box/t",
            "there is no scheduler at http://127.0.0.1:1",
        ),
        ("pairs s3://box/made/ --cluster http://127.0.0.1:1", "write df://HOST:PORT"),
    ] {
        let ended = end(program(&server, &line.split(' ').collect::<Vec<_>>()));
        assert_eq!(ended.code, Some(1), "{line}");
        assert!(ended.err.contains(said), "{line}: {}", ended.err);
    }
}
