use super::{Candidate, Direction, Fingerprint, Msid, Setup, SsrcAttribute, SsrcGroup};
use crate::flexfec;
use crate::rtp::Mid;
use std::fmt;
use weft_units::{MediaKind, Ssrc};

/// Group of a source and its retransmission source (RFC 4588 section 8.1).
const RETRANSMISSION_GROUP: &str = "FID";

/// In [`Payload::feedback`]: feedback by transport-wide numbers
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
pub const TRANSPORT_FEEDBACK: &str = "transport-cc";

/// `a=rtcp-fb`: requests for lost packets (RFC 4585 section 4.2).
pub const LOSS_FEEDBACK: &str = "nack";

/// In [`Payload::feedback`]: feedback by the streams' sequence numbers (RFC
/// 8888 section 6).
pub const CONGESTION_FEEDBACK: &str = "ack ccfb";

/// In [`Payload::feedback`]: estimate of the total rate
/// (draft-alvestrand-rmcat-remb-03).
pub const RATE_FEEDBACK: &str = "goog-remb";

/// Protocol of data channels over UDP (RFC 8841 section 4.2), and their format.
const DATA_PROTOCOL: &str = "UDP/DTLS/SCTP";
const DATA_FORMAT: &str = "webrtc-datachannel";

/// Media section (`m=`).
///
/// More than fifteen fields: a section has that many kinds of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// Kind of the section.
    pub kind: SectionKind,
    /// Port; zero means rejected or stopped, unless `bundle_only`.
    pub port: u16,
    /// Protocol, such as `UDP/TLS/RTP/SAVPF`.
    pub protocol: String,
    /// Formats of the `m=` line if they are not RTP payload types.
    pub formats: Vec<String>,
    /// Title for display (`i=`, RFC 8866 section 5.4): at most 64 characters, without
    /// control characters.
    pub title: Option<String>,
    /// Payload types in order of preference.
    pub payloads: Vec<Payload>,
    /// Identification of the section.
    pub mid: Option<Mid>,
    /// Direction of media.
    pub direction: Direction,
    /// Header extensions: id and URI.
    pub extensions: Vec<(u8, String)>,
    /// User name fragment of the ICE session.
    pub ice_ufrag: Option<String>,
    /// Password of the ICE session.
    pub ice_pwd: Option<String>,
    /// ICE options, such as `trickle`.
    pub ice_options: Vec<String>,
    /// Fingerprint of the DTLS certificate; SHA-256 is preferred if there are
    /// several.
    pub fingerprint: Option<Fingerprint>,
    /// Initiator of the DTLS handshake.
    pub setup: Option<Setup>,
    /// Candidates known so far.
    pub candidates: Vec<Candidate>,
    /// Whether no further candidates follow.
    pub end_of_candidates: bool,
    /// Attributes of the section's sources.
    pub ssrcs: Vec<SsrcAttribute>,
    /// Groups of the section's sources.
    pub ssrc_groups: Vec<SsrcGroup>,
    /// Stream and track of the section.
    pub msid: Option<Msid>,
    /// Whether RTCP shares the port with RTP (RFC 5761).
    pub rtcp_mux: bool,
    /// Whether RTCP may be sent outside of compounds (RFC 5506).
    pub rtcp_rsize: bool,
    /// Whether the section is usable only within the bundle (RFC 9143 section
    /// 6).
    pub bundle_only: bool,
    /// All other attributes: name and value.
    pub attributes: Vec<(String, Option<String>)>,
}

/// Kind of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// Sound or video.
    Media(MediaKind),
    /// Data channels.
    Application,
    /// Another kind, which an answer must still repeat.
    Other(String),
}

/// One RTP payload type of a section.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Payload {
    /// 7 bits.
    pub payload_type: u8,
    /// Encoding name as written (compared without case, RFC 4855); empty if the
    /// description does not give it.
    pub codec: String,
    /// Clock rate in Hz.
    pub clock_rate: u32,
    /// Number of audio channels, if given.
    pub channels: Option<u8>,
    /// `a=fmtp`, as written.
    pub parameters: String,
    /// `a=rtcp-fb`, such as `nack pli`. Lines for all payload types are repeated in each
    /// one.
    pub feedback: Vec<String>,
}

impl SectionKind {
    pub(super) fn from_name(name: &str) -> SectionKind {
        match name {
            "audio" => MediaKind::Audio.into(),
            "video" => MediaKind::Video.into(),
            "application" => SectionKind::Application,
            other => SectionKind::Other(other.to_owned()),
        }
    }
}

impl From<MediaKind> for SectionKind {
    fn from(kind: MediaKind) -> SectionKind {
        SectionKind::Media(kind)
    }
}

impl fmt::Display for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SectionKind::Media(MediaKind::Audio) => "audio",
            SectionKind::Media(MediaKind::Video) => "video",
            SectionKind::Application => "application",
            SectionKind::Other(name) => name,
        })
    }
}

impl Payload {
    /// Whether this is `codec`, ignoring case.
    #[must_use]
    pub fn is(&self, codec: &str) -> bool {
        self.codec.eq_ignore_ascii_case(codec)
    }

    /// Returns the value of a `name=value` parameter.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.split(';').find_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            key.trim().eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Whether this kind of feedback, such as `transport-cc`, is listed.
    #[must_use]
    pub fn has_feedback(&self, feedback: &str) -> bool {
        self.feedback.iter().any(|f| f == feedback)
    }
}

impl Media {
    /// Creates an empty section over RTP: no payloads, both directions, and the discard
    /// port, which refers to the candidates.
    #[must_use]
    pub fn new(kind: impl Into<SectionKind>) -> Media {
        Media {
            kind: kind.into(),
            port: 9,                                  // RFC 8840 section 4.1.1
            protocol: "UDP/TLS/RTP/SAVPF".to_owned(), // RFC 9429 section 5.1.2
            formats: Vec::new(),
            title: None,
            payloads: Vec::new(),
            mid: None,
            direction: Direction::SendRecv,
            extensions: Vec::new(),
            ice_ufrag: None,
            ice_pwd: None,
            ice_options: Vec::new(),
            fingerprint: None,
            setup: None,
            candidates: Vec::new(),
            end_of_candidates: false,
            ssrcs: Vec::new(),
            ssrc_groups: Vec::new(),
            msid: None,
            rtcp_mux: false,
            rtcp_rsize: false,
            bundle_only: false,
            attributes: Vec::new(),
        }
    }

    /// Creates the section that rejects `offered` in an answer (RFC 9429 section 5.3.1):
    /// the same kind, protocol, formats and mid, with port zero.
    #[must_use]
    pub fn rejecting(offered: &Media) -> Media {
        Media {
            port: 0,
            protocol: offered.protocol.clone(),
            formats: offered.formats.clone(),
            payloads: offered.payloads.clone(),
            mid: offered.mid,
            direction: Direction::Inactive,
            ..Media::new(offered.kind.clone())
        }
    }

    /// Creates a section of data channels (RFC 8841 section 4) with the SCTP port and the
    /// longest message that its side accepts, in bytes.
    #[must_use]
    pub fn data_channels(sctp_port: u16, max_message: usize) -> Media {
        let attribute = |name: &str, value: String| (name.to_owned(), Some(value));
        Media {
            protocol: DATA_PROTOCOL.to_owned(),
            formats: vec![DATA_FORMAT.to_owned()],
            attributes: vec![
                attribute("sctp-port", sctp_port.to_string()),
                attribute("max-message-size", max_message.to_string()),
            ],
            ..Media::new(SectionKind::Application)
        }
    }

    /// Returns the SCTP port and the longest message of a section of data channels over
    /// DTLS and UDP, `usize::MAX` for a message of any length; `None` for other sections.
    #[must_use]
    pub fn data_channel_terms(&self) -> Option<(u16, usize)> {
        let has_format = self.formats.iter().any(|format| format == DATA_FORMAT);
        if self.protocol != DATA_PROTOCOL || !has_format {
            return None;
        }
        let value = |wanted: &str| {
            let mut attributes = self.attributes.iter();
            let found = attributes.find(|(name, _)| name == wanted);
            found.and_then(|(_, value)| value.as_deref())
        };
        let port = value("sctp-port")?.parse().ok().filter(|port| *port > 0)?;
        // RFC 8841 section 6.1: 64 KB if absent, any length if 0.
        let most = value("max-message-size").map_or(Some(65_536), |most| most.parse().ok())?;
        Some((port, if most == 0 { usize::MAX } else { most }))
    }

    /// Whether the pictures are a presentation instead of a camera: `a=content:slides`
    /// (RFC 4796).
    #[must_use]
    pub fn is_presentation(&self) -> bool {
        let mut attributes = self.attributes.iter();
        attributes.any(|(name, value)| {
            let contents = value.as_deref().unwrap_or_default();
            name == "content"
                && contents
                    .split(',')
                    .any(|content| content.trim() == "slides")
        })
    }

    /// Whether the section is rejected or stopped.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        self.port == 0 && !self.bundle_only
    }

    /// Whether any payload type lists this kind of feedback.
    #[must_use]
    pub fn has_feedback(&self, feedback: &str) -> bool {
        self.payloads.iter().any(|p| p.has_feedback(feedback))
    }

    /// Returns the payload with this type.
    #[must_use]
    pub fn payload(&self, payload_type: u8) -> Option<&Payload> {
        self.payloads
            .iter()
            .find(|p| p.payload_type == payload_type)
    }

    /// Returns the payload type of the retransmissions of a payload type (RFC 4588
    /// section 8.1).
    #[must_use]
    pub fn rtx_of(&self, payload_type: u8) -> Option<u8> {
        let of_it = |p: &&Payload| {
            p.is("rtx") && p.parameter("apt").and_then(|apt| apt.parse().ok()) == Some(payload_type)
        };
        self.payloads.iter().find(of_it).map(|p| p.payload_type)
    }

    /// Returns the payload type of repair packets (RFC 8627).
    #[must_use]
    pub fn fec(&self) -> Option<u8> {
        let found = self.payloads.iter().find(|p| p.is(flexfec::NAME));
        found.map(|p| p.payload_type)
    }

    /// Returns the retransmission source of a source (RFC 4588).
    #[must_use]
    pub fn rtx_ssrc_of(&self, ssrc: Ssrc) -> Option<Ssrc> {
        self.partner_of(ssrc, RETRANSMISSION_GROUP)
    }

    /// Returns the repair source of a source (RFC 8627).
    #[must_use]
    pub fn fec_ssrc_of(&self, ssrc: Ssrc) -> Option<Ssrc> {
        self.partner_of(ssrc, flexfec::GROUP)
    }

    fn partner_of(&self, ssrc: Ssrc, semantics: &str) -> Option<Ssrc> {
        self.ssrc_groups
            .iter()
            .filter(|group| group.semantics == semantics)
            .find_map(|group| match group.ssrcs[..] {
                [media, partner] if media == ssrc => Some(partner),
                _ => None,
            })
    }

    /// Returns the sources of the section in order, except those that repair others.
    #[must_use]
    pub fn primary_ssrcs(&self) -> Vec<Ssrc> {
        let repairs = [RETRANSMISSION_GROUP, flexfec::GROUP];
        let groups = self.ssrc_groups.iter();
        let fid = groups.filter(|g| repairs.contains(&g.semantics.as_str()));
        let repair: Vec<Ssrc> = fid.flat_map(|g| g.ssrcs.iter().skip(1).copied()).collect();
        let mut primary = Vec::new();
        for line in &self.ssrcs {
            if !repair.contains(&line.ssrc) && !primary.contains(&line.ssrc) {
                primary.push(line.ssrc);
            }
        }
        primary
    }
}
