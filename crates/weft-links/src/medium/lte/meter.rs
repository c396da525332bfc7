//! Use of the resource blocks of one direction.

use super::timing::TTI;
use crate::ServiceTime;
use weft_units::{Duration, Instant};

/// Sums up blocks over time: one block of 25 for a millisecond is 40 us of the carrier.
/// All sums are exact to the nanosecond.
pub(super) struct Meter {
    blocks: u64,
    /// Last millisecond that was assigned.
    begun: Instant,
    /// Blocks of each terminal in that millisecond.
    shares: Vec<u64>,
    /// End of the time that is already included in the sums.
    since: Instant,
    carrier: ServiceTime,
    terminals: Vec<Duration>,
    stations: Vec<ServiceTime>,
}

impl Meter {
    /// Creates a meter for this many resource blocks and terminals. `stations` send the
    /// packets: one per terminal, or one for all.
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

    /// Starts the next millisecond, with no blocks assigned.
    pub fn begin(&mut self, at: Instant, is_up: impl Fn(usize) -> bool) {
        self.close(at, is_up);
        self.begun = at;
        self.shares.fill(0);
    }

    /// Assigns blocks of the current millisecond to a terminal.
    pub fn give(&mut self, terminal: usize, blocks: u16) {
        self.shares[terminal] += u64::from(blocks);
    }

    /// Takes back the blocks of a terminal.
    pub fn take_back(&mut self, terminal: usize) {
        self.shares[terminal] = 0;
    }

    /// Sums up the time until now. A station that is switched off cannot use the free
    /// blocks.
    pub fn close(&mut self, now: Instant, is_up: impl Fn(usize) -> bool) {
        let end = now.min(self.begun + TTI);
        let within = end.saturating_since(self.since);
        self.since = self.since.max(end);
        let alone = self.stations.len() == 1;
        let (mut used, mut before) = (Duration::ZERO, 0);
        if within > Duration::ZERO {
            for (terminal, share) in self.shares.iter().enumerate() {
                // Rounded so that the parts equal the whole.
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

    /// Returns the time used by packets of the terminal, in either direction.
    pub fn terminal(&self, index: usize) -> Duration {
        self.terminals[index]
    }
}
