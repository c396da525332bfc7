//! One terminal in one direction: its queues and the blocks in transmission.

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
    /// Bearers, the dedicated one first.
    pub bearers: [Bearer<P>; BEARERS],
    pub quality: Quality,
    /// HARQ processes by the millisecond, modulo their number.
    pub processes: [Process; PROCESSES],
    /// Grants, for the uplink.
    pub grants: Option<Grants>,
    pub presence: Presence,
}

/// HARQ process: data sent in one millisecond of eight, until it is decoded or
/// abandoned.
#[derive(Default)]
pub(super) struct Process {
    /// Resource blocks of the transmission.
    pub blocks: u16,
    due: Instant,
    words: [Word; WORDS],
}

/// Transport block of a process.
#[derive(Default)]
struct Word {
    parts: Vec<Part>,
    /// Failed attempts. Zero means that no retransmission is pending.
    attempts: u32,
    cqi: Option<Cqi>,
}

/// Times at which a terminal is reachable.
pub(super) struct Presence {
    /// Handover times, in order.
    pub handovers: Vec<Instant>,
    /// DRX cycle, in the downlink.
    pub cycle: Option<Duration>,
    /// Time of the latest transmission.
    pub active: Instant,
}

/// Demand of a terminal for one millisecond, in bytes with headers.
#[derive(Clone, Copy, Default)]
pub(super) struct Demand {
    pub urgent: u64,
    pub all: u64,
}

/// Number of parallel transport blocks.
const WORDS: usize = 2;
/// Value for maxHARQ-Tx (3GPP TS 36.331, 6.3.2); chosen by us.
const ATTEMPTS: u32 = 4;
/// Gap of a handover; chosen by us, from measurements of 30 to 60 ms.
const HANDOVER: Duration = Duration::from_millis(50);
/// drx-InactivityTimer and onDurationTimer; chosen by us, from the values in
/// 3GPP TS 36.331, 6.3.2.
const DRX_AFTER: Duration = Duration::from_millis(100);
const DRX_ON: Duration = Duration::from_millis(10);

impl Process {
    /// Returns the time of the retransmission, if one is pending.
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
    /// Returns the first time from `at` on at which the terminal is reachable.
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

    /// Returns the data that it can send in this millisecond.
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

    /// Sends retransmissions, together with new blocks, in this many resource blocks.
    /// Returns the bytes of the new blocks; `None` if there was nothing to send.
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

    /// Puts waiting data into a block; returns whether there was any.
    fn fill(&mut self, at: Instant, blocks: u16, word: &mut Word, port: &mut Port<P>) -> bool {
        word.cqi = self.quality.cqi(at);
        let Some(cqi) = word.cqi else { return false };
        let mut room = cqi.block(blocks);
        for (index, bearer) in self.bearers.iter_mut().enumerate() {
            room = bearer.fill(at, index, room, port, &mut word.parts);
        }
        !word.parts.is_empty()
    }

    /// Returns the next time from `at` on at which the terminal can send in its current
    /// state, if there is one.
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
        // In most cases the retransmissions need no check.
        let next = new.filter(|new| *new == at).or_else(|| {
            let again = self.processes.iter().filter_map(Process::due);
            let repeats = self.bearers.iter().filter_map(Bearer::next_repeat);
            again.chain(repeats).chain(new).min()
        });
        Some(self.presence.reach(next?.max(at)))
    }

    /// Drops all its packets.
    pub fn clear(&mut self) -> Vec<Item<P>> {
        self.processes.iter_mut().for_each(Process::clear);
        if let Some(grants) = &mut self.grants {
            grants.clear();
        }
        self.bearers.iter_mut().flat_map(Bearer::clear).collect()
    }

    /// Returns the packets that wait or are in transmission.
    pub fn held(&self) -> Tally {
        let held = self.bearers.iter().map(Bearer::held);
        held.fold(Tally::default(), |all, one| all + one)
    }
}
