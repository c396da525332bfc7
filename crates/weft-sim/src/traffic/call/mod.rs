//! Call: two sessions of `weft-session` over the paths of the network.
//!
//! An agent of `weft-ice` at each end forms the association between them; its STUN
//! messages travel along with the media. Packets have their sizes on the wire but are not
//! encrypted.

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
/// End of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// End at the sources of the routes.
    Caller,
    /// End at the sinks of the routes.
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
