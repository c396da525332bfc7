//! One category of a station that waits for its turn.

use super::timing::{Access, Countdown, Timing};
use weft_units::{Duration, Instant, Rng};

/// Backoff of one category of one station: slots that are still to pass once
/// the medium has been idle for the IFS. It goes on, after a transmission,
/// when nothing is left to send (10.3.4.3, 10.22.2.2).
pub(super) struct Contender {
    access: Access,
    slot: Duration,
    countdown: Countdown,
    /// Whether it has something to send.
    active: bool,
    /// The present contention window.
    window: u32,
    /// Still to be counted at `ready`.
    slots: u32,
    /// When the IFS is over.
    ready: Instant,
    /// What it has to send came then.
    since: Instant,
    /// Attempts without an answer.
    failures: u32,
    rng: Rng,
}

impl Contender {
    /// One that has nothing to send, on a medium that falls idle at the run's
    /// epoch.
    pub fn new(timing: &Timing, category: usize, rng: Rng) -> Contender {
        let access = timing.access[category];
        Contender {
            access,
            slot: timing.slot,
            countdown: timing.countdown,
            active: false,
            window: access.window_min,
            slots: 0,
            ready: Instant::ZERO + access.ifs,
            since: Instant::ZERO,
            failures: 0,
            rng,
        }
    }

    pub fn is_active(&self) -> bool {
        self.active
    }

    pub fn txop(&self) -> Duration {
        self.access.txop
    }

    /// When it will transmit if the medium stays idle.
    pub fn access_at(&self) -> Option<Instant> {
        let counted = self.ready + self.slot * u64::from(self.slots);
        self.active.then(|| counted.max(self.since))
    }

    /// It has something to send from now on. On a busy medium this begins a
    /// backoff, unless one is under way.
    pub fn activate(&mut self, now: Instant, is_busy: bool) {
        if self.active {
            return;
        }
        (self.active, self.since) = (true, now);
        if is_busy && self.slots == 0 {
            self.draw();
        }
    }

    pub fn deactivate(&mut self) {
        self.active = false;
    }

    /// The medium becomes busy at `at` by others: keeps what is left to count.
    pub fn freeze(&mut self, at: Instant) {
        if at < self.ready {
            return;
        }
        let whole = at.saturating_since(self.ready).as_nanos() / self.slot.as_nanos();
        let counted = match self.countdown {
            Countdown::Ends => whole,
            Countdown::Begins => whole + 1,
        };
        let left = u64::from(self.slots).saturating_sub(counted);
        self.slots = left as u32;
    }

    /// The medium has been idle since `idle_since`, as far as it is concerned.
    pub fn resume(&mut self, idle_since: Instant) {
        self.ready = idle_since + self.access.ifs;
    }

    /// Its frame was answered.
    pub fn on_answered(&mut self) {
        self.window = self.access.window_min;
        self.failures = 0;
        self.draw();
    }

    /// Its frame was not; after so many attempts it begins anew.
    pub fn on_unanswered(&mut self, attempts: u32) {
        self.failures += 1;
        if self.failures >= attempts {
            return self.on_answered();
        }
        self.widen();
    }

    /// Another category of the same station had its turn at the same time
    /// (10.22.2.4): a backoff as after a collision.
    pub fn on_internal_collision(&mut self) {
        self.widen();
    }

    fn widen(&mut self) {
        self.window = (2 * self.window + 1).min(self.access.window_max);
        self.draw();
    }

    fn draw(&mut self) {
        self.slots = self.rng.below(u64::from(self.window) + 1) as u32;
    }
}
