//! An S3 server on loopback, for the tests of ibid: `ibid-s3-server FOLDER KEY SECRET` serves the folders of FOLDER as buckets
//! to whoever signs with KEY and SECRET, says its address on standard output, and ends with its standard input.

use std::io::Write as _;

use anyhow::{Context, Result, bail};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, key, secret] = arguments.as_slice() else { bail!("call it with FOLDER KEY SECRET") };
    let files = FileSystem::new(folder).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let mut service = S3ServiceBuilder::new(files);
    service.set_auth(SimpleAuth::from_single(key, secret.clone()));
    let service = service.build();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    writeln!(std::io::stdout(), "http://{}", listener.local_addr()?)?;
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    loop {
        let (socket, _) = listener.accept().await.context("cannot accept a connection")?;
        let service = service.clone();
        tokio::spawn(async move {
            // A client that goes away is none of the server's business.
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
