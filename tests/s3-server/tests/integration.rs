//! The server starts, answers, and ends with its standard input. The tests of ibid test everything else.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn it_asks_for_a_signature_and_ends_with_its_input() {
    let folder = std::env::temp_dir().join(format!("ibid-s3-server-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("bucket")).unwrap();
    let log = folder.with_extension("log");
    let mut server = Command::new(env!("CARGO_BIN_EXE_ibid-s3-server"))
        .args([folder.as_os_str(), "key".as_ref(), "secret".as_ref(), log.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut addresses = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut addresses).unwrap();
    let address = addresses.split(' ').next().unwrap().strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).unwrap();
    connection.write_all(b"GET /bucket/x HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("AccessDenied"), "{answer}");
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(logged.starts_with("GET\t/bucket/x\t\t403\t"), "{logged}");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::remove_file(&log).unwrap();
}
