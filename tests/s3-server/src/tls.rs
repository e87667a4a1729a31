//! Encryption, by a certificate for 127.0.0.1 that only the authority of `tls/authority.pem` has signed.

use std::sync::Arc;

use anyhow::Result;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The certificate, and its key.
const SERVER: &[u8] = include_bytes!("../tls/server.pem");

pub(crate) fn acceptor() -> Result<TlsAcceptor> {
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from_pem_slice(SERVER)?], PrivateKeyDer::from_pem_slice(SERVER)?)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
