//! Rates of tracks, as they arrive.

use super::super::id::{SubscriptionId, TrackId};
use super::Router;
use weft_units::{Instant, Rate};

impl Router {
    /// Returns the rate of all layers of the subscription's track, which is the most that
    /// it can use.
    #[must_use]
    pub(crate) fn demand(&self, now: Instant, id: SubscriptionId) -> Option<Rate> {
        self.rate(now, self.track(id)?)
    }

    /// Returns the rate of all layers of a track and the size of its pictures, as far as known.
    #[must_use]
    pub(crate) fn rate_and_size(
        &self,
        now: Instant,
        track: TrackId,
    ) -> (Option<Rate>, Option<(u16, u16)>) {
        let track = self.tracks.get(&track);
        track.map_or((None, None), |track| (track.rates.total(now), track.size))
    }

    /// Returns the rates of a track up to each of its layers; empty while it does not
    /// arrive.
    #[must_use]
    pub(crate) fn layer_rates(&self, now: Instant, track: TrackId) -> Vec<Rate> {
        let track = self.tracks.get(&track);
        let rates = track.and_then(|track| track.rates.cumulative(now));
        let mut rates: Vec<Rate> = rates.into_iter().flatten().collect();
        rates.retain(|rate| *rate > Rate::ZERO);
        rates.dedup();
        rates
    }

    /// Returns the rate of all layers of a track.
    #[must_use]
    pub(crate) fn rate(&self, now: Instant, track: TrackId) -> Option<Rate> {
        self.tracks.get(&track)?.rates.total(now)
    }

    /// Rate of a subscription's track up to its second temporal layer: of three layers,
    /// half of the pictures. The whole rate if it has no layers.
    #[must_use]
    pub(crate) fn half(&self, now: Instant, id: SubscriptionId) -> Option<Rate> {
        let track = self.track(id)?;
        Some(self.tracks.get(&track)?.rates.cumulative(now)?[1])
    }
}
