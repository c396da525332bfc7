//! One terminal in one direction: its queues, and the blocks on their way.

use super::bearer::{Bearer, Part};
use super::grants::{FIRST_GRANT, Grants};
use super::quality::Quality;
use super::rates::Cqi;
use super::timing::{BEARERS, DECODING, HARQ_ROUND_TRIP, PROCESSES, slot};
use crate::Tally;
use crate::medium::port::Port;
use crate::medium::radio::RadioCounters;
use crate::queue::Item;
use weft_units::{Duration, Instant};

pub(super) struct Terminal<P> {
    /// The dedicated one first.
    pub bearers: [Bearer<P>; BEARERS],
    pub quality: Quality,
    /// By the millisecond, modulo their number.
    pub processes: [Process; PROCESSES],
    /// Of the uplink.
    pub grants: Option<Grants>,
    pub presence: Presence,
}

/// A HARQ process: what was sent in one millisecond of eight, until it is
/// decoded or given up.
#[derive(Default)]
pub(super) struct Process {
    /// What it was sent in.
    pub blocks: u16,
    due: Instant,
    words: [Word; WORDS],
}

/// One transport block of it.
#[derive(Default)]
struct Word {
    parts: Vec<Part>,
    /// That failed. Without any, there is nothing to be sent again.
    attempts: u32,
    cqi: Option<Cqi>,
}

/// When a terminal can be reached.
pub(super) struct Presence {
    /// In order.
    pub handovers: Vec<Instant>,
    /// Of DRX, in the downlink.
    pub cycle: Option<Duration>,
    /// When something was last sent.
    pub active: Instant,
}

/// What a terminal wants of a millisecond, in bytes with headers.
#[derive(Clone, Copy, Default)]
pub(super) struct Demand {
    pub urgent: u64,
    pub all: u64,
}

/// Blocks side by side.
const WORDS: usize = 2;
/// Of maxHARQ-Tx in 3GPP TS 36.331, 6.3.2; chosen by us.
const ATTEMPTS: u32 = 4;
/// How long nothing is sent in a handover; chosen by us, of measurements that
/// say 30 to 60 ms.
const HANDOVER: Duration = Duration::from_millis(50);
/// drx-InactivityTimer and onDurationTimer; chosen by us, of the values in 3GPP
/// TS 36.331, 6.3.2.
const DRX_AFTER: Duration = Duration::from_millis(100);
const DRX_ON: Duration = Duration::from_millis(10);

impl Process {
    /// When it is to be sent again, if it is.
    pub fn due(&self) -> Option<Instant> {
        let pending = self.words.iter().any(|word| word.attempts > 0);
        pending.then_some(self.due)
    }

    pub fn clear(&mut self) {
        for word in &mut self.words {
            word.parts.clear();
            word.attempts = 0;
        }
    }
}

impl Presence {
    /// The first time from `at` on at which the terminal can be reached.
    pub fn reach(&self, at: Instant) -> Instant {
        let within = |from: Instant| from <= at && at < from + HANDOVER;
        let gap = self.handovers.iter().copied().find(|from| within(*from));
        let at = gap.map_or(at, |from| from + HANDOVER);
        let Some(cycle) = self.cycle else { return at };
        if at.saturating_since(self.active) <= DRX_AFTER {
            return at;
        }
        let since = at.as_nanos() % cycle.as_nanos();
        match since < DRX_ON.as_nanos() {
            true => at,
            false => at + Duration::from_nanos(cycle.as_nanos() - since),
        }
    }
}

impl<P> Terminal<P> {
    fn taken(&self) -> [u64; BEARERS] {
        std::array::from_fn(|bearer| self.bearers[bearer].taken())
    }

    fn fresh(&self) -> [u64; BEARERS] {
        std::array::from_fn(|bearer| self.bearers[bearer].fresh())
    }

    /// What it can be given in this millisecond.
    pub fn demand(&mut self, at: Instant) -> Demand {
        let (taken, mut fresh) = (self.taken(), self.fresh());
        let mut first = 0;
        if let Some(grants) = &mut self.grants
            && fresh != [0; BEARERS]
        {
            let granted = grants.granted(at, taken);
            fresh = std::array::from_fn(|b| fresh[b].min(granted[b]));
            if fresh == [0; BEARERS] && grants.next(at, taken) <= at {
                first = FIRST_GRANT;
            }
        }
        let want = |bearer: usize| {
            Bearer::<P>::with_header(fresh[bearer]) + self.bearers[bearer].repeatable(at)
        };
        Demand {
            urgent: want(0),
            all: want(0) + want(1) + first,
        }
    }

    /// Sends what is to be sent again and new blocks beside it, in so many
    /// resource blocks, and gives the bytes of the new ones; `None` if there
    /// was nothing.
    pub fn transmit(
        &mut self,
        at: Instant,
        blocks: u16,
        port: &mut Port<P>,
        counters: &mut RadioCounters,
    ) -> Option<u64> {
        let decoded = at + DECODING;
        let mut process = std::mem::take(&mut self.processes[slot(at)]);
        process.blocks = blocks;
        process.due = at + HARQ_ROUND_TRIP;
        let (mut new, mut sent, mut failures) = (0, false, 0);
        for word in process.words.iter_mut().take(self.quality.rank) {
            let is_new = word.attempts == 0;
            if is_new && !self.fill(at, blocks, word, port) {
                continue;
            }
            let Some(cqi) = word.cqi else { continue };
            sent = true;
            new += if is_new { cqi.block(blocks) } else { 0 };
            let failed = self.quality.fails(at, cqi, word.attempts);
            counters.attempts += 1;
            counters.frames += 1;
            counters.again += u64::from(!is_new);
            counters.failed += u64::from(failed);
            word.attempts = if failed { word.attempts + 1 } else { 0 };
            failures = failures.max(word.attempts);
            let ends = !failed || word.attempts == ATTEMPTS;
            if ends {
                word.attempts = 0;
                for part in word.parts.drain(..) {
                    match failed {
                        false => self.bearers[part.bearer].receive(decoded, part, port),
                        true => self.bearers[part.bearer].give_up(decoded, part),
                    }
                }
            }
        }
        self.processes[slot(at)] = process;
        if !sent {
            return None;
        }
        self.presence.active = at;
        let (taken, fresh) = (self.taken(), self.fresh());
        if let Some(grants) = self.grants.as_mut().filter(|_| new > 0) {
            let until = std::array::from_fn(|b| taken[b] + fresh[b]);
            grants.report(at, u64::from(failures) + 1, until);
        }
        Some(new)
    }

    /// Puts what waits into a block, if anything does.
    fn fill(&mut self, at: Instant, blocks: u16, word: &mut Word, port: &mut Port<P>) -> bool {
        word.cqi = self.quality.cqi(at);
        let Some(cqi) = word.cqi else { return false };
        let mut room = cqi.block(blocks);
        for (index, bearer) in self.bearers.iter_mut().enumerate() {
            room = bearer.fill(at, index, room, port, &mut word.parts);
        }
        !word.parts.is_empty()
    }

    /// The next time from `at` on at which something can be sent, if ever as
    /// it is.
    pub fn next(&mut self, at: Instant) -> Option<Instant> {
        let (taken, fresh) = (self.taken(), self.fresh());
        let waiting = fresh.iter().any(|bytes| *bytes > 0);
        let new = waiting.then(|| match &mut self.grants {
            None => at,
            Some(grants) => {
                let granted = grants.granted(at, taken);
                let can = (0..BEARERS).any(|b| fresh[b] > 0 && granted[b] > 0);
                match can {
                    true => at,
                    false => grants.next(at, taken).max(at),
                }
            }
        });
        // Most of the time that is all there is to know.
        let next = new.filter(|new| *new == at).or_else(|| {
            let again = self.processes.iter().filter_map(Process::due);
            let repeats = self.bearers.iter().filter_map(Bearer::next_repeat);
            again.chain(repeats).chain(new).min()
        });
        Some(self.presence.reach(next?.max(at)))
    }

    /// Gives up all that it has.
    pub fn clear(&mut self) -> Vec<Item<P>> {
        self.processes.iter_mut().for_each(Process::clear);
        if let Some(grants) = &mut self.grants {
            grants.clear();
        }
        self.bearers.iter_mut().flat_map(Bearer::clear).collect()
    }

    /// What waits or is on its way.
    pub fn held(&self) -> Tally {
        let held = self.bearers.iter().map(Bearer::held);
        held.fold(Tally::default(), |all, one| all + one)
    }
}
