use weft_secure::{Association, DtlsRole};
use weft_session::{FeedbackFormat, Level, Session};
use weft_units::{Instant, MediaKind};
use weft_wire::payload::{Form, format_of};
use weft_wire::rtp;
use weft_wire::sdp::{self, Media, SessionDescription, Setup};

use super::Peer;
use super::data_link::DataLink;
use crate::config::PeerConfig;
use crate::negotiation::answered::Answered;
use crate::negotiation::describe::{Sources, Transported, announce, has_dependencies, payloads};
use crate::negotiation::offering::{add_receiver, add_sender};
use crate::negotiation::plan::{AnswerPolicy, Plan, Use, accept_data, plan};
use crate::negotiation::{
    NegotiationError, agree, dtls_role_for_answer, extensions, remote_transport,
};
use crate::stream::NegotiatedStream;

/// Creates the peer that answers an offer, and the answer to send.
///
/// # Errors
/// If the offer cannot be read, if a stream in it that we would receive or send has no
/// common codec, or if one transport cannot carry it.
pub fn answer(
    now: Instant,
    mut config: PeerConfig,
    offer: &str,
    policy: &AnswerPolicy,
) -> Result<(Peer, String), NegotiationError> {
    let offer = SessionDescription::parse(offer)?;
    let mut plans = plan(&offer, &config.codecs, policy)?;
    if config.data_channels {
        accept_data(&offer, &mut plans);
    }
    let used = plans.iter().zip(&offer.media);
    let used = used.filter(|(plan, _)| plan.is_used());
    let used: Vec<&Media> = used.map(|(_, media)| media).collect();
    let dtls = dtls_role_for_answer(offer.media.iter().find_map(|m| m.setup));
    let remote = remote_transport(&offer, &used, dtls)?;
    let mut association = Association::new(now, config.association.clone());
    for local in &config.locals {
        association.add_local(now, local.clone());
    }
    agree(&offer, &used, &config.codecs, &mut config.session);
    let session = Session::new(now, config.session.clone(), config.rng.clone());
    let mut peer = Peer::assemble(association, session);
    peer.locals.clone_from(&config.locals);
    let setup = match dtls {
        DtlsRole::Client => Setup::Active,
        DtlsRole::Server => Setup::Passive,
    };
    let mut answered = Answered {
        policy: policy.clone(),
        setup,
        allows_mixed: offer.extmap_allow_mixed,
        media: Vec::with_capacity(offer.media.len()),
        session_id: 0,
        version: 1,
        rng: config.rng.stream("ssrc"),
        config,
    };
    peer.answer_sections(&mut answered, &plans, &offer.media);
    answered.session_id = answered.rng.next_u64();
    let description = answered.description(&offer);
    peer.answered = Some(Box::new(answered));
    peer.association.set_remote(now, remote);
    peer.pump(now);
    Ok((peer, description.to_string()))
}

impl Peer {
    /// Answers a later offer over this connection. The peer receives the streams of the
    /// new sections, by the policy of the first answer, and sends nothing in them.
    /// Existing sections do not change. An offer that cannot be used changes nothing.
    ///
    /// # Errors
    /// If this side makes the offers, if the offer cannot be read or lacks sections, or
    /// if its new sections cannot be used.
    pub fn answer(&mut self, now: Instant, offer: &str) -> Result<String, NegotiationError> {
        let offer = SessionDescription::parse(offer)?;
        let answered = self.answered.as_ref();
        let answered = answered.ok_or(NegotiationError::NotAnswerer)?;
        let (before, offered) = (answered.media.len(), offer.media.len());
        if offered < before {
            return Err(NegotiationError::SectionsGone { before, offered });
        }
        let mut added = offer.clone();
        added.media.drain(..before);
        let policy = AnswerPolicy {
            receive: answered.policy.receive,
            send: Vec::new(),
        };
        let mut plans = match added.media.is_empty() {
            true => Vec::new(),
            false => plan(&added, &answered.config.codecs, &policy)?,
        };
        if answered.config.data_channels && self.data.is_none() {
            accept_data(&added, &mut plans);
        }
        let Some(mut answered) = self.answered.take() else {
            unreachable!("it is there, as above");
        };
        answered.policy = policy;
        answered.version += 1;
        answered.config.association.ice.credentials = self.association.credentials().clone();
        answered.config.locals.clone_from(&self.locals);
        self.answer_sections(&mut answered, &plans, &added.media);
        let description = answered.description(&offer);
        self.answered = Some(answered);
        self.pump(now);
        Ok(description.to_string())
    }

    fn answer_sections(&mut self, answered: &mut Answered, plans: &[Plan], offered: &[Media]) {
        let Answered {
            config,
            policy,
            setup,
            allows_mixed,
            media,
            rng,
            ..
        } = answered;
        let transported = Transported {
            config,
            setup: *setup,
        };
        for (plan, offered) in plans.iter().zip(offered) {
            if let Plan::Data = plan {
                let is_client = *setup == Setup::Active;
                self.data = DataLink::new(offered, is_client, config.association.epoch);
                media.push(transported.answer_data(offered));
                continue;
            }
            let mut section = Answering {
                peer: self,
                allows_mixed: *allows_mixed,
                config,
                policy,
            };
            media.push(section.answer(*plan, offered, &transported, rng));
        }
    }
}

struct Answering<'a> {
    peer: &'a mut Peer,
    allows_mixed: bool,
    config: &'a PeerConfig,
    policy: &'a AnswerPolicy,
}

impl Answering<'_> {
    /// Returns the answer to one section. It contains nothing that the offer does not
    /// contain (RFC 3264 section 6), except for our own description.
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
            Plan::Rejected | Plan::Data => {
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
        let may_have_dependencies = self.allows_mixed && has_dependencies(&types);
        let taken = extensions(offered)
            .filter(|(_, uri)| uri != rtp::DEPENDENCY_URI || may_have_dependencies);
        media.extensions = taken.cloned().collect();
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
                ..add_sender(session, types, offered, (offered.mid, None), sources)
            });
        }
        if let Some(delivery) = self.policy.receive.filter(|_| used.received) {
            let place = self.received(types.codec().kind());
            let encodings = match types.codec().kind() {
                MediaKind::Video => offered.sent_encodings(),
                MediaKind::Audio => Vec::new(),
            };
            media.receive_encodings(&encodings);
            let rids = match encodings.is_empty() {
                true => vec![None],
                false => encodings.into_iter().map(Some).collect(),
            };
            for rid in rids {
                let session = &mut self.peer.session;
                let stream = add_receiver(session, types, offered, (rid, delivery));
                if let Some(title) = &offered.title {
                    self.peer.titles.insert(stream.stream, title.clone());
                }
                if offered.is_presentation() {
                    self.peer.presentations.insert(stream.stream);
                }
                streams.push(NegotiatedStream { place, ..stream });
            }
            tell_of_rate(media, offered);
        }
        streams
    }
}

/// An answer may bound the rate of a stream that we receive. We do not request such
/// bounds for a stream that we send: where every packet is reported, the other side's
/// estimate would use fewer packets.
fn tell_of_rate(media: &mut Media, offered: &Media) {
    if let Some(payload) = media.payloads.first_mut() {
        let offered = offered.payload(payload.payload_type);
        if offered.is_some_and(|p| p.has_feedback(sdp::RATE_FEEDBACK)) {
            payload.feedback.push(sdp::RATE_FEEDBACK.to_owned());
        }
    }
}

impl Answering<'_> {
    /// Returns the number of sections in which a kind is received so far.
    fn received(&self, kind: MediaKind) -> usize {
        let streams = self.peer.streams.iter();
        let alike = |s: &&NegotiatedStream| s.ssrc.is_none() && s.codec().kind() == kind;
        let places = streams.filter(alike).map(|s| s.place + 1);
        places.max().unwrap_or_default()
    }

    /// Keeps the feedback that we use, of two kinds with the same purpose.
    fn keep_chosen_feedback(&self, media: &mut Media) {
        let session = &self.peer.session;
        let by_stream = (session.level(), session.feedback_format())
            == (Level::SenderSide, FeedbackFormat::Stream);
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

/// Keeps only offered feedback in an answer (RFC 4585 section 4.2), and the format
/// parameters with which the codec answers the offered ones.
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
