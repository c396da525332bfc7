//! Packets on their way from publishers through the router to players.

use crate::division::Pausing;
use crate::encoding::EncodingChoice;
use crate::loudest::{Hearing, Loudest};
use crate::player::{Player, Subscribed};
use crate::publication::{Origin, Publication, places_of, shown, streams_of};
use crate::reception::Carried;
use crate::relay::PlaneId;
use crate::relays::Relays;
use crate::routing::{Output, Router, SubscriptionId, TrackId};
use crate::rules::AllocatorKind;
use crate::taps::Taps;
use std::collections::{BTreeMap, BTreeSet};
use weft_peer::{PeerKey, PeerSet, StreamDirection};
use weft_units::{Codec, Deadline, Duration, Instant, MediaKind, Rate, StreamId};
use weft_wire::media::{ForwardedPacket, MediaPacket};

/// Length of a queue above which it is dropped and the video restarts: the paths carry
/// less than was assumed when it was filled. Chosen by us: a keyframe on a poor link
/// takes a second or two, and must not be dropped for that.
const QUEUE_USELESS: Duration = Duration::from_secs(4);
/// Interval at which a player with a queue is checked again: a fraction of the queue at
/// which the router resumes.
const WATCH: Duration = Duration::from_millis(20);
/// Minimum change of a queue's length that is reported to the router.
const QUEUE_STEP: Duration = Duration::from_millis(10);

/// Destination of an incoming stream's packets.
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

/// Router, with the mapping of its tracks and subscriptions to the streams of peers.
#[derive(Default)]
pub(crate) struct Traffic {
    /// Rules that choose the layers of each player.
    pub(crate) allocator: AllocatorKind,
    pub(crate) router: Router,
    incoming: BTreeMap<(PeerKey, StreamId), Incoming>,
    /// Streams on which keyframes of a track are requested.
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
    /// Rates that viewers of other planes could use.
    pub(crate) elsewhere: BTreeMap<PlaneId, Vec<Rate>>,
}

impl Traffic {
    /// Makes a connected publisher the source of the publication's packets.
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

    /// Removes the source of a track's packets on this plane.
    pub(crate) fn remove_incoming(&mut self, track: TrackId) {
        if let Some(before) = self.sources.remove(&track) {
            self.incoming.remove(&before);
        }
    }

    /// Ends the publication's video because its codec changed; players must request it again.
    pub(crate) fn end_pictures(&mut self, publication: &mut Publication) {
        publication.end_pictures(&mut self.router);
        self.forget_removed();
    }

    /// Removes a publisher.
    pub(crate) fn remove_source(&mut self, peer: PeerKey) {
        self.sources.retain(|_, (source, _)| *source != peer);
        self.incoming.retain(|(source, _), _| *source != peer);
    }

    /// Connects a player, which gets the publication's tracks from now on. It names no
    /// tiles, so other servers' rules, which begin with tiles, do not apply to it.
    pub(crate) fn connect_player(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        publication: &Publication,
        peer: PeerKey,
    ) {
        let player = Player::new(now, AllocatorKind::Weft);
        self.players.insert(peer, player);
        self.subscribe(now, peers, publication, peer);
        self.deliver(now, peers);
    }

    /// Subscribes a player to the tracks that it has streams for and does not get yet.
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

    /// Connects a participant's reception; [`Traffic::carry`] sets the tracks of its streams.
    pub(crate) fn connect_reception(&mut self, now: Instant, peer: PeerKey) {
        let player = Player::new(now, self.allocator);
        self.players.insert(peer, player);
    }

    /// Sets the track that a stream to a player carries.
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

    /// Removes a player.
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

    /// Removes a publication that has neither a publisher nor players.
    pub(crate) fn remove_publication(&mut self, publication: &Publication) {
        for track in publication.track_ids() {
            self.loudest.leave(track);
        }
        publication.remove_tracks(&mut self.router);
        self.forget_removed();
    }

    /// Forgets the state of tracks that the router has removed.
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

    /// Handles a packet from a publisher.
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

    /// Forwards a packet to the players of this plane, unless its sound is not among the loudest.
    pub(crate) fn pass(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        track: TrackId,
        packet: MediaPacket,
    ) {
        match self.loudest.hear(now, track, packet.audio_level) {
            Hearing::Forwarded => {}
            // Players get consecutive numbers, as after a change of the source.
            Hearing::Resumed => self.router.switch_source(now, track),
            Hearing::Dropped => return,
        }
        self.router.handle_packet(now, track, packet);
        self.deliver(now, peers);
    }

    pub(crate) fn is_muted(&self, track: TrackId) -> bool {
        self.muted.contains(&track)
    }

    /// Mutes or unmutes tracks.
    pub(crate) fn set_muted(&mut self, now: Instant, tracks: &[TrackId], muted: bool) {
        for track in tracks {
            match muted {
                true => drop(self.muted.insert(*track)),
                // Players get consecutive numbers, as after a change of the source.
                false if self.muted.remove(track) => {
                    self.taps.switch_source(*track);
                    self.router.switch_source(now, *track);
                }
                false => {}
            }
        }
    }

    /// Handles a keyframe request of a player's receiver.
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

    /// Handles a change of the rate of a player's paths.
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

    /// Number of packets received on these streams of a peer.
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

    /// Numbers of subscriptions: in the router, of players, and of the lookups in both
    /// directions.
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

    /// Numbers of streams of arriving packets, and of streams on which keyframes are requested.
    pub(crate) fn sources(&self) -> [usize; 2] {
        [self.incoming.len(), self.sources.len()]
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Number of packets dropped for players that cannot receive them.
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

    /// Handles the router's outputs.
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

    /// Reports a player's queue to the router, if it has changed enough.
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
