//! Division of the rate of a player's paths among its streams: sound first, then the cameras.

use crate::division::{self, Want};
use crate::encoding::{Encoding, useful};
use crate::player::{GUESSING, LEAST_MAX_RATE, Subscribed};
use crate::reception::Carried;
use crate::routing::{Downlink, TrackId};
use crate::traffic::Traffic;
use weft_peer::PeerKey;
use weft_units::{Duration, Instant, MediaKind, Rate, StreamId};

/// Factors on the target rate within which the cameras must fit.
struct Tolerance {
    /// A layer is dropped if the stream exceeds its share by more than this factor.
    layers: f64,
    /// A camera is paused if the moving ones exceed the target by more than this factor.
    cameras: f64,
}

/// Tolerance while almost nothing waits for the player. An encoder exceeds its own target
/// by 15 % for seconds after each change, and a controller that is still probing is off
/// by more; a link that really is too slow lowers the target further. Chosen by us.
const TOLERANT: Tolerance = Tolerance {
    layers: 1.4,
    cameras: 1.1,
};
/// Tolerance while a queue shows that the paths do not carry the sent rate. Chosen by
/// trial: `tests/room/crowded.rs`.
const STRICT: Tolerance = Tolerance {
    layers: 1.15,
    cameras: 1.0,
};
/// Length of a queue above which it shows that. Chosen by us: a keyframe makes a shorter one.
const QUEUE_SHORT: Duration = Duration::from_millis(150);

impl Traffic {
    /// Returns the highest useful rate of a stream to a player: that of the largest
    /// encoding that it may carry.
    pub(crate) fn demand(&self, now: Instant, subscribed: &Subscribed) -> Option<Rate> {
        self.demand_of(now, subscribed, &self.choices(now, subscribed))
    }

    /// Returns the rate that a stream can use; `None` before any of its encodings was measured.
    fn demand_of(&self, now: Instant, of: &Subscribed, choices: &[Encoding]) -> Option<Rate> {
        let encodings = &of.carried.encodings;
        match (encodings.len(), choices.last()) {
            (0 | 1, _) => self.router.demand(now, of.id),
            (_, Some(largest)) => Some(largest.rate),
            // A camera that has stopped does not reduce the shares of the others.
            (_, None) => encodings
                .iter()
                .find_map(|track| self.router.rate(now, *track)),
        }
    }

    /// Returns the encodings to choose from; empty if there is only one.
    fn choices(&self, now: Instant, subscribed: &Subscribed) -> Vec<Encoding> {
        match subscribed.carried.encodings.len() {
            0 | 1 => Vec::new(),
            _ => self.useful(now, &subscribed.carried),
        }
    }

    pub(crate) fn useful(&self, now: Instant, carried: &Carried) -> Vec<Encoding> {
        let all = carried.encodings.iter().map(|track| {
            let (rate, size) = self.router.rate_and_size(now, *track);
            Encoding {
                track: *track,
                rate: rate.unwrap_or(Rate::ZERO),
                size,
            }
        });
        useful(all.collect(), carried.shown)
    }

    /// Returns the first encoding that a player gets. Until its paths are measured, they
    /// are assumed to carry [`LEAST_MAX_RATE`].
    pub(crate) fn first_encoding(
        &self,
        now: Instant,
        peer: PeerKey,
        carried: &Carried,
    ) -> Option<TrackId> {
        let encodings = &carried.encodings;
        if encodings.len() < 2 {
            return encodings.first().copied();
        }
        let player = self.players.get(&peer)?;
        if let Some(rules) = &player.rules {
            let arriving = self.useful(now, carried);
            let arriving: Vec<TrackId> = arriving.iter().map(|e| e.track).collect();
            return rules.first(&arriving).or(encodings.first().copied());
        }
        let cameras = player.of_kind(MediaKind::Video).count() as u64 + 1;
        let target = player.target.unwrap_or(LEAST_MAX_RATE);
        let share = Rate::from_bps(target.as_bps() / cameras);
        let useful = self.useful(now, carried);
        let fits = useful.iter().rev().find(|e| e.rate <= share);
        let chosen = fits.or(useful.first()).map(|encoding| encoding.track);
        chosen.or(encodings.first().copied())
    }

    /// Updates the rates of a player's streams: sound comes first, and the cameras divide
    /// the rest.
    pub(crate) fn tell_downlink(&mut self, now: Instant, key: PeerKey) {
        let Some(player) = self.players.get(&key) else {
            return;
        };
        if player.rules.is_some() {
            return self.apply_rules(now, key);
        }
        let of_kind = |kind| {
            let subscriptions = player.subscriptions.iter();
            subscriptions.filter(move |(_, s)| s.kind == kind)
        };
        let sounds = of_kind(MediaKind::Audio);
        let sound: Rate = sounds.filter_map(|(_, s)| self.demand(now, s)).sum();
        let mut cameras: Vec<_> = of_kind(MediaKind::Video)
            .filter(|(_, s)| !s.carried.encodings.is_empty())
            .map(|(stream, s)| (*stream, s, self.choices(now, s)))
            .collect();
        cameras.sort_by_key(|(_, s, _)| s.carried.rank);
        let measured =
            now.saturating_since(player.since) >= GUESSING || player.ceiling.rate().is_some();
        let target = player.target.filter(|_| measured);
        let tolerance = match player.queued > QUEUE_SHORT {
            true => STRICT,
            false => TOLERANT,
        };
        let within = |factor| target.map(|rate| rate.mul_f64(factor).saturating_sub(sound));
        let (room, target) = (within(tolerance.cameras), within(tolerance.layers));
        let want = |(_, s, choices): &(_, &Subscribed, Vec<Encoding>)| Want {
            area: s
                .carried
                .shown
                .map_or(0, |(width, height)| u64::from(width) * u64::from(height)),
            demand: self.demand_of(now, s, choices),
            // Cameras are paused only for players that report their view, because only
            // those are informed of pauses.
            smallest: match (s.carried.shown, choices.first()) {
                (Some(_), Some(encoding)) => encoding.rate,
                _ => Rate::ZERO,
            },
            paused: s.pausing.is_paused(),
        };
        let mut wants: Vec<Want> = cameras.iter().map(want).collect();
        let cameras = cameras.into_iter();
        let cameras: Vec<_> = cameras
            .map(|(stream, _, choices)| (stream, choices))
            .collect();
        if let Some(total) = room {
            let fits = division::fitting(total, &wants);
            for (((stream, _), fits), want) in cameras.iter().zip(fits).zip(&mut wants) {
                want.paused = self.pause(now, (key, *stream), fits);
            }
        }
        let shares = target.map(|total| division::shares(total, &wants));
        let mut raised = self.raised(now, key);
        for (place, (stream, choices)) in cameras.into_iter().enumerate() {
            if !wants[place].paused {
                let share = shares.as_ref().map(|shares| shares[place]);
                // Only one camera is raised at a time: the next one after the shares show
                // the cost of the first.
                let may_rise = raised.iter().all(|other| *other == stream);
                let is_raised = self.share(now, (key, stream), (&choices, share), may_rise);
                raised.retain(|other| *other != stream);
                raised.extend(is_raised.then_some(stream));
            }
        }
    }

    /// Returns the streams to a player that were raised recently.
    fn raised(&self, now: Instant, key: PeerKey) -> Vec<StreamId> {
        let player = self.players.get(&key).into_iter();
        let subscriptions = player.flat_map(|player| &player.subscriptions);
        let raised = subscriptions.filter(|(_, s)| s.is_raised(now));
        raised.map(|(stream, _)| *stream).collect()
    }

    /// Pauses a camera that has not fitted for a while, or resumes it; returns whether it
    /// is paused.
    fn pause(&mut self, now: Instant, (key, stream): (PeerKey, StreamId), fits: bool) -> bool {
        let player = self.players.get_mut(&key);
        let subscribed = player.and_then(|player| player.subscriptions.get_mut(&stream));
        let Some(subscribed) = subscribed else {
            return false;
        };
        let paused = subscribed.pausing.update(now, fits);
        if paused {
            subscribed.share = Some(Rate::ZERO);
            self.router.detach(subscribed.id);
        }
        paused
    }

    /// Returns the streams to a player that are paused because its paths have no room for them.
    pub(crate) fn paused(&self, peer: PeerKey) -> impl Iterator<Item = StreamId> {
        let player = self.players.get(&peer).into_iter();
        let subscriptions = player.flat_map(|player| &player.subscriptions);
        let paused = subscriptions.filter(|(_, s)| s.pausing.is_paused());
        paused.map(|(stream, _)| *stream)
    }

    /// Gives a camera its share of the rate of a player's paths; returns whether it was
    /// raised to a larger encoding recently.
    fn share(
        &mut self,
        now: Instant,
        (key, stream): (PeerKey, StreamId),
        (choices, share): (&[Encoding], Option<Rate>),
        may_rise: bool,
    ) -> bool {
        let Some(player) = self.players.get_mut(&key) else {
            return false;
        };
        let queued = player.queued;
        let Some(subscribed) = player.subscriptions.get_mut(&stream) else {
            return false;
        };
        subscribed.share = share;
        let id = subscribed.id;
        let preferred = self.router.preferred(id);
        let choice = &mut subscribed.choice;
        let chosen = choice.choose(now, choices, preferred, share, may_rise);
        let is_raised = subscribed.is_raised(now);
        let place = |track| choices.iter().position(|e| Some(e.track) == track);
        match chosen {
            // An encoding that does not fit stops at once.
            Some(track) if place(chosen) < place(self.router.track(id)) => {
                self.router.switch_track(now, id, track);
            }
            Some(track) if chosen != preferred => self.router.prefer(now, id, track),
            Some(_) | None => {}
        }
        let target = share;
        self.router.set_downlink(
            now,
            id,
            Downlink {
                target,
                limit: None,
                queued,
            },
        );
        is_raised
    }
}
