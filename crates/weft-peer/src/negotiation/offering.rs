use weft_ice::{Credentials, LocalAddress};
use weft_session::{Delivery, ReceiveStreamConfig, Retransmission, SendStreamConfig, Session};
use weft_units::{Codec, MediaKind, Rng};
use weft_wire::payload::{Form, format_of};
use weft_wire::rtp::{self, Mid, Rid};
use weft_wire::sdp::{self, Media, SessionDescription, Setup};

use super::describe::{
    Sources, Transported, announce, bundle, data_channels, has_dependencies, payloads,
};
use super::{NegotiationError, PayloadTypes, Section, feedback, forms};
use crate::config::PeerConfig;
use crate::stream::{NegotiatedStream, StreamDirection};

/// Payload type of repair packets in our offers for all codecs, the same as Chromium's;
/// those of codecs depend on their formats.
pub(super) const FEC: u8 = 98;

/// Extension ids of our offers (RFC 8285: 1 to 14).
const EXTENSIONS: [(u8, &str); 7] = [
    (1, rtp::MID_URI),
    (3, rtp::TRANSPORT_SEQUENCE_URI),
    (5, rtp::PATH_URI),
    (7, rtp::AUDIO_LEVEL_URI),
    (9, rtp::RID_URI),
    (10, rtp::REPAIRED_RID_URI),
    (11, rtp::DEPENDENCY_URI),
];

/// Sections that this side has offered over one connection, and the answers to them.
/// Later offers add sections; none is removed, because a description keeps its sections
/// for the life of a connection (RFC 8829 section 5.2.2).
pub(crate) struct Offering {
    config: PeerConfig,
    delivery: Delivery,
    sections: Vec<Offered>,
    /// Number of answered sections; the others wait.
    answered: usize,
    session_id: u64,
    version: u64,
    rng: Rng,
}

enum Offered {
    Media(OfferedMedia),
    Data { mid: Option<Mid>, rejected: bool },
}

struct OfferedMedia {
    section: Section,
    mid: Option<Mid>,
    codecs: Vec<PayloadTypes>,
    /// Sources of each encoding, or of the only stream.
    sources: Vec<Sources>,
    rejected: bool,
}

impl Offering {
    /// Creates an offering without sections.
    pub(crate) fn new(config: PeerConfig, delivery: Delivery) -> Offering {
        Offering {
            delivery,
            sections: Vec::new(),
            answered: 0,
            session_id: config.rng.stream("session id").next_u64(),
            version: 0,
            rng: config.rng.stream("ssrc"),
            config,
        }
    }

    /// Adds sections; they wait for an answer.
    pub(crate) fn add(&mut self, sections: &[Section]) {
        self.version += 1;
        for section in sections {
            let forms = forms(section.kind, &self.config.codecs, section.form);
            let codecs = offered_codecs(&forms);
            self.sections.push(Offered::Media(OfferedMedia {
                section: section.clone(),
                mid: self.next_mid(),
                sources: (0..section.encodings.len().max(1))
                    .map(|_| Sources::fresh(&mut self.rng, &codecs))
                    .collect(),
                codecs,
                rejected: false,
            }));
        }
    }

    /// Adds a section of data channels.
    pub(crate) fn add_data(&mut self) {
        self.sections.push(Offered::Data {
            mid: self.next_mid(),
            rejected: false,
        });
    }

    fn next_mid(&self) -> Option<Mid> {
        Mid::new(&self.sections.len().to_string())
    }

    /// Updates the transport: ICE may have restarted, and links may have come or gone.
    pub(crate) fn update_transport(&mut self, credentials: &Credentials, locals: &[LocalAddress]) {
        let ice = &mut self.config.association.ice;
        ice.credentials.clone_from(credentials);
        self.config.locals = locals.to_vec();
    }

    pub(crate) fn config(&self) -> &PeerConfig {
        &self.config
    }

    /// Returns whether sections wait for an answer.
    pub(crate) fn is_waiting(&self) -> bool {
        self.answered < self.sections.len()
    }

    /// Returns the description to send.
    pub(crate) fn description(&self) -> SessionDescription {
        let transported = Transported {
            config: &self.config,
            setup: Setup::ActPass,
        };
        let cname = &self.config.session.cname;
        let describe = |s: &Offered| s.describe(&transported, cname);
        let media = self.sections.iter().map(describe).collect();
        let used = self.sections.iter().filter(|s| !s.is_rejected());
        let group = used.filter_map(Offered::mid).collect();
        bundle((self.session_id, self.version), group, media, true)
    }

    /// Parses an answer to all sections.
    ///
    /// # Errors
    /// If it cannot be read or belongs to another offer.
    pub(crate) fn read(&self, answer: &str) -> Result<SessionDescription, NegotiationError> {
        let answer = SessionDescription::parse(answer)?;
        let (offered, answered) = (self.sections.len(), answer.media.len());
        match offered == answered {
            true => Ok(answer),
            false => Err(NegotiationError::SectionCount { offered, answered }),
        }
    }

    /// Adds the streams of the sections that waited for this answer, and returns them.
    pub(crate) fn apply(
        &mut self,
        answer: &SessionDescription,
        session: &mut Session,
    ) -> Vec<NegotiatedStream> {
        let waited = self.answered..self.sections.len();
        self.answered = self.sections.len();
        let mut streams = Vec::new();
        for (index, media) in waited.clone().zip(&answer.media[waited]) {
            let Offered::Media(offered) = &self.sections[index] else {
                continue;
            };
            let types = offered.answered(media).filter(|_| !media.is_rejected());
            if let Some(types) = types {
                let before = self.sections[..index].iter();
                let place = before.filter(|s| offered.is_like(s)).count();
                let added = offered.add_to(session, media, types, self.delivery);
                streams.extend(added.into_iter().map(|s| NegotiatedStream { place, ..s }));
            }
            if let Offered::Media(offered) = &mut self.sections[index] {
                offered.rejected = types.is_none();
            }
        }
        streams
    }

    /// Applies the answer to the section of data channels; returns the section if they
    /// were accepted.
    pub(crate) fn apply_data<'a>(&mut self, answer: &'a SessionDescription) -> Option<&'a Media> {
        let mut sections = self.sections.iter_mut().zip(&answer.media);
        sections.find_map(|(offered, media)| match offered {
            Offered::Data { rejected, .. } => {
                let is_accepted = !media.is_rejected() && media.data_channel_terms().is_some();
                *rejected = !is_accepted;
                is_accepted.then_some(media)
            }
            Offered::Media(_) => None,
        })
    }
}

/// Payload types of these forms, one per codec.
fn offered_codecs(forms: &[Form]) -> Vec<PayloadTypes> {
    let of = |form: &Form| {
        let codec = form.codec();
        let description = format_of(codec).description();
        PayloadTypes {
            form: *form,
            media: description.payload_type,
            rtx: description.rtx,
            fec: (codec.kind() == MediaKind::Video).then_some(FEC),
        }
    };
    forms.iter().map(of).collect()
}

impl Offered {
    fn mid(&self) -> Option<Mid> {
        match self {
            Offered::Media(OfferedMedia { mid, .. }) | Offered::Data { mid, .. } => *mid,
        }
    }

    fn is_rejected(&self) -> bool {
        match self {
            Offered::Media(OfferedMedia { rejected, .. }) | Offered::Data { rejected, .. } => {
                *rejected
            }
        }
    }

    fn describe(&self, transported: &Transported<'_>, cname: &str) -> Media {
        let media = match self {
            Offered::Media(offered) => offered.describe(transported, cname),
            Offered::Data { mid, .. } => {
                let mut media = data_channels();
                media.mid = *mid;
                transported.describe_data(&mut media);
                media
            }
        };
        match self.is_rejected() {
            true => Media::rejecting(&media),
            false => media,
        }
    }
}

impl OfferedMedia {
    fn describe(&self, transported: &Transported<'_>, cname: &str) -> Media {
        let mut media = Media::new(self.section.kind);
        media.mid = self.mid;
        media.title.clone_from(&self.section.title);
        media.payloads = payloads(&self.codecs);
        let of_kind = |uri: &str| match uri {
            rtp::AUDIO_LEVEL_URI => self.section.kind == MediaKind::Audio,
            rtp::RID_URI | rtp::REPAIRED_RID_URI => !self.section.encodings.is_empty(),
            rtp::DEPENDENCY_URI => self.may_have_dependencies(),
            _ => true,
        };
        let extensions = EXTENSIONS.iter().filter(|(_, uri)| of_kind(uri));
        media.extensions = extensions
            .map(|(id, uri)| (*id, (*uri).to_owned()))
            .collect();
        transported.describe(&mut media);
        match self.section.direction {
            StreamDirection::Send => {
                media.direction = sdp::Direction::SendOnly;
                media.send_encodings(&self.section.encodings);
                let stream = self.section.stream_name(cname);
                announce(&mut media, cname, &stream, self.sources[0]);
                if !self.section.encodings.is_empty() {
                    // Packets of simulcast name their encoding (RFC 8853 section 5.5).
                    media.ssrcs.clear();
                    media.ssrc_groups.clear();
                }
            }
            StreamDirection::Receive => media.direction = sdp::Direction::RecvOnly,
        }
        media
    }

    /// Whether the section is offered with dependency descriptors. Once they are
    /// negotiated, Chromium marks all pictures of VP8 as base layer. So a section that
    /// receives has them only if it receives nothing else.
    fn may_have_dependencies(&self) -> bool {
        let mut codecs = self.codecs.iter();
        match self.section.direction {
            StreamDirection::Send => codecs.any(has_dependencies),
            StreamDirection::Receive => codecs.all(has_dependencies),
        }
    }

    /// Our payload types that the answer accepts. The form is the one that we offered,
    /// whatever the answer says (RFC 6184 section 8.2.2: profile and mode of a payload
    /// type do not change).
    fn answered(&self, media: &Media) -> Option<PayloadTypes> {
        let codecs: Vec<Codec> = self.codecs.iter().map(PayloadTypes::codec).collect();
        let types = PayloadTypes::of_codecs(media, &codecs)?;
        let ours = self.codecs.iter().find(|own| own.media == types.media);
        let form = ours.map_or(types.form, |own| own.form);
        Some(PayloadTypes { form, ..types })
    }

    /// Whether two sections have the same kind and direction.
    fn is_like(&self, other: &Offered) -> bool {
        let of = |s: &OfferedMedia| (s.section.kind, s.section.direction);
        matches!(other, Offered::Media(other) if of(self) == of(other))
    }

    fn add_to(
        &self,
        session: &mut Session,
        media: &Media,
        types: PayloadTypes,
        delivery: Delivery,
    ) -> Vec<NegotiatedStream> {
        match self.section.direction {
            StreamDirection::Receive if media.direction.sends() => {
                vec![add_receiver(session, types, media, (None, delivery))]
            }
            StreamDirection::Send if media.direction.receives() => {
                let taken = media.received_encodings();
                let encodings = self.section.encodings.iter().map(Some);
                let named = encodings.zip(&self.sources);
                let mut named: Vec<_> = named
                    .filter(|(rid, _)| rid.is_some_and(|rid| taken.contains(rid)))
                    .collect();
                if named.is_empty() {
                    // Without simulcast, use the last one, which is the largest.
                    named.extend(self.sources.last().map(|sources| (None, sources)));
                }
                let add = |(rid, sources): (Option<&Rid>, &Sources)| {
                    add_sender(session, types, media, (self.mid, rid.copied()), *sources)
                };
                named.into_iter().map(add).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Adds a stream that we send, as the first of its kind.
pub(crate) fn add_sender(
    session: &mut Session,
    types: PayloadTypes,
    media: &Media,
    (mid, rid): (Option<Mid>, Option<Rid>),
    sources: Sources,
) -> NegotiatedStream {
    let stream = session.add_send_stream(SendStreamConfig {
        ssrc: sources.media,
        retransmission: retransmission(types, sources, media),
        fec: sources.fec.zip(types.fec),
        payload_type: types.media,
        codec: types.codec(),
        mid,
        rid,
        feedback: feedback(session.level(), session.feedback_format(), media),
    });
    let direction = StreamDirection::Send;
    NegotiatedStream {
        stream,
        form: types.form,
        direction,
        place: 0,
        mid,
        rid,
        ssrc: Some(sources.media),
    }
}

/// RTX if both sides support it; otherwise, if lost packets are requested, the same
/// packets again.
fn retransmission(types: PayloadTypes, sources: Sources, media: &Media) -> Retransmission {
    let payload = media.payload(types.media);
    let asks = payload.is_some_and(|p| p.has_feedback(sdp::LOSS_FEEDBACK));
    match sources.rtx.zip(types.rtx) {
        Some((ssrc, payload_type)) => Retransmission::Rtx(ssrc, payload_type),
        None if asks => Retransmission::SamePacket,
        None => Retransmission::None,
    }
}

/// Adds a stream that we receive, as the first of its kind.
pub(crate) fn add_receiver(
    session: &mut Session,
    types: PayloadTypes,
    media: &Media,
    (rid, delivery): (Option<Rid>, Delivery),
) -> NegotiatedStream {
    // Firefox lists the SSRCs of all encodings, but not which SSRC belongs to which encoding.
    let ssrc = media.primary_ssrcs().first().copied();
    let ssrc = ssrc.filter(|_| rid.is_none());
    let rtx_ssrc = ssrc.and_then(|s| media.rtx_ssrc_of(s));
    let fec_ssrc = ssrc.and_then(|s| media.fec_ssrc_of(s));
    let stream = session.add_receive_stream(ReceiveStreamConfig {
        ssrc,
        mid: media.mid,
        rid,
        payload_type: types.media,
        rtx: types.rtx.map(|payload_type| (rtx_ssrc, payload_type)),
        fec: types.fec.map(|payload_type| (fec_ssrc, payload_type)),
        codec: types.codec(),
        delivery,
    });
    let direction = StreamDirection::Receive;
    NegotiatedStream {
        stream,
        form: types.form,
        direction,
        place: 0,
        mid: media.mid,
        rid,
        ssrc: None,
    }
}
