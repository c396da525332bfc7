//! RTP, RTCP, header extensions, codecs in RTP, and the SDP subset:
//! parse and emit.
//!
//! Pure functions over bytes and text: no state, no clock, no sockets. Input
//! from the network never causes a panic and never allocates more than a small
//! multiple of its own size (or of a limit documented at the parser).

#![forbid(unsafe_code)]

mod error;
pub mod flexfec;
#[doc(hidden)]
#[cfg(any(test, fuzzing))]
pub mod fuzz;
pub mod media;
pub mod payload;
mod reader;
pub mod rtcp;
pub mod rtp;
pub mod rtx;
pub mod sdp;
pub mod sequence;

pub use error::ParseError;
