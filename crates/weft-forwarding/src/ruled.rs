//! Application of another server's rules to a player.

use crate::player::{GUESSING, Subscribed};
use crate::routing::{Downlink, SubscriptionId, TrackId};
use crate::rules::{AllocatorKind, Camera, Choice, Down, Estimate, Layer, Layers};
use crate::traffic::Traffic;
use weft_peer::PeerKey;
use weft_units::{Instant, MediaKind, Rate, StreamId};

impl Traffic {
    /// Chooses the layers of players that come by these rules.
    pub(crate) fn allocating(mut self, allocator: AllocatorKind) -> Traffic {
        self.allocator = allocator;
        self
    }

    /// Applies a player's [`Rules`](crate::rules::Rules).
    pub(crate) fn apply_rules(&mut self, now: Instant, key: PeerKey) {
        let cameras = self.cameras(now, key);
        let Some(player) = self.players.get_mut(&key) else {
            return;
        };
        let since = now.saturating_since(player.since);
        let estimate = Estimate {
            rate: player.target,
            is_measured: since >= GUESSING || player.ceiling.rate().is_some(),
        };
        let Some(rules) = &mut player.rules else {
            return;
        };
        let chosen = rules.choose(now, estimate, &cameras).clone();
        for camera in &cameras {
            if let Some(choice) = chosen.get(&camera.stream) {
                self.apply(now, key, camera, *choice);
            }
        }
    }

    /// Returns the cameras that a viewer is shown.
    fn cameras(&self, now: Instant, key: PeerKey) -> Vec<Camera> {
        let player = self.players.get(&key).into_iter();
        let streams = player.flat_map(|player| &player.subscriptions);
        let cameras = streams.filter(|(_, s)| s.kind == MediaKind::Video);
        let cameras = cameras.filter(|(_, s)| !s.carried.encodings.is_empty());
        let camera = |(stream, s): (&StreamId, &Subscribed)| {
            let arriving = s.carried.encodings.iter().map(|track| Layers {
                track: *track,
                height: self.router.size(*track).map_or(0, |size| size.1.into()),
                rates: self.router.layer_rates(now, *track),
            });
            let mut encodings: Vec<Layers> = arriving.filter(|e| !e.rates.is_empty()).collect();
            encodings.sort_by_key(|e| (e.height, e.rates.last().copied()));
            Camera {
                stream: *stream,
                rank: s.carried.rank,
                shown: s.carried.shown,
                encodings,
            }
        };
        let mut cameras: Vec<Camera> = cameras.map(camera).collect();
        cameras.sort_by_key(|camera| camera.rank);
        cameras
    }

    fn apply(&mut self, now: Instant, key: PeerKey, camera: &Camera, choice: Choice) {
        let Some(player) = self.players.get_mut(&key) else {
            return;
        };
        let queued = player.queued;
        let Some(subscribed) = player.subscriptions.get_mut(&camera.stream) else {
            return;
        };
        let id = subscribed.id;
        let (layer, down) = match choice {
            Choice::Paused => {
                subscribed.share = Some(Rate::ZERO);
                if !subscribed.pausing.is_paused() {
                    subscribed.pausing.set(true);
                    self.router.detach(id);
                }
                return;
            }
            Choice::Forwarded { layer, down } => (layer, down),
        };
        subscribed.pausing.set(false);
        subscribed.share = Some(camera.rate(layer));
        let place = |track: Option<TrackId>| {
            let encodings = camera.encodings.iter();
            encodings.map(|e| Some(e.track)).position(|t| t == track)
        };
        let goal = place(Some(layer.track));
        if down == Down::Stops && goal < place(self.router.track(id)) {
            self.router.switch_track(now, id, layer.track);
        } else {
            self.router.prefer(now, id, layer.track);
        }
        let temporal = self.temporal(id, (layer, down), place, goal);
        let downlink = Downlink {
            target: None,
            limit: Some(temporal),
            queued,
        };
        self.router.set_downlink(now, id, downlink);
    }

    /// Returns the highest temporal layer of the encoding that is forwarded now, which may
    /// be another one than the chosen one.
    fn temporal(
        &self,
        id: SubscriptionId,
        (layer, down): (Layer, Down),
        place: impl Fn(Option<TrackId>) -> Option<usize>,
        goal: Option<usize>,
    ) -> u8 {
        let present = place(self.router.track(id));
        match down {
            Down::Thins if present > goal => 0,
            Down::Thins | Down::Continues if present != goal => u8::MAX,
            Down::Thins | Down::Continues | Down::Stops => layer.temporal,
        }
    }
}
