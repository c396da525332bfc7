#[cfg(test)]
mod tests;

use crate::handshake;
use crate::role::DtlsRole;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use thiserror::Error;

/// Our certificate with its private key, and the state that all its handshakes share.
#[derive(Clone)]
pub struct Certificate {
    own: dimpl::DtlsCertificate,
    /// `None` without handshakes, or with seeds, each of which has its own: for each
    /// configuration, the library tests all its ciphers, which takes milliseconds.
    configs: Option<Configs>,
}

/// Configurations of both roles.
#[derive(Clone)]
struct Configs {
    client: Arc<dimpl::Config>,
    server: Arc<dimpl::Config>,
}

/// Failure to create a certificate.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// The system's random generator or the key generation failed.
    #[error("making a certificate failed: {0}; the system's random generator may be unavailable")]
    Generation(dimpl::certificate::CertificateError),
}

impl Certificate {
    /// Creates a self-signed certificate (ECDSA on P-256) with the system's secure
    /// generator. Many associations can use one certificate.
    ///
    /// # Errors
    /// [`CertificateError::Generation`] if the system provides no key.
    pub fn generate() -> Result<Certificate, CertificateError> {
        dimpl::certificate::generate_self_signed_certificate()
            .map(Certificate::new)
            .map_err(CertificateError::Generation)
    }

    /// Returns a placeholder for associations without a handshake ([`Keying::Plain`]).
    ///
    /// [`Keying::Plain`]: crate::Keying::Plain
    #[cfg(feature = "simulation")]
    #[must_use]
    pub fn unused() -> Certificate {
        Certificate::fixed(&[])
    }

    /// Returns these bytes instead of a certificate, for handshakes without security.
    #[cfg(feature = "simulation")]
    pub(crate) fn fixed(certificate: &[u8]) -> Certificate {
        Certificate {
            own: dimpl::DtlsCertificate {
                certificate: certificate.to_vec(),
                private_key: Vec::new(),
            },
            configs: None,
        }
    }

    fn new(own: dimpl::DtlsCertificate) -> Certificate {
        let config = |role| Arc::new(handshake::config(role, None));
        Certificate {
            own,
            configs: Some(Configs {
                client: config(DtlsRole::Client),
                server: config(DtlsRole::Server),
            }),
        }
    }

    /// Returns the fingerprint for the session description.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.own.certificate)
    }

    pub(crate) fn for_library(&self) -> dimpl::DtlsCertificate {
        self.own.clone()
    }

    /// Returns the configuration that was validated with the certificate, or a new one
    /// for a run with a seed.
    pub(crate) fn handshake_config(&self, role: DtlsRole, seed: Option<u64>) -> Arc<dimpl::Config> {
        match (&self.configs, role, seed) {
            (_, _, Some(_)) | (None, _, None) => Arc::new(handshake::config(role, seed)),
            (Some(configs), DtlsRole::Client, None) => Arc::clone(&configs.client),
            (Some(configs), DtlsRole::Server, None) => Arc::clone(&configs.server),
        }
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({})", self.fingerprint())
    }
}

/// SHA-256 fingerprint of a certificate (RFC 8122).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

/// Unusable fingerprint.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FingerprintError {
    /// The hash is not SHA-256, which every WebRTC endpoint must support (RFC 8826 section
    /// 4.1).
    #[error("fingerprint algorithm {0:?} is not supported: the peer must offer sha-256")]
    Algorithm(String),
    /// Not 32 bytes of hexadecimal digits.
    #[error("a sha-256 fingerprint has 32 bytes as colon-separated hexadecimal digits")]
    Format,
}

impl Fingerprint {
    /// Parses a fingerprint from a session description.
    ///
    /// # Errors
    /// If the algorithm is not `sha-256`, or the hash has not 32 bytes.
    pub fn new(algorithm: &str, bytes: &[u8]) -> Result<Fingerprint, FingerprintError> {
        if !algorithm.eq_ignore_ascii_case("sha-256") {
            return Err(FingerprintError::Algorithm(algorithm.to_owned()));
        }
        bytes
            .try_into()
            .map(Fingerprint)
            .map_err(|_| FingerprintError::Format)
    }

    /// Returns the hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn of(certificate: &[u8]) -> Fingerprint {
        let hash = dimpl::certificate::calculate_fingerprint(certificate);
        Fingerprint(hash.try_into().expect("SHA-256 has 32 bytes"))
    }
}

/// The form of `a=fingerprint`: `sha-256 AB:CD:...`.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha-256 ")?;
        for (i, byte) in self.0.iter().enumerate() {
            let colon = if i == 0 { "" } else { ":" };
            write!(f, "{colon}{byte:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;
    fn from_str(text: &str) -> Result<Fingerprint, FingerprintError> {
        let (algorithm, hex) = text
            .trim()
            .split_once(' ')
            .ok_or(FingerprintError::Format)?;
        let bytes: Option<Vec<u8>> = hex
            .trim()
            .split(':')
            .map(|b| u8::from_str_radix(b, 16).ok().filter(|_| b.len() == 2))
            .collect();
        Fingerprint::new(algorithm, &bytes.ok_or(FingerprintError::Format)?)
    }
}

impl TryFrom<&weft_wire::sdp::Fingerprint> for Fingerprint {
    type Error = FingerprintError;
    fn try_from(of: &weft_wire::sdp::Fingerprint) -> Result<Fingerprint, FingerprintError> {
        Fingerprint::new(&of.algorithm, &of.bytes)
    }
}

impl From<Fingerprint> for weft_wire::sdp::Fingerprint {
    fn from(of: Fingerprint) -> weft_wire::sdp::Fingerprint {
        weft_wire::sdp::Fingerprint {
            algorithm: "sha-256".to_owned(),
            bytes: of.0.to_vec(),
        }
    }
}
