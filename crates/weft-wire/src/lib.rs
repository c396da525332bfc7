//! RTP, RTCP, header extensions, VP8 and H.264 in RTP, and the SDP subset:
//! parse and emit.
//!
//! Pure functions over bytes and text: no state, no clock, no sockets. What
//! comes from the network never panics and never allocates more than a small
//! multiple of its own size (or of a limit named at the parser).

mod error;
pub mod flexfec;
#[doc(hidden)]
pub mod fuzz;
pub mod h264;
mod reader;
pub mod rtcp;
pub mod rtp;
pub mod rtx;
pub mod sdp;
pub mod sequence;
pub mod vp8;

pub use error::ParseError;
