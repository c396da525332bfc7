//! The subset of SDP (RFC 8866, JSEP RFC 9429) that WebRTC sessions are made
//! of: ICE, DTLS, codecs, header extensions, sources, candidates.
//!
//! [`SessionDescription::parse`] reads what browsers, OBS, GStreamer and Pion
//! emit; attributes it does not know are kept as text. `Display` emits with
//! all attributes at the media sections, where browsers put them.

mod attribute;
mod candidate;
mod emit;
mod media;
mod parse;

pub use attribute::{Direction, Fingerprint, Msid, Setup, SsrcAttribute, SsrcGroup};
pub use candidate::{Candidate, CandidateKind, Transport};
pub use media::{
    CONGESTION_FEEDBACK, LOSS_FEEDBACK, Media, Payload, RATE_FEEDBACK, SectionKind,
    TRANSPORT_FEEDBACK,
};

use crate::rtp::Mid;

/// An offer, an answer, or (by [`SessionDescription::parse_fragment`]) a part
/// of one.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SessionDescription {
    /// Who made this description, and its version.
    pub origin: Origin,
    /// Media sections that share one transport (RFC 9143), the first one's.
    pub bundle: Vec<Mid>,
    /// One-byte and two-byte header extensions may be mixed (RFC 8285
    /// section 6).
    pub extmap_allow_mixed: bool,
    /// The agent only answers checks (RFC 8445 section 2.5).
    pub ice_lite: bool,
    /// In the order of the description, which an answer must keep.
    pub media: Vec<Media>,
}

/// RFC 8866 section 5.2. User and address are not kept: JSEP gives them no
/// meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// Fixed for a session.
    pub session_id: u64,
    /// Grows by one with each new description.
    pub version: u64,
}

/// Why a description could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("SDP line {line}: {reason}")]
pub struct SdpError {
    /// Counted from one; zero if it is no single line's fault.
    pub line: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl SessionDescription {
    /// Reads a whole description. ICE and DTLS attributes, direction and
    /// header extensions of the session level are copied to the media
    /// sections that have none of their own.
    pub fn parse(text: &str) -> Result<SessionDescription, SdpError> {
        parse::description(text, parse::Form::Whole)
    }

    /// Reads a fragment as trickle ICE sends it (RFC 8840 section 9): session
    /// lines may be missing.
    pub fn parse_fragment(text: &str) -> Result<SessionDescription, SdpError> {
        parse::description(text, parse::Form::Fragment)
    }

    /// The media section with this identification.
    #[must_use]
    pub fn media_by_mid(&self, mid: Mid) -> Option<&Media> {
        self.media.iter().find(|media| media.mid == Some(mid))
    }
}

impl std::str::FromStr for SessionDescription {
    type Err = SdpError;
    fn from_str(text: &str) -> Result<SessionDescription, SdpError> {
        SessionDescription::parse(text)
    }
}

#[cfg(test)]
mod tests;
