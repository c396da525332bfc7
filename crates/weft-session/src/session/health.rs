//! Degraded paths, in whose queues packets arrive too late to be useful.
//!
//! A path whose delay is well above its minimum gets no media that another path can
//! carry, and is probed until its queue has drained. Packets in its queue are sent again
//! over another path if that is quick; otherwise they are abandoned, and the next
//! keyframe restarts the picture.

use weft_units::{Bytes, Duration, Instant, PathId, Rate, StreamId};

use super::Session;
use crate::path::{Carried, Path, PathState, Purpose, Signs, Waiting};

/// Another path only takes over packets that it delivers within this time; for more, a
/// keyframe is faster.
const TAKEN_OVER_WITHIN: Duration = Duration::from_millis(100);
/// Largest queue of a path that may take over packets.
const DRAINED: Duration = Duration::from_millis(60);

impl Path {
    fn signs(&self, now: Instant) -> Signs {
        let watched = self.state == PathState::Up;
        Signs {
            gone: self.is_doubted() || self.state == PathState::Down,
            excess: self.excess_delay(now).filter(|_| watched),
            rate: self.controller.target_rate(),
            carried: self.forecast.busy_rate(),
        }
    }
}

impl Session {
    /// Examines every path, after feedback and after silence.
    pub(super) fn examine_paths(&mut self, now: Instant) {
        let Some(caution) = self.watched().map(|l| l.caution) else {
            return;
        };
        let mut degraded = Vec::new();
        for path in self.paths.values_mut() {
            let (signs, was_degraded) = (path.signs(now), path.health.is_degraded());
            if path.health.examine(now, signs, &caution) {
                degraded.push(path.id);
            }
            self.rate.moved |= path.health.is_degraded() != was_degraded;
        }
        for id in degraded {
            self.leave(now, id);
        }
    }

    /// Returns the rate of the best path that may take over and has no queue.
    fn other_rate(&self, now: Instant, id: PathId) -> Option<Rate> {
        let drained = |p: &&Path| p.excess_delay(now).unwrap_or_default() <= DRAINED;
        let rates = self.may_replace(id).filter(drained);
        rates.map(|p| p.controller.target_rate()).max()
    }

    /// Moves packets from a degraded path to another path that delivers them earlier.
    pub(super) fn leave(&mut self, now: Instant, id: PathId) {
        if !self.avoids_degraded_paths() {
            return;
        }
        let Some((rate, path)) = self.other_rate(now, id).zip(self.paths.get(&id)) else {
            return;
        };
        let mut late = Vec::new();
        let mut needed = path.queue.bytes();
        for packet in path.history.outstanding() {
            if self.is_current(id, packet.number, packet.carried) {
                needed += packet.size;
                late.push((packet.number, packet.carried));
            }
        }
        if needed == Bytes::ZERO {
            return;
        }
        let waits = path.queue.iter().map(|w| w.stream);
        let streams = waits.chain(late.iter().map(|(_, carried)| carried.stream));
        let streams = streams.collect();
        if self.brings_too_late(needed, rate) && self.restart_pictures(now, streams) {
            return;
        }
        let waiting = self.paths.get_mut(&id).map(|path| path.queue.drain());
        self.send_elsewhere(now, id, waiting.unwrap_or_default(), late);
    }

    /// Passes the packets of a dead path to the others. If those just came back, their
    /// state is unknown and the packets would fill them: then they get only the sound,
    /// and the picture restarts.
    pub(super) fn inherit(
        &mut self,
        now: Instant,
        from: PathId,
        mut waiting: Vec<Waiting>,
        mut in_flight: Vec<(u64, Carried)>,
    ) {
        let current = in_flight.iter();
        let current = current.filter(|(number, carried)| self.is_current(from, *number, *carried));
        let held = waiting.iter().map(|w| (w.stream, w.size));
        let held = held.chain(current.map(|(_, carried)| (carried.stream, self.config.max_packet)));
        let (streams, sizes): (Vec<StreamId>, Vec<Bytes>) = held.unzip();
        let needed = sizes.into_iter().sum();
        let others = self.live_paths().into_iter();
        let rate = others.map(|p| p.controller.target_rate()).sum();
        if self.avoids_degraded_paths()
            && self.brings_too_late(needed, rate)
            && self.restart_pictures(now, streams)
        {
            waiting.retain(|w| w.purpose == Purpose::Audio);
            let sender = |carried: &Carried| self.streams.senders.get(&carried.stream);
            in_flight.retain(|(_, carried)| sender(carried).is_some_and(|s| s.is_audio()));
        }
        self.send_elsewhere(now, from, waiting, in_flight);
    }

    /// Returns whether a keyframe is faster at this rate than the packets that other
    /// paths hold.
    fn brings_too_late(&self, needed: Bytes, rate: Rate) -> bool {
        let time = rate.time_for(needed);
        let restarts_pictures = self.lateness().is_some_and(|l| l.restarts_pictures);
        restarts_pictures && time.is_none_or(|time| time > TAKEN_OVER_WITHIN)
    }

    /// Drops the waiting pictures of these streams and requests keyframes. Returns false
    /// if that was done just before.
    fn restart_pictures(&mut self, now: Instant, mut stuck: Vec<StreamId>) -> bool {
        stuck.sort_unstable();
        stuck.dedup();
        stuck.retain(|s| self.streams.senders.get(s).is_some_and(|s| !s.is_audio()));
        let may = |s: &StreamId| {
            let stream = self.streams.senders.get(s);
            stream.is_some_and(|s| s.may_ask_for_keyframe(now))
        };
        if stuck.is_empty() || !stuck.iter().all(may) {
            return false;
        }
        for path in self.paths.values_mut() {
            let is_left = |stream| stuck.contains(&stream);
            path.queue
                .retain(|w| w.purpose == Purpose::Audio || !is_left(w.stream));
        }
        for id in stuck {
            if let Some(stream) = self.streams.senders.get_mut(&id) {
                stream.interrupt();
            }
            self.ask_for_keyframe(now, id);
        }
        // The encoder must get the new rate before it makes the keyframe.
        self.announce_rate(now);
        true
    }
}
