//! Processor of the server's media: the cost of each input, and its time.

use std::collections::BTreeMap;
use std::net::IpAddr;

use weft_testing::allocation::{Cost, measure};
use weft_testing::processor_time;
use weft_units::{Duration, Instant};

/// Clock of the server's work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Counted work, equal on every machine: see [`Work::counted`].
    Counted,
    /// Measured time on this machine, which is not reproducible.
    Measured,
}

/// Kind and source of an input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Load {
    /// Datagram from this address.
    Datagram(IpAddr),
    /// HTTP request from this address.
    Request(IpAddr),
    /// The server's own work.
    Timeout,
}

/// Input and the work that it causes.
pub struct Work {
    load: Load,
    pace: Pace,
    cost: Cost,
    time: Duration,
    datagrams: u64,
    bytes: u64,
}

impl Work {
    pub fn begin(load: Load, pace: Pace) -> Work {
        Work {
            load,
            pace,
            cost: Cost::default(),
            time: Duration::ZERO,
            datagrams: 0,
            bytes: 0,
        }
    }

    /// Does a part of the work; a separate function for profilers.
    #[inline(never)]
    pub fn part<R>(&mut self, part: impl FnOnce() -> R) -> R {
        let (done, cost) = match self.pace {
            Pace::Counted => measure(part),
            Pace::Measured => {
                let begun = processor_time();
                let measured = measure(part);
                self.time += processor_time().saturating_sub(begun).into();
                measured
            }
        };
        self.cost.calls += cost.calls;
        self.cost.taken += cost.taken;
        self.cost.peak = self.cost.peak.max(cost.peak);
        self.cost.kept += cost.kept;
        done
    }

    /// Counts a datagram that the work sent.
    pub fn sent(&mut self, bytes: usize) {
        self.datagrams += 1;
        self.bytes += bytes as u64;
    }

    /// Returns the time of the work on a processor that is the same everywhere:
    /// encryption at about a gigabit a second for each input and each datagram sent, and
    /// the time to fill the allocated memory. Chosen by us, like a machine of 2024; it
    /// matters only that work which expands takes time.
    pub fn counted(&self) -> Duration {
        let nanos = 4_000 + 4_000 * self.datagrams + 50 * self.cost.calls + self.cost.taken / 4;
        Duration::from_nanos(nanos)
    }
}

/// Cost of inputs of one kind and source.
#[derive(Clone, Copy, Default, Debug)]
pub struct Spent {
    pub inputs: u64,
    pub time: Duration,
    /// Longest time of one input.
    pub most_time: Duration,
    /// Maximum memory that one input allocated, in bytes.
    pub most_taken: u64,
    /// Datagrams and bytes sent for them.
    pub datagrams: u64,
    pub bytes: u64,
}

/// Processor of the server.
pub struct Processor {
    /// Clock of its work.
    pub pace: Pace,
    /// End of the current work.
    pub free_at: Instant,
    pub spent: BTreeMap<Load, Spent>,
    /// Memory that the server holds, in bytes.
    pub held: i64,
    /// Maximum memory that it held, in bytes.
    pub most_held: i64,
}

impl Processor {
    pub fn new(pace: Pace) -> Processor {
        Processor {
            pace,
            free_at: Instant::ZERO,
            spent: BTreeMap::new(),
            held: 0,
            most_held: 0,
        }
    }

    /// Records that an answer of this length has left: the server no longer holds it.
    pub fn hand_over(&mut self, bytes: usize) {
        self.held -= bytes as i64;
    }

    /// Accounts for work that started now.
    pub fn account(&mut self, now: Instant, work: &Work) {
        let time = match self.pace {
            Pace::Counted => work.counted(),
            Pace::Measured => work.time,
        };
        self.free_at = self.free_at.max(now) + time;
        self.most_held = self.most_held.max(self.held + work.cost.peak as i64);
        self.held += work.cost.kept;
        let spent = self.spent.entry(work.load).or_default();
        spent.inputs += 1;
        spent.time += time;
        spent.most_time = spent.most_time.max(time);
        spent.most_taken = spent.most_taken.max(work.cost.taken);
        spent.datagrams += work.datagrams;
        spent.bytes += work.bytes;
    }
}
