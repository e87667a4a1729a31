//! Object stores, with a local S3 server: reads and writes of commands, and their messages about errors.

use std::fs::File;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::program::{Ended, Place, bzip2, collection_jsonl, copy_folder, gzip, jsonl, times};
use crate::s3_server::{KEY, ROLE_KEY, ROLE_SECRET, ROLE_TOKEN, Request, SECRET, Server, end, read_of};

/// The authority of the server's certificate, which operating systems do not know.
const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/s3-server/tls/authority.pem");

#[test]
fn from_takes_objects_prefixes_globs_and_partitions() {
    let server = Server::start();
    server.put("n/one.csv", "a,b\n1,x\n2,y\n");
    server.put("n/two.csv", "a,b\n3,z\n");
    server.put("n/deep/three.csv", "a,b\n4,w\n");
    server.put("n/a b#1?.csv", "a,b\n9,v\n");
    server.put("parts/year=2023/x.csv", "a\n1\n");
    server.put("parts/year=2024/x.csv", "a\n2\n3\n");
    server.put("rare/50%25.csv", "a\n7\n");
    server.put("lines.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
    assert_eq!(server.sql("SELECT * FROM 's3://box/n/one.csv' ORDER BY a"), "a,b\n1,x\n2,y\n");
    assert_eq!(server.sql("SELECT sum(a) AS s FROM 's3://box/n/'"), "s\n19\n");
    let made = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://box/n/'; ";
    assert_eq!(server.sql(&format!("{made}SELECT sum(a) AS s FROM t")), "s\n19\n");
    assert_eq!(server.sql("SELECT sum(a) AS s FROM 's3://box/n/*.csv'"), "s\n15\n");
    assert_eq!(server.sql("SELECT sum(a) AS s FROM 's3://box/n/{one,deep/three}.csv'"), "s\n7\n");
    assert_eq!(server.sql("SELECT sum(a) AS s FROM 's3://box/n/*/*.csv'"), "s\n4\n");
    assert_eq!(server.sql("SELECT sum(a) AS s FROM 's3://box/n/**/t*.csv'"), "s\n7\n");
    assert_eq!(server.sql("SELECT a FROM 's3://box/n/a b#1?.csv'"), "a\n9\n");
    assert_eq!(
        server.sql("SELECT a, year FROM 's3://box/parts/' WHERE year = '2024' ORDER BY a"),
        "a,year\n2,2024\n3,2024\n"
    );
    assert_eq!(server.sql("SELECT sum(a) AS s FROM 's3://box/lines.jsonl'"), "s\n3\n");
    let external = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://box/n/one.csv' OPTIONS ('has_header' 'true'); \
                    SELECT sum(a) AS s FROM t";
    assert_eq!(server.sql(external), "s\n3\n");
    let said = server.fails("sql SELECT(1)FROM's3://box/none.csv'");
    assert!(said.contains("s3://box/none.csv: there is no such object"), "{said}");
}

#[test]
fn external_tables_are_of_what_from_takes() {
    let server = Server::start();
    for (year, n) in [(2023, 1), (2024, 2)] {
        server.put(&format!("by/year={year}/x.csv"), format!("n\n{n}\n"));
    }
    let made = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://box/by/**/*.csv'; ";
    assert_eq!(server.sql(&format!("{made}SELECT sum(n) AS n FROM t WHERE year = '2024'")), "n\n2\n");
    server.put("rare/50%25.csv", "n\n7\n");
    let made = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://box/rare/50%25.csv'; ";
    assert_eq!(server.sql(&format!("{made}SELECT n FROM t")), "n\n7\n");
    server.put("changing/x.csv", "n\n1\n");
    let made = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://box/changing/*.csv'; ";
    server.place.write("count.sql", format!("{made}SELECT count(*) FROM t"));
    let said = server.fails("sql -f count.sql");
    assert!(said.contains("s3://box/changing/x.csv: it was changed while it was read"), "{said}");
}

/// The objects have the same key, size and time, so cached footers and statistics of one could be taken for those of
/// the other.
#[test]
fn objects_of_two_buckets_are_told_apart() {
    let server = Server::start();
    let sizes = [("box", 1), ("public", 2)].map(|(bucket, n)| {
        let path = server.place.path(format!("buckets/{bucket}/x.parquet"));
        let ended = server.place.run_with(["sql", &format!("SELECT {n} AS n"), "-o", path.to_str().unwrap()], "");
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
        file.metadata().unwrap().len()
    });
    assert_eq!(sizes[0], sizes[1]);
    let sql =
        "SELECT (SELECT max(n) FROM 's3://box/x.parquet') AS a, (SELECT max(n) FROM 's3://public/x.parquet') AS b";
    assert_eq!(server.sql(sql), "a,b\n1,2\n");
}

/// The objects have several streams of bzip2 and frames of zstd, as programs with many threads write them.
#[test]
fn packed_objects_are_read_to_their_end() {
    let server = Server::start();
    let parts = ["{\"n\": 1}\n", "{\"n\": 2}\n"];
    server.put("x.jsonl.gz", parts.map(gzip).concat());
    server.put("x.jsonl.bz2", parts.map(bzip2).concat());
    server.put("x.jsonl.zst", parts.map(|part| zstd::encode_all(part.as_bytes(), 0).unwrap()).concat());
    for file in ["x.jsonl.gz", "x.jsonl.bz2", "x.jsonl.zst"] {
        assert_eq!(server.sql(&format!("SELECT sum(n) AS n FROM 's3://box/{file}'")), "n\n3\n", "{file}");
        let whole = server.get(file);
        server.put(file, &whole[..whole.len() - 9]);
        server.place.write("count.sql", format!("SELECT sum(n) AS n FROM 's3://box/{file}'"));
        let said = server.fails("sql -f count.sql");
        let place = format!("data end in the middle, after byte {} of the compressed file", whole.len() - 9);
        assert!(said.contains(&format!("s3://box/{file}, byte ")) && said.contains(&place), "{said}");
    }
    server.put("nothing.jsonl.gz", gzip(""));
    assert_eq!(server.sql("SELECT count(*) AS n FROM 's3://box/nothing.jsonl.gz'"), "n\n0\n");
}

#[test]
fn a_file_of_another_corpus_is_told_by_its_seal() {
    let server = Server::start();
    for name in ["a", "b"] {
        server.place.write(&format!("{name}.jsonl"), collection_jsonl(20, if name == "a" { 1 } else { 2 }));
        server.place.ok(&format!("ingest {name}.jsonl -o {name}"));
    }
    server.ok("ingest a.jsonl -o s3://box/a/");
    copy_folder(&server.place.path("a"), &server.object("copied"));
    let count = |from: &str| server.sql(&format!("SELECT count(*) AS n FROM '{from}'"));
    for folder in ["a", "copied"] {
        server.requests();
        assert_eq!(count(&format!("s3://box/{folder}/documents.parquet")), "n\n20\n");
        let requests = server.requests();
        // Two requests for the manifest: existence and content. Three for the file: existence, footer and rows.
        assert_eq!(requests.len(), 5, "{requests:#?}");
    }
    server.ok("clusters a.jsonl -o s3://box/groups/");
    server.sql("SELECT * FROM 's3://box/groups/clusters.parquet'");
    let sealed = std::fs::read_dir(server.object("a")).unwrap().map(|entry| entry.unwrap().file_name());
    let sealed: Vec<_> = sealed.map(|name| name.into_string().unwrap()).filter(|name| name.contains("doc")).collect();
    let other = server.place.read("b/documents.parquet");
    server.put(&format!("a/{}", sealed[0]), &other);
    server.put("copied/documents.parquet", &other);
    for from in ["a/documents.parquet", &format!("a/{}", sealed[0]), "copied/documents.parquet", "copied/doc*.parquet"]
    {
        server.place.write("count.sql", format!("SELECT count(*) FROM 's3://box/{from}'"));
        let said = server.fails("sql -f count.sql");
        assert!(said.contains("parquet is not what was written: its seal is "), "{from}: {said}");
    }
}

#[test]
fn an_empty_object_is_no_parquet() {
    let server = Server::start();
    server.put("parts/1.parquet", "");
    server.place.write("count.sql", "SELECT count(*) FROM 's3://box/parts/'");
    let said = server.fails("sql -f count.sql");
    assert!(said.contains("s3://box/parts/1.parquet is empty, 0 bytes, no Parquet"), "{said}");
}

#[test]
fn what_is_wrong_is_told_apart() {
    let server = Server::start();
    server.put("x.jsonl", "{\"text\": \"a\"}\n");
    std::fs::write(server.place.path("buckets/public/x.jsonl"), "{\"text\": \"a\"}\n").unwrap();
    for (input, expected) in [
        ("s3://box/none.jsonl", "s3://box/none.jsonl does not exist"),
        ("s3://box/none/", "s3://box/none/ holds no object"),
        ("s3://box/x*.csv", "s3://box/x*.csv matches no object"),
        ("s3://nobucket/x.jsonl", "there is no bucket s3://nobucket at http://127.0.0.1:"),
        ("s3://skewed/x.jsonl", "the clock of this machine is too far from that of the server, which is at 2001"),
        ("s3://denied/x.jsonl", "access is denied"),
        ("s3://expired/x.jsonl", "the session token has expired"),
        ("s3://malformed/x.jsonl", "the bucket is in the region eu-central-1, and us-east-1 was asked; say --region"),
        ("s3://elsewhere/x.jsonl", "the bucket is in the region eu-central-1, and us-east-1 was asked; say --region"),
        ("s3://box/../x.jsonl", "its key has an empty part"),
        ("s3://box//x.jsonl", "its key has an empty part"),
        ("s3:///x.jsonl", "cannot be read"),
        ("ftp://b/x.jsonl", "ftp://b/x.jsonl does not exist"),
    ] {
        let said = server.fails(&format!("pairs {input}"));
        assert!(said.contains(expected), "{input}: {said}");
        // The message comes once, and without the texts of the libraries.
        assert!(said.lines().count() == 1 && !said.contains("Generic") && !said.contains("Error"), "{input}: {said}");
    }
    // Writing there fails, too.
    for (bucket, expected) in [
        ("nobucket", "there is no bucket s3://nobucket at http://127.0.0.1:"),
        ("skewed", "the clock of this machine is too far from that of the server, which is at 2001"),
        ("denied", "access is denied"),
        ("expired", "the session token has expired"),
        ("malformed", "the bucket is in the region eu-central-1, and us-east-1 was asked; say --region"),
        ("elsewhere", "the bucket is in the region eu-central-1, and us-east-1 was asked; say --region"),
    ] {
        for line in ["sql SELECT(1) -o s3://B/x.csv", "ingest x.jsonl -o s3://B/x/", "pairs s3://B/x --add x.jsonl"] {
            server.place.write("x.jsonl", "{\"text\": \"a\"}\n");
            let said = server.fails(&line.replace('B', bucket));
            assert!(said.contains(expected), "{line} {bucket}: {said}");
            assert!(said.lines().count() == 1 && !said.contains("Generic"), "{line} {bucket}: {said}");
            assert_eq!(said.matches(&format!("s3://{bucket}/x")).count(), 1, "{line} {bucket}: {said}");
        }
    }
    let of_sql = server.fails("sql SELECT(1)FROM's3://skewed/x.csv'");
    assert!(of_sql.contains("the clock of this machine") && !of_sql.contains("Generic"), "{of_sql}");

    let wrong = |name: &str, value: &str, expected: &str| {
        let mut command = server.with_key(["pairs", "s3://box/x.jsonl"]);
        command.env(name, value);
        let ended = end(command);
        assert_eq!(ended.code, Some(1));
        assert!(ended.err.contains(expected), "{name}: {}", ended.err);
    };
    wrong("AWS_ACCESS_KEY_ID", "AKIDOTHER", "does not know the access key");
    wrong("AWS_SECRET_ACCESS_KEY", "other", "the secret key does not belong to the access key");
    wrong("AWS_ENDPOINT_URL", "http://127.0.0.1:1", "nothing listens at http://127.0.0.1:1");
    wrong("AWS_ENDPOINT_URL", "http://no-such-host.invalid", "is not known");
    wrong("AWS_ENDPOINT_URL", &server.address.replace("http:", "https:"), "no encrypted connection");
    wrong("AWS_ENDPOINT_URL", "http://me:pa55@127.0.0.1:1", "nothing listens at http://***@127.0.0.1:1");
    wrong("AWS_ENDPOINT_URL", "here", "here is no address of a server");
    server.place.write("bundle.pem", "no certificate");
    wrong("AWS_CA_BUNDLE", "bundle.pem", "bundle.pem, which AWS_CA_BUNDLE names, has no certificates");

    let ended = end(server.command(["pairs", "s3://box/x.jsonl", "--allow-http"]));
    assert!(ended.err.contains("there are no credentials; set AWS_ACCESS_KEY_ID"), "{}", ended.err);
    let ended = end(server.command(["pairs", "s3://box/x.jsonl"]));
    assert!(ended.err.contains("is not encrypted; use https://, or say --allow-http"), "{}", ended.err);
    let ended = end(server.command(["pairs", "s3://box/x.jsonl", "--allow-http", "--no-sign-request"]));
    assert!(ended.err.contains("it may not be read without a key"), "{}", ended.err);
    let ended = end(server.command(["pairs", "s3://public/x.jsonl", "--allow-http", "--no-sign-request"]));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    // The server works like any web server with files.
    let web = format!("{}/public/x.jsonl", server.address);
    let ended = end(server.command(["pairs", &web, "--allow-http"]));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    // Another query string may return another file.
    let pages = [1, 2].map(|page| format!("{web}?page={page}"));
    let ended = end(server.command(["pairs", &pages[0], &pages[1], &pages[0], "--allow-http"]));
    assert!(ended.err.contains("documents 2,"), "{}", ended.err);
    let ended = end(server.command(["sql", &format!("SELECT text FROM '{web}'"), "--allow-http", "--format", "csv"]));
    assert_eq!(ended.text(), "text\na\n", "{}", ended.err);
    let said = end(server.command(["pairs", &web])).err;
    assert!(said.contains("is not encrypted"), "{said}");
    let said = end(server.command(["pairs", &web.replace("x.jsonl", "none.jsonl"), "--allow-http"])).err;
    assert!(said.contains("a web server lists no files"), "{said}");
}

#[test]
fn keys_come_from_profiles() {
    let server = Server::start();
    server.put("x.jsonl", "{\"text\": \"a\"}\n");
    let config = format!(
        "[profile keys]\nregion = eu-west-3\nendpoint_url = {}\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n\
         [profile process]\ncredential_process = /bin/sh {}\n\
         [profile service]\nservices = here\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n\
         [services here]\ns3 =\n  endpoint_url = {0}\n",
        server.address,
        server.place.path("keys.sh").display()
    );
    server.place.write("config", config);
    let keys = format!("echo '{{\"Version\": 1, \"AccessKeyId\": \"{KEY}\", \"SecretAccessKey\": \"{SECRET}\"}}'\n");
    server.place.write("keys.sh", keys);
    server
        .place
        .write("credentials", format!("[stored]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"));
    let run = |profile: &str| {
        let mut command = server.command(["pairs", "s3://box/x.jsonl", "--allow-http"]);
        command
            .env("AWS_CONFIG_FILE", server.place.path("config"))
            .env("AWS_SHARED_CREDENTIALS_FILE", server.place.path("credentials"))
            .env("AWS_PROFILE", profile);
        if ["keys", "service"].contains(&profile) {
            command.env_remove("AWS_ENDPOINT_URL");
        }
        end(command)
    };
    for profile in ["keys", "process", "service", "stored"] {
        let ended = run(profile);
        assert_eq!(ended.code, Some(0), "{profile}: {}", ended.err);
    }
    let said = run("none").err;
    assert!(said.contains("no credentials of the profile none") && said.contains("`none` was not defined"), "{said}");
}

/// The keys of a role expire, and come with a token. A program gets them for the token of a web identity, as in pods,
/// for the keys of a profile, or because it runs in a container or on a machine that has the role.
#[test]
fn keys_of_roles_are_asked_for() {
    const ROLE: &str = "arn:aws:iam::123456789012:role/reader";
    let server = Server::start();
    server.put("x.jsonl", "{\"text\": \"a\"}\n");
    server.place.write(
        "config",
        format!(
            "[profile own]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n\
             [profile role]\nrole_arn = {ROLE}\nsource_profile = own\n\
             [profile other]\nrole_arn = {ROLE}s\nsource_profile = own\n"
        ),
    );
    let run = |variables: &[(&str, &str)]| {
        server.requests();
        let mut command = server.command(["pairs", "s3://box/x.jsonl", "--allow-http"]);
        command.env("AWS_CONFIG_FILE", server.place.path("config")).env("RUST_LOG", "trace");
        command.env_remove("AWS_EC2_METADATA_DISABLED").env("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
        command.envs(variables.iter().copied());
        (end(command), server.requests())
    };
    let token = server.place.path("token").display().to_string();
    let container = format!("{}/container/keys", server.address);
    let of_pod = [("AWS_WEB_IDENTITY_TOKEN_FILE", token.as_str()), ("AWS_ROLE_ARN", ROLE)];
    let of_container = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.as_str()),
    ];
    let of_machine = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.address.as_str())];
    for (written, variables, times) in [
        ("token-of-the-identity", &of_pod[..], 1),
        ("", &[("AWS_PROFILE", "role")], 1),
        ("token-of-the-container", &of_container, 1),
        ("", &of_machine, 3),
    ] {
        std::fs::write(&token, written).unwrap();
        let (ended, requests) = run(variables);
        assert_eq!(ended.code, Some(0), "{variables:?}: {}", ended.err);
        let asked = requests.iter().filter(|request| !request.target.starts_with("/box")).count();
        assert_eq!(asked, times, "{variables:?}: {requests:?}");
    }
    std::fs::write(&token, "token-of-the-identity").unwrap();
    let encrypted = [("AWS_ENDPOINT_URL", server.encrypted.as_str()), ("AWS_CA_BUNDLE", AUTHORITY)];
    let (ended, requests) = run(&[&of_pod[..], &encrypted].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(requests.iter().filter(|request| request.method == "TLS").count() > 1, "{requests:?}");
    std::fs::write(&token, "token-of-another").unwrap();
    for (variables, said) in [
        (&of_pod[..], "Not authorized to take the role"),
        (&[("AWS_PROFILE", "other")], "Not authorized to take the role"),
        (&of_container, "there are no credentials"),
        (&[], "there are no credentials"),
    ] {
        let (ended, _) = run(variables);
        assert_eq!(ended.code, Some(1), "{variables:?}");
        assert!(ended.err.contains(said), "{variables:?}: {}", ended.err);
        assert!(!ended.err.contains("token-of-another"), "{}", ended.err);
    }
}

/// Queries the row of `x.csv` with the key, these further arguments and these variables.
fn ask(server: &Server, arguments: &[&str], variables: &[(&str, &str)]) -> (Ended, Vec<Request>) {
    server.put("x.csv", "a\n1\n");
    server.requests();
    let mut command = server.command(["sql", "SELECT a FROM 's3://box/x.csv'", "--format", "csv"]);
    command.args(arguments).env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", SECRET);
    command.envs(variables.iter().copied());
    (end(command), server.requests())
}

#[test]
fn variables_say_whose_keys_which_region_and_which_server() {
    const NOWHERE: &str = "http://127.0.0.1:1";
    let server = Server::start();
    let here = server.address.as_str();
    let of_role =
        [("AWS_ACCESS_KEY_ID", ROLE_KEY), ("AWS_SECRET_ACCESS_KEY", ROLE_SECRET), ("AWS_SESSION_TOKEN", ROLE_TOKEN)];
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        ask(&server, arguments, &[&[("AWS_ALLOW_HTTP", "true")][..], variables].concat())
    };
    // The command line takes precedence, and variables for S3 alone take precedence over general ones.
    for (arguments, variables, region) in [
        (&["--allow-http"][..], &[("AWS_ALLOW_HTTP", "false")][..], "us-east-1"),
        (&[], &of_role, "us-east-1"),
        (&[], &[("AWS_DEFAULT_REGION", "eu-west-1")], "eu-west-1"),
        (&[], &[("AWS_DEFAULT_REGION", "eu-west-1"), ("AWS_REGION", "eu-west-2")], "eu-west-2"),
        (&["--region", "eu-west-3"], &[("AWS_REGION", "eu-west-2")], "eu-west-3"),
        (&[], &[("AWS_ENDPOINT_URL", NOWHERE), ("AWS_ENDPOINT_URL_S3", here)], "us-east-1"),
        (&["--endpoint-url", here], &[("AWS_ENDPOINT_URL_S3", NOWHERE)], "us-east-1"),
    ] {
        let (ended, requests) = run(arguments, variables);
        assert_eq!((ended.code, ended.text()), (Some(0), "a\n1\n"), "{arguments:?} {variables:?}: {}", ended.err);
        let is_of_region = requests.iter().all(|request| request.region == region);
        assert!(!requests.is_empty() && is_of_region, "{arguments:?} {variables:?}: {requests:?}");
    }
    for (variables, said) in [
        (&[("AWS_ALLOW_HTTP", "false")][..], "is not encrypted; use https://, or say --allow-http"),
        (&of_role[..2], "the session token has expired or is no token"),
        (&[("AWS_ENDPOINT_URL_S3", NOWHERE)], "nothing listens at http://127.0.0.1:1"),
    ] {
        let (ended, _) = run(&[], variables);
        assert_eq!(ended.code, Some(1), "{variables:?}");
        assert!(ended.err.contains(said), "{variables:?}: {}", ended.err);
    }
}

/// The certificate is for 127.0.0.1.
#[test]
fn a_server_is_believed_by_its_certificate() {
    let server = Server::start();
    server.place.write("bad.pem", "-----BEGIN CERTIFICATE-----\nTm9uZQ==\n-----END CERTIFICATE-----\n");
    let encrypted = server.encrypted.as_str();
    let believed = [("AWS_ENDPOINT_URL", encrypted), ("AWS_CA_BUNDLE", AUTHORITY)];
    let (ended, requests) = ask(&server, &["-o", "s3://box/out.csv"], &believed);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(server.get("out.csv"), b"a\n1\n");
    assert!(requests.iter().any(|request| request.method == "TLS"), "{requests:?}");
    let untrusted = format!(
        "the certificate of {encrypted} is not one to trust (invalid peer certificate: UnknownIssuer); name that of its authority \
         by AWS_CA_BUNDLE"
    );
    for (endpoint, variable, said) in [
        (encrypted.to_owned(), ("AWS_CA_BUNDLE", ""), untrusted.as_str()),
        (encrypted.replace("127.0.0.1", "localhost"), ("AWS_CA_BUNDLE", AUTHORITY), "not valid for name \"localhost\""),
        (encrypted.replace("https:", "http:"), ("AWS_ALLOW_HTTP", "true"), "does not speak HTTP; check"),
        (encrypted.to_owned(), ("AWS_CA_BUNDLE", "none.pem"), "cannot read none.pem, which AWS_CA_BUNDLE names"),
        (
            encrypted.to_owned(),
            ("AWS_CA_BUNDLE", "bad.pem"),
            "bad.pem, which AWS_CA_BUNDLE names, has what is no certificate",
        ),
    ] {
        let (ended, requests) = ask(&server, &[], &[("AWS_ENDPOINT_URL", endpoint.as_str()), variable]);
        assert_eq!(ended.code, Some(1), "{endpoint}: {}", ended.err);
        assert!(ended.err.contains(said), "{endpoint}: {}", ended.err);
        // A request that is retried would be sent eleven times.
        assert!(requests.len() < 8, "{endpoint}: {requests:?}");
    }
}

/// The requests go through a proxy, because there is no host name for a bucket of this machine.
#[test]
fn the_bucket_stands_in_the_path_or_in_the_host() {
    let server = Server::start();
    server.put("in/x.jsonl", "{\"text\": \"a\"}\n");
    for (is_of_host, target) in [("false", "/box/in/x.jsonl"), ("true", "/in/x.jsonl")] {
        server.requests();
        let mut command = server.with_key([
            "ingest",
            "s3://box/in/",
            "-o",
            "s3://box/out/",
            "--endpoint-url",
            "http://store.example",
        ]);
        command.env("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", is_of_host).env("http_proxy", &server.address);
        let ended = end(command);
        assert_eq!(ended.code, Some(0), "{is_of_host}: {}", ended.err);
        let requests = server.requests();
        assert!(requests.iter().any(|request| request.target == target), "{is_of_host}: {requests:?}");
        assert!(server.object("out/manifest.json").exists());
        std::fs::remove_dir_all(server.object("out")).unwrap();
    }
}

/// Checks that commands read and write objects with the same results as in a folder.
fn as_in_a_folder(root: &str, place: &Place, run: impl Fn(&str) -> Ended) {
    let made = collection_jsonl(60, 4);
    let (first, second) = made.split_at(made.match_indices('\n').nth(29).unwrap().0 + 1);
    place.write("first.jsonl", first);
    place.write("second.jsonl", second);
    let both = |line: &str| {
        let [here, there] = ["", root].map(|root| run(&line.replace('@', root)));
        assert_eq!(there.code, Some(0), "{line}: {}", there.err);
        assert!(here.text() == there.text(), "{line}: {}", there.text());
        there
    };
    both("ingest first.jsonl -o @corpus");
    both("ingest second.jsonl -o @corpus");
    assert!(both("passages @corpus --format csv").text().lines().count() > 3);
    both("passages @corpus -o @out.parquet");
    both("sql SELECT(count(*))FROM'@out.parquet' --format csv");
    both("sql SELECT(count(*))FROM'@corpus/documents.parquet' --format csv");
    for batch in ["first", "second", "second"] {
        both(&format!("containment @index --add {batch}.jsonl -o @{batch}.csv"));
        both("sql SELECT(count(*))FROM'@index/documents.parquet' --format csv");
        both(&format!("sql SELECT(contained)AS\"c\"FROM'@{batch}.csv' --format csv"));
    }
    let said = run(&format!("verify {root}corpus/ {root}index/ {root}out.parquet"));
    assert!(said.text().contains("8 files, all as they were written"), "{}", said.text());
    assert!(run(&format!("gc {root}corpus/ --grace 0s")).text().contains("files and folders removed 3"));
    assert!(
        run(&format!("gc {root}index/ --grace 0s")).text().contains("manifests/00000000000000000001.json: removed")
    );
    let said = run(&format!("pairs {root}none.jsonl")).err;
    assert!(said.contains(&format!("{root}none.jsonl does not exist")), "{said}");
}

#[test]
fn google_is_read_and_written() {
    let server = Server::start();
    let account = r#"{"disable_oauth": true, "private_key": "k", "private_key_id": "i", "client_email": "e"}"#;
    server.place.write("account.json", account);
    let run = |line: &str| {
        let mut command = server.place.command(line.split(' '));
        command.arg("--allow-http").env("GOOGLE_SERVICE_ACCOUNT", server.place.path("account.json"));
        command.env("GOOGLE_BASE_URL", &server.address);
        end(command)
    };
    as_in_a_folder("gs://google/", &server.place, run);
    let said = run("pairs gs://nobucket/x.jsonl").err;
    assert!(said.contains("there is no bucket gs://nobucket"), "{said}");
    let said = run("pairs gs://denied/x.jsonl").err;
    assert!(said.contains("access is denied") && said.contains("GOOGLE_APPLICATION_CREDENTIALS"), "{said}");
}

#[test]
#[ignore = "needs Azurite, which tests/azure starts"]
fn azure_is_read_and_written() {
    let address =
        std::env::var("IBID_AZURITE").expect("IBID_AZURITE is the address of an Azurite with an empty container `box`");
    let place = Place::new();
    let run = |line: &str| {
        let mut command = place.command(line.split(' '));
        command.arg("--allow-http").env("AZURE_STORAGE_USE_EMULATOR", "true").env("AZURITE_BLOB_STORAGE_URL", &address);
        end(command)
    };
    as_in_a_folder("az://box/", &place, run);
    let said = run("pairs az://nobucket/x.jsonl").err;
    assert!(said.contains("there is no bucket az://nobucket"), "{said}");
}

#[test]
fn inputs_are_read_as_files_are() {
    let server = Server::start();
    let made = collection_jsonl(120, 3);
    let lines: Vec<&str> = made.lines().collect();
    server.place.write("in/a.jsonl", lines[..40].join("\n"));
    server.place.write("in/sub/b.jsonl.gz", gzip(lines[40..80].join("\n").as_bytes()));
    server.place.write("in/sub/c.txt", "A text of one sentence.");
    server.place.write("in/.hidden/d.txt", "It is hidden.");
    let made = ["sql", "SELECT 'e1' AS id, 'A few words.' AS text", "-o", "in/e.parquet"];
    assert_eq!(server.place.run_with(made, "").code, Some(0));
    copy_folder(&server.place.path("in"), &server.object("in"));
    for (local, remote) in
        [("in", "s3://box/in/"), ("in", "s3://box/in"), ("in/**/*.jsonl*", "s3://box/in/**/*.jsonl*")]
    {
        server.place.ok(&format!("ingest {local} -o here"));
        server.ok(&format!("ingest {remote} -o there"));
        for file in ["documents.parquet", "sentences.parquet"] {
            let [here, there] = ["here", "there"].map(|folder| server.place.read(format!("{folder}/{file}")));
            assert!(here == there, "{remote} {file}");
        }
    }
    // A file longer than one range request, and more objects than one page of a listing.
    let long: String =
        (0..120_000).map(|n| format!("{{\"id\": \"{n}\", \"text\": \"This is the text {n} of many.\"}}\n")).collect();
    server.put("long.jsonl", &long);
    server.place.write("long.jsonl", &long);
    server.requests();
    server.ok("ingest s3://box/long.jsonl -o there");
    let requests = server.requests();
    let pieces = requests.iter().filter(|request| request.method == "GET").count();
    // The file is read twice: for the columns, and for the rows.
    assert_eq!(pieces, 2 * long.len().div_ceil(4 << 20), "{requests:?}");
    server.place.ok("ingest long.jsonl -o here");
    assert!(server.place.read("here/documents.parquet") == server.place.read("there/documents.parquet"));
    for n in 0..1100 {
        server.put(&format!("many/{n:04}.txt"), format!("Text {n}."));
    }
    assert!(server.ok("ingest s3://box/many/ -o many").err.contains("documents 1,100"));
}

#[test]
fn files_in_from_are_held_to_the_limits() {
    let server = Server::start();
    let long = "x".repeat(20 << 20);
    server.put("line.jsonl.gz", gzip(format!("{{\"a\": \"y\"}}\n{{\"a\": \"{long}\"}}\n")));
    server.put("row.csv", format!("a,b\n1,\"{long}\"\n"));
    for (file, said) in [
        ("line.jsonl.gz", "line.jsonl.gz, line 2, byte 11: the line is longer than 16777216 bytes"),
        ("row.csv", "row.csv, line 2, byte 4: the row is longer than 16777216 bytes"),
    ] {
        let sql = |options: &str| format!("sql --format ndjson{options} -f count.sql");
        server.place.write("count.sql", format!("SELECT count(*) AS n FROM 's3://box/{file}'"));
        let err = server.fails(&sql(""));
        assert!(err.contains(said), "{err}");
        let ended = server.ok(&sql(" --max-record-bytes 32MiB"));
        assert!(ended.text().starts_with("{\"n\":"), "{}", ended.text());
    }
    server.put("late.jsonl", "{\"a\": 1}\n".repeat(2000) + "{\"a\": }\n");
    server.place.write("count.sql", "SELECT count(*) AS n FROM 's3://box/late.jsonl'");
    let err = server.fails("sql -f count.sql");
    assert!(err.contains("late.jsonl, line 2001, byte 18000: Not valid JSON: expected value"), "{err}");
}

#[test]
fn a_pattern_takes_what_manifests_name() {
    let server = Server::start();
    let ingest = |count: usize| {
        server.put("made.jsonl", collection_jsonl(count, 4));
        server.ok("ingest s3://box/made.jsonl -o s3://box/made/");
    };
    ingest(30);
    // The files of an earlier manifest stay there.
    let folder = server.object("made");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let earlier = names.into_iter().find(|name| name.starts_with("documents-")).unwrap();
    ingest(20);
    let select = |from: &str| format!("SELECT count(*) AS n FROM 's3://box/{from}'");
    for pattern in ["made/documents*.parquet", "m*/documents*", "*/documents-????????????????.parquet"] {
        assert_eq!(server.sql(&select(pattern)), "n\n20\n", "{pattern}");
    }
    assert_eq!(server.sql(&select(&format!("made/{earlier}"))), "n\n30\n");
    for (depth, n) in [("", 1), ("a/", 2), ("a/b/", 4)] {
        server.ok(&format!("sql -o s3://box/deep/{depth}t.parquet SELECT\t{n}\tAS\tn"));
    }
    assert_eq!(server.sql("SELECT sum(n) AS n FROM 's3://box/deep/**/*.parquet'"), "n\n7\n");
    assert_eq!(server.sql("SELECT sum(n) AS n FROM 's3://box/deep/a/**/*.parquet'"), "n\n6\n");
    server.ok("pairs s3://box/index --add s3://box/made.jsonl");
    for (from, says) in [
        (
            format!("made/{}*", &earlier[..20]),
            "which the manifest beside it does not count any more, and not s3://box/made/documents-",
        ),
        ("made/*.parquet".to_owned(), "names files of different tables, such as s3://box/made/documents-"),
        ("**/documents.parquet".to_owned(), "name s3://box/index/documents.parquet"),
    ] {
        let ended = end(server.with_key(["sql", &select(&from)]));
        assert!(ended.code == Some(1) && ended.err.contains(says), "{from}: {}", ended.err);
    }
}

#[test]
fn results_are_those_of_files() {
    let server = Server::start();
    let made = collection_jsonl(150, 4);
    server.place.write("made.jsonl", &made);
    server.put("made.jsonl", &made);
    server.place.ok("ingest made.jsonl -o made");
    server.ok("ingest s3://box/made.jsonl -o s3://box/made/");
    let names = |folder: &str| {
        let mut names: Vec<_> = std::fs::read_dir(server.object(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let [documents, manifest, _, sentences] = &names("made")[..] else { panic!("{:?}", names("made")) };
    assert_eq!(manifest, "manifest.json");
    for (table, remote) in [("documents", documents), ("sentences", sentences)] {
        assert!(
            server.place.read(format!("made/{table}.parquet")) == server.get(&format!("made/{remote}")),
            "{remote}"
        );
    }
    server.place.write("quotes.jsonl", made.lines().take(3).collect::<Vec<_>>().join("\n"));
    server.put("quotes.jsonl", server.place.read("quotes.jsonl"));
    let labels = "id_a,id_b,label\nd00001,d00002,1\nd00003,d00004,0\n";
    server.place.write("labels.csv", labels);
    server.put("labels.csv", labels);
    for (command, output) in [
        ("passages MADE", "out.parquet"),
        ("passages MADE --against MADE.jsonl --coverage CAPPED", "out.csv"),
        ("pairs MADE --unit sentence --threshold 0.7", "out.ndjson"),
        ("pairs MADE --threshold 0.05", "out.parquet"),
        ("threads MADE --field text --threshold 0.2 --groups GROUPS", "out.parquet"),
        ("threads MADE --field text --labels LABELS --threshold 0.2", "out.ndjson"),
        ("containment MADE", "out.csv"),
        ("containment QUOTES --against MADE", "out.parquet"),
        ("codes learn MADE --top 200", "codes.parquet"),
        ("search MADE --queries QUOTES --unit document", "out.ndjson"),
        ("search MADE --queries QUOTES --unit document --codes CODES --distance 16", "out.ndjson"),
        ("codes compare MADE --other QUOTES --queries 20 --top 100", "out.csv"),
    ] {
        let line = |root: &str| {
            let mut command = command.to_owned();
            for (name, file) in [
                ("MADE", "made"),
                ("QUOTES", "quotes.jsonl"),
                ("CAPPED", "capped.csv"),
                ("GROUPS", "groups.csv"),
                ("LABELS", "labels.csv"),
                ("CODES", "codes.parquet"),
            ] {
                command = command.replace(name, &format!("{root}{file}"));
            }
            format!("{command} -o {root}{output}")
        };
        server.place.ok(&line(""));
        server.ok(&line("s3://box/"));
        assert!(server.place.read(output) == server.get(output), "{command}");
        assert!(server.place.read(output).len() > 100, "{command}: hardly a result");
    }
    for further in ["capped.csv", "groups.csv"] {
        assert_eq!(server.place.read(further), server.get(further));
    }
    server.place.ok("clusters made -o groups");
    server.ok("clusters s3://box/made/ -o s3://box/groups");
    for name in names("groups").iter().filter(|name| *name != "manifest.json") {
        let local = format!("groups/{}.parquet", name.rsplit_once('-').unwrap().0);
        assert!(server.place.read(local) == server.get(&format!("groups/{name}")), "{name}");
    }
    let labels = "contained,container\nd00001,d00002\n";
    for (name, contents) in [("labelled/docs.jsonl", &*made), ("labelled/labels.csv", labels)] {
        server.place.write(name, contents);
        server.put(name, contents);
    }
    server.place.ok("compare containment labelled -o compared.parquet");
    server.ok("compare containment s3://box/labelled/ -o s3://box/compared.parquet");
    let figures = |root: &str| {
        // The cost differs in each run.
        let sql = format!("SELECT method, options, recall, found FROM '{root}compared.parquet' ORDER BY 1, 2");
        server.sql(&sql)
    };
    assert_eq!(figures("s3://box/"), figures(""));
    let count = "SELECT count(*) AS n FROM";
    assert_eq!(server.sql(&format!("{count} 's3://box/made/documents.parquet'")), "n\n150\n");
    let script = server.ok("pairs s3://box/made/ --show-sql").text().to_owned();
    let ended = end(server.with_key(["sql", "-c", &script, "--format", "csv"]));
    assert_eq!(ended.text(), server.place.ok("pairs made --format csv"));

    // Scripts, and the files that they read, may be objects, too.
    server.put("count.sql", format!("{count} 's3://box/made/documents.parquet'"));
    let ended = server.ok("sql -f s3://box/count.sql --format csv");
    assert_eq!(ended.text(), "n\n150\n");
    let script = "\\i s3://box/count.sql\n\\o s3://box/seven.csv\nSELECT 7 AS n;\n";
    let ended = end(server.with_key(["sql", "-c", script, "--format", "csv"]));
    assert_eq!((ended.code, ended.text()), (Some(0), "n\n150\n"), "{}", ended.err);
    assert_eq!(server.get("seven.csv"), b"n\n7\n");
    assert!(ended.err.contains("s3://box: read ") && ended.err.contains(" requests"), "{}", ended.err);
    let said = server.fails("sql -f s3://box/none.sql");
    assert!(said.contains("cannot read s3://box/none.sql: there is no s3://box/none.sql"), "{said}");

    // A corpus that was copied there.
    copy_folder(&server.place.path("made"), &server.object("copied"));
    server.ok("pairs s3://box/copied -o s3://box/again.parquet");
    // Another corpus replaces it; files of somebody else stay.
    server.ok("ingest s3://box/quotes.jsonl -o s3://box/made");
    assert_eq!(server.sql(&format!("{count} 's3://box/made/documents.parquet'")), "n\n3\n");
    server.put("made/thesis.tex", "years of work");
    let said = server.fails("ingest s3://box/quotes.jsonl -o s3://box/made");
    assert!(said.contains("it holds s3://box/made/thesis.tex, which this command does not write"), "{said}");
    for (line, expected) in [
        ("pairs quotes.jsonl -o s3://nobucket/x.csv", "there is no bucket s3://nobucket"),
        ("pairs quotes.jsonl -o s3://box/x.csv/", "it is a folder; name a file"),
        ("pairs quotes.jsonl -o s3://skewed/x.csv", "the clock of this machine"),
        ("ingest quotes.jsonl -o s3://nobucket/x/", "there is no bucket s3://nobucket"),
    ] {
        let said = server.fails(line);
        assert!(said.contains(expected), "{line}: {said}");
    }
    let left = std::fs::read_dir(server.place.path("tmp")).unwrap().count();
    assert_eq!(left, 0);

    // The files can be verified, and files that no manifest names are removed.
    std::fs::remove_file(server.object("made/thesis.tex")).unwrap();
    assert!(
        server.ok("verify s3://box/made/ s3://box/again.parquet").text().contains("4 files, all as they were written")
    );
    assert_eq!(names("made").len(), 7);
    let said = server.ok("gc s3://box/made/ --grace 0s");
    assert!(said.text().contains("files and folders removed 3"), "{}", said.text());
    assert_eq!(names("made").len(), 4);
    assert_eq!(server.sql(&format!("{count} 's3://box/made/documents.parquet'")), "n\n3\n");
    let documents = names("made").remove(0);
    let mut damaged = server.get(&format!("made/{documents}"));
    damaged[100] ^= 1;
    server.put(&format!("made/{documents}"), damaged);
    assert!(server.fails("verify s3://box/made/").contains("1 of 3 files are not what was written"));
    let said = server.fails("pairs s3://box/made/");
    assert!(said.contains("damaged"), "{said}");
}

#[test]
fn a_manifest_of_another_program_is_told_from_a_damaged_one() {
    let server = Server::start();
    server.put("dir/in.jsonl", collection_jsonl(5, 1));
    server.ok("ingest s3://box/dir/in.jsonl -o s3://box/corpus/");
    server.put("dir/manifest.json", "{\"files\": [\"in.jsonl\"]}");
    assert!(server.ok("ingest s3://box/dir/ --on-error skip -o there").err.contains("documents 5,"));
    let whole = server.get("corpus/manifest.json");
    for damaged in [&whole[..0], &whole[..whole.len() / 2], b"no JSON"] {
        server.put("corpus/manifest.json", damaged);
        for line in
            ["pairs s3://box/corpus", "verify s3://box/corpus/", "sql SELECT(1)FROM's3://box/corpus/documents.parquet'"]
        {
            let said = server.fails(line);
            assert!(said.contains("manifest.json is no sound manifest of a result"), "{line}: {said}");
        }
    }
}

#[test]
fn files_of_all_names_are_verified() {
    let server = Server::start();
    for (files, name) in ["a.parquet", "b~1.parquet", "数据.parquet", "x y#50%.parquet"].into_iter().enumerate() {
        let ended = end(server.with_key(["sql", "SELECT 1 AS n", "-o", &format!("s3://box/res/{name}")]));
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let said = server.ok("verify s3://box/res/");
        assert!(said.text().contains(&format!("{} files, all as they were written", files + 1)), "{}", said.text());
    }
}

#[test]
fn bad_records_go_to_an_object() {
    let server = Server::start();
    server.put("in.jsonl", "{\"text\": \"a\"}\nno JSON\n");
    server.ok("ingest s3://box/in.jsonl -o there --on-error quarantine --quarantine s3://box/bad.jsonl");
    let bad = String::from_utf8(server.get("bad.jsonl")).unwrap();
    assert!(bad.contains("\"data\":\"no JSON\"") && bad.contains("s3://box/in.jsonl"), "{bad}");
}

#[test]
fn no_secret_is_told() {
    let server = Server::start();
    server.put("x.csv", "a\n1\n");
    // `end` searches the output for secrets.
    for sql in [
        "EXPLAIN VERBOSE SELECT * FROM 's3://box/x.csv'",
        "EXPLAIN ANALYZE SELECT * FROM 's3://box/x.csv'",
        "SHOW ALL",
        "SELECT * FROM 'https://me:wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY@127.0.0.1:1/x.csv?X-Amz-Signature=1'",
        "SELECT * FROM 's3://me:wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY@box/x.csv'",
    ] {
        let mut command = server.with_key(["sql", sql]);
        command.env("RUST_LOG", "trace");
        end(command);
    }
    let web =
        format!("http://me:{SECRET}@{}/public/x.csv?token=Signature=1", server.address.trim_start_matches("http://"));
    server.place.write("buckets/public/x.csv", "a\n1\n");
    for sql in [
        format!("EXPLAIN SELECT * FROM '{web}'"),
        format!("EXPLAIN VERBOSE SELECT * FROM '{web}'"),
        format!("CREATE VIEW v AS SELECT * FROM '{web}'; SELECT * FROM information_schema.views; SELECT * FROM v"),
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://box/x.csv' OPTIONS ('format.null_value' 'Signature='); \
         SELECT * FROM information_schema.views; SELECT * FROM t"
            .to_owned(),
    ] {
        let ended = end(server.with_key(["sql", &sql]));
        assert_eq!(ended.code, Some(0), "{sql}: {}", ended.err);
    }
    server.ok(&format!("ingest {web} -o corpus --text-column a"));
    let manifest = String::from_utf8(server.place.read("corpus/manifest.json")).unwrap();
    assert!(manifest.contains("http://***@") && !manifest.contains(SECRET), "{manifest}");
    let ended = end(server.with_key(["verify", &web]));
    assert!(ended.code == Some(1) && ended.text().contains("http://***@"), "{ended:?}");
    let codes = web.replace("x.csv", "codes.parquet");
    server.place.write("a.jsonl", collection_jsonl(20, 1));
    server.ok("codes learn a.jsonl -o buckets/public/codes.parquet");
    let search = format!("search a.jsonl --queries a.jsonl --codes {codes} --distance 9");
    server.ok(&format!("{search} -o hits.parquet --resume kept"));
    let footer = String::from_utf8_lossy(&server.place.read("hits.parquet")).into_owned();
    assert!(footer.contains("/public/codes.parquet?***") && !footer.contains(SECRET), "{footer}");
    for folder in std::fs::read_dir(server.place.path("kept")).unwrap() {
        let manifest = std::fs::read_to_string(folder.unwrap().path().join("manifest.json")).unwrap();
        assert!(!manifest.contains(SECRET), "{manifest}");
    }
    let script = server.ok(&format!("{search} --show-sql")).text().to_owned();
    assert!(script.starts_with("-- secrets of URLs are left out") && script.contains("?***"), "{script}");
    let said =
        server.fails("pairs https://me:wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY@127.0.0.1:1/x.jsonl?X-Amz-Signature=1");
    assert!(said.contains("127.0.0.1:1"), "{said}");
}

#[test]
fn one_of_two_that_write_one_folder_is_told() {
    let server = Server::start();
    server.place.write("a.jsonl", collection_jsonl(40, 1));
    server.place.write("b.jsonl", collection_jsonl(40, 2));
    let texts = |folder: &str| {
        format!("SELECT md5(string_agg(text, '' ORDER BY doc_id)) AS h FROM 's3://box/{folder}/documents.parquet'")
    };
    let alone = ["a", "b"].map(|name| {
        server.ok(&format!("ingest {name}.jsonl -o s3://box/{name}/"));
        server.sql(&texts(name))
    });
    let (mut told, rounds) = (0, times("IBID_RACES", 2));
    for round in 0..rounds {
        let ended = std::thread::scope(|scope| {
            let run = |name: &str| {
                end(server.with_key(["ingest", &format!("{name}.jsonl"), "-o", &format!("s3://box/{round}/")]))
            };
            let runs = ["a", "b"].map(|name| scope.spawn(move || run(name)));
            runs.map(|run| run.join().unwrap())
        });
        let failed: Vec<_> = ended.iter().filter(|ended| ended.code != Some(0)).collect();
        assert!(failed.iter().all(|ended| ended.err.contains("another run wrote s3://box/")), "{failed:?}");
        assert!(failed.len() < 2);
        told += failed.len();
        let there = server.sql(&texts(&round.to_string()));
        let is_of = |run: usize| ended[run].code == Some(0) && there == alone[run];
        assert!(is_of(0) || is_of(1), "{there} of {alone:?}: {ended:?}");
        assert!(server.ok(&format!("verify s3://box/{round}/")).text().contains("3 files, all as they were written"));
    }
    // In a few rounds, the runs may always come one after the other.
    assert!(told > 0 || rounds < 10, "they never met");
}

#[test]
fn a_query_fetches_what_it_needs() {
    let server = Server::start();
    // Text that does not compress, in several groups of rows.
    let rows = "SELECT value AS n, encode(digest(CAST(value AS VARCHAR), 'sha512'), 'hex') AS text FROM generate_series(1, 400000)";
    let ended = end(server.with_key(["sql", rows, "-o", "s3://box/big.parquet"]));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let size = server.get("big.parquet").len() as u64;
    assert!(size > 20_000_000, "{size}");
    // The object was written in parts.
    assert!(server.requests().iter().filter(|request| request.target.contains("partNumber=")).count() > 1);
    assert_eq!(server.sql("SELECT sum(n) AS s FROM 's3://box/big.parquet' WHERE n <= 1000"), "s\n500500\n");
    let requests = server.requests();
    let read = read_of(&requests);
    assert!(read < size / 8, "{read} of {size}: {requests:#?}");
    assert!(requests.len() < 20, "{requests:#?}");
    assert!(requests.iter().all(|request| request.method != "GET" || !request.range.is_empty()), "{requests:#?}");
    // The query read nothing of the other row groups.
    assert_eq!(server.sql("SELECT sum(n) AS s FROM 's3://box/big.parquet'"), "s\n80000200000\n");
    let of_column = read_of(&server.requests());
    assert!(read < of_column / 2, "{read} of {of_column}");

    let said = server.ok("ingest s3://box/big.parquet --text-column text --id-column n -o there").err;
    let requests = server.requests();
    let read = read_of(&requests);
    assert!(read < size * 6 / 5, "{read} of {size}");
    assert!(said.contains(&format!("in {} requests", requests.len())), "{said}\n{requests:#?}");
}

#[test]
fn the_summary_counts_what_the_server_sent() {
    let server = Server::start();
    server.put("x.csv", "n,text\n1,x\n");
    let rows = "SELECT value AS n, encode(digest(CAST(value AS VARCHAR), 'sha512'), 'hex') AS text FROM generate_series(1, 3000)";
    let ended = end(server.with_key(["sql", rows, "-o", "s3://box/x.parquet"]));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for file in ["x.csv", "x.parquet"] {
        server.requests();
        let ended = end(server.with_key(["sql", &format!("SELECT sum(n) FROM 's3://box/{file}'")]));
        assert_eq!(ended.code, Some(0), "{file}: {}", ended.err);
        let requests = server.requests();
        // The requests include answers that an object does not exist.
        let sent: u64 = requests.iter().filter(|request| request.method != "HEAD").map(|request| request.bytes).sum();
        let read = if sent < 1000 { format!("{sent} bytes") } else { format!("{:.1} kB", sent as f64 / 1000.0) };
        let said = format!("s3://box: read {read} in {} requests", requests.len());
        assert!(sent > 0 && ended.err.contains(&said), "{file}: {said}: {}\n{requests:#?}", ended.err);
    }
}

/// A slow connection can deliver a piece before the timeout, but not a large file or a column of many rows.
#[test]
fn from_reads_in_pieces() {
    let server = Server::start();
    let text = "encode(digest(CAST(value AS VARCHAR), 'sha512'), 'hex')";
    let rows = format!("SELECT value AS n, {text} || {text} AS text FROM generate_series(1, 80000)");
    for file in ["x.csv", "x.ndjson", "x.parquet"] {
        let ended = end(server.with_key(["sql", &rows, "-o", &format!("s3://box/{file}")]));
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
    server.put("x.csv.gz", gzip(server.get("x.csv")));
    for file in ["x.csv", "x.csv.gz", "x.ndjson", "x.parquet"] {
        let size = server.get(file).len() as u64;
        assert!(size > 4 << 20, "{file}: {size}");
        server.requests();
        let sql = format!("SELECT sum(CAST(n AS BIGINT)) AS n, max(length(text)) AS longest FROM 's3://box/{file}'");
        assert_eq!(server.sql(&sql), "n,longest\n3200040000,256\n", "{file}");
        let requests = server.requests();
        assert!(read_of(&requests) >= size, "{file}");
        assert!(
            requests.iter().all(|request| request.method == "HEAD" || request.bytes <= 4 << 20),
            "{file}: {requests:#?}"
        );
    }
}

#[test]
fn an_index_grows_in_a_store() {
    let server = Server::start();
    let made = collection_jsonl(90, 8);
    let lines: Vec<&str> = made.lines().collect();
    for (i, part) in lines.chunks(30).enumerate() {
        server.place.write(&format!("{i}.jsonl"), part.join("\n"));
        server.place.ok(&format!("passages index --add {i}.jsonl -o {i}.csv"));
        server.ok(&format!("passages s3://box/index/ --add {i}.jsonl -o s3://box/{i}.csv"));
        assert_eq!(server.place.read(format!("{i}.csv")), server.get(&format!("{i}.csv")), "{i}");
    }
    assert_eq!(
        server.place.ok("passages index --format csv"),
        server.ok("passages s3://box/index --format csv").text()
    );
    assert_eq!(server.sql("SELECT count(*) AS n FROM 's3://box/index/documents.parquet'"), "n\n90\n");
    let lines = [lines[0], "{\"id\": \"s\", \"text\": \"It comes in a stream of documents.\"}"].join("\n");
    let streamed = |command: Command| {
        server.place.write("lines.jsonl", &lines);
        let mut command = command;
        command.stdin(std::fs::File::open(server.place.path("lines.jsonl")).unwrap());
        let ended = end(command);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        ended.out
    };
    server.place.ok("containment grows --add 0.jsonl -o out.csv");
    server.ok("containment s3://box/grows --add 0.jsonl -o out.csv");
    let add = |index| ["containment", index, "--add", "-", "--format", "ndjson"];
    assert_eq!(streamed(server.with_key(add("s3://box/grows/"))), streamed(server.place.command(add("grows"))));
    assert_eq!(server.sql("SELECT count(*) AS n FROM 's3://box/grows/documents.parquet'"), "n\n31\n");
    server.put("other/x.txt", "x");
    let said = server.fails("passages s3://box/other/ --add 0.jsonl");
    assert!(said.contains("s3://box/other/ is no index: it holds s3://box/other/x.txt"), "{said}");
    // Two runs at once: both add their documents, one after the other.
    server.place.write("x.jsonl", "{\"id\": \"x\", \"text\": \"The first of the two that come at once.\"}\n");
    server.place.write("y.jsonl", "{\"id\": \"y\", \"text\": \"The second of the two that come at once.\"}\n");
    std::thread::scope(|scope| {
        for name in ["x", "y"] {
            let server = &server;
            scope.spawn(move || server.ok(&format!("passages s3://box/index --add {name}.jsonl -o {name}.csv")));
        }
    });
    assert_eq!(server.sql("SELECT count(*) AS n FROM 's3://box/index/documents.parquet'"), "n\n92\n");
}

#[test]
fn an_answer_that_is_lost_is_made_good() {
    let server = Server::start();
    server.place.write("made.jsonl", collection_jsonl(40, 1));
    server.ok("pairs made.jsonl --threshold 0.1 -o s3://box/lost.csv");
    server.place.ok("pairs made.jsonl --threshold 0.1 -o out.csv");
    assert!(server.get("lost.csv") == server.place.read("out.csv"));
    let puts = server.requests().iter().filter(|request| request.method == "PUT" && request.status == 200).count();
    // The answer to the first write was lost, so it was repeated.
    assert_eq!(puts, 2);
    // The same for conditional writes: they are not done twice, and a run does not take its own write for that of
    // another run.
    server.ok("ingest made.jsonl -o s3://box/lost/");
    server.ok("ingest made.jsonl -o s3://box/lost/");
    server.ok("passages s3://box/lost-index/ --add made.jsonl -o out.csv");
    assert_eq!(server.sql("SELECT count(*) AS n FROM 's3://box/lost-index/documents.parquet'"), "n\n40\n");
    assert_eq!(std::fs::read_dir(server.object("lost-index/manifests")).unwrap().count(), 1);
    let requests = server.requests();
    let refused = requests.iter().filter(|request| request.method == "PUT" && request.status == 412).count();
    assert!(refused > 0, "{requests:?}");
}

#[test]
fn a_write_that_meets_another_is_tried_again() {
    let server = Server::start();
    server.place.write("made.jsonl", collection_jsonl(40, 1));
    server.ok("ingest made.jsonl -o s3://box/conflict/");
    assert!(server.ok("verify s3://box/conflict/").text().contains("3 files, all as they were written"));
    server.ok("passages s3://box/conflict-index/ --add made.jsonl -o out.csv");
    for folder in ["conflict", "conflict-index"] {
        let count = format!("SELECT count(*) AS n FROM 's3://box/{folder}/documents.parquet'");
        assert_eq!(server.sql(&count), "n\n40\n", "{folder}");
    }
    assert_eq!(std::fs::read_dir(server.object("conflict-index/manifests")).unwrap().count(), 1);
    let requests = server.requests();
    for folder in ["/box/conflict/", "/box/conflict-index/"] {
        let met = requests.iter().filter(|request| request.status == 409 && request.target.starts_with(folder)).count();
        assert!(met > 0, "{requests:?}");
    }
}

#[test]
fn a_web_server_is_told_the_name_and_the_password_of_the_url() {
    let server = Server::start();
    server.place.write("buckets/basic/x.csv", "a\n1\n");
    let read = |user: &str| {
        let web = format!("http://{user}{}/basic/x.csv", server.address.trim_start_matches("http://"));
        end(server.command(["sql", &format!("SELECT * FROM '{web}'"), "--format", "csv", "--allow-http"]))
    };
    assert_eq!(read("me:open%20it:@").text(), "a\n1\n");
    for user in ["", "me:wrong@", "you:open%20it:@"] {
        let ended = read(user);
        assert!(ended.code == Some(1) && ended.err.contains("access is denied"), "{user}: {}", ended.err);
    }
}

/// A manifest whose request is not answered may still be written later, so the part that it names stays.
#[test]
fn a_write_that_is_done_late_or_cannot_be_looked_at_loses_nothing() {
    let server = Server::start();
    for (folder, is_known) in [("delayed", true), ("lost-hidden", false)] {
        let index = format!("s3://box/{folder}/");
        let add = |n: u64| {
            server.place.write("made.jsonl", collection_jsonl(20, n));
            let mut command = server.with_key(["pairs", &index, "--add", "made.jsonl", "-o", "out.csv"]);
            command.env("AWS_TIMEOUT", "1 second");
            end(command)
        };
        let ended = add(1);
        let said = &ended.err;
        assert_eq!(ended.code, Some(if is_known { 0 } else { 1 }), "{said}");
        assert!(is_known || said.contains("access is denied"), "{said}");
        server.ok(&format!("verify {index}"));
        let count = format!("SELECT count(*) AS n FROM 's3://box/{folder}/documents.parquet'");
        assert_eq!(server.sql(&count), "n\n20\n", "{folder}: {said}");
    }
}

#[test]
fn an_object_that_changes_while_it_is_read_is_an_error() {
    let server = Server::start();
    server.put("changing.jsonl", "{\"text\": \"a\"}\n");
    let said = server.fails("pairs s3://box/changing.jsonl");
    // A hint to correct a record would not help.
    let expected = "s3://box/changing.jsonl, byte 0: it was changed while it was read or written; run it again\n";
    assert!(said.ends_with(expected), "{said}");
    // The columns are inferred before the rows are read.
    server.put("changing.csv", "a\n1\n");
    server.place.write("count.sql", "SELECT count(*) FROM 's3://box/changing.csv'");
    let said = server.fails("sql -f count.sql");
    assert!(said.contains("s3://box/changing.csv: it was changed while it was read"), "{said}");
}

#[test]
fn gc_gives_up_uploads_that_were_not_ended() {
    let server = Server::start();
    let rows =
        "SELECT value, encode(digest(CAST(value AS VARCHAR), 'sha512'), 'hex') AS text FROM generate_series(1, 300000)";
    let begun = || {
        let names = std::fs::read_dir(server.place.path("buckets")).unwrap().map(|entry| entry.unwrap().file_name());
        names
            .filter(|name| name.to_str().unwrap().contains(".upload-") && name.to_str().unwrap().contains(".object-"))
            .count()
    };
    for (uploads, key) in ["a.parquet", "b & c.parquet", "d.parquet", "deeper/e.parquet"].into_iter().enumerate() {
        let output = format!("s3://box/dir/{key}");
        let mut child = server.with_key(["sql", rows, "-o", &output]).spawn().unwrap();
        while begun() == uploads {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(begun(), 4);
    // An upload of another program, with a key that ibid never writes: `dir//x`.
    server.place.write("buckets/.bucket-Ym94.object-ZGlyLy94.upload-1.metadata.json", "{}");
    let said = server.ok("gc s3://box/dir/");
    assert!(said.text().contains("younger than --grace is left for a later call: 3 "), "{}", said.text());
    let said = server.ok("gc s3://box/dir/ --grace 0s --dry-run");
    assert!(
        said.text().contains("s3://box/dir/a.parquet: an upload that was not ended, would be given up"),
        "{}",
        said.text()
    );
    assert_eq!(begun(), 5);
    let said = server.ok("gc s3://box/dir/ --grace 0s");
    assert!(
        said.text().contains("s3://box/dir/b & c.parquet: an upload that was not ended, given up"),
        "{}",
        said.text()
    );
    // Uploads in deeper folders belong to those folders.
    assert_eq!(begun(), 2);
    server.ok("gc s3://box/dir/deeper/ --grace 0s");
    assert_eq!(begun(), 1);
    // An interrupted run aborts its upload itself.
    let mut child = server.with_key(["sql", rows, "-o", "s3://box/f.parquet"]).spawn().unwrap();
    while begun() == 1 {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(begun(), 1);
    assert!(!server.object("f.parquet").exists());
}

#[test]
fn gc_removes_of_a_bucket_what_is_surely_left_and_nothing_else() {
    let server = Server::start();
    for (number, name) in ["a", "b"].into_iter().enumerate() {
        server.place.write(&format!("{name}.jsonl"), collection_jsonl(20, number as u64));
    }
    let names = |folder: &str| {
        let entries = std::fs::read_dir(server.object(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let gc = |line: &str, expected: &str| {
        let said = server.ok(line);
        assert!(said.text().contains(expected), "{line}: {}", said.text());
    };
    let theirs = "sales-2024010112000000.parquet";
    // A run that was killed before it wrote a manifest.
    server.ok("ingest a.jsonl -o s3://box/x/");
    std::fs::remove_file(server.object("x/manifest.json")).unwrap();
    let whole = server.get(&format!("x/{}", names("x")[0]));
    for name in [theirs, "documents-0123456789abcdef.parquet", "documents.parquet"] {
        server.put(&format!("x/{name}"), &whole);
    }
    gc("gc s3://box/x/", "left for a later call: 3 parts and files");
    gc("gc s3://box/x/ --grace 0s", "files and folders removed 3");
    assert_eq!(names("x"), ["documents-0123456789abcdef.parquet", "documents.parquet", theirs]);

    // A corpus that was copied there, and is replaced.
    server.place.ok("ingest a.jsonl -o corpus");
    copy_folder(&server.place.path("corpus"), &server.object("y.v2"));
    server.ok("ingest b.jsonl -o s3://box/y.v2/");
    server.put(&format!("y.v2/{theirs}"), "sales");
    assert!(server.ok("verify s3://box/y.v2").text().contains("3 files, all as they were written; passed over 1"));
    gc("gc s3://box/y.v2/ --grace 0s", "files and folders removed 3");
    assert_eq!(names("y.v2").len(), 5);
    server.ok("verify s3://box/y.v2/");

    // A first batch that was killed before its manifest.
    server.ok("pairs s3://box/z --add a.jsonl -o rows.csv");
    std::fs::remove_dir_all(server.object("z/manifests")).unwrap();
    server.put("z/parts/00000001-0123456789abcdef/documents.parquet", "half");
    server.put("z/parts/00000001-0123456789abcdee/notes.txt", "notes");
    gc("gc s3://box/z", "left for a later call: 1 parts and files");
    gc("gc s3://box/z --grace 0s", "files and folders removed 1");
    assert_eq!(server.get("z/parts/00000001-0123456789abcdef/documents.parquet"), b"half");
    assert_eq!(server.get("z/parts/00000001-0123456789abcdee/notes.txt"), b"notes");
}

#[test]
fn a_collection_without_duplicates_is_handed_on_in_a_bucket() {
    let server = Server::start();
    let rows =
        |n: usize| jsonl((0..n).map(|i| (format!("d{i}"), format!("The text that stands on page {} of it.", i / 2))));
    server.place.write("a.jsonl", rows(6));
    server.place.write("b.jsonl", rows(10));
    let kept = || server.sql("SELECT count(*) AS n FROM 's3://box/clean/kept-*/*.jsonl.zst'");
    for (file, expected) in [("a.jsonl", "n\n3\n"), ("b.jsonl", "n\n5\n")] {
        server.ok(&format!("dedup {file} --by exact --format jsonl.zst --rows-per-file 2 -o s3://box/clean/"));
        assert!(server.ok("verify s3://box/clean/").text().contains("files, all as they were written"));
        // The earlier files stay for their readers until `ibid gc`.
        server.ok("gc s3://box/clean/ --grace 0s");
        assert_eq!(kept(), expected);
    }
    assert!(server.ok("gc s3://box/clean/ --grace 0s").text().contains("files and folders removed 0"));
}
