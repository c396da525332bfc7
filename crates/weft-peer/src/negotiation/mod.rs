//! Offer and answer (RFC 8829, the part that a call needs): VP8 or H.264 with RTX and
//! Opus, one bundle, and the header extensions that decide the level.

pub(crate) mod answered;
pub(crate) mod describe;
mod error;
mod fragment;
pub(crate) mod offering;
pub(crate) mod plan;
#[cfg(test)]
pub(crate) mod tests;

pub use error::NegotiationError;
pub use fragment::Fragment;
pub(crate) use offering::Offering;
pub use plan::{AnswerPolicy, Outgoing};

use weft_ice::RemoteCandidate;
use weft_secure::{DtlsRole, Fingerprint, Remote};
use weft_session::{Feedback, FeedbackFormat, Level};
use weft_units::{Codec, MediaKind, Transport};
use weft_wire::payload::Form;
use weft_wire::rtp::{self, ExtensionMap, Rid};
use weft_wire::sdp::{self, Media, SectionKind, SessionDescription, Setup};

use crate::stream::StreamDirection;

/// Media section to offer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Kind of media.
    pub kind: MediaKind,
    /// Direction, seen from the offerer.
    pub direction: StreamDirection,
    /// Title for people, which the other side can show; up to 64 characters are
    /// transmitted. No control characters.
    pub title: Option<String>,
    /// The only form that the stream may have. Default: our own form of every codec of
    /// its kind that the [`PeerConfig`](crate::PeerConfig) allows.
    pub form: Option<Form>,
    /// Sections with the same number form one media stream, whose audio and video the
    /// other side plays in sync (RFC 8830).
    pub media_stream: u16,
    /// Encodings that the offerer sends (simulcast), the smallest first. With fewer than
    /// two, there is one stream without a name.
    pub encodings: Vec<Rid>,
}

impl Section {
    /// Creates a section without a title.
    #[must_use]
    pub const fn new(kind: MediaKind, direction: StreamDirection) -> Section {
        Section {
            kind,
            direction,
            title: None,
            form: None,
            media_stream: 0,
            encodings: Vec::new(),
        }
    }

    /// Returns the name of its media stream.
    fn stream_name(&self, cname: &str) -> String {
        match self.media_stream {
            0 => cname.to_owned(),
            number => format!("{cname}-{number}"),
        }
    }
}

/// Forms that our stream may have: the one that it is limited to, or our own forms of
/// these codecs.
fn forms(kind: MediaKind, codecs: &[Codec], only: Option<Form>) -> Vec<Form> {
    let of_kind = codecs.iter().filter(|codec| codec.kind() == kind);
    match only {
        Some(form) => vec![form],
        None => of_kind.map(|codec| Form::ours(*codec)).collect(),
    }
}

/// Payload types of a section for a codec that we support.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadTypes {
    /// As the payload type describes it.
    pub form: Form,
    pub media: u8,
    pub rtx: Option<u8>,
    /// Payload type of repair packets.
    pub fec: Option<u8>,
}

impl PayloadTypes {
    /// Payload types of the first codec in the section that is `usable`; if it has
    /// several forms, those of the preferred one.
    fn of(media: &Media, usable: impl Fn(Form) -> bool) -> Option<PayloadTypes> {
        let SectionKind::Media(kind) = media.kind else {
            return None;
        };
        let usable = |form: &Form| form.codec().kind() == kind && usable(*form);
        let all = || {
            let named = |p| Form::of(p).filter(usable).map(|form| (form, p));
            media.payloads.iter().filter_map(named)
        };
        let (first, _) = all().next()?;
        let same = all().filter(|(form, _)| form.codec() == first.codec());
        // Keep the first of equals: `max_by_key` would return the last.
        let better =
            |best: (Form, _), other: (Form, _)| match other.0.preference() > best.0.preference() {
                true => other,
                false => best,
            };
        let (form, payload) = same.reduce(better)?;
        let payload_type = payload.payload_type;
        Some(PayloadTypes {
            form,
            media: payload_type,
            rtx: media.rtx_of(payload_type),
            fec: media.fec().filter(|_| kind == MediaKind::Video),
        })
    }

    /// Payload types of a stream in any form of these codecs.
    fn of_codecs(media: &Media, allowed: &[Codec]) -> Option<PayloadTypes> {
        PayloadTypes::of(media, |form| allowed.contains(&form.codec()))
    }

    /// Payload types of a stream that we can send in one of these forms.
    fn taking(media: &Media, sent: &[Form]) -> Option<PayloadTypes> {
        PayloadTypes::of(media, |form| sent.iter().any(|sent| form.decodes(*sent)))
    }

    pub fn codec(&self) -> Codec {
        self.form.codec()
    }
}

/// Extensions of a section that we support, too. Transport-wide numbers without the
/// matching feedback from the peer would suggest a level that it does not have.
pub(crate) fn extensions(media: &Media) -> impl Iterator<Item = &(u8, String)> {
    /// Ids that fit a one-byte header (RFC 8285 section 4.2).
    const IDS: std::ops::RangeInclusive<u8> = 1..=14;
    let feedback = media.has_feedback(sdp::TRANSPORT_FEEDBACK);
    let simulcast = media.has_encodings();
    let known = move |uri: &str| match uri {
        rtp::MID_URI | rtp::PATH_URI => true,
        rtp::AUDIO_LEVEL_URI => media.kind == MediaKind::Audio.into(),
        rtp::TRANSPORT_SEQUENCE_URI => feedback,
        rtp::RID_URI | rtp::REPAIRED_RID_URI => simulcast,
        rtp::DEPENDENCY_URI => media.kind == MediaKind::Video.into(),
        _ => false,
    };
    let all = media.extensions.iter();
    all.filter(move |(id, uri)| IDS.contains(id) && known(uri))
}

/// Feedback that the peer gives on the packets that we send in this section. Firefox, for
/// example, gives it for video only.
fn feedback(level: Level, format: FeedbackFormat, media: &Media) -> Feedback {
    let lists = |uri: &str| extensions(media).any(|(_, u)| u == uri);
    let each = match (level, format) {
        (Level::Full, _) => lists(rtp::PATH_URI),
        (Level::SenderSide, FeedbackFormat::Transport) => lists(rtp::TRANSPORT_SEQUENCE_URI),
        (Level::SenderSide, FeedbackFormat::Stream) => media.has_feedback(sdp::CONGESTION_FEEDBACK),
        (Level::Single, _) => false,
    };
    match each {
        true => Feedback::EachPacket,
        false => Feedback::Reports,
    }
}

/// Fills in the level that the sections in use agree on. Path feedback is preferred to
/// RFC 8888's, which is preferred to transport-wide feedback: that one has no room for
/// ECN marks and costs a header extension in each packet. libwebrtc has the same order.
pub(crate) fn agree(
    description: &SessionDescription,
    used: &[&Media],
    allowed: &[Codec],
    session: &mut weft_session::Config,
) {
    session.extensions = extension_map(used, allowed);
    if !description.extmap_allow_mixed {
        // Dependency structures need the two-byte form.
        session.extensions.dependency = None;
    }
    let by_stream = |m: &&Media| m.has_feedback(sdp::CONGESTION_FEEDBACK);
    let mut video = used.iter().filter(|m| is_video(m, allowed));
    let agreed = used.iter().any(by_stream) && video.all(by_stream);
    session.feedback_format = FeedbackFormat::Transport;
    if session.extensions.path.is_none() && agreed {
        session.feedback_format = FeedbackFormat::Stream;
        session.extensions.transport_sequence = None;
    }
}

fn is_video(media: &Media, allowed: &[Codec]) -> bool {
    PayloadTypes::of_codecs(media, allowed).is_some_and(|p| p.codec().kind() == MediaKind::Video)
}

/// Ids of the extensions that we support, too, as the sections list them. Transport-wide
/// numbers make a level only if the video has them: video loads the paths, and
/// measurements of audio alone say nothing about that load.
fn extension_map(used: &[&Media], allowed: &[Codec]) -> ExtensionMap {
    let id = |uri: &str| {
        let mut all = used.iter().flat_map(|m| extensions(m));
        all.find(|(_, u)| u == uri).map(|(id, _)| *id)
    };
    let numbered = |uri: &str| {
        let mut video = used.iter().filter(|m| is_video(m, allowed));
        let all = video.all(|m| extensions(m).any(|(_, u)| u == uri));
        id(uri).filter(|_| all)
    };
    ExtensionMap {
        transport_sequence: numbered(rtp::TRANSPORT_SEQUENCE_URI),
        path: numbered(rtp::PATH_URI),
        mid: id(rtp::MID_URI),
        audio_level: id(rtp::AUDIO_LEVEL_URI),
        rid: id(rtp::RID_URI),
        repaired_rid: id(rtp::REPAIRED_RID_URI),
        dependency: id(rtp::DEPENDENCY_URI),
    }
}

/// Returns the peer's transport. Until the answer has bundled them, sections that share a
/// transport may still describe one each. The tagged section's counts: the first section
/// of the BUNDLE group that is in use (RFC 9143 section 7.3.1).
pub(crate) fn remote_transport(
    description: &SessionDescription,
    used: &[&Media],
    dtls: DtlsRole,
) -> Result<Remote, NegotiationError> {
    let missing = NegotiationError::MissingTransport;
    let group = description.bundle.iter();
    let tagged = group.filter_map(|mid| used.iter().find(|m| m.mid == Some(*mid)));
    let mut sections = tagged.chain(used).filter(|m| m.ice_ufrag.is_some());
    let media = sections.next().ok_or(missing("a=ice-ufrag"))?;
    let ufrag = media.ice_ufrag.clone().ok_or(missing("a=ice-ufrag"))?;
    let pwd = media.ice_pwd.clone().ok_or(missing("a=ice-pwd"))?;
    let fingerprint = media.fingerprint.as_ref().ok_or(missing("a=fingerprint"))?;
    let all = description.media.iter();
    let same = all.filter(|m| m.ice_ufrag.is_none() || m.ice_ufrag == media.ice_ufrag);
    let candidates = same
        .flat_map(|m| &m.candidates)
        .filter_map(remote_candidate)
        .collect();
    Ok(Remote {
        credentials: weft_ice::Credentials { ufrag, pwd },
        fingerprint: fingerprint.to_string().parse::<Fingerprint>()?,
        dtls,
        candidates,
    })
}

/// Returns a UDP candidate that has an address. Candidates with names (mDNS) are ignored:
/// we learn their addresses from the peer's checks.
pub(crate) fn remote_candidate(candidate: &sdp::Candidate) -> Option<RemoteCandidate> {
    let addr = candidate.socket_addr()?;
    let usable = candidate.transport == Transport::Udp && candidate.component == 1;
    usable.then_some(RemoteCandidate {
        addr,
        priority: candidate.priority,
    })
}

/// Returns our DTLS role in answer to the offer's (RFC 8842 section 5). Given the choice,
/// we let the peer start the handshake: we accept an RSA certificate only as its server,
/// and an offer does not reveal whether the peer has one. It costs no time, because the
/// peer's checks, and so its handshake, start half a round trip before ours.
pub(crate) fn dtls_role_for_answer(offered: Option<Setup>) -> DtlsRole {
    match offered {
        Some(Setup::Active | Setup::ActPass) | None => DtlsRole::Server,
        Some(Setup::Passive | Setup::HoldConn) => DtlsRole::Client,
    }
}
