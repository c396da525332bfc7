//! Verification of a server's certificate.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::SignallingError;

/// Trusted certificates.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// Certificates signed by the public authorities.
    #[default]
    Public,
    /// Certificates in this file (PEM): those of a certificate authority, or the server's
    /// own.
    File(PathBuf),
    /// Any certificate; a man in the middle can read and change the signalling, including
    /// the keys of the call.
    Anybody,
}

impl Trust {
    /// # Errors
    /// If the file has no certificate.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, SignallingError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match self.roots()? {
            Some(roots) => {
                let builder = WebPkiServerVerifier::builder_with_provider(
                    Arc::new(roots),
                    Arc::clone(&provider),
                );
                let inner = builder.build().map_err(|error| self.bad(&error))?;
                Arc::new(NamesFirst(inner))
            }
            None => Arc::new(Unverified(Arc::clone(&provider))),
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for TLS 1.2 and 1.3");
        let config = config
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }

    /// Trusted authorities; `None` disables the check.
    fn roots(&self) -> Result<Option<RootCertStore>, SignallingError> {
        let mut roots = RootCertStore::empty();
        match self {
            Trust::Anybody => return Ok(None),
            Trust::Public => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Trust::File(path) => {
                let pem = std::fs::read(path).map_err(|error| self.bad(&error))?;
                for found in CertificateDer::pem_slice_iter(&pem) {
                    let found = found.map_err(|error| self.bad(&error))?;
                    roots.add(found).map_err(|error| self.bad(&error))?;
                }
                if roots.is_empty() {
                    return Err(self.bad(&"it holds no certificate"));
                }
            }
        }
        Ok(Some(roots))
    }

    fn bad(&self, error: &dyn std::fmt::Display) -> SignallingError {
        let path = match self {
            Trust::File(path) => path.display().to_string(),
            Trust::Public | Trust::Anybody => "the public authorities".to_owned(),
        };
        let error = error.to_string();
        SignallingError::Authority { path, error }
    }
}

/// Verifies certificates as usual, but reports a wrong name before an unknown issuer,
/// because the certificates of captive portals have other names.
#[derive(Debug)]
struct NamesFirst(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for NamesFirst {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let NamesFirst(inner) = self;
        let verified =
            inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        verified.map_err(|error| {
            let parsed = ParsedCertificate::try_from(end_entity);
            let named = parsed.and_then(|c| verify_server_name(&c, server_name));
            named.err().unwrap_or(error)
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Accepts any certificate, for [`Trust::Anybody`].
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
