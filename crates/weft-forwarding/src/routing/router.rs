use super::beginning::Beginning;
use super::dependencies::Dependencies;
use super::forwarder::{Downlink, Forwarder, Forwarding, Stats};
use super::id::{SubscriptionId, TrackId};
use super::keyframes::KeyframeAggregator;
use super::layers::LayerRates;
use super::output::Output;
use super::parsed::Parsed;
use requests::Requests;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use weft_units::{Codec, Deadline, Instant, MediaKind};
use weft_wire::media::MediaPacket;

mod rates;
mod requests;
#[cfg(test)]
mod tests;

/// Distributes the packets of all tracks to the subscriptions.
///
/// Order of calls: a `handle_`, then [`poll_output`](Router::poll_output) until `None`.
/// Subscriptions are independent: a slow one drops its own packets, counted in its [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Router {
    tracks: BTreeMap<TrackId, Track>,
    subscriptions: BTreeMap<SubscriptionId, Subscription>,
    keyframes: KeyframeAggregator,
    outputs: VecDeque<Output>,
    /// Packets dropped for subscribers that cannot receive them, including removed subscribers.
    thinned: u64,
    next_id: u64,
}

#[derive(Debug)]
struct Track {
    codec: Codec,
    rates: LayerRates,
    dependencies: Dependencies,
    /// Size of its pictures, from its last keyframe.
    size: Option<(u16, u16)>,
    beginning: Beginning,
    subscriptions: BTreeSet<SubscriptionId>,
    /// Subscriptions that change to it at its next keyframe.
    waiting: BTreeSet<SubscriptionId>,
}

#[derive(Debug)]
struct Subscription {
    /// `None` while nothing is forwarded.
    track: Option<TrackId>,
    /// Track to change to at its next keyframe.
    next: Option<TrackId>,
    codec: Codec,
    forwarder: Forwarder,
    requests: Requests,
    /// Part that is already in the router's count.
    thinned: u64,
}

impl Router {
    /// Adds a track without packets.
    pub(crate) fn add_track(&mut self, codec: Codec) -> TrackId {
        self.next_id += 1;
        let track = TrackId(self.next_id);
        self.tracks.insert(
            track,
            Track {
                codec,
                rates: LayerRates::default(),
                dependencies: Dependencies::default(),
                size: None,
                beginning: Beginning::default(),
                subscriptions: BTreeSet::new(),
                waiting: BTreeSet::new(),
            },
        );
        track
    }

    /// Continues the track with packets from another source.
    pub(crate) fn switch_source(&mut self, now: Instant, track: TrackId) {
        let Some(entry) = self.tracks.get_mut(&track) else {
            return;
        };
        entry.rates = LayerRates::default();
        entry.dependencies = Dependencies::default();
        entry.beginning.switch_source();
        for id in entry.subscriptions.clone() {
            if let Some(subscription) = self.subscriptions.get_mut(&id) {
                subscription.forwarder.switch_source();
                self.collect(now, id);
            }
        }
    }

    /// Removes the track. Its subscriptions stay and forward nothing.
    pub(crate) fn remove_track(&mut self, track: TrackId) {
        self.keyframes.remove(track);
        let Some(Track {
            subscriptions,
            waiting,
            ..
        }) = self.tracks.remove(&track)
        else {
            return;
        };
        for id in subscriptions {
            if let Some(subscription) = self.subscriptions.get_mut(&id) {
                subscription.track = None;
            }
        }
        for id in waiting {
            if let Some(subscription) = self.subscriptions.get_mut(&id) {
                subscription.next = None;
            }
        }
    }

    /// Subscribes to a track; `None` if it does not exist.
    pub(crate) fn subscribe(&mut self, now: Instant, track: TrackId) -> Option<SubscriptionId> {
        let entry = self.tracks.get_mut(&track)?;
        self.next_id += 1;
        let id = SubscriptionId(self.next_id);
        entry.subscriptions.insert(id);
        let subscription = Subscription {
            track: Some(track),
            next: None,
            codec: entry.codec,
            forwarder: Forwarder::new(entry.codec),
            requests: Requests::default(),
            thinned: 0,
        };
        self.subscriptions.insert(id, subscription);
        self.begin(now, id, track);
        Some(id)
    }

    /// Forwards another track of the same codec to a subscriber, which sees one stream:
    /// numbers and timestamps continue, from the track's next keyframe on. Returns
    /// whether this is possible.
    pub(crate) fn switch_track(
        &mut self,
        now: Instant,
        id: SubscriptionId,
        track: TrackId,
    ) -> bool {
        let codec = self.tracks.get(&track).map(|track| track.codec);
        let subscription = self.subscriptions.get(&id);
        if codec.is_none() || subscription.map(|s| s.codec) != codec {
            return false;
        }
        self.detach(id);
        if let Some(entry) = self.tracks.get_mut(&track) {
            entry.subscriptions.insert(id);
        }
        if let Some(subscription) = self.subscriptions.get_mut(&id) {
            subscription.track = Some(track);
            subscription.forwarder.change_source();
        }
        self.begin(now, id, track);
        true
    }

    /// Gives a subscriber the packets since the last keyframe of its track, or requests
    /// another keyframe if they are too many.
    fn begin(&mut self, now: Instant, id: SubscriptionId, track: TrackId) {
        let (subscription, entry) = (self.subscriptions.get_mut(&id), self.tracks.get(&track));
        let (Some(subscription), Some(entry)) = (subscription, entry) else {
            return;
        };
        let packets = entry.beginning.packets(now, entry.rates.total(now));
        let rates = entry.rates.cumulative(now);
        if !subscription.forwarder.begin(packets, rates)
            && subscription.codec.kind() == MediaKind::Video
        {
            self.keyframes.request(now, track);
        }
        self.collect(now, id);
    }

    /// Forwards nothing to a subscriber until [`switch_track`](Router::switch_track).
    pub(crate) fn detach(&mut self, id: SubscriptionId) {
        if self.leave(id) {
            self.outputs.push_back(Output::Forget { subscription: id });
        }
    }

    /// Returns whether the subscription had a track.
    fn leave(&mut self, id: SubscriptionId) -> bool {
        self.stop_waiting(id);
        let subscription = self.subscriptions.get_mut(&id);
        let track = subscription.and_then(|s| s.track.take());
        let track = track.and_then(|track| self.tracks.get_mut(&track));
        track.is_some_and(|track| track.subscriptions.remove(&id))
    }

    /// Forwards another encoding to a subscriber from its next keyframe on; until then,
    /// the present one continues.
    pub(crate) fn prefer(&mut self, now: Instant, id: SubscriptionId, track: TrackId) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        let wanted = subscription.next.or(subscription.track);
        if wanted == Some(track) {
            return;
        }
        let codec = self.tracks.get(&track).map(|track| track.codec);
        if codec != Some(subscription.codec) {
            return;
        }
        let present = subscription.track;
        self.stop_waiting(id);
        match present {
            None => {
                self.switch_track(now, id, track);
            }
            Some(present) if present == track => {}
            Some(_) => {
                let subscription = self.subscriptions.get_mut(&id);
                let entry = self.tracks.get_mut(&track);
                if let (Some(subscription), Some(entry)) = (subscription, entry) {
                    subscription.next = Some(track);
                    entry.waiting.insert(id);
                    self.keyframes.request(now, track);
                    self.collect_keyframes();
                }
            }
        }
    }

    fn stop_waiting(&mut self, id: SubscriptionId) {
        let subscription = self.subscriptions.get_mut(&id);
        let next = subscription.and_then(|s| s.next.take());
        if let Some(track) = next.and_then(|track| self.tracks.get_mut(&track)) {
            track.waiting.remove(&id);
        }
    }

    /// Moves the waiting subscriptions to a track that starts with a keyframe.
    fn admit_waiting(&mut self, track: TrackId) {
        let Some(entry) = self.tracks.get_mut(&track) else {
            return;
        };
        for id in std::mem::take(&mut entry.waiting) {
            self.leave(id);
            let (subscription, entry) =
                (self.subscriptions.get_mut(&id), self.tracks.get_mut(&track));
            if let (Some(subscription), Some(entry)) = (subscription, entry) {
                subscription.track = Some(track);
                subscription.forwarder.change_source();
                entry.subscriptions.insert(id);
            }
        }
    }

    /// Returns the track that is forwarded to a subscriber.
    #[must_use]
    pub(crate) fn track(&self, id: SubscriptionId) -> Option<TrackId> {
        self.subscriptions.get(&id)?.track
    }

    /// Returns the track to forward to a subscriber, perhaps only from its next keyframe on.
    #[must_use]
    pub(crate) fn preferred(&self, id: SubscriptionId) -> Option<TrackId> {
        let subscription = self.subscriptions.get(&id)?;
        subscription.next.or(subscription.track)
    }

    /// Returns the size of a track's pictures in pixels, if known.
    #[must_use]
    pub(crate) fn size(&self, track: TrackId) -> Option<(u16, u16)> {
        self.tracks.get(&track)?.size
    }

    /// Ends a subscription.
    pub(crate) fn unsubscribe(&mut self, id: SubscriptionId) {
        self.leave(id);
        self.subscriptions.remove(&id);
    }

    /// Handles a keyframe request of the subscriber's receiver. Requests beyond those of
    /// a bad link are ignored.
    pub(crate) fn request_keyframe(&mut self, now: Instant, id: SubscriptionId) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        if subscription.forwarder.has_keyframe_under_way(now) {
            return;
        }
        let Some(track) = subscription.track else {
            return;
        };
        // A further request for a keyframe on its way costs nothing.
        if self.keyframes.is_wanted(track) || subscription.requests.admits(now) {
            self.keyframes.request(now, track);
            self.collect_keyframes();
        }
    }

    /// Requests a keyframe of the track for a receiver other than the subscribers.
    pub(crate) fn want_keyframe(&mut self, now: Instant, track: TrackId) {
        if self.tracks.contains_key(&track) {
            self.keyframes.request(now, track);
            self.collect_keyframes();
        }
    }

    /// Returns whether a subscriber gets the track, or waits for its next keyframe.
    #[must_use]
    pub(crate) fn has_viewers(&self, track: TrackId) -> bool {
        let track = self.tracks.get(&track);
        track.is_some_and(|t| !t.subscriptions.is_empty() || !t.waiting.is_empty())
    }

    /// Updates the state of the paths to the subscriber.
    pub(crate) fn set_downlink(&mut self, now: Instant, id: SubscriptionId, downlink: Downlink) {
        if let Some(subscription) = self.subscriptions.get_mut(&id) {
            subscription.forwarder.set_downlink(now, downlink);
            self.collect(now, id);
        }
    }

    /// Records that packets waiting for the subscriber are dropped.
    pub(crate) fn interrupt(&mut self, id: SubscriptionId) {
        if let Some(subscription) = self.subscriptions.get_mut(&id) {
            subscription.forwarder.interrupt();
        }
    }

    /// Handles a packet of the track.
    pub(crate) fn handle_packet(&mut self, now: Instant, track: TrackId, packet: MediaPacket) {
        let Some(entry) = self.tracks.get_mut(&track) else {
            return;
        };
        let mut parsed = Parsed::new(entry.codec, packet.clone());
        if let Some(parsed) = &mut parsed {
            parsed.describe(entry.dependencies.read(entry.codec, &packet));
            entry
                .rates
                .on_packet(now, parsed.layers(), parsed.measured_size());
            entry.size = parsed.info.size.or(entry.size);
            if entry.codec.kind() == MediaKind::Video {
                entry.beginning.on_packet(now, parsed);
                if parsed.info.entry {
                    self.keyframes.on_keyframe(track);
                    self.admit_waiting(track);
                }
            }
        } else {
            entry.beginning.clear();
        }
        let Some(entry) = self.tracks.get(&track) else {
            return;
        };
        let rates = entry.rates.cumulative(now);
        for id in &entry.subscriptions {
            let Some(subscription) = self.subscriptions.get_mut(id) else {
                continue;
            };
            let forwarder = &mut subscription.forwarder;
            match &parsed {
                Some(parsed) => forwarder.handle_parsed(now, parsed, rates),
                None => forwarder.handle_unusable(now, &packet),
            }
            self.thinned += subscription.newly_thinned();
            drain(
                now,
                *id,
                subscription,
                &mut self.keyframes,
                &mut self.outputs,
            );
        }
        self.collect_keyframes();
    }

    /// Handles the passing of time.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.keyframes.handle_timeout(now);
        self.collect_keyframes();
    }

    /// Deadline of the next [`handle_timeout`](Router::handle_timeout).
    #[must_use]
    pub(crate) fn poll_timeout(&self) -> Option<Deadline> {
        self.keyframes.poll_timeout()
    }

    /// Returns the next output.
    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Whether a track has spatial layers to choose from.
    #[must_use]
    pub(crate) fn has_spatial_layers(&self, track: TrackId) -> bool {
        let track = self.tracks.get(&track);
        track.is_some_and(|track| track.dependencies.has_spatial_layers())
    }

    /// Number of packets so far that were dropped for subscribers that cannot receive them.
    #[must_use]
    pub(crate) fn thinned(&self) -> u64 {
        self.thinned
    }

    /// Returns the codec of a track.
    #[must_use]
    pub(crate) fn codec(&self, track: TrackId) -> Option<Codec> {
        Some(self.tracks.get(&track)?.codec)
    }

    /// Number of tracks.
    #[must_use]
    pub(crate) fn tracks(&self) -> usize {
        self.tracks.len()
    }

    /// Number of subscriptions.
    #[must_use]
    pub(crate) fn subscriptions(&self) -> usize {
        self.subscriptions.len()
    }

    fn collect(&mut self, now: Instant, id: SubscriptionId) {
        if let Some(subscription) = self.subscriptions.get_mut(&id) {
            self.thinned += subscription.newly_thinned();
            drain(
                now,
                id,
                subscription,
                &mut self.keyframes,
                &mut self.outputs,
            );
        }
        self.collect_keyframes();
    }

    fn collect_keyframes(&mut self) {
        while let Some(track) = self.keyframes.poll_output() {
            self.outputs.push_back(Output::RequestKeyframe { track });
        }
    }
}

impl Subscription {
    /// Number of packets dropped for it since the last call.
    fn newly_thinned(&mut self) -> u64 {
        let Stats {
            layer, congested, ..
        } = self.forwarder.stats();
        let before = std::mem::replace(&mut self.thinned, layer + congested);
        self.thinned - before
    }
}

fn drain(
    now: Instant,
    id: SubscriptionId,
    subscription: &mut Subscription,
    keyframes: &mut KeyframeAggregator,
    outputs: &mut VecDeque<Output>,
) {
    while let Some(output) = subscription.forwarder.poll_output() {
        match output {
            Forwarding::Packet(packet) => outputs.push_back(Output::Forward {
                subscription: id,
                packet,
            }),
            Forwarding::Forget => outputs.push_back(Output::Forget { subscription: id }),
            Forwarding::KeyframeNeeded => {
                // Sound needs no keyframe.
                let pictures = subscription.codec.kind() == MediaKind::Video;
                if let Some(track) = subscription.track.filter(|_| pictures) {
                    keyframes.request(now, track);
                }
            }
        }
    }
}
