//! Sending after all paths of a call stopped answering. Perhaps only the return paths are
//! dead, so a little is still sent over every path, even over those that went down
//! before. If the forward paths are dead too, little waits in their queues when they
//! return.

pub(super) mod room;

use weft_units::{Bytes, Instant, Rate};

use super::Session;
use room::{RATE, Unanswered};

impl Session {
    /// Starts sending without answers, because the last path has fallen silent.
    pub(super) fn send_unanswered(&mut self, now: Instant) {
        if self.lateness().is_none() || self.paths.any_usable() {
            return;
        }
        for path in self.paths.values_mut() {
            path.send_unanswered(now);
        }
        self.scheduling.unanswered = Some(Unanswered::new(now));
        self.ask_for_keyframes(now);
    }

    /// Ends sending without answers, because a path answers: packets may have been lost
    /// meanwhile, so the picture restarts.
    pub(super) fn end_unanswered(&mut self) {
        if self.scheduling.unanswered.take().is_none() {
            return;
        }
        for path in self.paths.values_mut() {
            path.end_unanswered();
        }
        for stream in self.streams.senders.values_mut() {
            stream.interrupt();
            // The last keyframe request was for other paths.
            stream.last_keyframe_request = None;
        }
    }

    /// Returns whether a frame of this size may be sent although no path answers.
    pub(super) fn may_send_unanswered(
        &mut self,
        now: Instant,
        is_audio: bool,
        size: Bytes,
    ) -> bool {
        let room = self.scheduling.unanswered.as_mut();
        room.is_some_and(|room| is_audio || room.take(now, size))
    }

    /// Returns the target rate, if no path answers.
    pub(super) fn unanswered_rate(&self) -> Option<Rate> {
        let room = self.scheduling.unanswered.as_ref()?;
        Some(room.until.map_or(Rate::ZERO, |_| RATE))
    }

    /// Returns the largest size of the next picture, if no path answers: half of the
    /// remaining room, so that the following picture has some too.
    pub(super) fn unanswered_budget(&self) -> Option<Bytes> {
        let room = self.scheduling.unanswered.as_ref()?;
        Some(Bytes(room.left.0 / 2))
    }

    /// Returns when pictures end, if no path answers.
    pub(super) fn unanswered_until(&self) -> Option<Instant> {
        self.scheduling.unanswered.as_ref()?.until
    }

    /// Ends pictures that were sent for long enough without an answer.
    pub(super) fn check_unanswered(&mut self, now: Instant) {
        if self.unanswered_until().is_none_or(|until| now < until) {
            return;
        }
        if let Some(room) = &mut self.scheduling.unanswered {
            room.until = None;
        }
        self.rate.moved = true;
    }
}
