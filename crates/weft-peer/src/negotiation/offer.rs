use weft_secure::{Association, DtlsRole};
use weft_session::{Delivery, ReceiveStreamConfig, Retransmission, SendStreamConfig, Session};
use weft_units::{Codec, Instant, MediaKind};
use weft_wire::payload::{Form, format_of};
use weft_wire::rtp::{self, Mid};
use weft_wire::sdp::{self, Media, SessionDescription, Setup};

use super::describe::{Sources, Transported, announce, bundle, payloads};
use super::{NegotiationError, PayloadTypes, Section, agree, feedback, forms, remote_transport};
use crate::config::PeerConfig;
use crate::peer::Peer;
use crate::stream::{NegotiatedStream, StreamDirection};

/// The payload type of repair packets in our offers, whatever they repair, the
/// one that Chromium uses; those of codecs say their formats.
const FEC: u8 = 98;

/// Extension ids of our offers (RFC 8285: 1 to 14).
const EXTENSIONS: [(u8, &str); 4] = [
    (1, rtp::MID_URI),
    (3, rtp::TRANSPORT_SEQUENCE_URI),
    (5, rtp::PATH_URI),
    (7, rtp::AUDIO_LEVEL_URI),
];

/// An offer that waits for its answer.
pub struct Offer {
    config: PeerConfig,
    association: Association,
    sections: Vec<OfferedSection>,
    description: SessionDescription,
}

struct OfferedSection {
    section: Section,
    delivery: Delivery,
    mid: Option<Mid>,
    codecs: Vec<PayloadTypes>,
    sources: Sources,
}

impl Offer {
    /// Describes these sections. The association begins at once: its
    /// addresses may be checked as soon as the answer is there.
    #[must_use]
    pub fn new(
        now: Instant,
        config: PeerConfig,
        sections: &[Section],
        delivery: Delivery,
    ) -> Offer {
        let mut association = Association::new(now, config.association.clone());
        for local in &config.locals {
            association.add_local(now, local.clone());
        }
        let mut rng = config.rng.stream("ssrc");
        let sections: Vec<OfferedSection> = sections
            .iter()
            .enumerate()
            .map(|(index, section)| {
                let forms = forms(section.kind, &config.codecs, section.form);
                let codecs = offered_codecs(&forms);
                OfferedSection {
                    section: section.clone(),
                    delivery,
                    mid: Mid::new(&index.to_string()),
                    sources: Sources::fresh(&mut rng, &codecs),
                    codecs,
                }
            })
            .collect();
        let transported = Transported {
            config: &config,
            setup: Setup::ActPass,
        };
        let cname = &config.session.cname;
        let media = sections
            .iter()
            .map(|s| s.describe(&transported, cname))
            .collect();
        let group = sections.iter().filter_map(|s| s.mid).collect();
        let description = bundle(rng.next_u64(), group, media);
        Offer {
            config,
            association,
            sections,
            description,
        }
    }

    /// The description to send.
    #[must_use]
    pub fn sdp(&self) -> String {
        self.description.to_string()
    }

    /// Takes in the answer.
    ///
    /// # Errors
    /// If it cannot be read or does not fit.
    pub fn accept(self, now: Instant, answer: &str) -> Result<Peer, NegotiationError> {
        let answer = SessionDescription::parse(answer)?;
        let (offered, answered) = (self.sections.len(), answer.media.len());
        if offered != answered {
            return Err(NegotiationError::SectionCount { offered, answered });
        }
        let setup = answer.media.iter().find_map(|m| m.setup);
        let dtls = match setup {
            Some(Setup::Passive) => DtlsRole::Client,
            _ => DtlsRole::Server,
        };
        let used = answer.media.iter().filter(|m| !m.is_rejected());
        let used: Vec<&Media> = used.collect();
        if used.is_empty() {
            return Err(NegotiationError::NoCommonCodec);
        }
        let remote = remote_transport(&answer, &used, dtls)?;
        let mut config = self.config;
        agree(&used, &config.codecs, &mut config.session);
        let session = Session::new(now, config.session, config.rng);
        let mut peer = Peer::assemble(self.association, session);
        peer.locals = config.locals;
        for (index, (offered, media)) in self.sections.iter().zip(&answer.media).enumerate() {
            let types = offered.answered(media);
            if let Some(types) = types.filter(|_| !media.is_rejected()) {
                let like = |s: &&OfferedSection| offered.is_like(s);
                let place = self.sections[..index].iter().filter(like).count();
                let stream = offered.add_to(&mut peer.session, media, types, place);
                peer.streams.extend(stream);
            }
        }
        if peer.streams.is_empty() {
            return Err(NegotiationError::NoCommonCodec);
        }
        peer.association.set_remote(now, remote);
        peer.pump(now);
        Ok(peer)
    }
}

/// Payload types of these forms, one of each codec.
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

impl OfferedSection {
    fn describe(&self, transported: &Transported<'_>, cname: &str) -> Media {
        let mut media = Media::new(self.section.kind);
        media.mid = self.mid;
        media.title.clone_from(&self.section.title);
        media.payloads = payloads(&self.codecs);
        let of_kind =
            |uri: &str| uri != rtp::AUDIO_LEVEL_URI || self.section.kind == MediaKind::Audio;
        let extensions = EXTENSIONS.iter().filter(|(_, uri)| of_kind(uri));
        media.extensions = extensions
            .map(|(id, uri)| (*id, (*uri).to_owned()))
            .collect();
        transported.describe(&mut media);
        match self.section.direction {
            StreamDirection::Send => {
                media.direction = sdp::Direction::SendOnly;
                announce(&mut media, cname, self.sources);
            }
            StreamDirection::Receive => media.direction = sdp::Direction::RecvOnly,
        }
        media
    }

    /// The payload types that the answer takes of ours. It has the form that we
    /// offered, whatever it writes (RFC 6184 section 8.2.2: profile and mode of a
    /// payload type do not change).
    fn answered(&self, media: &Media) -> Option<PayloadTypes> {
        let codecs: Vec<Codec> = self.codecs.iter().map(PayloadTypes::codec).collect();
        let types = PayloadTypes::of_codecs(media, &codecs)?;
        let ours = self.codecs.iter().find(|own| own.media == types.media);
        let form = ours.map_or(types.form, |own| own.form);
        Some(PayloadTypes { form, ..types })
    }

    /// Whether two sections have the same kind and direction.
    fn is_like(&self, other: &OfferedSection) -> bool {
        let of = |s: &OfferedSection| (s.section.kind, s.section.direction);
        of(self) == of(other)
    }

    fn add_to(
        &self,
        session: &mut Session,
        media: &Media,
        types: PayloadTypes,
        place: usize,
    ) -> Option<NegotiatedStream> {
        let flows = match self.section.direction {
            StreamDirection::Send => media.direction.receives(),
            StreamDirection::Receive => media.direction.sends(),
        };
        flows.then(|| match self.section.direction {
            StreamDirection::Send => NegotiatedStream {
                place,
                ..add_sender(session, types, media, self.mid, self.sources)
            },
            StreamDirection::Receive => NegotiatedStream {
                place,
                ..add_receiver(session, types, media, self.delivery)
            },
        })
    }
}

/// The stream, as the first of its kind.
pub(super) fn add_sender(
    session: &mut Session,
    types: PayloadTypes,
    media: &Media,
    mid: Option<Mid>,
    sources: Sources,
) -> NegotiatedStream {
    let stream = session.add_send_stream(SendStreamConfig {
        ssrc: sources.media,
        retransmission: retransmission(types, sources, media),
        fec: sources.fec.zip(types.fec),
        payload_type: types.media,
        codec: types.codec(),
        mid,
        feedback: feedback(session.level(), session.naming(), media),
    });
    let direction = StreamDirection::Send;
    NegotiatedStream {
        stream,
        form: types.form,
        direction,
        place: 0,
        mid,
        ssrc: Some(sources.media),
    }
}

/// RTX if both know it, and else, where lost packets are asked for, the same
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

/// The stream, as the first of its kind.
pub(super) fn add_receiver(
    session: &mut Session,
    types: PayloadTypes,
    media: &Media,
    delivery: Delivery,
) -> NegotiatedStream {
    let ssrc = media.primary_ssrcs().first().copied();
    let rtx_ssrc = ssrc.and_then(|s| media.rtx_ssrc_of(s));
    let fec_ssrc = ssrc.and_then(|s| media.fec_ssrc_of(s));
    let stream = session.add_receive_stream(ReceiveStreamConfig {
        ssrc,
        mid: media.mid,
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
        ssrc: None,
    }
}
