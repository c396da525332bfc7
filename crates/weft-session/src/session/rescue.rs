//! Packets that are late on their path are sent again on a quicker one.
//!
//! A path that loses most of its capacity, or dies, keeps what stands in its
//! queue for longer than a frame may wait. Where feedback shows that, and
//! another path would bring the same packet sooner, it goes there as RTX,
//! within a budget.

pub(super) mod budget;

use weft_units::{Bytes, Duration, Instant, PathId};

use super::Session;
use crate::event::Output;
use crate::path::{Carried, Path, PathState};
use crate::schedule::PathView;

/// A queue that stands for less is no reason to act: the jitter buffer bears
/// it. Chosen by us: `demo/ride`.
const STANDING: Duration = Duration::from_millis(50);
/// A copy must come so much sooner than the original: forecasts are wrong by
/// a feedback interval or so. Chosen by us.
const GAIN: Duration = Duration::from_millis(30);
/// A path with a queue of its own has no room for what is late elsewhere.
/// Chosen by us: two links of 1.5 Mbps that a call of 2.5 Mbps fills.
const ROOM: Duration = Duration::from_millis(20);
/// A path with such a queue is worth asking whether a dead one has come back.
const ASK_OTHERS: Duration = Duration::from_millis(80);
/// Between such questions.
const ASK_EVERY: Duration = Duration::from_millis(100);

impl Path {
    /// Whether anything on it can be late: only then is it worth to look at
    /// the other paths.
    fn may_be_late(&self, now: Instant) -> bool {
        self.is_doubted() || self.excess_delay(now).unwrap_or_default() >= STANDING
    }
}

impl Session {
    /// Looks after what is in flight on this path.
    pub(super) fn rescue(&mut self, now: Instant, id: PathId) {
        // A link that is to be spared is none to send the same twice on.
        if self.lateness().is_none() || !self.scheduling.policies.are_none() {
            return;
        }
        self.ask_for_others(now, id);
        if !self.paths.get(&id).is_some_and(|p| p.may_be_late(now)) {
            return;
        }
        let views = self.path_views();
        let others = views.iter().filter(|v| v.id != id);
        let reach =
            |v: &PathView| v.reach + v.rate.time_for(self.config.max_packet).unwrap_or(GAIN);
        let Some(best) = others.min_by_key(|v| (reach(v), v.id)).copied() else {
            return;
        };
        let late = self.late_packets(now, id, &best);
        self.requeue_late(now, id, &best);
        let size = self.config.max_packet;
        for (number, carried) in self.newest_frames_first(late) {
            if self.is_current(id, number, carried) && self.scheduling.rescue_budget.spend(size) {
                self.retransmit(now, carried.stream, carried.sequence);
            }
        }
    }

    /// Looks after what is in flight on every path in doubt, when another one
    /// has answered.
    pub(super) fn rescue_suspects(&mut self, now: Instant) {
        let suspect = |p: &&Path| p.is_doubted() && p.is_usable();
        let suspects = self.paths.values().filter(suspect).map(|p| p.id);
        for id in suspects.collect::<Vec<_>>() {
            self.rescue(now, id);
        }
    }

    /// Packets in flight on this path that the other would bring sooner.
    fn late_packets(&self, now: Instant, id: PathId, best: &PathView) -> Vec<(u64, Carried)> {
        let (Some(path), Some(other)) = (self.paths.get(&id), self.paths.get(&best.id)) else {
            return Vec::new();
        };
        let suspect = path.is_doubted();
        let stands = |p: &Path| p.excess_delay(now).unwrap_or_default();
        if !suspect && (stands(path) < STANDING || stands(other) > ROOM) {
            return Vec::new();
        }
        let mut late = Vec::new();
        let mut ahead = Bytes::ZERO;
        let mut instead = Bytes::ZERO;
        let rate = path.controller.target_rate();
        let there = self.reach(other);
        for packet in path.history.outstanding() {
            ahead += packet.size;
            let delay = path.forecast.delay(packet.sent_at, ahead, rate);
            let Some(delay) = delay else { continue };
            let arrives = packet.sent_at.signed_nanos_since(now) + delay;
            let given = best.rate.time_for(best.queued + instead + packet.size);
            let copy = there + given.unwrap_or(GAIN).as_nanos() as i64;
            if suspect || arrives > copy + GAIN.as_nanos() as i64 {
                late.push((packet.number, packet.carried));
                instead += packet.size;
            }
        }
        late
    }

    /// Reschedules the packets that wait for the pacer of a path that is
    /// late.
    fn requeue_late(&mut self, now: Instant, id: PathId, best: &PathView) {
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        let excess = path.excess_delay(now).unwrap_or_default();
        let late = path.is_doubted() || excess > best.reach + STANDING;
        if !late || path.queue.is_empty() {
            return;
        }
        let waiting = path.queue.drain();
        self.schedule_again(now, waiting);
    }

    /// A path is slow, and another one was dead when it was last asked.
    fn ask_for_others(&mut self, now: Instant, id: PathId) {
        let Some(path) = self.paths.get(&id) else {
            return;
        };
        let any_down = self.paths.values().any(|p| p.state == PathState::Down);
        let recently = |at: Instant| now.saturating_since(at) < ASK_EVERY;
        let is_slow = || path.excess_delay(now).is_some_and(|d| d >= ASK_OTHERS);
        if any_down && is_slow() && !self.scheduling.rescue_budget.asked.is_some_and(recently) {
            self.scheduling.rescue_budget.asked = Some(now);
            self.outputs.push_back(Output::SuspectPath(id));
        }
    }
}
