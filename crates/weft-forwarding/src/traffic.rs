//! The packets: from publishers through the router to players.

use crate::division::Pausing;
use crate::encoding::EncodingChoice;
use crate::loudest::{Hearing, Loudest};
use crate::player::{Player, Subscribed};
use crate::publication::{Origin, Publication, places_of, shown, streams_of};
use crate::reception::Carried;
use crate::relay::PlaneId;
use crate::relays::Relays;
use crate::routing::{Output, Router, SubscriptionId, TrackId};
use crate::taps::Taps;
use std::collections::{BTreeMap, BTreeSet};
use weft_peer::{PeerKey, PeerSet, StreamDirection};
use weft_units::{Codec, Deadline, Duration, Instant, MediaKind, Rate, StreamId};
use weft_wire::media::{ForwardedPacket, MediaPacket};

/// A queue that takes longer to leave is dropped, and the picture restarts: the
/// way carries less than was thought when it was filled. Chosen by us: a keyframe
/// on a poor link takes a second or two, and must not be dropped for that.
const QUEUE_USELESS: Duration = Duration::from_secs(4);
/// How often a player with a queue is looked at again: a fraction of the
/// queue at which the router resumes.
const WATCH: Duration = Duration::from_millis(20);
/// A queue this much longer or shorter is news to the router.
const QUEUE_STEP: Duration = Duration::from_millis(10);

/// Where the packets of an incoming stream go.
struct Incoming {
    track: TrackId,
    packets: u64,
}

/// Totals since the start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) received: u64,
    pub(crate) forwarded: u64,
    pub(crate) keyframe_requests: u64,
}

/// The router, and which streams of which peers its tracks and subscriptions
/// are.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) router: Router,
    incoming: BTreeMap<(PeerKey, StreamId), Incoming>,
    /// Where keyframes of a track are asked for.
    sources: BTreeMap<TrackId, (PeerKey, StreamId)>,
    outgoing: BTreeMap<SubscriptionId, (PeerKey, StreamId)>,
    subscriptions: BTreeMap<(PeerKey, StreamId), SubscriptionId>,
    pub(crate) players: BTreeMap<PeerKey, Player>,
    /// Players whose pacers have a queue.
    watched: BTreeSet<PeerKey>,
    next_watch: Option<Instant>,
    totals: Totals,
    /// Tracks whose packets are not forwarded.
    pub(crate) muted: BTreeSet<TrackId>,
    pub(crate) loudest: Loudest,
    pub(crate) relays: Relays,
    pub(crate) taps: Taps,
    /// Rates that viewers of other planes would take.
    pub(crate) elsewhere: BTreeMap<PlaneId, Vec<Rate>>,
}

impl Traffic {
    /// A publisher is connected: its packets are the publication's from now
    /// on.
    pub(crate) fn connect_source(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        publication: &mut Publication,
        peer: PeerKey,
    ) {
        let Some(source) = peers.get(peer) else {
            return;
        };
        let (places, streams) = places_of(source);
        let negotiated = shown(source, StreamDirection::Receive);
        let origin = Origin::Peer(peer);
        let tracks =
            publication.switch_source(now, &mut self.router, origin, (&places, negotiated));
        for (stream, track) in streams.into_iter().zip(tracks) {
            self.relays.release(track);
            self.remove_incoming(track);
            self.taps.switch_source(track);
            self.incoming
                .insert((peer, stream), Incoming { track, packets: 0 });
            self.sources.insert(track, (peer, stream));
        }
        for player in publication.players() {
            self.subscribe(now, peers, publication, player);
        }
        self.deliver(now, peers);
    }

    /// No packets of a track come from a publisher here any more.
    pub(crate) fn remove_incoming(&mut self, track: TrackId) {
        if let Some(before) = self.sources.remove(&track) {
            self.incoming.remove(&before);
        }
    }

    /// The publication continues with pictures of another codec, for which its
    /// players have to come again.
    pub(crate) fn end_pictures(&mut self, publication: &mut Publication) {
        publication.end_pictures(&mut self.router);
        self.forget_removed();
    }

    /// A publisher is gone.
    pub(crate) fn remove_source(&mut self, peer: PeerKey) {
        self.sources.retain(|_, (source, _)| *source != peer);
        self.incoming.retain(|(source, _), _| *source != peer);
    }

    /// A player is connected: it gets the publication's tracks from now on.
    pub(crate) fn connect_player(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        publication: &Publication,
        peer: PeerKey,
    ) {
        self.players.insert(peer, Player::new(now));
        self.subscribe(now, peers, publication, peer);
        self.deliver(now, peers);
    }

    /// Subscribes a player to the tracks that it has streams for and does not
    /// get yet.
    pub(crate) fn subscribe(
        &mut self,
        now: Instant,
        peers: &PeerSet,
        publication: &Publication,
        peer: PeerKey,
    ) {
        let Some(agreed) = peers.get(peer) else {
            return;
        };
        for (slot, of_slot) in streams_of(agreed, StreamDirection::Send) {
            let player = self.players.get(&peer);
            let route = (peer, of_slot.streams[0]);
            let has_it = player.is_none_or(|p| p.subscriptions.contains_key(&route.1));
            if let Some(encodings) = publication.encodings(slot).filter(|_| !has_it) {
                let encodings = encodings.to_vec();
                let carried = Carried {
                    encodings,
                    ..Carried::default()
                };
                self.add_subscription(now, route, carried);
            }
        }
    }

    fn add_subscription(&mut self, now: Instant, route: (PeerKey, StreamId), carried: Carried) {
        let Some(track) = self.first_encoding(now, route.0, &carried) else {
            return;
        };
        let kind = self.router.codec(track).map(Codec::kind);
        self.relays.want(&carried.encodings);
        let id = self.router.subscribe(now, track);
        if let (Some(player), Some(id), Some(kind)) = (self.players.get_mut(&route.0), id, kind) {
            let subscribed = Subscribed {
                id,
                kind,
                carried,
                share: None,
                choice: EncodingChoice::default(),
                pausing: Pausing::default(),
            };
            player.subscriptions.insert(route.1, subscribed);
            self.outgoing.insert(id, route);
            self.subscriptions.insert(route, id);
        }
    }

    /// A participant's reception is connected; [`Traffic::carry`] says what its streams
    /// carry.
    pub(crate) fn connect_reception(&mut self, now: Instant, peer: PeerKey) {
        self.players.insert(peer, Player::new(now));
    }

    /// A stream to a player carries this from now on.
    pub(crate) fn carry(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        route: (PeerKey, StreamId),
        carried: Carried,
    ) {
        let player = self.players.get_mut(&route.0);
        let subscribed = player.and_then(|player| player.subscriptions.get_mut(&route.1));
        let Some(subscribed) = subscribed else {
            self.add_subscription(now, route, carried);
            return self.deliver(now, peers);
        };
        let id = subscribed.id;
        if subscribed.carried.encodings != carried.encodings {
            subscribed.choice = EncodingChoice::default();
            subscribed.pausing = Pausing::default();
        }
        let paused = subscribed.pausing.is_paused();
        subscribed.carried = carried.clone();
        self.relays.want(&carried.encodings);
        let present = self.router.track(id);
        if carried.encodings.is_empty() {
            self.router.detach(id);
        } else if !paused
            && present.is_none_or(|track| !carried.encodings.contains(&track))
            && let Some(track) = self.first_encoding(now, route.0, &carried)
        {
            self.router.switch_track(now, id, track);
        }
        self.tell_downlink(now, route.0);
        self.deliver(now, peers);
    }

    /// A player is gone.
    pub(crate) fn remove_player(&mut self, peer: PeerKey) {
        self.watched.remove(&peer);
        let Some(player) = self.players.remove(&peer) else {
            return;
        };
        for Subscribed { id, .. } in player.subscriptions.into_values() {
            self.router.unsubscribe(id);
            if let Some(route) = self.outgoing.remove(&id) {
                self.subscriptions.remove(&route);
            }
        }
    }

    /// Nobody publishes or plays it any more.
    pub(crate) fn remove_publication(&mut self, publication: &Publication) {
        for track in publication.track_ids() {
            self.loudest.leave(track);
        }
        publication.remove_tracks(&mut self.router);
        self.forget_removed();
    }

    /// Forgets what belongs to tracks that the router has no more.
    pub(crate) fn forget_removed(&mut self) {
        let router = &self.router;
        let removed = |track: &TrackId| router.codec(*track).is_none();
        let gone: Vec<TrackId> = self
            .relays
            .imports
            .keys()
            .copied()
            .filter(removed)
            .collect();
        self.relays.exports.retain(|track, _| !removed(track));
        self.muted.retain(|track| !removed(track));
        for track in gone {
            self.relays.release(track);
        }
    }

    /// A packet came from a publisher.
    pub(crate) fn on_packet(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        peer: PeerKey,
        stream: StreamId,
        packet: MediaPacket,
    ) {
        let Some(incoming) = self.incoming.get_mut(&(peer, stream)) else {
            return;
        };
        incoming.packets += 1;
        self.totals.received += 1;
        let track = incoming.track;
        if self.is_muted(track) {
            return;
        }
        self.relays.export(track, &packet);
        self.taps.on_sound(now, track, &packet);
        self.pass(now, peers, track, packet);
    }

    /// Forwards a packet to the players of this plane, unless it is one of a sound that
    /// others drown out.
    pub(crate) fn pass(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        track: TrackId,
        packet: MediaPacket,
    ) {
        match self.loudest.hear(now, track, packet.audio_level) {
            Hearing::Forwarded => {}
            // Players get continuous numbers, as after a change of the source.
            Hearing::Resumed => self.router.switch_source(now, track),
            Hearing::Dropped => return,
        }
        self.router.handle_packet(now, track, packet);
        self.deliver(now, peers);
    }

    pub(crate) fn is_muted(&self, track: TrackId) -> bool {
        self.muted.contains(&track)
    }

    /// Mutes tracks, or forwards them again.
    pub(crate) fn set_muted(&mut self, now: Instant, tracks: &[TrackId], muted: bool) {
        for track in tracks {
            match muted {
                true => drop(self.muted.insert(*track)),
                // Players get continuous numbers, as after a change of the source.
                false if self.muted.remove(track) => {
                    self.taps.switch_source(*track);
                    self.router.switch_source(now, *track);
                }
                false => {}
            }
        }
    }

    /// A player's receiver asks for a keyframe.
    pub(crate) fn on_keyframe_request(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        peer: PeerKey,
        stream: StreamId,
    ) {
        if let Some(id) = self.subscriptions.get(&(peer, stream)) {
            self.router.request_keyframe(now, *id);
            self.deliver(now, peers);
        }
    }

    /// A player's paths carry more or less than before.
    pub(crate) fn on_target_rate(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        peer: PeerKey,
        rate: Rate,
    ) {
        if let Some(player) = self.players.get_mut(&peer) {
            player.target = Some(rate);
            self.tell_downlink(now, peer);
            self.deliver(now, peers);
        }
    }

    /// Packets that came by these streams of a peer.
    pub(crate) fn packets_of(&self, peer: PeerKey, streams: &[StreamId]) -> u64 {
        let found = streams
            .iter()
            .filter_map(|s| self.incoming.get(&(peer, *s)));
        found.map(|incoming| incoming.packets).sum()
    }

    pub(crate) fn players(&self) -> usize {
        self.players.len()
    }

    pub(crate) fn tracks(&self) -> usize {
        self.router.tracks()
    }

    /// As the router has them, the players, and what leads there and back.
    pub(crate) fn subscriptions(&self) -> [usize; 4] {
        let players = self.players.values().map(|p| p.subscriptions.len());
        let recorded = self.taps.subscriptions();
        [
            self.router.subscriptions(),
            players.sum::<usize>() + recorded,
            self.outgoing.len() + recorded,
            self.subscriptions.len() + recorded,
        ]
    }

    /// Streams that packets come by, and where keyframes are asked for.
    pub(crate) fn sources(&self) -> [usize; 2] {
        [self.incoming.len(), self.sources.len()]
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Packets kept from players who cannot take them.
    pub(crate) fn total_thinned(&self) -> u64 {
        self.router.thinned()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Deadline> {
        let watch = self.next_watch.map(|at| Deadline {
            at,
            reason: "player with a queue",
        });
        Deadline::earlier(watch, self.router.poll_timeout())
    }

    pub(crate) fn on_timeout(&mut self, now: Instant, peers: &mut PeerSet) {
        if self.next_watch.is_some_and(|at| at <= now) {
            for key in self.watched.clone() {
                let peer = peers.get(key);
                let queued = peer.map_or(Duration::ZERO, |p| p.session().queue_time());
                self.watch(now, peers, key, queued);
            }
            self.next_watch = (!self.watched.is_empty()).then_some(now + WATCH);
        }
        if self.router.poll_timeout().is_some_and(|d| d.at <= now) {
            self.router.handle_timeout(now);
        }
        self.deliver(now, peers);
    }

    /// Does what the router wants.
    pub(crate) fn deliver(&mut self, now: Instant, peers: &mut PeerSet) {
        while let Some(output) = self.router.poll_output() {
            match output {
                Output::Forward {
                    subscription,
                    packet,
                } => self.forward(now, peers, subscription, packet),
                Output::RequestKeyframe { track } => {
                    self.relays.request_keyframe(track);
                    if let Some((key, stream)) = self.sources.get(&track).copied() {
                        let asked = peers.drive(key, |peer| peer.request_keyframe(now, stream));
                        self.totals.keyframe_requests += u64::from(asked.is_some());
                    }
                }
                Output::Forget { subscription } => {
                    if let Some((key, stream)) = self.outgoing.get(&subscription).copied() {
                        peers.drive(key, |peer| peer.forget_pictures(now, Some(stream)));
                    }
                }
            }
        }
    }

    fn forward(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        id: SubscriptionId,
        packet: ForwardedPacket,
    ) {
        let Some((key, stream)) = self.outgoing.get(&id).copied() else {
            return self.taps.on_forwarded(id, packet);
        };
        let sent = peers.drive(key, |peer| {
            let sent = peer.send_packet(now, stream, &packet);
            (sent, peer.session().queue_time())
        });
        let Some((sent, queued)) = sent else {
            return;
        };
        self.totals.forwarded += u64::from(sent.is_ok());
        self.watch(now, peers, key, queued);
    }

    /// Tells the router of a player's queue, if it is news.
    fn watch(&mut self, now: Instant, peers: &mut PeerSet, key: PeerKey, mut queued: Duration) {
        let Some(player) = self.players.get_mut(&key) else {
            return;
        };
        if queued > QUEUE_USELESS {
            let left = peers.drive(key, |peer| {
                peer.forget_pictures(now, None);
                peer.session().queue_time()
            });
            for camera in player.of_kind(MediaKind::Video) {
                self.router.interrupt(camera);
            }
            queued = left.unwrap_or_default();
        }
        let step = queued.as_nanos().abs_diff(player.queued.as_nanos());
        let emptied = queued == Duration::ZERO && player.queued != queued;
        if step < QUEUE_STEP.as_nanos() && !emptied {
            return;
        }
        player.queued = queued;
        if queued == Duration::ZERO {
            self.watched.remove(&key);
        } else {
            self.watched.insert(key);
            self.next_watch.get_or_insert(now + WATCH);
        }
        self.tell_downlink(now, key);
    }
}
