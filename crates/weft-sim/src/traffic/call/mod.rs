//! A call: two sessions of `weft-session` over the paths of the network.
//!
//! An agent of `weft-ice` at each end forms the association between them; its STUN
//! messages travel beside the media. Packets have their sizes on the wire and no cipher.

mod association;
mod clock;
mod decoder;
mod flow;
mod side;
mod sink;
mod source;
mod store;
mod streams;

pub(crate) use flow::CallFlow;
pub use source::{Camera, EncodedFrame, FrameEncoder, Model, Synthetic};

/// IPv4 and UDP headers.
pub(crate) const UDP_IP: usize = 28;
/// Authentication tag of AEAD_AES_128_GCM (RFC 7714 section 13.2).
pub(crate) const SRTP_TAG: usize = 16;
/// Size of that tag and the SRTCP index (RFC 7714 section 9.1).
pub(crate) const SRTCP_TRAILER: usize = 20;
/// One of the two ends of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// At the sources of the routes.
    Caller,
    /// At their sinks.
    Callee,
}

impl End {
    /// Both ends.
    pub const BOTH: [End; 2] = [End::Caller, End::Callee];

    fn other(self) -> End {
        match self {
            End::Caller => End::Callee,
            End::Callee => End::Caller,
        }
    }
}
