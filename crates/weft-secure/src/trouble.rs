use crate::failure::FailReason;
use crate::record;
use crate::role::DtlsRole;
use dimpl::{CryptoError, CryptoOperation, SecurityError};
use weft_units::{Duration, Instant};

/// Time from a fatal alert or a refused certificate to the failure. The record may be
/// forged, so if the peer finishes the handshake in this time, it is connected. Chosen by
/// us: a few retransmissions.
const GRACE: Duration = Duration::from_secs(2);

/// Evidence of a failing handshake.
#[derive(Default)]
pub(crate) struct Trouble {
    /// Whether any record of the peer has arrived.
    heard: bool,
    /// Failure that the peer or its certificate caused, and the time when it takes effect.
    end: Option<(FailReason, Instant)>,
    /// Text of the library's error on the last refused record.
    last_error: String,
}

impl Trouble {
    /// Notes a record from the peer and the library's result for it.
    pub fn on_packet(
        &mut self,
        now: Instant,
        role: DtlsRole,
        packet: &[u8],
        handled: &Result<(), dimpl::Error>,
    ) {
        // As a client, the library ignores alerts from a server that it does not know yet.
        let alert = record::fatal_alert(packet).map(|code| FailReason::Alert { code, role });
        self.heard = true;
        let end = match handled {
            Ok(()) => alert,
            Err(error) => {
                self.last_error = error.to_string();
                alert.or_else(|| end_by(error, role))
            }
        };
        if let (Some(reason), None) = (end, &self.end) {
            self.end = Some((reason, now + GRACE));
        }
    }

    /// Time at which the handshake fails, unless the peer finishes it before.
    pub fn ends_at(&self) -> Option<Instant> {
        self.end.as_ref().map(|(_, at)| *at)
    }

    /// Reason why the handshake is not finished.
    pub fn reason(&self, role: DtlsRole) -> FailReason {
        match &self.end {
            Some((reason, _)) => reason.clone(),
            None if !self.heard => FailReason::Unanswered(role),
            None => FailReason::Unfinished(self.last_error.clone()),
        }
    }
}

/// Failure that follows for certain from this error of the library, if any.
fn end_by(error: &dimpl::Error, role: DtlsRole) -> Option<FailReason> {
    match error {
        dimpl::Error::SecurityError(SecurityError::FatalAlert { description }) => {
            let code = *description;
            Some(FailReason::Alert { code, role })
        }
        dimpl::Error::CertificateError(error) => Some(FailReason::Certificate(error.to_string())),
        dimpl::Error::SecurityError(
            error @ (SecurityError::UnsupportedSignatureScheme(_)
            | SecurityError::SignatureSchemeNotOffered(_)),
        ) => Some(FailReason::Certificate(error.to_string())),
        dimpl::Error::CryptoError(error) => certificate_problem(error).map(FailReason::Certificate),
        _ => None,
    }
}

/// Problem with the peer's certificate or signature, if the error describes one.
fn certificate_problem(error: &CryptoError) -> Option<String> {
    Some(match error {
        CryptoError::CertificateParseFailed => "it is malformed".to_owned(),
        CryptoError::InvalidSubjectPublicKey => {
            "its key is malformed, or RSA of less than 2,048 bits".to_owned()
        }
        CryptoError::SignatureVerificationFailed { .. }
        | CryptoError::OperationFailed(CryptoOperation::VerifySignature) => {
            "its signature is wrong".to_owned()
        }
        CryptoError::UnsupportedPublicKeyAlgorithm
        | CryptoError::UnsupportedEcCurve
        | CryptoError::MissingEcCurveParameter
        | CryptoError::InvalidEcCurveParameter
        | CryptoError::UnsupportedSignatureAlgorithm(_)
        | CryptoError::UnsupportedSignatureVerification { .. } => error.to_string(),
        _ => return None,
    })
}
