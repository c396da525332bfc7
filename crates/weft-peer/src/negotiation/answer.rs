use weft_secure::{Association, DtlsRole};
use weft_session::{Delivery, Level, Naming, Session};
use weft_units::{Codec, Instant, MediaKind};
use weft_wire::payload::{codec_of, format_of};
use weft_wire::rtp;
use weft_wire::sdp::{self, Media, Payload, SessionDescription, Setup};

use super::describe::{Sources, Transported, announce, bundle, payloads};
use super::offer::{add_receiver, add_sender};
use super::{
    NegotiationError, PayloadTypes, agree, dtls_role_for_answer, extensions, limited,
    remote_transport,
};
use crate::config::PeerConfig;
use crate::peer::Peer;
use crate::stream::NegotiatedStream;

/// What an answer takes of an offer.
#[derive(Clone, Debug)]
pub struct AnswerPolicy {
    /// Take in what the offerer sends, in this form.
    pub receive: Option<Delivery>,
    /// Send what the offerer would receive: each of these goes into the first
    /// section that takes it.
    pub send: Vec<Outgoing>,
}

/// A stream that an answer sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// Sound or pictures.
    pub kind: MediaKind,
    /// The one codec that it may have, in place of all of its kind that the
    /// [`PeerConfig`] allows.
    pub codec: Option<Codec>,
}

impl From<MediaKind> for Outgoing {
    fn from(kind: MediaKind) -> Outgoing {
        Outgoing { kind, codec: None }
    }
}

/// The peer of an offer, and the answer to send.
///
/// # Errors
/// If the offer cannot be read or nothing in it can be used.
pub fn answer(
    now: Instant,
    mut config: PeerConfig,
    offer: &str,
    policy: &AnswerPolicy,
) -> Result<(Peer, String), NegotiationError> {
    let offer = SessionDescription::parse(offer)?;
    let setup = offer.media.iter().find_map(|m| m.setup);
    let dtls = dtls_role_for_answer(setup, !policy.send.is_empty());
    let remote = remote_transport(&offer, dtls)?;
    let mut association = Association::new(now, config.association.clone());
    for local in &config.locals {
        association.add_local(now, local.clone());
    }
    agree(&offer, &config.codecs, &mut config.session);
    let session = Session::new(now, config.session.clone(), config.rng.clone());
    let mut peer = Peer::assemble(association, session);
    peer.locals.clone_from(&config.locals);
    let setup = match dtls {
        DtlsRole::Client => Setup::Active,
        DtlsRole::Server => Setup::Passive,
    };
    let transported = Transported {
        config: &config,
        setup,
    };
    let mut to_send: Vec<Waiting> = Waiting::all(&policy.send);
    let mut rng = config.rng.stream("ssrc");
    let mut media = Vec::with_capacity(offer.media.len());
    for offered in &offer.media {
        let mut section = Answering {
            peer: &mut peer,
            config: &config,
            policy,
        };
        let answered = section.answer(offered, &transported, &mut to_send, &mut rng);
        media.push(answered.unwrap_or_else(|| Media::rejecting(offered)));
    }
    if peer.streams.is_empty() {
        return Err(NegotiationError::NoCommonCodec);
    }
    let description = bundle(rng.next_u64(), media);
    peer.association.set_remote(now, remote);
    peer.pump(now);
    Ok((peer, description.to_string()))
}

struct Answering<'a> {
    peer: &'a mut Peer,
    config: &'a PeerConfig,
    policy: &'a AnswerPolicy,
}

impl Answering<'_> {
    /// The answer to one section, or none if there is nothing in it for us.
    fn answer(
        &mut self,
        offered: &Media,
        transported: &Transported<'_>,
        to_send: &mut Vec<Waiting>,
        rng: &mut weft_units::Rng,
    ) -> Option<Media> {
        if offered.is_rejected() {
            return None;
        }
        let allowed = &self.config.codecs;
        let sent = match offered.direction.receives() {
            true => Waiting::take(to_send, offered, allowed),
            false => None,
        };
        let types = match sent {
            Some((types, _)) => types,
            None => PayloadTypes::of(offered, allowed)?,
        };
        let mut media = Media::new(offered.kind.clone());
        media.mid = offered.mid;
        media.payloads = payloads(&[types]);
        keep_what_was_offered(&mut media, offered);
        media.extensions = extensions(offered).cloned().collect();
        self.keep_chosen_feedback(&mut media);
        transported.describe(&mut media);
        let mut streams: Vec<NegotiatedStream> = Vec::new();
        if let Some((types, place)) = sent {
            let sources = Sources::fresh(rng, &[types]);
            announce(&mut media, &self.config.session.cname, sources);
            let session = &mut self.peer.session;
            streams.push(NegotiatedStream {
                place,
                ..add_sender(session, types, offered, offered.mid, sources)
            });
        }
        if let Some(delivery) = self.policy.receive.filter(|_| offered.direction.sends()) {
            let mut stream = add_receiver(&mut self.peer.session, types, offered, delivery);
            stream.place = self.received(types.codec.kind());
            if let Some(title) = &offered.title {
                self.peer.titles.insert(stream.stream, title.clone());
            }
            streams.push(stream);
            tell_of_rate(&mut media, offered);
        }
        let sending = streams.iter().any(|s| s.ssrc.is_some());
        let receiving = streams.iter().any(|s| s.ssrc.is_none());
        media.direction = match (sending, receiving) {
            (true, true) => sdp::Direction::SendRecv,
            (true, false) => sdp::Direction::SendOnly,
            (false, true) => sdp::Direction::RecvOnly,
            (false, false) => return None,
        };
        self.peer.streams.extend(streams);
        Some(media)
    }
}

/// Of a stream that we receive we may say what it may take. Of one that we send
/// we do not want to hear that: where every packet is reported, an estimate of
/// the other side's is of fewer.
fn tell_of_rate(media: &mut Media, offered: &Media) {
    if offered.has_feedback(sdp::RATE_FEEDBACK)
        && let Some(payload) = media.payloads.first_mut()
    {
        payload.feedback.push(sdp::RATE_FEEDBACK.to_owned());
    }
}

/// A stream that has no section so far, and its place among those of its kind.
#[derive(Clone, Copy)]
struct Waiting {
    outgoing: Outgoing,
    place: usize,
}

impl Waiting {
    fn all(wanted: &[Outgoing]) -> Vec<Waiting> {
        let place = |index: usize, kind| wanted[..index].iter().filter(|o| o.kind == kind).count();
        let all = wanted.iter().enumerate();
        let waiting = all.map(|(index, outgoing)| Waiting {
            outgoing: *outgoing,
            place: place(index, outgoing.kind),
        });
        waiting.collect()
    }

    /// The first of `waiting` that goes into this section, and is taken out,
    /// with its payload types there.
    fn take(
        waiting: &mut Vec<Waiting>,
        offered: &Media,
        allowed: &[Codec],
    ) -> Option<(PayloadTypes, usize)> {
        let types = |w: &Waiting| {
            let types = PayloadTypes::of(offered, &limited(allowed, w.outgoing.codec))?;
            (types.codec.kind() == w.outgoing.kind).then_some(types)
        };
        let mut all = waiting.iter().enumerate();
        let (index, found) = all.find_map(|(index, w)| Some((index, types(w)?)))?;
        Some((found, waiting.remove(index).place))
    }
}

impl Answering<'_> {
    /// How many streams of a kind are received by now.
    fn received(&self, kind: MediaKind) -> usize {
        let streams = self.peer.streams.iter();
        let alike = |s: &&NegotiatedStream| s.ssrc.is_none() && s.codec.kind() == kind;
        streams.filter(alike).count()
    }

    /// Of the two kinds that do the same, an answer lists the one to use.
    fn keep_chosen_feedback(&self, media: &mut Media) {
        let session = &self.peer.session;
        let by_stream = (session.level(), session.naming()) == (Level::SenderSide, Naming::Stream);
        let other = match by_stream {
            true => sdp::TRANSPORT_FEEDBACK,
            false => sdp::CONGESTION_FEEDBACK,
        };
        for payload in &mut media.payloads {
            payload.feedback.retain(|f| f != other);
        }
        if by_stream {
            let uri = rtp::TRANSPORT_SEQUENCE_URI;
            media.extensions.retain(|(_, u)| u != uri);
        }
    }
}

/// An answer lists no feedback that was not offered (RFC 4585 section 4.2), and
/// the format parameters that the codec answers to the offered ones.
fn keep_what_was_offered(media: &mut Media, offered: &Media) {
    for payload in &mut media.payloads {
        let same = |p: &&Payload| p.payload_type == payload.payload_type;
        let offered = offered.payloads.iter().find(same);
        if let Some((offered, codec)) = offered.and_then(|p| Some((p, codec_of(p)?))) {
            payload.parameters = format_of(codec).answered(&offered.parameters);
        }
        let offered = offered.map(|p| p.feedback.clone()).unwrap_or_default();
        payload.feedback.retain(|f| offered.contains(f));
    }
}
