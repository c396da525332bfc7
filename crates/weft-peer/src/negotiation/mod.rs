//! Offer and answer (RFC 8829, the part that a call needs): VP8 or H.264 with
//! RTX and Opus, one bundle, the header extensions that decide the level.

mod answer;
mod describe;
mod offer;
#[cfg(test)]
pub(crate) mod tests;

pub use answer::{AnswerPolicy, Outgoing, answer};
pub use offer::Offer;

use weft_ice::RemoteCandidate;
use weft_secure::{DtlsRole, Fingerprint, Remote};
use weft_session::{Feedback, Level, Naming};
use weft_units::{Codec, MediaKind};
use weft_wire::payload::{self, codec_of, format_of};
use weft_wire::rtp::{self, ExtensionMap};
use weft_wire::sdp::{self, Media, SdpError, SectionKind, SessionDescription, Setup};

use crate::stream::StreamDirection;

/// A media section that an offer shall have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Sound or pictures.
    pub kind: MediaKind,
    /// Which way it flows, seen from the offerer.
    pub direction: StreamDirection,
    /// What people call it: the other side reads the same words, up to 64
    /// characters of them. No control characters.
    pub title: Option<String>,
    /// The one codec that it may have, in place of all of its kind that the
    /// [`PeerConfig`](crate::PeerConfig) allows.
    pub codec: Option<Codec>,
}

impl Section {
    /// One without a title.
    #[must_use]
    pub const fn new(kind: MediaKind, direction: StreamDirection) -> Section {
        Section {
            kind,
            direction,
            title: None,
            codec: None,
        }
    }
}

/// Those of `codecs` that a stream may have which is limited to one, or is not.
fn limited(codecs: &[Codec], codec: Option<Codec>) -> Vec<Codec> {
    let may = |c: &&Codec| codec.is_none_or(|only| only == **c);
    codecs.iter().filter(may).copied().collect()
}

/// A description cannot be agreed on.
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
    /// Nothing in it can be sent or received here.
    #[error("no media section can be used: weft needs {}", payload::wanted())]
    NoCommonCodec,
    /// The answer does not fit the offer.
    #[error("the answer has {answered} media sections for {offered} offered ones")]
    SectionCount {
        /// Sections in our offer.
        offered: usize,
        /// Sections in the answer.
        answered: usize,
    },
}

/// A section's payload types, for a codec that we have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadTypes {
    pub codec: Codec,
    pub media: u8,
    pub rtx: Option<u8>,
    /// Of repair packets.
    pub fec: Option<u8>,
}

impl PayloadTypes {
    /// Those of the first codec in the section that is `allowed`; of several
    /// forms of it the one that fits best.
    fn of(media: &Media, allowed: &[Codec]) -> Option<PayloadTypes> {
        let SectionKind::Media(kind) = media.kind else {
            return None;
        };
        let usable = |c: &Codec| c.kind() == kind && allowed.contains(c);
        let all = || {
            let named = |p| codec_of(p).filter(usable).map(|codec| (codec, p));
            media.payloads.iter().filter_map(named)
        };
        let (codec, first) = all().next()?;
        let same = all().filter(|(other, _)| *other == codec).map(|(_, p)| p);
        let fit = |p| format_of(codec).fit(p);
        // Of equals the first: `max_by_key` would give the last.
        let best = same.reduce(|best, p| if fit(p) > fit(best) { p } else { best });
        let payload_type = best.unwrap_or(first).payload_type;
        Some(PayloadTypes {
            codec,
            media: payload_type,
            rtx: media.rtx_of(payload_type),
            fec: media.fec().filter(|_| kind == MediaKind::Video),
        })
    }
}

/// The extensions of a section that we have too. Numbers for feedback that the
/// peer does not give would be taken for a level that is not there.
fn extensions(media: &Media) -> impl Iterator<Item = &(u8, String)> {
    /// What fits a one-byte header (RFC 8285 section 4.2).
    const IDS: std::ops::RangeInclusive<u8> = 1..=14;
    let feedback = media.has_feedback(sdp::TRANSPORT_FEEDBACK);
    let known = move |uri: &str| match uri {
        rtp::MID_URI | rtp::PATH_URI => true,
        rtp::AUDIO_LEVEL_URI => media.kind == MediaKind::Audio.into(),
        rtp::TRANSPORT_SEQUENCE_URI => feedback,
        _ => false,
    };
    let all = media.extensions.iter();
    all.filter(move |(id, uri)| IDS.contains(id) && known(uri))
}

/// What the peer will tell of the packets that we send in this section:
/// Firefox, for one, counts those of video only.
fn feedback(level: Level, naming: Naming, media: &Media) -> Feedback {
    let lists = |uri: &str| extensions(media).any(|(_, u)| u == uri);
    let each = match (level, naming) {
        (Level::Full, _) => lists(rtp::PATH_URI),
        (Level::SenderSide, Naming::Transport) => lists(rtp::TRANSPORT_SEQUENCE_URI),
        (Level::SenderSide, Naming::Stream) => media.has_feedback(sdp::CONGESTION_FEEDBACK),
        (Level::Single, _) => false,
    };
    match each {
        true => Feedback::EachPacket,
        false => Feedback::Reports,
    }
}

/// Fills in what a description agrees on: path feedback before RFC 8888's,
/// that before transport-wide feedback, which has no room for ECN marks and
/// costs a header extension in each packet. libwebrtc chooses like that, too.
fn agree(description: &SessionDescription, allowed: &[Codec], session: &mut weft_session::Config) {
    session.extensions = extension_map(description, allowed);
    let by_stream = |m: &Media| m.has_feedback(sdp::CONGESTION_FEEDBACK);
    let used = || description.media.iter().filter(|m| !m.is_rejected());
    let mut video = used().filter(|m| is_video(m, allowed));
    let agreed = used().any(by_stream) && video.all(by_stream);
    session.naming = Naming::Transport;
    if session.extensions.path.is_none() && agreed {
        session.naming = Naming::Stream;
        session.extensions.transport_sequence = None;
    }
}

fn is_video(media: &Media, allowed: &[Codec]) -> bool {
    PayloadTypes::of(media, allowed).is_some_and(|p| p.codec.kind() == MediaKind::Video)
}

/// The ids of the extensions that we have too, as the sections in use list
/// them. Numbers make a level only if the video has them: it is what loads
/// the paths, and what audio measures says nothing of that.
fn extension_map(description: &SessionDescription, allowed: &[Codec]) -> ExtensionMap {
    let used = || description.media.iter().filter(|m| !m.is_rejected());
    let id = |uri: &str| {
        let mut all = used().flat_map(extensions);
        all.find(|(_, u)| u == uri).map(|(id, _)| *id)
    };
    let numbered = |uri: &str| {
        let mut video = used().filter(|m| is_video(m, allowed));
        let all = video.all(|m| extensions(m).any(|(_, u)| u == uri));
        id(uri).filter(|_| all)
    };
    ExtensionMap {
        transport_sequence: numbered(rtp::TRANSPORT_SEQUENCE_URI),
        path: numbered(rtp::PATH_URI),
        mid: id(rtp::MID_URI),
        audio_level: id(rtp::AUDIO_LEVEL_URI),
    }
}

/// The peer's transport as the first usable section describes it.
fn remote_transport(
    description: &SessionDescription,
    dtls: DtlsRole,
) -> Result<Remote, NegotiationError> {
    let missing = NegotiationError::MissingTransport;
    let media = description.media.iter().find(|m| m.ice_ufrag.is_some());
    let media = media.ok_or(missing("a=ice-ufrag"))?;
    let ufrag = media.ice_ufrag.clone().ok_or(missing("a=ice-ufrag"))?;
    let pwd = media.ice_pwd.clone().ok_or(missing("a=ice-pwd"))?;
    let fingerprint = media.fingerprint.as_ref().ok_or(missing("a=fingerprint"))?;
    let all = description.media.iter().flat_map(|m| &m.candidates);
    let candidates = all.filter_map(remote_candidate).collect();
    Ok(Remote {
        credentials: weft_ice::Credentials { ufrag, pwd },
        fingerprint: fingerprint.to_string().parse::<Fingerprint>()?,
        dtls,
        candidates,
    })
}

/// A UDP candidate with an address; names (mDNS) are learned from the peer's
/// own checks instead.
pub(crate) fn remote_candidate(candidate: &sdp::Candidate) -> Option<RemoteCandidate> {
    let addr = candidate.socket_addr()?;
    let usable = candidate.transport == sdp::Transport::Udp && candidate.component == 1;
    usable.then_some(RemoteCandidate {
        addr,
        priority: candidate.priority,
    })
}

/// Our DTLS role against what the peer wrote (RFC 8842 section 5). Given the
/// choice, who sends media opens the handshake: with DTLS 1.3 the client has
/// keys half a round trip before the server, and the first frame follows.
fn dtls_role_for_answer(setup: Option<Setup>, sends: bool) -> DtlsRole {
    match setup {
        Some(Setup::ActPass) if sends => DtlsRole::Client,
        Some(Setup::Active | Setup::ActPass) | None => DtlsRole::Server,
        Some(_) => DtlsRole::Client,
    }
}

/// The trickle-ICE fragment's candidates (RFC 8840 section 9).
///
/// # Errors
/// If it cannot be read.
pub fn fragment_candidates(text: &str) -> Result<Vec<RemoteCandidate>, NegotiationError> {
    let fragment = SessionDescription::parse_fragment(text)?;
    let all = fragment.media.iter().flat_map(|m| &m.candidates);
    Ok(all.filter_map(remote_candidate).collect())
}
