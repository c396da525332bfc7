//! Rescue of packets that are late on their path: they are sent again on a quicker one.
//!
//! A path that loses most of its capacity, or dies, keeps the packets in its queue for
//! longer than a frame may wait. If feedback shows that, and another path would deliver
//! the same packet sooner, the packet is sent there as RTX, within a budget.

pub(super) mod budget;

use weft_units::{Bytes, Duration, Instant, PathId};

use super::Session;
use crate::event::Output;
use crate::path::{Carried, Path, PathState};
use crate::schedule::PathView;

/// Queueing delay below which nothing is done: the jitter buffer absorbs it. Chosen by
/// us: `demo/ride`.
const STANDING: Duration = Duration::from_millis(50);
/// Lead that a copy must have over the original: forecasts are wrong by about a feedback
/// interval. Chosen by us.
const GAIN: Duration = Duration::from_millis(30);
/// Longest queue of a path that may take packets from another one. Chosen by us: two
/// links of 1.5 Mbps that a call of 2.5 Mbps fills.
const ROOM: Duration = Duration::from_millis(20);
/// Queueing delay of a path from which it is worth checking whether a dead path has come
/// back.
const ASK_OTHERS: Duration = Duration::from_millis(80);
/// Interval between such checks.
const ASK_EVERY: Duration = Duration::from_millis(100);

impl Path {
    /// Returns whether packets on it can be late: only then is it worth examining the
    /// other paths.
    fn may_be_late(&self, now: Instant) -> bool {
        self.is_doubted() || self.excess_delay(now).unwrap_or_default() >= STANDING
    }
}

impl Session {
    /// Rescues late packets in flight on this path.
    pub(super) fn rescue(&mut self, now: Instant, id: PathId) {
        // Links with a policy must not carry the same packet twice.
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

    /// Rescues packets in flight on every doubtful path, because another path has
    /// answered.
    pub(super) fn rescue_suspects(&mut self, now: Instant) {
        let suspect = |p: &&Path| p.is_doubted() && p.is_usable();
        let suspects = self.paths.values().filter(suspect).map(|p| p.id);
        for id in suspects.collect::<Vec<_>>() {
            self.rescue(now, id);
        }
    }

    /// Returns the packets in flight on this path that the other one would deliver
    /// sooner.
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

    /// Reschedules the packets that wait for the pacer of a late path.
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

    /// Checks for other paths if this one is slow and another one was dead at the last
    /// check.
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
