use weft_secure::{Association, DtlsRole};
use weft_session::{Level, Naming, Session};
use weft_units::{Instant, MediaKind};
use weft_wire::payload::{Form, format_of};
use weft_wire::rtp;
use weft_wire::sdp::{self, Media, SessionDescription, Setup};

use super::Peer;
use crate::config::PeerConfig;
use crate::negotiation::describe::{Sources, Transported, announce, bundle, payloads};
use crate::negotiation::offering::{add_receiver, add_sender};
use crate::negotiation::plan::{AnswerPolicy, Plan, Use, plan};
use crate::negotiation::{
    NegotiationError, agree, dtls_role_for_answer, extensions, remote_transport,
};
use crate::stream::NegotiatedStream;

/// The peer of an offer, and the answer to send.
///
/// # Errors
/// If the offer cannot be read, if anything in it that we receive or send finds
/// no codec, or if we cannot carry it over one transport.
pub fn answer(
    now: Instant,
    mut config: PeerConfig,
    offer: &str,
    policy: &AnswerPolicy,
) -> Result<(Peer, String), NegotiationError> {
    let offer = SessionDescription::parse(offer)?;
    let plans = plan(&offer, &config.codecs, policy)?;
    let each = plans.iter().zip(&offer.media);
    let used = each.clone().filter(|(plan, _)| plan.is_used());
    let used: Vec<&Media> = used.map(|(_, media)| media).collect();
    let dtls = dtls_role_for_answer(offer.media.iter().find_map(|m| m.setup));
    let remote = remote_transport(&offer, &used, dtls)?;
    let mut association = Association::new(now, config.association.clone());
    for local in &config.locals {
        association.add_local(now, local.clone());
    }
    agree(&used, &config.codecs, &mut config.session);
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
    let mut rng = config.rng.stream("ssrc");
    let mut media = Vec::with_capacity(offer.media.len());
    for (plan, offered) in each {
        let mut section = Answering {
            peer: &mut peer,
            config: &config,
            policy,
        };
        media.push(section.answer(*plan, offered, &transported, &mut rng));
    }
    let accepted = media.iter().filter(|m| !m.is_rejected());
    let accepted: Vec<_> = accepted.filter_map(|m| m.mid).collect();
    let group = offer.bundle.iter().filter(|mid| accepted.contains(mid));
    let description = bundle((rng.next_u64(), 1), group.copied().collect(), media);
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
    /// The answer to one section. It has nothing that the offer has not (RFC 3264
    /// section 6), but for what describes us.
    fn answer(
        &mut self,
        plan: Plan,
        offered: &Media,
        transported: &Transported<'_>,
        rng: &mut weft_units::Rng,
    ) -> Media {
        let (types, used) = match plan {
            Plan::Used(used) => (used.types, Some(used)),
            Plan::Idle(types) => (types, None),
            Plan::Rejected => {
                let mut media = Media::rejecting(offered);
                transported.describe_rejected(&mut media, offered);
                return media;
            }
        };
        let mut media = Media::new(offered.kind.clone());
        media.protocol.clone_from(&offered.protocol);
        media.mid = offered.mid;
        media.payloads = payloads(&[types]);
        keep_what_was_offered(&mut media, offered);
        media.extensions = extensions(offered).cloned().collect();
        self.keep_chosen_feedback(&mut media);
        transported.describe_answered(&mut media, offered);
        let streams = used.map_or(Vec::new(), |used| {
            self.add_streams(used, offered, &mut media, rng)
        });
        let sending = streams.iter().any(|s| s.ssrc.is_some());
        let receiving = streams.iter().any(|s| s.ssrc.is_none());
        media.direction = match (sending, receiving) {
            (true, true) => sdp::Direction::SendRecv,
            (true, false) => sdp::Direction::SendOnly,
            (false, true) => sdp::Direction::RecvOnly,
            (false, false) => sdp::Direction::Inactive,
        };
        self.peer.streams.extend(streams);
        media
    }

    fn add_streams(
        &mut self,
        used: Use,
        offered: &Media,
        media: &mut Media,
        rng: &mut weft_units::Rng,
    ) -> Vec<NegotiatedStream> {
        let mut streams: Vec<NegotiatedStream> = Vec::new();
        let types = used.types;
        if let Some(place) = used.sent {
            let sources = Sources::fresh(rng, &[types]);
            let cname = &self.config.session.cname;
            announce(media, cname, cname, sources);
            let session = &mut self.peer.session;
            streams.push(NegotiatedStream {
                place,
                ..add_sender(session, types, offered, offered.mid, sources)
            });
        }
        if let Some(delivery) = self.policy.receive.filter(|_| used.received) {
            let mut stream = add_receiver(&mut self.peer.session, types, offered, delivery);
            stream.place = self.received(types.codec().kind());
            if let Some(title) = &offered.title {
                self.peer.titles.insert(stream.stream, title.clone());
            }
            streams.push(stream);
            tell_of_rate(media, offered);
        }
        streams
    }
}

/// An answer may bound the rate of a stream that we receive. For one that we send
/// we do not want to hear that: where every packet is reported, an estimate of
/// the other side's is of fewer.
fn tell_of_rate(media: &mut Media, offered: &Media) {
    if let Some(payload) = media.payloads.first_mut() {
        let offered = offered.payload(payload.payload_type);
        if offered.is_some_and(|p| p.has_feedback(sdp::RATE_FEEDBACK)) {
            payload.feedback.push(sdp::RATE_FEEDBACK.to_owned());
        }
    }
}

impl Answering<'_> {
    /// How many streams of a kind are received by now.
    fn received(&self, kind: MediaKind) -> usize {
        let streams = self.peer.streams.iter();
        let alike = |s: &&NegotiatedStream| s.ssrc.is_none() && s.codec().kind() == kind;
        streams.filter(alike).count()
    }

    /// Two kinds of feedback do the same: an answer lists the one to use.
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
        let offered = offered.payload(payload.payload_type);
        if let Some((offered, form)) = offered.and_then(|p| Some((p, Form::of(p)?))) {
            payload.parameters = format_of(form.codec()).answered(&offered.parameters);
        }
        let offered = offered.map(|p| p.feedback.clone()).unwrap_or_default();
        payload.feedback.retain(|f| offered.contains(f));
    }
}
