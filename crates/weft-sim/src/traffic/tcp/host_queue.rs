//! Limit of a socket's data in the queue of its own host.

use weft_units::Duration;

/// TCP small queues of Linux (`tcp_small_queue_check`, `tcp_tso_autosize`): a socket
/// sends its data in bursts, and the next burst only if at most two are in the host's
/// queue. Counts segments.
pub(super) struct HostQueue {
    /// Time whose data makes up a burst.
    time: Duration,
    present: u32,
    /// Remaining segments of the current burst.
    burst_left: u32,
}

/// `tcp_limit_output_bytes`, 128 KiB, in segments.
const MOST: u32 = 87;
const BURSTS: u32 = 2;

impl HostQueue {
    pub fn new(time: Duration) -> HostQueue {
        HostQueue {
            time,
            present: 0,
            burst_left: 0,
        }
    }

    /// Returns whether a segment may enter the queue. `burst` returns the number of
    /// segments in a burst of this time.
    pub fn has_room(&mut self, burst: impl FnOnce(Duration) -> u32) -> bool {
        if self.burst_left == 0 {
            let burst = burst(self.time);
            if self.present > (BURSTS * burst).min(MOST) {
                return false;
            }
            self.burst_left = burst;
        }
        true
    }

    /// Counts a segment that entered the queue.
    pub fn on_sent(&mut self) {
        self.present += 1;
        self.burst_left = self.burst_left.saturating_sub(1);
    }

    /// Counts a segment that left the queue.
    pub fn on_left(&mut self) {
        self.present -= 1;
    }
}
