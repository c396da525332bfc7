//! The one processor that the server's media has: what each input costs, and
//! for how long it is busy.

use std::collections::BTreeMap;
use std::net::IpAddr;

use weft_testing::allocation::{Cost, measure};
use weft_testing::processor_time;
use weft_units::{Duration, Instant};

/// How time passes while the server works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// By counts, the same on every machine: see [`Work::counted`].
    Counted,
    /// As this machine needs it, which never repeats.
    Measured,
}

/// What an input is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Load {
    /// A datagram from this address.
    Datagram(IpAddr),
    /// A request of HTTP from this address.
    Request(IpAddr),
    /// The server's own doing.
    Timeout,
}

/// One input and all that follows of it.
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

    /// A part of it; a function of its own for profilers.
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

    /// A datagram came of it.
    pub fn sent(&mut self, bytes: usize) {
        self.datagrams += 1;
        self.bytes += bytes as u64;
    }

    /// The time that it takes on a processor that is the same everywhere: for
    /// each input and each datagram that goes out what decryption and
    /// encryption take at about a gigabit a second, for each time that memory is
    /// taken and each byte of it what it takes to fill it. Chosen by us, by
    /// what they take on a machine of 2024; what matters is that work which
    /// expands becomes time.
    pub fn counted(&self) -> Duration {
        let nanos = 4_000 + 4_000 * self.datagrams + 50 * self.cost.calls + self.cost.taken / 4;
        Duration::from_nanos(nanos)
    }
}

/// What inputs of one kind and source cost.
#[derive(Clone, Copy, Default, Debug)]
pub struct Spent {
    pub inputs: u64,
    pub time: Duration,
    /// The dearest one.
    pub most_time: Duration,
    /// Most memory that one took, whatever became of it.
    pub most_taken: u64,
    /// Datagrams and bytes that were sent because of them.
    pub datagrams: u64,
    pub bytes: u64,
}

/// The processor.
pub struct Processor {
    /// How its time passes.
    pub pace: Pace,
    /// When it can take up something new.
    pub free_at: Instant,
    pub spent: BTreeMap<Load, Spent>,
    /// Memory that the server holds.
    pub held: i64,
    /// Most that it held.
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

    /// A piece of work that began now.
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
