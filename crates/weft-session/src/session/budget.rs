//! Size of the next picture that the paths deliver in time.

use weft_units::{Bytes, Duration, Instant};

use super::Session;
use crate::path::Path;

/// A picture is to arrive within this time over that of an empty path: what is
/// later, the jitter buffer has to make up for. A frame time and a half at 30 fps,
/// chosen by trial (`docs/protocol/calm.md`): with 60 ms one in twenty pictures is
/// later by 3 to 12 ms.
const IN_TIME: Duration = Duration::from_millis(50);
/// While there is danger it is this: what a path that fails then holds is less,
/// and room is left for a repair. Chosen by trial (`docs/protocol/calm.md`);
/// always, it would cost a third of the rate where links are full.
const IN_TIME_ENDANGERED: Duration = Duration::from_millis(40);
/// On an only path it is this, since nothing else brings what that one cannot.
const ONLY_IN_TIME: Duration = Duration::from_millis(60);

/// The only path is always given what takes it this time, and a packet. The
/// queue that stands there may be of others, who do not care, and a picture of
/// one packet is no burst. A third of a picture's time at 30 fps, chosen by
/// trial (`docs/protocol/calm.md`): with less, pictures are left out beside TCP.
const LEAST_TIME: Duration = Duration::from_millis(10);

impl Path {
    /// Bytes given to it now that arrive in time.
    fn room(&self, now: Instant, in_time: Duration) -> Bytes {
        self.room_beside(self.excess_delay(now), in_time)
    }

    /// Bytes given to the only path now that arrive as soon as pictures come
    /// anyway, since a queue that others keep full is there whatever is sent.
    fn only_room(&self, now: Instant, packet: Bytes) -> Bytes {
        let least = self.controller.target_rate() * LEAST_TIME;
        let room = self.room_beside(self.recent_excess(now), ONLY_IN_TIME);
        room.max(least).max(packet)
    }

    /// Bytes that arrive in time where this much of the time is spent already.
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
    /// Most bytes that the next picture may have to be played in time, over all
    /// live paths; `None` where the scheduler leaves lateness to the receiver.
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
            // Nobody knows whether any of it arrives, and what does not stands in
            // the way of what comes next.
            return Some(all.min(packet));
        }
        Some(all)
    }
}
