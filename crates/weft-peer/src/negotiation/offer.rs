use weft_secure::{Association, DtlsRole};
use weft_session::{Delivery, MediaKind, ReceiveStreamConfig, SendStreamConfig, Session};
use weft_units::{Instant, VideoCodec};
use weft_wire::rtp::{self, Mid};
use weft_wire::sdp::{self, Media, SessionDescription, Setup};

use super::describe::{Sources, Transported, announce, bundle, payloads};
use super::{
    Codec, Direction, NegotiatedStream, NegotiationError, Section, agree, clock_rate, feedback,
    remote_transport,
};
use crate::config::PeerConfig;
use crate::peer::Peer;

/// Payload types of our offers, from the dynamic range (RFC 3551 section 6),
/// the ones that browsers use for the same codecs.
const VP8: u8 = 96;
const VP8_RTX: u8 = 97;
const H264: u8 = 102;
const H264_RTX: u8 = 103;
/// Of video, whatever its codec.
const FEC: u8 = 98;
const OPUS: u8 = 111;

/// Extension ids of our offers (RFC 8285: 1 to 14).
const EXTENSIONS: [(u8, &str); 3] = [
    (1, rtp::MID_URI),
    (3, rtp::TRANSPORT_SEQUENCE_URI),
    (5, rtp::PATH_URI),
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
    codecs: Vec<Codec>,
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
                let codecs = offered_codecs(section.kind, &config.video);
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
        let description = bundle(rng.next_u64(), media);
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
        let remote = remote_transport(&answer, dtls)?;
        let mut config = self.config;
        agree(&answer, &config.video, &mut config.session);
        let session = Session::new(now, config.session, config.rng);
        let mut peer = Peer::assemble(self.association, session);
        peer.locals = config.locals;
        for (section, media) in self.sections.iter().zip(&answer.media) {
            let codec = Codec::of(media, &config.video);
            if let Some(codec) = codec.filter(|_| !media.is_rejected()) {
                let stream = section.add_to(&mut peer.session, media, codec);
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

/// Those of video in the order of preference.
fn offered_codecs(kind: MediaKind, video: &[VideoCodec]) -> Vec<Codec> {
    let opus = Codec {
        kind,
        video: VideoCodec::default(),
        payload_type: OPUS,
        rtx: None,
        fec: None,
    };
    let of = |codec: &VideoCodec| {
        let (payload_type, rtx) = match codec {
            VideoCodec::Vp8 => (VP8, VP8_RTX),
            VideoCodec::H264 => (H264, H264_RTX),
        };
        Codec {
            kind,
            video: *codec,
            payload_type,
            rtx: Some(rtx),
            fec: Some(FEC),
        }
    };
    match kind {
        MediaKind::Audio => vec![opus],
        MediaKind::Video => video.iter().map(of).collect(),
    }
}

impl OfferedSection {
    fn describe(&self, transported: &Transported<'_>, cname: &str) -> Media {
        let mut media = Media::new(match self.section.kind {
            MediaKind::Video => sdp::MediaKind::Video,
            MediaKind::Audio => sdp::MediaKind::Audio,
        });
        media.mid = self.mid;
        media.title.clone_from(&self.section.title);
        media.payloads = payloads(&self.codecs);
        media.extensions = EXTENSIONS.map(|(id, uri)| (id, uri.to_owned())).to_vec();
        transported.describe(&mut media);
        match self.section.direction {
            Direction::Send => {
                media.direction = sdp::Direction::SendOnly;
                announce(&mut media, cname, self.sources);
            }
            Direction::Receive => media.direction = sdp::Direction::RecvOnly,
        }
        media
    }

    fn add_to(
        &self,
        session: &mut Session,
        media: &Media,
        codec: Codec,
    ) -> Option<NegotiatedStream> {
        let flows = match self.section.direction {
            Direction::Send => media.direction.receives(),
            Direction::Receive => media.direction.sends(),
        };
        flows.then(|| match self.section.direction {
            Direction::Send => add_sender(session, codec, media, self.mid, self.sources),
            Direction::Receive => add_receiver(session, codec, media, self.delivery),
        })
    }
}

pub(super) fn add_sender(
    session: &mut Session,
    codec: Codec,
    media: &Media,
    mid: Option<Mid>,
    sources: Sources,
) -> NegotiatedStream {
    let stream = session.add_send_stream(SendStreamConfig {
        ssrc: sources.media,
        rtx: sources.rtx.zip(codec.rtx),
        fec: sources.fec.zip(codec.fec),
        payload_type: codec.payload_type,
        kind: codec.kind,
        codec: codec.video,
        clock_rate: clock_rate(codec.kind),
        mid,
        feedback: feedback(session.level(), session.naming(), media),
    });
    let direction = Direction::Send;
    NegotiatedStream {
        stream,
        kind: codec.kind,
        codec: codec.agreed(),
        direction,
        mid,
        ssrc: Some(sources.media),
    }
}

pub(super) fn add_receiver(
    session: &mut Session,
    codec: Codec,
    media: &Media,
    delivery: Delivery,
) -> NegotiatedStream {
    let ssrc = media.primary_ssrcs().first().copied();
    let rtx_ssrc = ssrc.and_then(|s| media.rtx_ssrc_of(s));
    let fec_ssrc = ssrc.and_then(|s| media.fec_ssrc_of(s));
    let stream = session.add_receive_stream(ReceiveStreamConfig {
        ssrc,
        mid: media.mid,
        payload_type: codec.payload_type,
        rtx: codec.rtx.map(|payload_type| (rtx_ssrc, payload_type)),
        fec: codec.fec.map(|payload_type| (fec_ssrc, payload_type)),
        kind: codec.kind,
        codec: codec.video,
        clock_rate: clock_rate(codec.kind),
        delivery,
    });
    let direction = Direction::Receive;
    NegotiatedStream {
        stream,
        kind: codec.kind,
        codec: codec.agreed(),
        direction,
        mid: media.mid,
        ssrc: None,
    }
}
