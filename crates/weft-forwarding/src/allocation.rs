//! Division of what a player's paths carry among its streams: sound first, then the
//! cameras.

use crate::encoding::{Encoding, useful};
use crate::player::{LEAST_MAX_RATE, Subscribed};
use crate::traffic::{GUESSING, Traffic};
use weft_peer::PeerKey;
use weft_sfu::{Downlink, TrackId, fair_shares};
use weft_units::{Instant, MediaKind, Rate, StreamId};

/// A layer is dropped when the stream is over the target by more than this. An
/// encoder is 15 % over its own target for seconds after each change, and a
/// controller that is still feeling its way is off by more; a link that
/// really is too slow lowers the target further. Chosen by us.
const TOLERANCE: f64 = 1.3;

impl Traffic {
    /// Returns the rate of all that a stream to a player can be of use for: of the
    /// largest encoding that it may carry.
    pub(crate) fn demand(&self, now: Instant, subscribed: &Subscribed) -> Option<Rate> {
        self.demand_of(now, subscribed, &self.choices(now, subscribed))
    }

    fn demand_of(&self, now: Instant, of: &Subscribed, choices: &[Encoding]) -> Option<Rate> {
        match of.encodings.len() {
            0 | 1 => self.router.demand(now, of.id),
            _ => choices.last().map(|encoding| encoding.rate),
        }
    }

    /// Returns the encodings to choose from; none where there is only one.
    fn choices(&self, now: Instant, subscribed: &Subscribed) -> Vec<Encoding> {
        match subscribed.encodings.len() {
            0 | 1 => Vec::new(),
            _ => self.useful(now, &subscribed.encodings, subscribed.shown),
        }
    }

    fn useful(
        &self,
        now: Instant,
        encodings: &[TrackId],
        shown: Option<(u32, u32)>,
    ) -> Vec<Encoding> {
        let all = encodings.iter().map(|track| Encoding {
            track: *track,
            rate: self.router.rate(now, *track).unwrap_or(Rate::ZERO),
            size: self.router.size(*track),
        });
        useful(all.collect(), shown)
    }

    /// Returns the encoding that a player gets at first. While its paths are not measured,
    /// they are taken to carry [`LEAST_MAX_RATE`].
    pub(crate) fn first_encoding(
        &self,
        now: Instant,
        peer: PeerKey,
        encodings: &[TrackId],
        shown: Option<(u32, u32)>,
    ) -> Option<TrackId> {
        if encodings.len() < 2 {
            return encodings.first().copied();
        }
        let player = self.players.get(&peer)?;
        let cameras = player.of_kind(MediaKind::Video).count() as u64 + 1;
        let target = player.target.unwrap_or(LEAST_MAX_RATE);
        let share = Rate::from_bps(target.as_bps() / cameras);
        let useful = self.useful(now, encodings, shown);
        let fits = useful.iter().rev().find(|e| e.rate <= share);
        let chosen = fits.or(useful.first()).map(|encoding| encoding.track);
        chosen.or(encodings.first().copied())
    }

    /// Sound has the right of way; the cameras divide the rest.
    pub(crate) fn tell_downlink(&mut self, now: Instant, key: PeerKey) {
        let Some(player) = self.players.get(&key) else {
            return;
        };
        let of_kind = |kind| {
            player
                .subscriptions
                .iter()
                .filter(move |(_, s)| s.kind == kind)
        };
        let sounds = of_kind(MediaKind::Audio);
        let sound: Rate = sounds.filter_map(|(_, s)| self.demand(now, s)).sum();
        let cameras = of_kind(MediaKind::Video);
        let cameras = cameras.filter(|(_, s)| !s.encodings.is_empty());
        let cameras = cameras.map(|(stream, s)| (*stream, s, self.choices(now, s)));
        let cameras: Vec<(StreamId, &Subscribed, Vec<Encoding>)> = cameras.collect();
        let measured =
            now.saturating_since(player.since) >= GUESSING || player.ceiling.rate().is_some();
        let target = player.target.filter(|_| measured);
        let target = target.map(|rate| rate.mul_f64(TOLERANCE).saturating_sub(sound));
        let demands = cameras.iter();
        let demands = demands.map(|(_, s, choices)| self.demand_of(now, s, choices));
        let demands: Vec<Option<Rate>> = demands.collect();
        let shares = target.map(|rate| fair_shares(rate, &demands));
        let cameras = cameras
            .into_iter()
            .map(|(stream, _, choices)| (stream, choices));
        for (place, (stream, choices)) in cameras.collect::<Vec<_>>().into_iter().enumerate() {
            let share = shares.as_ref().map(|shares| shares[place]);
            self.share(now, (key, stream), &choices, share);
        }
    }

    /// Gives a camera its part of what a player's paths carry.
    fn share(
        &mut self,
        now: Instant,
        (key, stream): (PeerKey, StreamId),
        choices: &[Encoding],
        share: Option<Rate>,
    ) {
        let Some(player) = self.players.get_mut(&key) else {
            return;
        };
        let queued = player.queued;
        // One camera is raised at a time: the next one when the share of all shows what
        // that cost.
        let raised = player
            .subscriptions
            .iter()
            .filter(|(other, _)| **other != stream);
        let raised = raised.filter_map(|(_, s)| s.choice.raised()).max();
        let may_rise = raised.is_none_or(|at| now.saturating_since(at) >= GUESSING);
        let Some(subscribed) = player.subscriptions.get_mut(&stream) else {
            return;
        };
        subscribed.share = share;
        let id = subscribed.id;
        let preferred = self.router.preferred(id);
        let choice = &mut subscribed.choice;
        let chosen = choice.choose(now, choices, preferred, share, may_rise);
        let place = |track| choices.iter().position(|e| Some(e.track) == track);
        match chosen {
            // What does not fit stops at once.
            Some(track) if place(chosen) < place(self.router.track(id)) => {
                self.router.switch_track(now, id, track);
            }
            Some(track) => self.router.prefer(now, id, track),
            None => {}
        }
        let target = share;
        self.router
            .set_downlink(now, id, Downlink { target, queued });
    }
}
