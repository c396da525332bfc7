//! Reasons why an association fails, with texts for a log or a terminal.

use crate::role::DtlsRole;
use std::fmt;

/// Certificates that weft accepts from a peer.
const GOOD_CERTIFICATES: &str = "weft accepts ECDSA certificates on P-256 and P-384; \
    of a peer that opens the handshake over DTLS 1.2 also RSA certificates of 2,048 bits \
    and more, with SHA-256 or SHA-384";

/// Remedy for a peer with an RSA certificate that answers our handshake.
const LET_IT_OPEN: &str = "if its certificate is RSA (GStreamer's default), let the peer \
    open the handshake (a=setup:active) or give it an ECDSA certificate";

/// Reason why an association failed. The text describes the peer's action and the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailReason {
    /// The peer's certificate does not match its fingerprint.
    Fingerprint,
    /// The peer ended the handshake with a fatal alert.
    Alert {
        /// AlertDescription (RFC 5246 section 7.2).
        code: u8,
        /// Our role.
        role: DtlsRole,
    },
    /// The peer's certificate or its signature was refused; the text is the library's.
    Certificate(String),
    /// ICE connects, but no DTLS record of the peer has arrived.
    Unanswered(DtlsRole),
    /// The handshake started but was not finished in time; the text is the library's last
    /// error, if any.
    Unfinished(String),
    /// There is no common SRTP profile.
    Profile,
    /// The peer closed the association.
    Closed,
    /// A defect of this program in handling a datagram or a timeout; the log has its location.
    Defect,
}

impl fmt::Display for FailReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailReason::Fingerprint => f.write_str(
                "the peer's certificate does not match the fingerprint in its description: \
                 the description belongs to another connection, or something on the way \
                 answers in the peer's place",
            ),
            FailReason::Alert { code, role } => {
                write!(f, "the peer ended the DTLS handshake with alert {code}")?;
                if let Some(name) = alert_name(*code) {
                    write!(f, " ({name})")?;
                }
                match role {
                    DtlsRole::Client => write!(f, ": {LET_IT_OPEN}"),
                    DtlsRole::Server => write!(f, ": {GOOD_CERTIFICATES}"),
                }
            }
            FailReason::Certificate(words) => {
                write!(
                    f,
                    "the peer's certificate was refused ({words}): {GOOD_CERTIFICATES}"
                )
            }
            FailReason::Unanswered(role) => {
                f.write_str(match role {
                    DtlsRole::Client => "the peer answers ICE checks, but no DTLS handshake",
                    DtlsRole::Server => "the peer answers ICE checks, but opens no DTLS handshake",
                })?;
                f.write_str(
                    ": a firewall or carrier on every path may drop DTLS, or the peer has failed",
                )
            }
            FailReason::Unfinished(words) if words.is_empty() => f.write_str(
                "the DTLS handshake began, but was not finished in time: the paths lose too much",
            ),
            FailReason::Unfinished(words) => {
                write!(
                    f,
                    "the DTLS handshake began, but was not finished in time ({words})"
                )
            }
            FailReason::Profile => f.write_str(
                "the peer offers no SRTP profile that weft has: it needs AES-GCM \
                 (AEAD_AES_128_GCM or AEAD_AES_256_GCM) or SRTP_AES128_CM_SHA1_80",
            ),
            FailReason::Closed => f.write_str("the peer closed the connection"),
            FailReason::Defect => f.write_str("a defect of this program; its log names the place"),
        }
    }
}

/// Names of the alerts that end handshakes (RFC 8446 section 6.2).
fn alert_name(code: u8) -> Option<&'static str> {
    Some(match code {
        10 => "unexpected_message",
        20 => "bad_record_mac",
        40 => "handshake_failure",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        90 => "user_canceled",
        109 => "missing_extension",
        110 => "unsupported_extension",
        116 => "certificate_required",
        _ => return None,
    })
}
