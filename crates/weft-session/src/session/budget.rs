//! Size of the next picture that the paths deliver in time.

use weft_units::{Bytes, Duration, Instant};

use super::Session;
use crate::path::Path;

/// Longest delay of a picture, relative to an empty path: the jitter buffer has to absorb
/// more. A frame time and a half at 30 fps, chosen by trial (`docs/protocol/calm.md`):
/// with 60 ms, one in twenty pictures is later by 3 to 12 ms.
const IN_TIME: Duration = Duration::from_millis(50);
/// Limit while there is danger: a failing path then holds less, and there is
/// room for a repair. Chosen by trial (`docs/protocol/calm.md`); if it applied always, it
/// would cost a third of the rate on full links.
const IN_TIME_ENDANGERED: Duration = Duration::from_millis(40);
/// Limit on an only path, where no other path can help.
const ONLY_IN_TIME: Duration = Duration::from_millis(60);

/// The only path always gets the bytes that it carries in this time, or at least one
/// packet. Its queue may come from other traffic that does not yield, and a picture of
/// one packet is not a burst. A third of a picture's time at 30 fps, chosen by trial
/// (`docs/protocol/calm.md`): with less, pictures are left out next to TCP.
const LEAST_TIME: Duration = Duration::from_millis(10);

impl Path {
    /// Returns the bytes that arrive in time if the path gets them now.
    fn room(&self, now: Instant, in_time: Duration) -> Bytes {
        self.room_beside(self.excess_delay(now), in_time)
    }

    /// Returns the bytes that arrive on the only path no later than pictures do anyway: a
    /// queue that others keep full does not depend on what we send.
    fn only_room(&self, now: Instant, packet: Bytes) -> Bytes {
        let least = self.controller.target_rate() * LEAST_TIME;
        let room = self.room_beside(self.recent_excess(now), ONLY_IN_TIME);
        room.max(least).max(packet)
    }

    /// Returns the bytes that arrive in time if `excess` of it is already used.
    fn room_beside(&self, excess: Option<Duration>, in_time: Duration) -> Bytes {
        let target = self.controller.target_rate();
        let rate = self
            .forecast
            .busy_rate()
            .map_or(target, |busy| busy.min(target));
        let room = rate * in_time.saturating_sub(excess.unwrap_or_default());
        room.saturating_sub(self.queue.bytes())
    }
}

impl Session {
    /// Returns the largest size of the next picture that arrives in time for play-out,
    /// over all live paths; `None` if the scheduler leaves lateness to the receiver.
    #[must_use]
    pub fn frame_budget(&self, now: Instant) -> Option<Bytes> {
        if !self.lateness().is_some_and(|l| l.bounds_pictures) {
            return None;
        }
        if let Some(budget) = self.unanswered_budget() {
            return Some(budget);
        }
        if let Some(budget) = self.unheard_budget(now) {
            return Some(budget);
        }
        let (only, packet) = (self.has_only_path(), self.config.max_packet);
        let in_time = match self.is_endangered(now) {
            true => IN_TIME_ENDANGERED,
            false => IN_TIME,
        };
        let room = |path: &Path| match only {
            true => path.only_room(now, packet),
            false => path.room(now, in_time),
        };
        let all = self.live_paths().into_iter().map(room).sum::<Bytes>();
        let all = self
            .limit_budget(now, in_time)
            .map_or(all, |most| all.min(most));
        if !only && !self.paths.values().any(Path::is_trusted) {
            // It is unknown whether any of it arrives, and bytes stuck on a path would
            // delay the next pictures.
            return Some(all.min(packet));
        }
        Some(all)
    }
}
