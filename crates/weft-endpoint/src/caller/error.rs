use weft_net::DriverError;
use weft_peer::NegotiationError;

/// Reason why the endpoint cannot fulfil a request.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The peer's description is not acceptable.
    #[error("{0}")]
    Negotiation(#[from] NegotiationError),
    /// The system provides no randomness.
    #[error("{0}")]
    Entropy(#[from] weft_net::EntropyError),
    /// The offer does not exist, or has ended.
    #[error("the offer was already answered or never existed")]
    UnknownOffer,
    /// The connection does not exist, or has ended.
    #[error("the connection has ended")]
    UnknownPeer,
    /// The endpoint was stopped.
    #[error("the network loop has ended")]
    Ended,
}

/// Reason why an endpoint cannot start.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The DTLS certificate cannot be created.
    #[error(transparent)]
    Certificate(#[from] weft_secure::CertificateError),
    /// The system cannot provide a thread or readiness queue.
    #[error(transparent)]
    Driver(#[from] DriverError),
}
