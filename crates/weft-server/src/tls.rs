use crate::config::Security;
use crate::error::ServerError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// The TLS side of a server that listens on `ip`; `None` for plain HTTP.
pub(crate) fn acceptor(
    security: &Security,
    ip: IpAddr,
) -> Result<Option<TlsAcceptor>, ServerError> {
    match security {
        Security::InsecureHttp => Ok(None),
        Security::Auto if ip.is_loopback() => Ok(None),
        Security::Auto => self_signed(ip).map(Some),
        Security::Certificate { certificate, key } => from_files(certificate, key).map(Some),
    }
}

fn from_files(certificate: &Path, key: &Path) -> Result<TlsAcceptor, ServerError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| ServerError::unreadable(certificate, pem_words(error)))?;
    if chain.is_empty() {
        return Err(ServerError::unreadable(
            certificate,
            "it holds no certificate",
        ));
    }
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| ServerError::unreadable(key, pem_words(error)))?;
    accept_with(chain, key).map_err(|error| ServerError::CertificateUnusable {
        path: certificate.to_owned(),
        reason: error.to_string(),
    })
}

fn pem_words(error: rustls::pki_types::pem::Error) -> String {
    use rustls::pki_types::pem::Error;
    match error {
        Error::Io(error) => error.to_string(),
        Error::NoItemsFound => "it holds no such PEM section".to_owned(),
        other => other.to_string(),
    }
}

fn self_signed(ip: IpAddr) -> Result<TlsAcceptor, ServerError> {
    let mut names = vec![
        "localhost".to_owned(),
        Ipv4Addr::LOCALHOST.to_string(),
        Ipv6Addr::LOCALHOST.to_string(),
    ];
    if !ip.is_unspecified() {
        names.push(ip.to_string());
    }
    let refused = |reason: String| ServerError::System { reason };
    let made = rcgen::generate_simple_self_signed(names).map_err(|e| refused(e.to_string()))?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())
        .map_err(|reason| refused(reason.to_owned()))?;
    accept_with(vec![made.cert.der().clone()], key).map_err(|e| refused(e.to_string()))
}

fn accept_with(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<TlsAcceptor, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
