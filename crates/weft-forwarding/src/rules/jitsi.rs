//! Rules of Jitsi Videobridge, after its sources of 19 August 2026 (revision a29d97d):
//! `doc/allocation.md`, and in `jvb/src/main/kotlin/org/jitsi/videobridge/cc/allocation`
//! `BandwidthAllocator.kt`, `SingleSourceAllocation.kt` and `Prioritize.kt`. Settings are
//! those of `jvb/src/main/resources/reference.conf`.
//!
//! - Cameras are ordered by who spoke last. The one on the stage comes first. A viewer gets
//!   any number of them: last-N has no limit by default.
//! - Each camera has a list of layers: those up to the height that the viewer asks for.
//!   Where that is above 180 lines, layers from 360 lines on have the full frame rate.
//! - In rounds, each camera moves to its next layer if the rest of the estimate exceeds the
//!   additional rate. The one on the stage takes all layers up to 360 lines in the first
//!   round, and the others wait until it has them.
//! - This is computed again when cameras, their order or sizes change, when the estimate
//!   has moved by more than 15 % since the last one that was used, and every 5 s.
//! - Sound is not deducted, and a camera without room for its first layer is paused.
//!
//! Heights are what the client asks for (jitsi-meet, `react/features/video-quality`): 180,
//! 360 or 720, the highest that the tile reaches. Not modelled: screen sharing, which may
//! exceed the estimate; a lower frame rate than the camera's on the stage, because the
//! router does not know frame rates: the full rate stands for 30 frames a second.

use super::choice::{Camera, Choice, Down, Estimate, Layer};
use std::collections::BTreeMap;
use weft_units::{Duration, Instant, Rate, StreamId};

/// Change of the estimate that leads to another computation (`bwe-change-threshold`).
const THRESHOLD: f64 = 0.15;
/// Longest time between two computations (`max-time-between-calculations`).
const PERIOD: Duration = Duration::from_secs(5);
/// Height up to which a camera on the stage comes before all others
/// (`onstage-preferred-height-px`).
const PREFERRED: u32 = 360;
/// Heights that clients ask for (jitsi-meet, `video-quality/constants.ts`).
const LEVELS: [u32; 3] = [180, 360, 720];

/// Estimate before there is one.
const UNLIMITED: Rate = Rate::from_bps(u64::MAX);

/// State for one viewer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jitsi {
    /// Estimate that was used last.
    estimate: Option<Rate>,
    computed: Option<Instant>,
    /// Cameras at the last computation.
    known: Vec<Camera>,
    /// Streams in the order of last speech.
    spoke: Vec<StreamId>,
    chosen: BTreeMap<StreamId, Choice>,
}

impl Jitsi {
    pub(super) fn choose(
        &mut self,
        now: Instant,
        estimate: Estimate,
        cameras: &[Camera],
    ) -> &BTreeMap<StreamId, Choice> {
        let has_changed = !same(&self.known, cameras);
        let has_moved = match (self.estimate, estimate.rate) {
            (Some(before), Some(rate)) => {
                let moved = rate.as_bps().abs_diff(before.as_bps());
                moved as f64 > before.as_bps() as f64 * THRESHOLD
            }
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if has_moved {
            self.estimate = estimate.rate;
        }
        let is_due = self
            .computed
            .is_none_or(|at| now.saturating_since(at) > PERIOD);
        if has_changed || has_moved || is_due {
            self.computed = Some(now);
            self.known = cameras.to_vec();
            self.note_speaker(cameras);
            self.chosen = self.computed(cameras);
        }
        &self.chosen
    }

    /// Moves the most important camera to the front: that of the person who speaks.
    fn note_speaker(&mut self, cameras: &[Camera]) {
        let there = |stream: &StreamId| cameras.iter().any(|c| c.stream == *stream);
        self.spoke.retain(there);
        for camera in cameras {
            if !self.spoke.contains(&camera.stream) {
                self.spoke.push(camera.stream);
            }
        }
        let first = cameras.first();
        let place = first.and_then(|c| self.spoke.iter().position(|s| *s == c.stream));
        if let Some(place) = place {
            self.spoke[..=place].rotate_right(1);
        }
    }

    fn computed(&self, cameras: &[Camera]) -> BTreeMap<StreamId, Choice> {
        let in_order = self.spoke.iter().filter_map(|stream| {
            let place = cameras.iter().position(|c| c.stream == *stream)?;
            Some((&cameras[place], is_on_stage(cameras, place)))
        });
        let mut sources: Vec<Source> = in_order.map(|(c, stage)| Source::new(c, stage)).collect();
        let mut left = self.estimate.unwrap_or(UNLIMITED);
        loop {
            let before = left;
            for source in &mut sources {
                left = source.improve(left);
                if source.is_on_stage && source.at < source.preferred {
                    break;
                }
            }
            if left == before {
                break;
            }
        }
        let measured = sources.iter().filter(|source| !source.layers.is_empty());
        measured
            .map(|source| (source.stream, source.choice()))
            .collect()
    }
}

/// Whether nothing has changed that leads to another computation; rates do not.
fn same(before: &[Camera], now: &[Camera]) -> bool {
    let alike = |(a, b): (&Camera, &Camera)| {
        let tracks = |camera: &Camera| -> Vec<_> {
            camera
                .encodings
                .iter()
                .map(|e| (e.track, e.height))
                .collect()
        };
        (a.stream, a.rank, a.shown, tracks(a)) == (b.stream, b.rank, b.shown, tracks(b))
    };
    before.len() == now.len() && before.iter().zip(now).all(alike)
}

/// Whether a camera is on the stage: it is alone, or its tile is larger than the others.
fn is_on_stage(cameras: &[Camera], place: usize) -> bool {
    let area = |camera: &Camera| camera.shown.map_or(0, |(w, h)| u64::from(w) * u64::from(h));
    let own = area(&cameras[place]);
    let mut others = cameras.iter().enumerate().filter(|(p, _)| *p != place);
    own > 0 && others.all(|(_, other)| area(other) < own)
}

/// A camera during a computation.
struct Source {
    stream: StreamId,
    is_on_stage: bool,
    /// Layers in the order in which they are tried, and their rates.
    layers: Vec<(Layer, Rate)>,
    /// Number of layers that a camera on the stage takes at once.
    preferred: usize,
    /// Number of layers that it has.
    at: usize,
}

impl Source {
    fn new(camera: &Camera, is_on_stage: bool) -> Source {
        let tile = camera.shown.map_or(LEVELS[0], |(_, height)| height);
        let most = LEVELS.iter().rev().find(|level| **level <= tile);
        let most = *most.unwrap_or(&LEVELS[0]);
        let smallest = camera.encodings.first().map_or(0, |e| e.height);
        let prefers = most > LEVELS[0];
        let (mut layers, mut preferred) = (Vec::new(), 0);
        for encoding in &camera.encodings {
            let height = encoding.height;
            for (temporal, rate) in encoding.rates.iter().enumerate() {
                let is_full = temporal + 1 == encoding.rates.len();
                let below = prefers && height < PREFERRED;
                let within = height <= most && (is_full || !prefers);
                if below || within || height == smallest {
                    let track = encoding.track;
                    let temporal = temporal as u8;
                    layers.push((Layer { track, temporal }, *rate));
                }
            }
            let eager = if prefers { PREFERRED } else { 0 };
            if height <= eager.max(smallest) {
                preferred = layers.len();
            }
        }
        Source {
            stream: camera.stream,
            is_on_stage,
            layers,
            preferred,
            at: 0,
        }
    }

    fn rate(&self) -> Rate {
        self.at
            .checked_sub(1)
            .map_or(Rate::ZERO, |last| self.layers[last].1)
    }

    /// Moves to a higher layer if there is room; returns what is left.
    fn improve(&mut self, left: Rate) -> Rate {
        let room = left + self.rate();
        if self.at == 0 && self.is_on_stage && self.preferred > 0 {
            let eager = self.layers[..self.preferred].iter();
            self.at = eager.take_while(|(_, rate)| *rate <= room).count();
        } else if self
            .layers
            .get(self.at)
            .is_some_and(|(_, rate)| *rate < room)
        {
            self.at += 1;
        }
        if self.at > 0 {
            let rate = self.rate();
            let cheaper = self.layers.iter().rposition(|(_, other)| *other <= rate);
            self.at = self.at.max(cheaper.map_or(0, |place| place + 1));
        }
        room.saturating_sub(self.rate())
    }

    fn choice(&self) -> Choice {
        match self.at.checked_sub(1) {
            None => Choice::Paused,
            Some(last) => Choice::Forwarded {
                layer: self.layers[last].0,
                down: Down::Thins,
            },
        }
    }
}

#[cfg(test)]
mod tests;
