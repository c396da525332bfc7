//! Why an association fails.

/// Why an association failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailReason {
    /// The peer's certificate is not the one of its fingerprint.
    Fingerprint,
    /// The handshake failed or timed out; the library's words.
    Handshake(String),
    /// No SRTP profile in common.
    Profile,
    /// The peer closed the association.
    Closed,
    /// What came, or its time, could not be handled: a defect here, of which
    /// the log has the place.
    Defect,
}
