//! Methods and SQL on a cluster: a scheduler and executors on this machine, and a server of S3 that all of them reach.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Dice, Ended, Place, collection_jsonl, copy_folder, times, watch_child};
use crate::s3_server::{LONGEST, Server, end, end_within};

/// A scheduler and executors; dropping the cluster ends them.
struct Cluster {
    server: Server,
    scheduler: Child,
    /// The executors, each with the folder of its disk.
    executors: Vec<(Child, PathBuf)>,
    disks: usize,
    address: String,
}

impl Cluster {
    fn start(executors: usize) -> Self {
        Self::start_with(Server::start(), executors)
    }

    fn start_with(server: Server, executors: usize) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let scheduler = scheduler(&server, &address);
        let mut cluster = Self { server, scheduler, executors: Vec::new(), disks: 0, address };
        (0..executors).for_each(|_| cluster.add_executor());
        cluster
    }

    fn add_executor(&mut self) {
        let folder = self.server.place.path(format!("disk-{}", self.disks));
        std::fs::create_dir(&folder).unwrap();
        self.disks += 1;
        let disk = folder.to_str().unwrap();
        let line = ["executor", "--scheduler", &self.address, "--memory", "1GiB", "--tasks", "2", "--work-dir", disk];
        self.executors.push((quiet(program(&self.server, &line)), folder));
    }

    /// Replaces the first executor by another one.
    fn replace_executor(&mut self) {
        kill(self.executors.remove(0).0);
        self.add_executor();
    }

    /// Returns the command of a line, to run on the cluster.
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

    /// Checks that a command prints the same lines of CSV here and on the cluster.
    #[track_caller]
    fn gives_the_same(&self, line: &str, there: &str) {
        let here = self.server.ok(&format!("{line} --format csv"));
        assert!(here.text().lines().count() > 2, "{line} gives nothing");
        let there = format!("{line} --format csv {there}");
        assert_eq!(self.ok(&there).text(), here.text(), "{there}");
    }

    /// Writes the folder of a method, here and on the cluster, and checks that one table is the same.
    #[track_caller]
    fn writes_the_same(&self, method: &str, table: &str, there: &str) {
        self.server.ok(&format!("{method} s3://box/made/ -o s3://box/here-{method}/"));
        self.ok(&format!("{method} s3://box/made/ -o s3://box/there-{method}/ {there}"));
        let rows = |place| self.server.sql(&format!("SELECT * FROM 's3://box/{place}-{method}/{table}.parquet'"));
        assert_eq!(rows("here"), rows("there"), "{method} {there}: {table}");
    }
}

/// Methods that write a folder, each with one of its tables.
const TABLES: [(&str, &str); 4] =
    [("passages", "families"), ("passages", "coverage"), ("dedup", "removed"), ("clusters", "clusters")];

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in self.executors.iter_mut().map(|(process, _)| process).chain([&mut self.scheduler]) {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Returns a command of the program `ibid-cluster`, in the folder of a server and with its key.
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
    if server.schedule.is_some() {
        command.env("AWS_TIMEOUT", "2 seconds");
    }
    command
}

/// Starts a scheduler that listens at an address.
fn scheduler(server: &Server, address: &str) -> Child {
    let scheduler = quiet(program(server, &["scheduler", "--bind", address]));
    let began = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(began.elapsed() < Duration::from_secs(20), "the scheduler does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    scheduler
}

fn quiet(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the objects below a folder of the server, which keeps empty folders.
fn objects_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { objects_below(&path) } else { vec![path] }).collect()
}

/// Covers passages with families and coverage, pairs, clusters, containment, dedup and a query, over a corpus in a
/// store.
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
        let tables = format!("--partitions {partitions} --tables s3://box/of%20{partitions}");
        cluster.gives_the_same("passages s3://box/made/", &tables);
    }
    for (method, table) in TABLES {
        cluster.writes_the_same(method, table, "--tables s3://box/tables");
    }
    let query = "SELECT a.doc_id, b.doc_id AS other, count(*) AS n FROM (SELECT doc_id, shingles(words(normalize(text)), 2) AS set FROM \
                 's3://box/made/sentences.parquet') AS a JOIN (SELECT doc_id, shingles(words(normalize(text)), 2) AS set FROM \
                 's3://box/made/sentences.parquet') AS b ON jaccard(a.set, b.set) >= 0.6 AND a.doc_id < b.doc_id GROUP BY a.doc_id, \
                 b.doc_id ORDER BY 1, 2";
    cluster.server.place.write("query.sql", query);
    cluster.gives_the_same("sql -f query.sql", "--partitions 5");
    let said = cluster.ok("sql --explain -f query.sql").err;
    assert!(said.contains("on the cluster:\n") && said.contains("strategy=distributed"), "{said}");
    let said = cluster.ok("sql --explain -q --format csv SELECT(count(*))FROM'made.jsonl'").err;
    assert!(said.contains("here, as executors do not read files of json"), "{said}");
    // A value that is too large for a plan.
    cluster.server.place.write(
        "large.sql",
        "SELECT doc_id, array_length((SELECT array_agg(value) FROM range(200000))) AS n FROM \
                 's3://box/made/documents.parquet' ORDER BY 1",
    );
    cluster.gives_the_same("sql -f large.sql", "--tables s3://box/of%20large");
    assert_eq!(objects_below(&cluster.server.object("of%20large/values")).len(), 1);
    // The command reads these files and makes a corpus of them for all machines. Nothing of the corpus stays.
    cluster.server.ok("pairs made.jsonl --unit sentence -o s3://box/here.csv");
    cluster.ok("pairs made.jsonl --unit sentence -o s3://box/there.csv");
    assert_eq!(cluster.server.get("there.csv"), cluster.server.get("here.csv"));
    assert_eq!(objects_below(&cluster.server.object("there.csv.tables")), Vec::<PathBuf>::new());
    // Half of the machines are replaced while a command runs.
    let mut running = cluster.command("passages s3://box/made/ --tables s3://box/killed --format csv");
    let running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    cluster.replace_executor();
    let (ended, _) = watch_child(running, LONGEST, "passages, of which an executor is killed");
    let here = cluster.server.ok("passages s3://box/made/ --format csv");
    assert_eq!(ended.text(), here.text(), "{}", ended.err);
}

/// Executors read the files in a store and split them into sentences; each takes a part of them.
#[test]
fn files_are_read_by_a_cluster_as_by_one_process() {
    let cluster = Cluster::start(1);
    let server = &cluster.server;
    let lines = collection_jsonl(120, 7);
    let lines: Vec<_> = lines.lines().collect();
    for (at, part) in lines.chunks(25).enumerate() {
        server.put(&format!("files/{at}.jsonl"), part.join("\n"));
    }
    server.ok("sql -q SELECT*FROM's3://box/files/0.jsonl' -o s3://box/files/0.parquet");
    std::fs::remove_file(server.object("files/0.jsonl")).unwrap();
    for (name, n) in [("none", "null"), ("one", "1"), ("half", "0.5")] {
        server.put(
            &format!("files/{name}.jsonl"),
            format!("{{\"id\": \"{name}\", \"text\": \"One. Two.\", \"n\": {n}}}\n"),
        );
    }
    let there = "s3://box/there/";
    let ingest = |to: &str| format!("ingest s3://box/files/ -o {to} --on-error skip");
    let same_as = |here: &str| {
        let on_cluster = format!("{} --partitions 3", ingest(there));
        let said = |ended: Ended| ended.err.replace(|c: char| c.is_ascii_digit() || c == '.', "");
        let counted = |ended: &Ended| ended.err.split(" (").next().unwrap().to_owned();
        let (ended, ended_here) = (cluster.ok(&on_cluster), server.ok(&ingest(here)));
        assert_eq!(counted(&ended), counted(&ended_here));
        assert_eq!(said(ended), said(ended_here));
        for (table, kind) in [("documents", ", arrow_typeof(n) AS kind"), ("sentences", "")] {
            let rows = |place| server.sql(&format!("SELECT *{kind} FROM '{place}{table}.parquet' ORDER BY 1, 2"));
            assert!(rows(there) == rows(here), "{table} of {there} and {here}");
        }
    };
    same_as("s3://box/here/");
    let parts = || objects_below(&server.object("there/parts")).len();
    let before = parts();
    assert!(before > 2, "{before}");
    let passages = |place| server.ok(&format!("passages {place} --format csv")).out;
    assert_eq!(passages(there), passages("s3://box/here/"));
    // A run that fails leaves the corpus as it was.
    server.put("files/twice.jsonl", format!("{}\n{{\"id\": 1}}\n", lines[3]));
    for (options, said) in
        [("", "s3://box/files/twice.jsonl, line 2, byte"), (" --on-error skip", "\"d00003\" stands twice")]
    {
        let failed = end(cluster.command(&format!("ingest s3://box/files/ -o {there}{options}")));
        assert!(failed.code == Some(1) && failed.err.contains(said), "{}", failed.err);
        assert_eq!(parts(), before, "{options}: something is left");
    }
    let said = server.fails(&ingest("s3://box/none/"));
    assert_eq!(end(cluster.command(&ingest(there))).err.lines().last(), said.lines().last());
    std::fs::remove_file(server.object("files/twice.jsonl")).unwrap();
    server.put("files/new.jsonl", "{\"id\": 1}\n{\"id\": \"new\", \"text\": \"It was late. Nobody spoke.\"}\n");
    same_as("s3://box/here/");
    // A corpus to which documents were added by hand is not replaced.
    server.ok("pairs s3://box/there/ --add s3://box/files/none.jsonl --on-error skip");
    server.put("more/more.jsonl", "{\"id\": \"more\", \"text\": \"It was late.\"}\n");
    server.ok("pairs s3://box/there/ --add s3://box/more/more.jsonl");
    let said = end(cluster.command(&ingest(there)));
    assert!(said.code == Some(1) && said.err.contains("documents were added to"), "{}", said.err);
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

/// An accident of a cluster while a command runs.
#[derive(Debug, Clone, Copy)]
enum Accident {
    /// An executor is killed and replaced.
    Kill,
    /// An executor stops for longer than the timeout.
    Pause,
    /// The scheduler restarts without its state.
    Restart,
    /// The disk of an executor is gone.
    NoDisk,
}

/// Runs a command during an accident, and once more if it fails. A failed run must give its reason within 90 seconds
/// and leave no result.
fn survives(cluster: &mut Cluster, accident: Accident, after: Duration, number: usize, expected: &str) {
    let result = format!("out-{number}.csv");
    let line = format!("passages s3://box/made/ -o s3://box/{result} --tables s3://box/tables-{number}");
    let running = cluster.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    let began = Instant::now();
    match accident {
        Accident::Kill => cluster.replace_executor(),
        Accident::NoDisk => {
            let disk = &cluster.executors[0].1;
            std::fs::rename(disk, disk.with_extension("gone")).unwrap();
        }
        Accident::Pause => {
            let pid = cluster.executors[0].0.id().to_string();
            let signal = |name: &str| assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
            signal("-STOP");
            std::thread::sleep(Duration::from_secs(60));
            signal("-CONT");
        }
        Accident::Restart => {
            kill(std::mem::replace(&mut cluster.scheduler, quiet(Command::new("true"))));
            cluster.scheduler = scheduler(&cluster.server, &cluster.address);
        }
    }
    let Ended { code, err: said, .. } = watch_child(running, LONGEST, &line).0;
    if code != Some(0) {
        assert!(began.elapsed() < Duration::from_secs(90), "{accident:?}: {:?}\n{said}", began.elapsed());
        assert!(code == Some(1) && said.contains("ibid: "), "{accident:?}: {code:?} {said}");
        assert!(!cluster.server.object(&result).exists(), "{accident:?} left half a result: {said}");
        eprintln!("{accident:?} after {after:?}: {said}");
        if let Accident::NoDisk = accident {
            cluster.replace_executor();
        }
        cluster.ok(&line);
    }
    assert_eq!(String::from_utf8(cluster.server.get(&result)).unwrap(), expected, "{accident:?} after {after:?}");
}

fn kill(mut process: Child) {
    let _ = process.kill();
    let _ = process.wait();
}

fn made(cluster: &Cluster) -> String {
    cluster.server.place.write("made.jsonl", collection_jsonl(120, 7));
    cluster.server.ok("ingest made.jsonl -o s3://box/made/");
    cluster.server.ok("passages s3://box/made/ -o s3://box/expected.csv");
    String::from_utf8(cluster.server.get("expected.csv")).unwrap()
}

#[test]
#[ignore = "long: make test-long PART=cluster"]
fn executors_that_are_killed_lose_no_row() {
    let mut cluster = Cluster::start(2);
    let expected = made(&cluster);
    let mut dice = Dice(1);
    for number in 0..times("IBID_CLUSTER_KILLS", 20) {
        let after = Duration::from_millis(dice.below(4000) as u64);
        survives(&mut cluster, Accident::Kill, after, number, &expected);
    }
}

#[test]
#[ignore = "long: make test-long PART=cluster"]
fn a_cluster_outlives_a_pause_another_scheduler_and_the_loss_of_a_disk() {
    let mut cluster = Cluster::start(2);
    let expected = made(&cluster);
    survives(&mut cluster, Accident::Pause, Duration::from_millis(1500), 0, &expected);
    survives(&mut cluster, Accident::Restart, Duration::from_millis(1500), 1, &expected);
    survives(&mut cluster, Accident::NoDisk, Duration::from_millis(1500), 2, &expected);
}

#[test]
#[ignore = "long: make test-long PART=cluster"]
fn whatever_a_store_does_the_rows_of_a_cluster_are_right_or_the_run_fails() {
    let sound = Cluster::start(0);
    made(&sound);
    // One statement only: with retries, a run takes longer the more requests it makes one after another.
    let pairs = "pairs s3://box/made/ --unit sentence --threshold 0.6 -o s3://box/out.csv";
    sound.server.ok(&pairs.replace("out.csv", "expected.csv"));
    let expected = sound.server.get("expected.csv");
    let try_one = |schedule: u64| {
        let place = Place::new();
        copy_folder(&sound.server.place.path("buckets"), &place.path("buckets"));
        let cluster = Cluster::start_with(Server::start_with(place, Some(schedule)), 2);
        let began = Instant::now();
        let ended = end_within(cluster.command(&format!("{pairs} --tables s3://box/tables")), 3 * LONGEST);
        let result = cluster.server.object("out.csv");
        let said = format!("schedule {schedule}: {:?} in {:.0?}: {}", ended.code, began.elapsed(), ended.err);
        match ended.code {
            Some(0) => assert!(std::fs::read(result).unwrap() == expected, "{said}"),
            Some(1) => assert!(ended.err.contains("ibid: ") && !result.exists(), "{said}"),
            _ => panic!("{said}"),
        }
        eprintln!("{said}");
    };
    let schedules: Vec<u64> = (0..times("IBID_CLUSTER_FAULTS", 6) as u64).collect();
    for some in schedules.chunks(3) {
        std::thread::scope(|scope| some.iter().for_each(|schedule| drop(scope.spawn(|| try_one(*schedule)))));
    }
}

#[test]
#[ignore = "long: make test-long PART=cluster"]
fn the_number_of_executors_and_of_partitions_changes_nothing() {
    for executors in [1, 2, 5] {
        let cluster = Cluster::start(executors);
        made(&cluster);
        for partitions in [1, 7, 64] {
            for line in
                ["passages s3://box/made/", "pairs s3://box/made/ --unit sentence", "containment s3://box/made/"]
            {
                let tables = format!("--partitions {partitions} --tables s3://box/of-{partitions}");
                cluster.gives_the_same(line, &tables);
            }
            for (method, table) in &TABLES[1..] {
                cluster.writes_the_same(method, table, &format!("--partitions {partitions}"));
            }
        }
    }
}
