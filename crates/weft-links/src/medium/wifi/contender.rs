//! One category of a station that waits for its turn, and all of a cell.

use super::timing::{Access, Countdown, Timing};
use weft_units::{Duration, Instant, Rng};

/// All contenders of a cell, by sender, then by category. Most have nothing to
/// send and nothing to count at any time, and who has not is not looked at.
pub(super) struct Contenders {
    all: Vec<Contender>,
    /// Those that have something to send, or had when the medium fell idle
    /// last, or slots to count.
    awake: Vec<usize>,
    /// To all others the medium has been idle since.
    idle_since: IdleSince,
    /// Strangers are on the air so long: who hears them waits.
    strangers_until: Option<Instant>,
    categories: usize,
    /// By sender, how many of its categories have something to send.
    active: Vec<usize>,
    due: Vec<(usize, Instant)>,
}

#[derive(Clone, Copy)]
struct IdleSince {
    to_hearing: Instant,
    /// To those who do not hear strangers.
    to_hidden: Instant,
}

/// Backoff of one category of one station: slots that are still to pass once
/// the medium has been idle for the IFS. It goes on, after a transmission,
/// when nothing is left to send (10.3.4.3, 10.22.2.2).
pub(super) struct Contender {
    access: Access,
    slot: Duration,
    countdown: Countdown,
    hears_strangers: bool,
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

impl Contenders {
    /// Those of senders with so many categories.
    pub fn new(all: Vec<Contender>, categories: usize) -> Contenders {
        Contenders {
            active: vec![0; all.len() / categories],
            all,
            awake: Vec::new(),
            idle_since: IdleSince {
                to_hearing: Instant::ZERO,
                to_hidden: Instant::ZERO,
            },
            strangers_until: None,
            categories,
            due: Vec::new(),
        }
    }

    /// Whether it has something to send.
    pub fn is_active(&self, index: usize) -> bool {
        self.all[index].active
    }

    /// Whether none of these hears strangers.
    pub fn are_hidden(&self, mut of: impl Iterator<Item = usize>) -> bool {
        of.all(|index| !self.all[index].hears_strangers)
    }

    /// Whether a sender has something to send.
    pub fn has_active(&self, sender: usize) -> bool {
        self.active[sender] > 0
    }

    /// One of them; what it has to send is not changed here.
    pub fn of(&mut self, index: usize) -> &mut Contender {
        &mut self.all[index]
    }

    /// Whether it waits for strangers to end.
    pub fn waits_for_strangers(&self, index: usize) -> bool {
        self.strangers_until.is_some() && self.all[index].hears_strangers
    }

    /// When one of them will transmit if the medium stays idle.
    pub fn access_at(&self, index: usize) -> Option<Instant> {
        match self.waits_for_strangers(index) {
            true => None,
            false => self.all[index].access_at(),
        }
    }

    /// When the first of them will.
    pub fn next_access(&self) -> Option<Instant> {
        let awake = self.awake.iter();
        awake.filter_map(|index| self.access_at(*index)).min()
    }

    /// Until when strangers are on the air, if they are.
    pub fn strangers_until(&self) -> Option<Instant> {
        self.strangers_until
    }

    /// The medium becomes busy at `at` by strangers, for so long.
    pub fn yield_to_strangers(&mut self, at: Instant, until: Instant) {
        self.freeze(at, |_, contender| contender.hears_strangers);
        self.on_strangers(until);
    }

    /// Strangers are on the air so long, beside somebody who does not hear
    /// them: to those who do it is busy already.
    pub fn on_strangers(&mut self, until: Instant) {
        self.strangers_until = Some(until);
    }

    /// Strangers have ended, at this time, and nobody else is on the air.
    pub fn on_strangers_gone(&mut self, at: Instant) {
        self.strangers_until = None;
        self.idle_since.to_hearing = at;
        self.wake(|contender| contender.hears_strangers);
    }

    /// As [`Contender::activate`].
    pub fn activate(&mut self, index: usize, now: Instant, is_busy: bool) {
        let contender = &mut self.all[index];
        if contender.active {
            return;
        }
        if !self.awake.contains(&index) {
            contender.resume(self.idle_since.to(contender));
            self.awake.push(index);
        }
        contender.activate(now, is_busy);
        self.active[index / self.categories] += 1;
    }

    /// It has nothing to send any more.
    pub fn deactivate(&mut self, index: usize) {
        let was_active = std::mem::take(&mut self.all[index].active);
        self.active[index / self.categories] -= usize::from(was_active);
    }

    /// Those that transmit before `end`, and when: of a station the most
    /// urgent one first. To be given back.
    pub fn take_due(&mut self, end: Instant) -> Vec<(usize, Instant)> {
        let mut due = std::mem::take(&mut self.due);
        let access = |index: &usize| Some((*index, self.access_at(*index)?));
        let awake = self.awake.iter().filter_map(access);
        due.extend(awake.filter(|(_, access)| *access < end));
        let categories = self.categories;
        due.sort_unstable_by_key(|(index, _)| {
            (index / categories, std::cmp::Reverse(index % categories))
        });
        due
    }

    /// Takes back what [`Contenders::take_due`] has given.
    pub fn give_back(&mut self, mut due: Vec<(usize, Instant)>) {
        due.clear();
        self.due = due;
    }

    /// The medium becomes busy at `at`, for these not by their own doing. Who
    /// waits for strangers knows it is.
    pub fn freeze(&mut self, at: Instant, is_other: impl Fn(usize, &Contender) -> bool) {
        let strangers = self.strangers_until.is_some();
        for index in &self.awake {
            let contender = &mut self.all[*index];
            let knows = strangers && contender.hears_strangers;
            if is_other(*index, contender) && !knows {
                contender.freeze(at);
            }
        }
    }

    /// Of the cell nobody has been on the air since `idle_since`, as far as
    /// they are concerned; it is `now`, and strangers may still be.
    pub fn resume(&mut self, now: Instant, idle_since: Instant) {
        self.strangers_until = self.strangers_until.filter(|until| *until > now);
        let is_quiet = self.strangers_until.is_none();
        self.idle_since.to_hidden = idle_since;
        if is_quiet {
            self.idle_since.to_hearing = idle_since;
        }
        self.wake(|contender| is_quiet || !contender.hears_strangers);
    }

    /// To these the medium is idle; who has nothing to do sleeps.
    fn wake(&mut self, concerns: impl Fn(&Contender) -> bool) {
        let (all, idle_since) = (&mut self.all, self.idle_since);
        self.awake.retain(|index| {
            let contender = &mut all[*index];
            if concerns(contender) {
                contender.resume(idle_since.to(contender));
            }
            contender.active || contender.slots > 0
        });
    }
}

impl IdleSince {
    fn to(&self, contender: &Contender) -> Instant {
        match contender.hears_strangers {
            true => self.to_hearing,
            false => self.to_hidden,
        }
    }
}

impl Contender {
    /// One that has nothing to send, on a medium that falls idle at the run's
    /// epoch.
    pub fn new(timing: &Timing, category: usize, hears_strangers: bool, rng: Rng) -> Contender {
        let access = timing.access[category];
        Contender {
            hears_strangers,
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

    pub fn txop(&self) -> Duration {
        self.access.txop
    }

    /// When it will transmit if the medium stays idle.
    fn access_at(&self) -> Option<Instant> {
        let counted = self.ready + self.slot * u64::from(self.slots);
        self.active.then(|| counted.max(self.since))
    }

    /// It has something to send from now on. On a busy medium this begins a
    /// backoff, unless one is under way.
    fn activate(&mut self, now: Instant, is_busy: bool) {
        (self.active, self.since) = (true, now);
        if is_busy && self.slots == 0 {
            self.draw();
        }
    }

    /// The medium becomes busy at `at` by others: keeps what is left to count.
    fn freeze(&mut self, at: Instant) {
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
