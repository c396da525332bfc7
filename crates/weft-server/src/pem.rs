//! Certificates and keys in files.

use crate::error::ServerError;
use std::path::Path;
use tokio_rustls::rustls::pki_types::pem::{Error, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Reads the certificates of a file, at least one.
pub(crate) fn chain_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, ServerError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| ServerError::unreadable(path, words(error)))?;
    match chain.is_empty() {
        true => Err(ServerError::unreadable(path, "it holds no certificate")),
        false => Ok(chain),
    }
}

/// Reads the private key of a file.
pub(crate) fn key_of(path: &Path) -> Result<PrivateKeyDer<'static>, ServerError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| ServerError::unreadable(path, words(error)))
}

fn words(error: Error) -> String {
    match error {
        Error::Io(error) => error.to_string(),
        Error::NoItemsFound => "it holds no such PEM section".to_owned(),
        other => other.to_string(),
    }
}
