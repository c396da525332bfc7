//! How a server proves who it is.

use std::path::PathBuf;
use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use super::SignallingError;

/// Whose certificates are good.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// Those that the public authorities vouch for.
    #[default]
    Public,
    /// Those in this file (PEM): an authority's, or the server's own.
    File(PathBuf),
    /// Anybody's: whoever stands between can read and change what is said,
    /// and with it the keys of the call.
    Anybody,
}

impl Trust {
    /// # Errors
    /// If the file has no certificate.
    pub(super) fn config(&self) -> Result<TlsConfig, SignallingError> {
        // One provider for the process; a second call finds it set.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(provider);
        Ok(match self {
            Trust::Public => config.root_certs(RootCerts::WebPki),
            Trust::File(path) => {
                let bad = |error: String| SignallingError::Authority {
                    path: path.display().to_string(),
                    error,
                };
                let pem = std::fs::read(path).map_err(|e| bad(e.to_string()))?;
                let found: Result<Vec<Certificate<'static>>, _> = ureq::tls::parse_pem(&pem)
                    .filter_map(|item| match item {
                        Ok(ureq::tls::PemItem::Certificate(found)) => Some(Ok(found)),
                        Ok(_) => None,
                        Err(error) => Some(Err(bad(error.to_string()))),
                    })
                    .collect();
                let found = found?;
                if found.is_empty() {
                    return Err(bad("it holds no certificate".to_owned()));
                }
                config.root_certs(RootCerts::Specific(Arc::new(found)))
            }
            Trust::Anybody => config.disable_verification(true),
        }
        .build())
    }
}
