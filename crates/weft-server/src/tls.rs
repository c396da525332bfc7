use crate::config::Security;
use crate::error::ServerError;
use crate::own_certificate::{self, Renewal};
use ::aws_lc_rs::digest;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::{self, ServerConfig};

/// What a server shows to prove who it is.
pub(crate) struct Tls {
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) fingerprint: String,
    pub(crate) renewal: Option<Renewal>,
}

/// The TLS side of a server that listens on `ip`; `None` for plain HTTP.
pub(crate) fn prepare(
    security: &Security,
    ip: IpAddr,
    state: Option<&Path>,
) -> Result<Option<Tls>, ServerError> {
    match security {
        Security::InsecureHttp => Ok(None),
        Security::Auto if ip.is_loopback() => Ok(None),
        Security::Auto => match state {
            Some(state) => {
                let kept = own_certificate::kept(ip, state, UnixTime::now())?;
                let tls = from_files(&kept.certificate, &kept.key)?;
                Ok(Some(Tls {
                    renewal: kept.renewal,
                    ..tls
                }))
            }
            None => {
                let (certificate, key) = own_certificate::made(ip, UnixTime::now())?;
                made(&certificate, &key).map(Some)
            }
        },
        Security::Certificate { certificate, key } => from_files(certificate, key).map(Some),
    }
}

fn from_files(certificate: &Path, key: &Path) -> Result<Tls, ServerError> {
    let chain = chain_of(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| ServerError::unreadable(key, pem_words(error)))?;
    accept_with(chain, key).map_err(|error| ServerError::CertificateUnusable {
        path: certificate.to_owned(),
        reason: error.to_string(),
    })
}

/// The certificates in a file, at least one.
pub(crate) fn chain_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, ServerError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| ServerError::unreadable(path, pem_words(error)))?;
    match chain.is_empty() {
        true => Err(ServerError::unreadable(path, "it holds no certificate")),
        false => Ok(chain),
    }
}

fn pem_words(error: rustls::pki_types::pem::Error) -> String {
    use rustls::pki_types::pem::Error;
    match error {
        Error::Io(error) => error.to_string(),
        Error::NoItemsFound => "it holds no such PEM section".to_owned(),
        other => other.to_string(),
    }
}

fn made(certificate: &rcgen::Certificate, key: &rcgen::KeyPair) -> Result<Tls, ServerError> {
    let refused = |reason: String| ServerError::System { reason };
    let key = PrivateKeyDer::try_from(key.serialize_der())
        .map_err(|reason| refused(reason.to_owned()))?;
    accept_with(vec![certificate.der().clone()], key).map_err(|e| refused(e.to_string()))
}

/// SHA-256 of a certificate, as browsers show it.
fn fingerprint_of(certificate: &CertificateDer<'_>) -> String {
    let hash = digest::digest(&digest::SHA256, certificate);
    let octets: Vec<String> = hash.as_ref().iter().map(|b| format!("{b:02X}")).collect();
    octets.join(":")
}

fn accept_with(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Tls, rustls::Error> {
    let fingerprint = chain.first().map(fingerprint_of).unwrap_or_default();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Tls {
        acceptor: TlsAcceptor::from(Arc::new(config)),
        fingerprint,
        renewal: None,
    })
}
