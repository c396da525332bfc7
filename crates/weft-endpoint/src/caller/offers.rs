//! Offers, and the peers that their answers create.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use weft_ice::{IceRole, LinkId, RemoteCandidate};
use weft_net::{Attachment, Context};
use weft_peer::{
    AnswerPolicy, NegotiatedStream, NegotiationError, Offer, Peer, PeerConfig, PeerKey, Section,
    StreamDirection,
};
use weft_session::Delivery;
use weft_units::{Instant, MediaKind, Rate, StreamId};
use weft_wire::rtp::Mid;

use super::following::Held;
use super::{CallError, Caller, Listener, OfferId, Offered, RemotePeer, Track, Wait};
use crate::sources::sound;

/// Peer whose offer was answered.
#[derive(Debug)]
pub struct Answered {
    /// New peer.
    pub peer: PeerKey,
    /// Answer in SDP.
    pub sdp: String,
    /// Media sections that the peer sends, each with a section that would forward it.
    pub sections: Vec<(Mid, Section)>,
}

impl Caller {
    pub(super) fn offer(
        &mut self,
        context: &mut Context<'_>,
        sections: &[Section],
    ) -> Result<(OfferId, String), CallError> {
        let sends = |s: &Section| s.direction != StreamDirection::Receive;
        let sends = sections.iter().any(sends);
        let (config, locals) = self.config(context, IceRole::Controlling, sends)?;
        let offer = Offer::new(context.now, config, sections, Delivery::Frames);
        let id = OfferId(self.next_offer);
        self.next_offer += 1;
        let sdp = offer.sdp();
        let offered = Offered {
            offer,
            locals,
            wait: Wait::from(context.now),
        };
        self.offers.insert(id, offered);
        Ok((id, sdp))
    }

    /// Returns the configuration of a new peer with its own sockets.
    fn config(
        &mut self,
        context: &mut Context<'_>,
        role: IceRole,
        sends: bool,
    ) -> Result<(PeerConfig, Vec<Held>), CallError> {
        let mut locals = Vec::new();
        let mut held = Vec::new();
        for place in self.places(sends) {
            let Some((own, local)) = self.following.open(context, place) else {
                continue;
            };
            held.push(own);
            locals.push(local);
        }
        let certificate = self.certificate.clone();
        let mut config = weft_net::peer_config(role, context.clock, certificate, locals)?;
        let session = &mut config.session;
        session.scheduler = self.sending.scheduler;
        session.preference = self.sending.preference;
        session.protection = self.sending.protection;
        session.controller = self.sending.controller;
        session.max_rate = self.sending.max_rate;
        session.send_limit = sends.then_some(self.sending.max_rate);
        session.cname.clone_from(&self.sending.cname);
        config.data_channels = sends && !self.channels.is_empty();
        if sends {
            config.limit_video_to(Some(self.sending.codec));
        }
        Ok((config, held))
    }

    /// Creates a peer that receives everything in this offer.
    pub(super) fn answer(
        &mut self,
        context: &mut Context<'_>,
        (offer, more): (&str, &[SocketAddr]),
        news: Listener,
    ) -> Result<Answered, CallError> {
        let (config, locals) = self.config(context, IceRole::Controlled, false)?;
        let policy = AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        };
        let answered = weft_peer::answer(context.now, config, offer, &policy);
        let (peer, sdp) = self.keep(context, &locals, answered)?;
        let sections = received(&peer).into_iter().map(|(mid, stream)| {
            let section = Section::new(stream.codec().kind(), StreamDirection::Send);
            let form = Some(stream.form);
            (mid, Section { form, ..section })
        });
        let sections = sections.collect();
        let peer = self.add_peer(context, (peer, locals), more, news);
        Ok(Answered {
            peer,
            sdp,
            sections,
        })
    }

    /// Answers a later offer of the peer, which may add sections.
    pub(super) fn answer_later(
        &mut self,
        context: &mut Context<'_>,
        key: PeerKey,
        offer: &str,
    ) -> Result<String, CallError> {
        let now = context.now;
        let remote_peer = self.peers.get_mut(&key).ok_or(CallError::UnknownPeer)?;
        let peer = context.peer(key).ok_or(CallError::UnknownPeer)?;
        let answer = peer.answer(now, offer)?;
        remote_peer.receivers = receivers(peer);
        Ok(answer)
    }

    pub(super) fn request_keyframe(&self, context: &mut Context<'_>, key: PeerKey, section: Mid) {
        let now = context.now;
        let streams = self.peers.get(&key).map(|peer| &peer.receivers);
        let mut streams = streams.into_iter().flatten();
        let stream = streams.find(|(_, (mid, _))| *mid == section);
        if let (Some((stream, _)), Some(peer)) = (stream, context.peer(key)) {
            peer.request_keyframe(now, *stream);
        }
    }

    /// Closes the sockets of a peer that could not be created.
    fn keep<T>(
        &mut self,
        context: &mut Context<'_>,
        locals: &[Held],
        made: Result<T, NegotiationError>,
    ) -> Result<T, CallError> {
        if made.is_err() {
            for held in locals {
                self.following.close(context, *held);
            }
        }
        Ok(made?)
    }

    /// Returns the links for a new connection. A receive-only connection avoids metered
    /// links and backups while another link exists.
    fn places(&mut self, sends: bool) -> Vec<(LinkId, Attachment)> {
        let links = &mut self.following.links;
        let mut present = links.present();
        let regular = |(link, _): &(LinkId, Attachment)| links.is_regular(*link);
        if !sends && present.iter().any(regular) {
            present.retain(regular);
        }
        present
    }

    pub(super) fn withdraw(&mut self, context: &mut Context<'_>, offer: OfferId) {
        let withdrawn = self.offers.remove(&offer);
        for held in withdrawn.into_iter().flat_map(|offered| offered.locals) {
            self.following.close(context, held);
        }
    }

    pub(super) fn accept(
        &mut self,
        context: &mut Context<'_>,
        offer: OfferId,
        (answer, more): (&str, &[SocketAddr]),
        news: Listener,
    ) -> Result<PeerKey, CallError> {
        let offered = self.offers.remove(&offer);
        let Offered { offer, locals, .. } = offered.ok_or(CallError::UnknownOffer)?;
        let accepted = offer.accept(context.now, answer);
        let peer = self.keep(context, &locals, accepted)?;
        Ok(self.add_peer(context, (peer, locals), more, news))
    }

    fn add_peer(
        &mut self,
        context: &mut Context<'_>,
        (mut peer, locals): (Peer, Vec<Held>),
        more: &[SocketAddr],
        news: Listener,
    ) -> PeerKey {
        for (index, via) in self.following.links.vias().enumerate() {
            let candidate = RemoteCandidate {
                addr: via,
                priority: u32::MAX - index as u32,
            };
            peer.add_remote_candidate(context.now, candidate);
        }
        for (index, addr) in more.iter().enumerate() {
            // Below the priority of any candidate in the description (RFC 8445
            // section 5.1.2).
            let priority = u32::from(u16::MAX).saturating_sub(index as u32);
            let candidate = RemoteCandidate {
                addr: *addr,
                priority,
            };
            peer.add_remote_candidate(context.now, candidate);
        }
        let now = context.now;
        let remote_peer = RemotePeer::of(now, &peer, news, locals);
        let key = context.insert(peer);
        if let Some(peer) = context.peer(key) {
            self.trace_peer(now, key, peer);
        }
        let sound = match remote_peer.microphone {
            Some(_) => sound::RATE,
            None => Rate::ZERO,
        };
        let (cameras, smaller) = (remote_peer.cameras.clone(), remote_peer.smaller.clone());
        self.publisher.handle_joined(key, cameras, sound);
        self.publisher.handle_smaller_streams(key, smaller);
        self.peers.insert(key, remote_peer);
        self.watch();
        // Its links may need relays soon.
        self.following.look_soon(now);
        key
    }
}

impl RemotePeer {
    pub(super) fn of(now: Instant, peer: &Peer, news: Listener, locals: Vec<Held>) -> RemotePeer {
        let sending = |kind| {
            let streams = peer.streams().iter();
            streams
                .filter(move |s| s.direction == StreamDirection::Send && s.codec().kind() == kind)
        };
        let (cameras, smaller) = cameras(sending(MediaKind::Video));
        RemotePeer {
            news,
            locals,
            live: BTreeMap::new(),
            cameras,
            smaller,
            microphone: sending(MediaKind::Audio).map(|s| s.stream).next(),
            receivers: receivers(peer),
            links: BTreeMap::new(),
            made: now,
            lost: BTreeMap::new(),
            wait: Wait::from(now),
            channels: BTreeMap::new(),
            unanswered: false,
            failed: false,
        }
    }

    /// Returns the identity of each stream that we send.
    pub(super) fn tracks(&self) -> BTreeMap<StreamId, Track> {
        let cameras = self.cameras.iter().zip(&self.smaller).enumerate();
        let cameras = cameras.flat_map(|(place, (full, smaller))| {
            let streams = smaller.iter().chain([full]);
            streams.map(move |stream| (*stream, Track::Camera(place)))
        });
        let sound = self.microphone.map(|stream| (stream, Track::Sound));
        cameras.chain(sound).collect()
    }
}

/// Returns the streams of the cameras in order, and those of their smaller encodings. The
/// encodings of a camera share one index; the largest is last.
fn cameras<'a>(
    sent: impl Iterator<Item = &'a NegotiatedStream>,
) -> (Vec<StreamId>, Vec<Option<StreamId>>) {
    let mut places: BTreeMap<usize, Vec<StreamId>> = BTreeMap::new();
    for stream in sent {
        places.entry(stream.place).or_default().push(stream.stream);
    }
    let of_camera = |streams: Vec<StreamId>| {
        let (full, smaller) = streams.split_last()?;
        Some((*full, smaller.last().copied()))
    };
    places.into_values().filter_map(of_camera).unzip()
}

fn receivers(peer: &Peer) -> BTreeMap<StreamId, (Mid, Track)> {
    let mut cameras = 0;
    let received = received(peer).into_iter();
    let placed = received.map(|(mid, stream)| {
        let track = match stream.codec().kind() {
            MediaKind::Audio => Track::Sound,
            MediaKind::Video => {
                cameras += 1;
                Track::Camera(cameras - 1)
            }
        };
        (stream.stream, (mid, track))
    });
    placed.collect()
}

/// Returns the stream of each section that the peer sends; of several encodings, the last
/// and largest one.
fn received(peer: &Peer) -> Vec<(Mid, NegotiatedStream)> {
    let mut received: Vec<(Mid, NegotiatedStream)> = Vec::new();
    let streams = peer.streams().iter();
    for stream in streams.filter(|s| s.direction == StreamDirection::Receive) {
        if let Some(mid) = stream.mid {
            received.retain(|(earlier, _)| *earlier != mid);
            received.push((mid, *stream));
        }
    }
    received
}
