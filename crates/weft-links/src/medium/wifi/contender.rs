//! Contenders: one category of a station that waits for its turn, and all
//! categories of a cell.

use super::timing::{Access, Countdown, Timing};
use weft_units::{Duration, Instant, Rng};

/// All contenders of a cell, by sender, then by category. Most are idle at any
/// time; idle contenders cost nothing.
pub(super) struct Contenders {
    all: Vec<Contender>,
    /// Contenders with slots to count, and those with frames to send now or when the
    /// medium last became idle.
    awake: Vec<usize>,
    /// Start of the idle time for all other contenders.
    idle_since: IdleSince,
    /// End of the transmission of overlapping networks; contenders that hear
    /// them wait.
    obss_until: Option<Instant>,
    categories: usize,
    /// Number of active categories, by sender.
    active: Vec<usize>,
    due: Vec<(usize, Instant)>,
}

#[derive(Clone, Copy)]
struct IdleSince {
    to_hearing: Instant,
    /// Start of the idle time for contenders that do not hear overlapping
    /// networks.
    to_hidden: Instant,
}

/// Backoff of one category of one station: the slots to count after the medium
/// has been idle for the IFS. It also runs after a transmission with an empty
/// queue (10.3.4.3, 10.22.2.2).
pub(super) struct Contender {
    access: Access,
    slot: Duration,
    countdown: Countdown,
    hears_obss: bool,
    /// Whether it has frames to send.
    active: bool,
    /// Current contention window.
    window: u32,
    /// Slots to count, starting at `ready`.
    slots: u32,
    /// End of the IFS.
    ready: Instant,
    /// Time at which its frames arrived.
    since: Instant,
    /// Attempts without an answer.
    failures: u32,
    rng: Rng,
}

impl Contenders {
    /// Creates the contenders of senders with this many categories.
    pub fn new(all: Vec<Contender>, categories: usize) -> Contenders {
        Contenders {
            active: vec![0; all.len() / categories],
            all,
            awake: Vec::new(),
            idle_since: IdleSince {
                to_hearing: Instant::ZERO,
                to_hidden: Instant::ZERO,
            },
            obss_until: None,
            categories,
            due: Vec::new(),
        }
    }

    /// Whether it has frames to send.
    pub fn is_active(&self, index: usize) -> bool {
        self.all[index].active
    }

    /// Whether none of these hears overlapping networks.
    pub fn are_hidden(&self, mut of: impl Iterator<Item = usize>) -> bool {
        of.all(|index| !self.all[index].hears_obss)
    }

    /// Whether a sender has frames to send.
    pub fn has_active(&self, sender: usize) -> bool {
        self.active[sender] > 0
    }

    /// Returns a mutable contender; callers must not change whether it is active.
    pub fn of(&mut self, index: usize) -> &mut Contender {
        &mut self.all[index]
    }

    /// Whether it waits for the end of an overlapping network's transmission.
    pub fn waits_for_obss(&self, index: usize) -> bool {
        self.obss_until.is_some() && self.all[index].hears_obss
    }

    /// Returns the time of its transmission if the medium stays idle.
    pub fn access_at(&self, index: usize) -> Option<Instant> {
        match self.waits_for_obss(index) {
            true => None,
            false => self.all[index].access_at(),
        }
    }

    /// Returns the time of the first transmission of all contenders.
    pub fn next_access(&self) -> Option<Instant> {
        let awake = self.awake.iter();
        awake.filter_map(|index| self.access_at(*index)).min()
    }

    /// Returns the end of the transmission of overlapping networks, if there is one.
    pub fn obss_until(&self) -> Option<Instant> {
        self.obss_until
    }

    /// Marks the medium as busy from `at` to `until` for contenders that hear
    /// overlapping networks.
    pub fn yield_to_obss(&mut self, at: Instant, until: Instant) {
        self.freeze(at, |_, contender| contender.hears_obss);
        self.on_obss(until);
    }

    /// Records a transmission of overlapping networks that starts next to a hidden
    /// sender: contenders that hear it already see a busy medium.
    pub fn on_obss(&mut self, until: Instant) {
        self.obss_until = Some(until);
    }

    /// Ends the transmission of overlapping networks at a time when the cell
    /// itself is silent.
    pub fn on_obss_gone(&mut self, at: Instant) {
        self.obss_until = None;
        self.idle_since.to_hearing = at;
        self.wake(|contender| contender.hears_obss);
    }

    /// Activates a contender like [`Contender::activate`].
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

    /// Marks it as having no more frames to send.
    pub fn deactivate(&mut self, index: usize) {
        let was_active = std::mem::take(&mut self.all[index].active);
        self.active[index / self.categories] -= usize::from(was_active);
    }

    /// Returns the contenders that transmit before `end`, with their times; of one
    /// station, the most urgent one first. Return the vector with
    /// [`Contenders::give_back`].
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

    /// Takes back the vector of [`Contenders::take_due`].
    pub fn give_back(&mut self, mut due: Vec<(usize, Instant)>) {
        due.clear();
        self.due = due;
    }

    /// Marks the medium as busy from `at` on for contenders for which `is_other` returns
    /// true. Contenders that wait for overlapping networks already see a busy medium.
    pub fn freeze(&mut self, at: Instant, is_other: impl Fn(usize, &Contender) -> bool) {
        let obss = self.obss_until.is_some();
        for index in &self.awake {
            let contender = &mut self.all[*index];
            let knows = obss && contender.hears_obss;
            if is_other(*index, contender) && !knows {
                contender.freeze(at);
            }
        }
    }

    /// Records that the cell has been silent since `idle_since`; overlapping
    /// networks may still transmit at `now`.
    pub fn resume(&mut self, now: Instant, idle_since: Instant) {
        self.obss_until = self.obss_until.filter(|until| *until > now);
        let is_quiet = self.obss_until.is_none();
        self.idle_since.to_hidden = idle_since;
        if is_quiet {
            self.idle_since.to_hearing = idle_since;
        }
        self.wake(|contender| is_quiet || !contender.hears_obss);
    }

    /// Starts the countdown of these contenders; removes idle ones from the list.
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
        match contender.hears_obss {
            true => self.to_hearing,
            false => self.to_hidden,
        }
    }
}

impl Contender {
    /// Creates a contender without frames, on a medium that becomes idle at the run's
    /// epoch.
    pub fn new(timing: &Timing, category: usize, hears_obss: bool, rng: Rng) -> Contender {
        let access = timing.access[category];
        Contender {
            hears_obss,
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

    /// Returns the time of its transmission if the medium stays idle.
    fn access_at(&self) -> Option<Instant> {
        let counted = self.ready + self.slot * u64::from(self.slots);
        self.active.then(|| counted.max(self.since))
    }

    /// Marks it as having frames to send. On a busy medium this starts a
    /// backoff, unless one is running.
    fn activate(&mut self, now: Instant, is_busy: bool) {
        (self.active, self.since) = (true, now);
        if is_busy && self.slots == 0 {
            self.draw();
        }
    }

    /// Stops the countdown at `at`, because others use the medium, and keeps
    /// the remaining slots.
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

    /// Starts the countdown on a medium that has been idle since `idle_since`.
    pub fn resume(&mut self, idle_since: Instant) {
        self.ready = idle_since + self.access.ifs;
    }

    /// Handles the answer to its frame.
    pub fn on_answered(&mut self) {
        self.window = self.access.window_min;
        self.failures = 0;
        self.draw();
    }

    /// Handles a missing answer; after this many attempts the contention window
    /// starts at its minimum.
    pub fn on_unanswered(&mut self, attempts: u32) {
        self.failures += 1;
        if self.failures >= attempts {
            return self.on_answered();
        }
        self.widen();
    }

    /// Starts a backoff as after a collision, because a more urgent category of the same
    /// station had its turn at the same time (10.22.2.4).
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
