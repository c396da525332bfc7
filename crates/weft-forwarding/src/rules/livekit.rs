//! Rules of LiveKit 1.13.5 (revision 788d4c3), after `pkg/sfu/streamallocator`,
//! `pkg/sfu/forwarder.go`, `pkg/sfu/bwe/remotebwe/remote_bwe.go` and
//! `pkg/sfu/ccutils/probe_regulator.go`, with the defaults of `pkg/config/config.go`.
//!
//! - A camera may have layers up to the smallest encoding that fills nine tenths of its
//!   tile's height (`GetQualityForDimension`).
//! - While no camera lacks anything, each gets all that it may have, whatever the estimate.
//! - Congestion is an estimate below 95 % of the rate in use. The capacity is the lowest such
//!   estimate from then on, and all cameras are allocated: layer by layer from the lowest, each
//!   layer for every camera in turn, those that may have more first. A camera whose lowest
//!   layer does not fit gets it nevertheless (`allow_pause` is false by default).
//! - While cameras lack something, capacity rises by probes, at most every 3 s. Then the
//!   camera that is furthest from its goal moves up by one layer, as often as there is room.
//!   After a probe that brings congestion the interval is 1.5 times as long, up to 2 min.
//! - A camera that comes or grows meanwhile gets the best layer that the room allows.
//! - Sound is not deducted. When the estimate forces a smaller encoding, the larger one
//!   stops at once.
//!
//! Simplified: congestion counts at once, where LiveKit waits for a trend of the estimates
//! or for repeated requests of lost packets, and would also take over a later estimate that
//! is higher. A probe is a look at the estimate, which rises
//! by the probes of our own controller; one that has led to congestion within its interval
//! counts as congesting. A camera that finds no room leads to another allocation of all,
//! where LiveKit first looks for another camera to take from. The server with its default
//! estimator, of the receivers (REMB), is the model; there is no screen sharing.

use super::choice::{Camera, Choice, Down, Estimate, Layer};
use crate::routing::TrackId;
use std::collections::BTreeMap;
use weft_units::{Duration, Instant, Rate, StreamId};

/// Part of a tile's height that an encoding must fill (`layerSelectionTolerance`).
const FILLS: f64 = 0.9;
/// Part of the rate in use below which an estimate means congestion
/// (`ExpectedUsageThreshold`).
const CONGESTED: f64 = 0.95;
/// Interval between probes, its growth and its maximum (`DefaultProbeRegulatorConfig`).
const INTERVAL: Duration = Duration::from_secs(3);
const BACKOFF: f64 = 1.5;
const LONGEST: Duration = Duration::from_secs(120);

/// State for one viewer.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveKit {
    goals: BTreeMap<StreamId, Goal>,
    /// Rate that the paths are taken to carry, while some camera lacks something.
    capacity: Option<Rate>,
    probes: Probes,
    chosen: BTreeMap<StreamId, Choice>,
}

/// Layer of a camera, and the largest that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Goal {
    layer: Layer,
    most: Layer,
}

#[derive(Debug, Clone, Default)]
struct Probes {
    next: Option<Instant>,
    interval: Option<Duration>,
    /// Whether the last one has led to larger layers, which are not proved yet.
    is_pending: bool,
}

/// Encoding and temporal layer by their places, both from 0.
type Place = (usize, usize);

impl LiveKit {
    pub(super) fn is_deficient(&self) -> bool {
        self.capacity.is_some()
    }

    pub(super) fn choose(
        &mut self,
        now: Instant,
        estimate: Estimate,
        cameras: &[Camera],
    ) -> &BTreeMap<StreamId, Choice> {
        let measured: Vec<&Camera> = cameras.iter().filter(|c| !c.encodings.is_empty()).collect();
        let there = |stream: &StreamId| cameras.iter().any(|c| c.stream == *stream);
        self.goals.retain(|stream, _| there(stream));
        self.admit(&measured);
        let used = self.used(&measured);
        let known = estimate.rate.filter(|_| estimate.is_measured);
        if let Some(rate) = known {
            let is_congested = rate < used.mul_f64(CONGESTED);
            // Lower only: what is in use was measured at another time.
            if is_congested && self.capacity.is_none_or(|capacity| rate < capacity) {
                self.probes.on_congestion(now);
                self.capacity = Some(rate);
                self.allocate_all(&measured);
            } else if !is_congested && self.is_deficient() && self.probes.is_due(now) {
                self.probes.on_success(now);
                self.capacity = self.capacity.max(Some(rate));
                self.probes.is_pending = self.boost(&measured);
            }
        }
        let lacks = |goal: &Goal| goal.layer != goal.most;
        if self.is_deficient() && !self.goals.values().any(lacks) {
            self.capacity = None;
            self.probes = Probes::default();
        }
        self.chosen = self.choices();
        &self.chosen
    }

    fn choices(&self) -> BTreeMap<StreamId, Choice> {
        let down = match self.is_deficient() {
            true => Down::Stops,
            false => Down::Continues,
        };
        let choice = |goal: &Goal| Choice::Forwarded {
            layer: goal.layer,
            down,
        };
        let goals = self.goals.iter();
        goals
            .map(|(stream, goal)| (*stream, choice(goal)))
            .collect()
    }

    /// Returns the rate of all cameras' layers.
    fn used(&self, cameras: &[&Camera]) -> Rate {
        let goals = cameras.iter().map(|camera| self.rate_of(camera));
        goals.sum()
    }

    fn rate_of(&self, camera: &Camera) -> Rate {
        let goal = self.goals.get(&camera.stream);
        goal.map_or(Rate::ZERO, |goal| camera.rate(goal.layer))
    }

    /// Gives layers to cameras that have come, or whose encodings or sizes have changed.
    fn admit(&mut self, cameras: &[&Camera]) {
        let mut is_short = false;
        for camera in cameras {
            let most = layer_at(camera, most_of(camera));
            let known = self.goals.get(&camera.stream).copied();
            let layer = known.map(|goal| goal.layer);
            let is_same = known.is_some_and(|goal| goal.most == most);
            let arrives = layer.is_some_and(|layer| camera.place(layer).is_some());
            if is_same && arrives {
                continue;
            }
            let Some(capacity) = self.capacity else {
                let layer = most;
                self.goals.insert(camera.stream, Goal { layer, most });
                continue;
            };
            let others = self.used(cameras).saturating_sub(self.rate_of(camera));
            let room = capacity.saturating_sub(others);
            let best = places(camera)
                .take_while(|place| rate_at(camera, *place) <= room)
                .last();
            is_short |= best.is_none();
            let layer = layer_at(camera, best.unwrap_or((0, 0)));
            self.goals.insert(camera.stream, Goal { layer, most });
        }
        if is_short {
            self.allocate_all(cameras);
        }
    }

    /// Divides the capacity among all cameras.
    fn allocate_all(&mut self, cameras: &[&Camera]) {
        let mut order: Vec<&Camera> = cameras.to_vec();
        order.sort_by_key(|camera| (std::cmp::Reverse(most_of(camera)), camera.rank));
        let mut left = self.capacity.unwrap_or_default();
        let mut given: Vec<Option<Place>> = vec![None; order.len()];
        let highest = order.iter().map(|camera| most_of(camera)).max();
        let (encodings, layers) =
            highest.map_or((0, 0), |(encoding, _)| (encoding + 1, MOST_LAYERS));
        for place in (0..encodings).flat_map(|e| (0..layers).map(move |t| (e, t))) {
            for (camera, given) in order.iter().zip(&mut given) {
                if !has(camera, place) {
                    continue;
                }
                let rate = rate_at(camera, place);
                let present = given.map_or(Rate::ZERO, |given| rate_at(camera, given));
                if rate <= left + present || given.is_none() {
                    *given = Some(place);
                    left = (left + present).saturating_sub(rate);
                }
            }
        }
        for (camera, given) in order.iter().zip(given) {
            let layer = layer_at(camera, given.unwrap_or((0, 0)));
            let most = layer_at(camera, most_of(camera));
            self.goals.insert(camera.stream, Goal { layer, most });
        }
    }

    /// Moves up cameras that lack something while there is room; returns whether any moved.
    fn boost(&mut self, cameras: &[&Camera]) -> bool {
        let mut any = false;
        loop {
            let used = self.used(cameras);
            let left = self.capacity.unwrap_or_default().saturating_sub(used);
            let mut lacking: Vec<&&Camera> = cameras.iter().collect();
            lacking.retain(|camera| self.lacks(camera) > 0);
            lacking.sort_by_key(|camera| std::cmp::Reverse(self.lacks(camera)));
            let next = lacking.into_iter().find_map(|camera| {
                let place = self.place(camera)?;
                let next = places(camera).find(|other| *other > place)?;
                let more = rate_at(camera, next).saturating_sub(rate_at(camera, place));
                (more <= left).then_some((camera, next))
            });
            let Some((camera, next)) = next else {
                return any;
            };
            if let Some(goal) = self.goals.get_mut(&camera.stream) {
                goal.layer = layer_at(camera, next);
            }
            any = true;
        }
    }

    /// Returns the distance of a camera from the largest layer that it may have.
    fn lacks(&self, camera: &Camera) -> usize {
        let present = self.place(camera);
        places(camera)
            .filter(|place| present.is_none_or(|p| *place > p))
            .count()
    }

    fn place(&self, camera: &Camera) -> Option<Place> {
        let layer = self.goals.get(&camera.stream)?.layer;
        Some((camera.place(layer)?, usize::from(layer.temporal)))
    }
}

impl Probes {
    fn interval(&self) -> Duration {
        self.interval.unwrap_or(INTERVAL)
    }

    fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    fn on_success(&mut self, now: Instant) {
        if self.is_pending {
            self.interval = None;
        }
        self.next = Some(now + self.interval());
    }

    fn on_congestion(&mut self, now: Instant) {
        if std::mem::take(&mut self.is_pending) {
            let longer = self.interval().mul_f64(BACKOFF).min(LONGEST);
            self.interval = Some(longer);
            self.next = Some(now + longer);
        }
    }
}

/// Most temporal layers of an encoding.
const MOST_LAYERS: usize = 4;

/// Returns the largest layer that a camera may have.
fn most_of(camera: &Camera) -> Place {
    let fills = |height: u32| {
        let tile = camera.shown.map(|(_, tile)| f64::from(tile) * FILLS);
        tile.is_some_and(|tile| height >= tile as u32)
    };
    let encodings = &camera.encodings;
    let enough = encodings.iter().position(|e| fills(e.height));
    let encoding = enough.unwrap_or(encodings.len().saturating_sub(1));
    let layers = encodings.get(encoding).map_or(0, |e| e.rates.len());
    (encoding, layers.saturating_sub(1))
}

/// Whether a camera has the layer and may have it.
fn has(camera: &Camera, (encoding, temporal): Place) -> bool {
    let layers = camera.encodings.get(encoding).map(|e| e.rates.len());
    layers.is_some_and(|layers| temporal < layers) && (encoding, temporal) <= most_of(camera)
}

/// Returns the layers that a camera may have, the lowest first.
fn places(camera: &Camera) -> impl Iterator<Item = Place> {
    let (last, _) = most_of(camera);
    let encodings = camera.encodings.iter().take(last + 1).enumerate();
    encodings.flat_map(|(place, e)| (0..e.rates.len()).map(move |temporal| (place, temporal)))
}

fn rate_at(camera: &Camera, (encoding, temporal): Place) -> Rate {
    let rates = camera.encodings.get(encoding).map(|e| &e.rates);
    let rate = rates.and_then(|rates| rates.get(temporal));
    rate.copied().unwrap_or_default()
}

fn layer_at(camera: &Camera, (encoding, temporal): Place) -> Layer {
    let track = camera
        .encodings
        .get(encoding)
        .map_or(TrackId(0), |e| e.track);
    Layer {
        track,
        temporal: temporal as u8,
    }
}

#[cfg(test)]
mod tests;
