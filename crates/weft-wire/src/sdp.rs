//! Subset of SDP (RFC 8866, JSEP RFC 9429) for WebRTC sessions: ICE, DTLS,
//! codecs, header extensions, sources, candidates.
//!
//! [`SessionDescription::parse`] reads the descriptions of browsers, OBS, GStreamer and
//! Pion; unknown attributes are kept as text. `Display` writes all attributes in the
//! media sections, like browsers.

mod attribute;
mod candidate;
mod emit;
mod media;
mod parse;
mod simulcast;

pub use attribute::{Direction, Fingerprint, Msid, Setup, SsrcAttribute, SsrcGroup};
pub use candidate::{Candidate, CandidateKind};
pub use media::{
    CONGESTION_FEEDBACK, LOSS_FEEDBACK, Media, Payload, RATE_FEEDBACK, SectionKind,
    TRANSPORT_FEEDBACK,
};
pub use simulcast::MAX_ENCODINGS;

use crate::rtp::Mid;

/// Offer, answer, or fragment (from [`SessionDescription::parse_fragment`]).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SessionDescription {
    /// Creator of this description, and its version.
    pub origin: Origin,
    /// Media sections that share the transport of the first one (RFC 9143).
    pub bundle: Vec<Mid>,
    /// Whether one-byte and two-byte header extensions may be mixed (RFC 8285
    /// section 6).
    pub extmap_allow_mixed: bool,
    /// Whether the agent only answers checks (RFC 8445 section 2.5).
    pub ice_lite: bool,
    /// Media sections, in an order that an answer must keep.
    pub media: Vec<Media>,
}

/// Origin (RFC 8866 section 5.2). User and address are not kept, because JSEP
/// gives them no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// Fixed for a session.
    pub session_id: u64,
    /// Version, incremented with each new description.
    pub version: u64,
}

/// Reason why a description is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("SDP line {line}: {reason}")]
pub struct SdpError {
    /// Line number from one; zero if no single line is at fault.
    pub line: usize,
    /// Problem of the line.
    pub reason: &'static str,
}

impl SessionDescription {
    /// Parses a complete description. ICE and DTLS attributes, direction and
    /// header extensions of the session level are copied to the media sections
    /// that have none.
    pub fn parse(text: &str) -> Result<SessionDescription, SdpError> {
        parse::description(text, parse::Form::Whole)
    }

    /// Parses a fragment of trickle ICE (RFC 8840 section 9), in which session
    /// lines may be missing.
    pub fn parse_fragment(text: &str) -> Result<SessionDescription, SdpError> {
        parse::description(text, parse::Form::Fragment)
    }

    /// Returns the media section with this identification.
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
