//! Scheduler of Converge, section 4: the class of a packet decides its path, and the
//! receiver's feedback on frames corrects the shares. docs/protocol/scheduler-converge.md
//! has the paper's rules, its gaps and our decisions.

mod adjust;
mod links;
mod priority;

use std::collections::BTreeMap;

use weft_units::{Bytes, Duration, Instant, PathId, Rate, StreamId};

use super::shares::{Shares, in_runs};
use super::sound::Sound;
use super::{
    Assignment, Assignments, Batch, Behaviour, Class, PathUse, PathView, Quality, Scheduler,
};
use crate::ablation::{Ablation, Ablations};
use crate::preference::Preference;
use adjust::{Adjustments, corrected};
use links::Links;
use priority::{Room, completion, fast_path, most_packets};

/// Assumed period of `P_max` and of equation 1, until two frames have shown it.
const FRAME_INTERVAL: Duration = Duration::from_nanos(33_333_333);

/// Longest interval between frames; chosen by us: longer ones are not a frame rate.
const LONGEST_INTERVAL: Duration = Duration::from_millis(500);

/// Weight of a new frame in a stream's mean values, as for a new sample in the smoothed
/// round trip (RFC 6298). Chosen by us.
const GAIN: f64 = 1.0 / 8.0;

pub(super) struct Converge {
    without: Ablations,
    links: Links,
    room: Room,
    sound: Sound,
    streams: BTreeMap<StreamId, Stream>,
}

/// State for the frames of one stream.
struct Stream {
    last_frame: Option<Instant>,
    /// Mean time between frames, in nanoseconds.
    interval: f64,
    /// Mean number of media packets in a frame, `N` of equation 1.
    packets: Option<f64>,
    shares: Shares,
    adjustments: Adjustments,
}

impl Default for Stream {
    fn default() -> Stream {
        Stream {
            last_frame: None,
            interval: FRAME_INTERVAL.as_nanos() as f64,
            packets: None,
            shares: Shares::default(),
            adjustments: Adjustments::default(),
        }
    }
}

impl Stream {
    /// Returns the period of `P_max`.
    fn period(&self) -> Duration {
        Duration::from_nanos(self.interval as u64)
    }

    /// Returns equation 1 for the mean frame, not rounded.
    fn share(&self, path: &PathView, active: &[PathView]) -> f64 {
        let sum: Rate = active.iter().map(|p| p.rate).sum();
        path.rate.as_bps() as f64 / sum.as_bps().max(1) as f64 * self.mean_packets()
    }

    fn on_frame(&mut self, now: Instant, media_packets: usize) {
        if media_packets > 0 {
            let packets = media_packets as f64;
            let mean = self.packets.get_or_insert(packets);
            *mean += (packets - *mean) * GAIN;
        }
        if let Some(before) = self.last_frame.replace(now) {
            // At least two frames a second: anything slower is a pause.
            let elapsed = now.saturating_since(before).min(LONGEST_INTERVAL);
            self.interval += (elapsed.as_nanos() as f64 - self.interval) * GAIN;
        }
    }

    /// Returns `N` of the mean frame.
    fn mean_packets(&self) -> f64 {
        self.packets.unwrap_or(0.0)
    }
}

/// Returns equation 1's numerators.
fn weights(paths: &[PathView]) -> Vec<(PathId, f64)> {
    let weight = |p: &PathView| (p.id, p.rate.as_bps() as f64);
    paths.iter().map(weight).collect()
}

impl Converge {
    pub fn new(without: Ablations) -> Converge {
        Converge {
            without,
            links: Links::default(),
            room: Room::default(),
            sound: Sound::default(),
            streams: BTreeMap::new(),
        }
    }

    /// Returns the paths that carry media; a returning path starts with one packet of a
    /// frame.
    fn enable_recovered(
        &mut self,
        now: Instant,
        packets: usize,
        paths: &[PathView],
    ) -> Vec<PathView> {
        let fast = fast_path(packets, &self.links.active(paths));
        let returned = self.links.enable_recovered(now, fast, paths);
        let active = self.links.active(paths);
        for path in active.iter().filter(|p| returned.contains(&p.id)) {
            for stream in self.streams.values_mut() {
                let alpha = 1.0 - stream.share(path, &active);
                stream.adjustments.return_with(now, path.id, alpha);
            }
        }
        active
    }

    fn has_priority(&self, class: Class) -> bool {
        !self.without.contains(Ablation::Priorities) && class.has_priority()
    }

    /// Applies equations 1 and 2: returns how many of `packets` each path gets.
    fn divide(
        &mut self,
        now: Instant,
        id: StreamId,
        packets: usize,
        paths: &[PathView],
    ) -> Vec<(PathId, usize)> {
        let stream = self.streams.entry(id).or_default();
        let shares = stream.shares.divide(packets, &weights(paths));
        let period = stream.period();
        let most: Vec<usize> = paths.iter().map(|p| most_packets(p, period)).collect();
        let alphas: Vec<i64> = paths
            .iter()
            .map(|p| stream.adjustments.current(now, p.id))
            .collect();
        let fast = fast_path(packets, paths);
        corrected(shares, &alphas, &most, fast)
    }

    /// Assigns sound. A disabled path is too slow for pictures but alive: it comes last,
    /// so that there is a copy on it if it is the only other path.
    fn sound(
        &mut self,
        now: Instant,
        size: Bytes,
        active: &[PathView],
        paths: &[PathView],
    ) -> Assignment {
        let is_disabled = |p: &PathView| active.iter().all(|a| a.id != p.id);
        let mut order: Vec<&PathView> = paths.iter().collect();
        order.sort_by_key(|p| (is_disabled(p), completion(p, size), p.id));
        self.sound.assign(now, size, &order)
    }
}

impl Scheduler for Converge {
    fn assign(&mut self, now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        let active = self.enable_recovered(now, batch.sizes.len(), paths);
        if batch.class == Class::Audio {
            let one = |size: &Bytes| self.sound(now, *size, &active, paths);
            return batch.sizes.iter().map(one).collect();
        }
        let media = |class: &&Class| !self.has_priority(**class);
        let media_packets = batch.classes.iter().filter(media).count();
        let stream = self.streams.entry(batch.stream).or_default();
        if matches!(batch.class, Class::Keyframe | Class::Delta) {
            stream.on_frame(now, media_packets);
        }
        let period = stream.period();
        self.room.drain(now, &active, period);
        let mut chosen: Vec<Option<PathId>> = vec![None; batch.sizes.len()];
        let mut ranked: Vec<usize> = (0..chosen.len())
            .filter(|i| self.has_priority(batch.classes[*i]))
            .collect();
        // The lowest priority overflows first; within one priority, the packet that is
        // sent last.
        ranked.sort_by_key(|i| batch.classes[*i]);
        let total = batch.sizes.len();
        for index in ranked {
            let made_for = batch
                .made_for
                .filter(|_| batch.classes[index] == Class::Repair);
            chosen[index] = Some(self.room.take(total, &active, made_for));
        }
        let shares = self.divide(now, batch.stream, media_packets, &active);
        for (path, count) in &shares {
            self.room.charge(*path, *count);
        }
        let mut media = in_runs(&shares);
        let path = |priority: Option<PathId>| priority.or_else(|| media.next());
        let assigned = chosen.into_iter().filter_map(path);
        assigned.map(Assignment::from).collect()
    }

    fn behaviour(&self, _preference: Preference) -> Behaviour {
        Behaviour {
            copies_sound: true,
            ..Behaviour::default()
        }
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        self.links.active(paths).iter().map(|p| p.rate).sum()
    }

    fn on_quality(&mut self, now: Instant, quality: &Quality, paths: &[PathView]) {
        if self.without.contains(Ablation::Feedback) {
            return;
        }
        let active = self.links.active(paths);
        let Some(path) = active.iter().find(|p| p.id == quality.path) else {
            return;
        };
        let stream = self.streams.entry(quality.stream).or_default();
        let share = stream.share(path, &active);
        let most = most_packets(path, stream.period());
        let bounds = (-share, (most as f64 - share).max(0.0));
        let Some(alpha) = stream
            .adjustments
            .on_feedback(now, path, quality.alpha, bounds)
        else {
            return;
        };
        let fast = fast_path(stream.mean_packets() as usize, &active);
        if alpha <= -share && path.id != fast {
            self.links.disable(now, path.id, quality.construction);
        }
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.links.remove(path);
        self.room.remove(path);
        self.sound.remove_path(path);
        for stream in self.streams.values_mut() {
            stream.adjustments.remove(path);
        }
    }

    fn on_stream_removed(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
    }

    fn usage(&self, path: PathId) -> PathUse {
        self.links.usage(path)
    }
}

#[cfg(test)]
mod tests;
