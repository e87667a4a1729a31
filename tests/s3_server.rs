//! A local S3 server, and the program run with it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::program::{Ended, Place, watch};

pub(crate) const KEY: &str = "AKIDEXAMPLE";
pub(crate) const SECRET: &str = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY";

/// The key of a role, which opens nothing without its token.
pub(crate) const ROLE_KEY: &str = "ASIAEXAMPLE";
pub(crate) const ROLE_SECRET: &str = "je7MtGbClwBF-2Zp9Utk-h3yCo8nvbEXAMPLEKEY";
pub(crate) const ROLE_TOKEN: &str = "IQoJb3JpZ2luX2VjEXAMPLETOKEN";

/// The maximum time of a command, whatever the store does.
pub(crate) const LONGEST: Duration = Duration::from_secs(200);

/// The texts that no output may contain: the secret keys, the tokens of the role and for it, and signatures.
const SECRETS: [&str; 8] = [
    SECRET,
    ROLE_SECRET,
    ROLE_TOKEN,
    "token-of-the-identity",
    "token-of-the-container",
    "token-of-the-machine",
    "Signature=",
    "AWS4-HMAC",
];

/// A server with buckets, and a place that commands run in.
pub(crate) struct Server {
    pub(crate) place: Place,
    process: Child,
    pub(crate) address: String,
    /// The address for encrypted connections.
    pub(crate) encrypted: String,
    /// The number of the schedule by which requests fail.
    pub(crate) schedule: Option<u64>,
}

/// A request that the server logged, or an encrypted connection, whose method is `TLS`.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) range: String,
    pub(crate) status: u16,
    pub(crate) bytes: u64,
    /// The region of its signature.
    pub(crate) region: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server ends with its standard input.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(Place::new(), None)
    }

    /// Starts a server for the buckets of a place. Its requests fail by the schedule of this seed.
    pub(crate) fn start_with(place: Place, schedule: Option<u64>) -> Self {
        for bucket in ["box", "public", "google"] {
            std::fs::create_dir_all(place.path("buckets").join(bucket)).unwrap();
        }
        let program = Path::new(env!("CARGO_BIN_EXE_ibid")).with_file_name("ibid-s3-server");
        let mut process = Command::new(program)
            .args([place.path("buckets").as_os_str(), KEY.as_ref(), SECRET.as_ref(), place.path("log").as_os_str()])
            .args(schedule.map(|seed| seed.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut addresses = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut addresses).unwrap();
        let (address, encrypted) = addresses.trim().split_once(' ').unwrap();
        Self { place, process, address: address.to_owned(), encrypted: encrypted.to_owned(), schedule }
    }

    /// Returns the path at which the server keeps an object of the bucket `box`.
    pub(crate) fn object(&self, key: &str) -> PathBuf {
        self.place.path("buckets/box").join(key)
    }

    pub(crate) fn put(&self, key: &str, contents: impl AsRef<[u8]>) {
        let path = self.object(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    pub(crate) fn get(&self, key: &str) -> Vec<u8> {
        std::fs::read(self.object(key)).unwrap()
    }

    /// Returns a command of the program, without the settings of this machine.
    pub(crate) fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.place.command(arguments);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("AWS_")) {
                command.env_remove(name);
            }
        }
        let none = self.place.path("none");
        command
            .env("AWS_ENDPOINT_URL", &self.address)
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("AWS_CONFIG_FILE", &none)
            .env("AWS_SHARED_CREDENTIALS_FILE", &none);
        command
    }

    pub(crate) fn with_key<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(arguments);
        command.args(["--allow-http"]).env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", SECRET);
        command
    }

    /// Runs the program with the arguments of a line.
    #[track_caller]
    pub(crate) fn ok(&self, line: &str) -> Ended {
        let ended = end(self.with_key(line.split(' ')));
        assert_eq!(ended.code, Some(0), "{line}\n{}", ended.err);
        ended
    }

    /// Runs a command that must fail, and returns its standard error.
    #[track_caller]
    pub(crate) fn fails(&self, line: &str) -> String {
        let ended = end(self.with_key(line.split(' ')));
        assert_eq!(ended.code, Some(1), "{line}\n{}", ended.err);
        ended.err
    }

    #[track_caller]
    pub(crate) fn sql(&self, sql: &str) -> String {
        let ended = end(self.with_key(["sql", sql, "--format", "csv"]));
        assert_eq!(ended.code, Some(0), "{sql}\n{}", ended.err);
        ended.text().to_owned()
    }

    /// Returns the requests since the last call.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let path = self.place.path("log");
        let log = std::fs::read_to_string(&path).unwrap_or_default();
        // The server appends to it.
        std::fs::write(&path, "").unwrap();
        let of_line = |line: &str| {
            let parts: Vec<&str> = line.split('\t').collect();
            let [method, target, range, status, bytes, _, region] = parts[..] else { panic!("{line}") };
            Request {
                method: method.to_owned(),
                target: target.to_owned(),
                range: range.to_owned(),
                status: status.parse().unwrap(),
                bytes: bytes.parse().unwrap_or(0),
                region: region.to_owned(),
            }
        };
        log.lines().map(of_line).collect()
    }
}

/// Returns the number of bytes that were read.
pub(crate) fn read_of(requests: &[Request]) -> u64 {
    let got = requests.iter().filter(|request| request.method == "GET" && request.status < 300);
    got.map(|request| request.bytes).sum()
}

/// Runs a command, and checks that its output has no secrets.
#[track_caller]
pub(crate) fn end(command: Command) -> Ended {
    end_within(command, LONGEST)
}

/// Runs a command like [`end`], for at most `longest`.
#[track_caller]
pub(crate) fn end_within(command: Command, longest: Duration) -> Ended {
    let (ended, _) = watch(command, longest);
    for secret in SECRETS {
        assert!(!ended.err.contains(secret) && !String::from_utf8_lossy(&ended.out).contains(secret), "{ended:?}");
    }
    ended
}
