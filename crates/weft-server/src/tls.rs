use crate::config::Security;
use crate::error::ServerError;
use crate::own_certificate::{self, Renewal};
use crate::pem;
use ::aws_lc_rs::digest;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::{self, ServerConfig};

/// TLS configuration of a server with its certificate.
pub(crate) struct Tls {
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) fingerprint: String,
    pub(crate) renewal: Option<Renewal>,
}

/// Source of a server's certificate.
pub(crate) struct Source {
    security: Security,
    /// Address of the server.
    ip: IpAddr,
    /// Folder of the self-signed certificate.
    state: Option<PathBuf>,
}

impl Source {
    pub(crate) fn new(security: Security, ip: IpAddr, state: Option<PathBuf>) -> Source {
        Source {
            security,
            ip,
            state,
        }
    }

    /// Reads or makes the certificate; `None` for plain HTTP.
    pub(crate) fn read(&self) -> Result<Option<Tls>, ServerError> {
        let (ip, now) = (self.ip, UnixTime::now());
        match (&self.security, &self.state) {
            (Security::InsecureHttp, _) => Ok(None),
            (Security::Auto, _) if ip.is_loopback() => Ok(None),
            (Security::Auto, Some(state)) => {
                let kept = own_certificate::kept(ip, state, now)?;
                let tls = from_files(&kept.certificate, &kept.key)?;
                Ok(Some(Tls {
                    renewal: kept.renewal,
                    ..tls
                }))
            }
            (Security::Auto, None) => {
                let (certificate, key) = own_certificate::made(ip, now)?;
                made(&certificate, &key).map(Some)
            }
            (Security::Certificate { certificate, key }, _) => {
                from_files(certificate, key).map(Some)
            }
        }
    }

    /// Files configured by the operator, which other programs renew.
    pub(crate) fn files(&self) -> Option<[&Path; 2]> {
        match &self.security {
            Security::Certificate { certificate, key } => Some([certificate, key]),
            _ => None,
        }
    }

    /// Whether reading it again gives the same or a renewed certificate, not an
    /// unrelated one.
    pub(crate) fn lasts(&self) -> bool {
        self.security != Security::Auto || self.state.is_some()
    }
}

fn from_files(certificate: &Path, key: &Path) -> Result<Tls, ServerError> {
    let chain = pem::chain_of(certificate)?;
    let key = pem::key_of(key)?;
    accept_with(chain, key).map_err(|error| ServerError::CertificateUnusable {
        path: certificate.to_owned(),
        reason: error.to_string(),
    })
}

fn made(certificate: &rcgen::Certificate, key: &rcgen::KeyPair) -> Result<Tls, ServerError> {
    let refused = |reason: String| ServerError::System { reason };
    let key = PrivateKeyDer::try_from(key.serialize_der())
        .map_err(|reason| refused(reason.to_owned()))?;
    accept_with(vec![certificate.der().clone()], key).map_err(|e| refused(e.to_string()))
}

/// SHA-256 fingerprint of a certificate, as browsers show it.
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
