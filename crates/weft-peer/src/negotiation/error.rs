use weft_units::{Codec, MediaKind};
use weft_wire::payload;
use weft_wire::sdp::{Direction, Media, SdpError, SectionKind};

use crate::stream::StreamDirection;

/// Reason why a description is refused.
#[derive(Debug, thiserror::Error)]
pub enum NegotiationError {
    /// It cannot be read.
    #[error("the session description cannot be read: {0}")]
    Syntax(#[from] SdpError),
    /// ICE or DTLS attributes are missing.
    #[error(
        "the session description has no {0}; WebRTC needs ICE credentials and a DTLS fingerprint"
    )]
    MissingTransport(&'static str),
    /// The fingerprint cannot be used.
    #[error("{0}")]
    Fingerprint(#[from] weft_secure::FingerprintError),
    /// No section of an answer can be used; the text describes each one.
    #[error("the answer accepts no media: {0}; weft needs {needed}", needed = payload::wanted(&Codec::CODED))]
    NothingAccepted(String),
    /// A section of an offer has no codec that we receive, or that we send.
    #[error("the offer's {} lists {offered}; it needs {wanted}", section_name(*.kind))]
    NoCodec {
        /// Direction of the section, seen from our side.
        direction: StreamDirection,
        /// Kind of media.
        kind: MediaKind,
        /// Codecs that the section lists, as text for people.
        offered: String,
        /// Codecs that would be accepted, as text for people.
        wanted: String,
    },
    /// No section has the needed direction.
    #[error("the offer's media is {}", direction_names(.offered))]
    Direction {
        /// Needed direction, seen from our side.
        wanted: StreamDirection,
        /// Directions of the sections in use.
        offered: Vec<Direction>,
    },
    /// The offerer wants to receive a kind of media that we do not send.
    #[error("the offer takes {} only, and there is none to send", section_name(*.offered))]
    NothingToSend {
        /// Kind that the offerer wants to receive.
        offered: MediaKind,
    },
    /// The description offers neither audio nor video.
    #[error("the offer has no audio or video section in use")]
    NoMedia,
    /// Several sections each need their own transport.
    #[error("the offer has several media sections that are not in one BUNDLE group")]
    NotBundled,
    /// RTCP would need its own port.
    #[error("the offer has no a=rtcp-mux")]
    NoRtcpMux,
    /// The answer does not match the offer.
    #[error("the answer has {answered} media sections for {offered} offered ones")]
    SectionCount {
        /// Sections in our offer.
        offered: usize,
        /// Sections in the answer.
        answered: usize,
    },
    /// The other side makes the offers of this connection.
    #[error("this side answered the first offer, so the other side makes the later ones, too")]
    NotOfferer,
    /// This side makes the offers of this connection.
    #[error("this side made the first offer, so it makes the later ones, too")]
    NotAnswerer,
    /// A later offer has fewer sections than the previous one.
    #[error("the offer has {offered} media sections where there were {before}")]
    SectionsGone {
        /// Number of sections in the previous offer.
        before: usize,
        /// Number of sections in this one.
        offered: usize,
    },
    /// An answer arrived, but no offer waits for one.
    #[error("no offer waits for this answer")]
    NothingOffered,
}

impl NegotiationError {
    /// Returns the error for an answer without any usable section.
    pub(crate) fn nothing_accepted(answer: &[Media]) -> NegotiationError {
        let sections = answer.iter().filter_map(|media| {
            let SectionKind::Media(kind) = media.kind else {
                return None;
            };
            let name = section_name(kind);
            Some(match media.is_rejected() {
                true => format!("{name} is refused (port 0)"),
                false => {
                    let listed = payload::listed(&media.payloads);
                    format!("{name} is a={} with {listed}", media.direction)
                }
            })
        });
        NegotiationError::NothingAccepted(sections.collect::<Vec<_>>().join(", "))
    }

    /// Returns the error for a section that lists none of the `wanted` codecs.
    pub(super) fn no_codec(
        direction: StreamDirection,
        kind: MediaKind,
        offered: &Media,
        wanted: String,
    ) -> NegotiationError {
        NegotiationError::NoCodec {
            direction,
            kind,
            offered: payload::listed(&offered.payloads),
            wanted,
        }
    }
}

fn section_name(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
    }
}

/// Names of the directions for people, each only once.
fn direction_names(directions: &[Direction]) -> String {
    let mut names: Vec<String> = Vec::new();
    for direction in directions {
        let name = format!("a={direction}");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" and ")
}
