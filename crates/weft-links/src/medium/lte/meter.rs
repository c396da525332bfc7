//! What the resource blocks of one direction were used for.

use super::timing::TTI;
use crate::ServiceTime;
use weft_units::{Duration, Instant};

/// Adds up blocks over time: one of 25 blocks for a millisecond is 40 us of
/// the carrier. All sums are exact, to the nanosecond.
pub(super) struct Meter {
    blocks: u64,
    /// The millisecond that was dealt out last.
    begun: Instant,
    /// Of its blocks, those of each terminal.
    shares: Vec<u64>,
    /// Until when all was added up.
    since: Instant,
    carrier: ServiceTime,
    terminals: Vec<Duration>,
    stations: Vec<ServiceTime>,
}

impl Meter {
    /// Of so many resource blocks, for these terminals, whose packets so many
    /// stations send: each its own, or one those of all.
    pub fn new(blocks: u16, terminals: usize, stations: usize) -> Meter {
        Meter {
            blocks: u64::from(blocks),
            begun: Instant::ZERO,
            shares: vec![0; terminals],
            since: Instant::ZERO,
            carrier: ServiceTime::default(),
            terminals: vec![Duration::ZERO; terminals],
            stations: vec![ServiceTime::default(); stations],
        }
    }

    /// Another millisecond begins, in which nobody has anything yet.
    pub fn begin(&mut self, at: Instant, is_up: impl Fn(usize) -> bool) {
        self.close(at, is_up);
        self.begun = at;
        self.shares.fill(0);
    }

    /// Of it, a terminal has these blocks.
    pub fn give(&mut self, terminal: usize, blocks: u16) {
        self.shares[terminal] += u64::from(blocks);
    }

    /// A terminal sends no more.
    pub fn take_back(&mut self, terminal: usize) {
        self.shares[terminal] = 0;
    }

    /// Adds up what there is until now. A station that is switched off cannot
    /// have what is left over.
    pub fn close(&mut self, now: Instant, is_up: impl Fn(usize) -> bool) {
        let end = now.min(self.begun + TTI);
        let within = end.saturating_since(self.since);
        self.since = self.since.max(end);
        let alone = self.stations.len() == 1;
        let (mut used, mut before) = (Duration::ZERO, 0);
        if within > Duration::ZERO {
            for (terminal, share) in self.shares.iter().enumerate() {
                // Rounded so that the parts make up the whole.
                let part = |blocks: u64| within.as_nanos() * blocks / self.blocks;
                let own = part(before + share) - part(before);
                before += share;
                let own = Duration::from_nanos(own);
                self.terminals[terminal] += own;
                self.stations[if alone { 0 } else { terminal }].used += own;
                used += own;
            }
        }
        let idle = within - used + now.saturating_since(self.since);
        self.since = self.since.max(now);
        self.carrier.used += used;
        self.carrier.idle += idle;
        let elapsed = self.carrier.elapsed();
        for (index, station) in self.stations.iter_mut().enumerate() {
            if is_up(index) {
                station.idle += idle;
            }
            station.blocked = elapsed - station.used - station.idle;
        }
    }

    pub fn carrier(&self) -> ServiceTime {
        self.carrier
    }

    pub fn station(&self, index: usize) -> ServiceTime {
        self.stations[index]
    }

    /// What the terminal's packets had, whoever sent them.
    pub fn terminal(&self, index: usize) -> Duration {
        self.terminals[index]
    }
}
