//! Queue disciplines, which decide which packets may wait, which one leaves next, and
//! which ones are dropped or marked.

mod codel;
mod droptail;
mod dualpi2;
mod fq_codel;
mod marking;
mod pie;

use crate::queue::{Exits, Item};
use codel::CoDel;
use droptail::DropTail;
use dualpi2::DualPi2;
use fq_codel::FqCodel;
pub use marking::EcnMarking;
use pie::Pie;
use std::fmt;
use weft_units::{Bytes, Instant, Rng};

/// Queue discipline of a link. Each one uses the parameters that its source
/// recommends; the limit of the queue is a separate setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aqm {
    /// First in, first out; a full queue drops arriving packets.
    #[default]
    DropTail,
    /// Drops from the head while the delay stays above 5 ms (RFC 8289).
    CoDel(EcnMarking),
    /// Flows take turns, each under CoDel (RFC 8290).
    FqCodel(EcnMarking),
    /// Drops arriving packets at random, so that the delay stays at about 15 ms (RFC
    /// 8033).
    Pie(EcnMarking),
    /// Two coupled queues, one for scalable flows (L4S) and one for all others
    /// (RFC 9332). Always marks.
    DualPi2,
}

/// Queue discipline with its waiting packets. Time must not decrease from one
/// call to the next.
pub(crate) enum Discipline<P> {
    DropTail(DropTail<P>),
    CoDel(CoDel<P>),
    FqCodel(FqCodel<P>),
    Pie(Pie<P>),
    DualPi2(DualPi2<P>),
}

impl<P> Discipline<P> {
    pub fn new(aqm: Aqm, rng: &Rng) -> Discipline<P> {
        match aqm {
            Aqm::DropTail => Discipline::DropTail(DropTail::new()),
            Aqm::CoDel(marking) => Discipline::CoDel(CoDel::new(marking)),
            Aqm::FqCodel(marking) => Discipline::FqCodel(FqCodel::new(marking, rng)),
            Aqm::Pie(marking) => Discipline::Pie(Pie::new(marking, rng)),
            Aqm::DualPi2 => Discipline::DualPi2(DualPi2::new()),
        }
    }

    /// Takes a packet that arrives at `item.enqueued`. Packets that exceed the
    /// limit leave through `exits`.
    pub fn push(&mut self, item: Item<P>, limit: Bytes, exits: &mut Exits<P>) {
        match self {
            Discipline::DropTail(q) => q.push(item, limit, exits),
            Discipline::CoDel(q) => q.push(item, limit, exits),
            Discipline::FqCodel(q) => q.push(item, limit, exits),
            Discipline::Pie(q) => q.push(item, limit, exits),
            Discipline::DualPi2(q) => q.push(item, limit, exits),
        }
    }

    /// Returns the packet to transmit from `now` on. Packets that the
    /// discipline drops in its place leave through `exits`.
    pub fn pop(&mut self, now: Instant, exits: &mut Exits<P>) -> Option<Item<P>> {
        match self {
            Discipline::DropTail(q) => q.pop(),
            Discipline::CoDel(q) => q.pop(now, exits),
            Discipline::FqCodel(q) => q.pop(now, exits),
            Discipline::Pie(q) => q.pop(now),
            Discipline::DualPi2(q) => q.pop(now, exits),
        }
    }

    /// Removes any waiting packet, without consulting the discipline.
    pub fn remove(&mut self) -> Option<Item<P>> {
        match self {
            Discipline::DropTail(q) => q.pop(),
            Discipline::CoDel(q) => q.fifo.pop(),
            Discipline::FqCodel(q) => q.remove(),
            Discipline::Pie(q) => q.fifo.pop(),
            Discipline::DualPi2(q) => q.remove(),
        }
    }

    /// Returns the bytes in the queue.
    pub fn backlog(&self) -> Bytes {
        match self {
            Discipline::DropTail(q) => q.fifo.bytes(),
            Discipline::CoDel(q) => q.fifo.bytes(),
            Discipline::FqCodel(q) => q.bytes(),
            Discipline::Pie(q) => q.fifo.bytes(),
            Discipline::DualPi2(q) => q.bytes(),
        }
    }

    /// Returns the number of packets in the queue.
    pub fn len(&self) -> usize {
        match self {
            Discipline::DropTail(q) => q.fifo.len(),
            Discipline::CoDel(q) => q.fifo.len(),
            Discipline::FqCodel(q) => q.len(),
            Discipline::Pie(q) => q.fifo.len(),
            Discipline::DualPi2(q) => q.len(),
        }
    }

    /// Returns the arrival time of the oldest waiting packet.
    pub fn oldest(&self) -> Option<Instant> {
        match self {
            Discipline::DropTail(q) => q.fifo.oldest(),
            Discipline::CoDel(q) => q.fifo.oldest(),
            Discipline::FqCodel(q) => q.oldest(),
            Discipline::Pie(q) => q.fifo.oldest(),
            Discipline::DualPi2(q) => q.oldest(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Writes the form of a link specification, with `ecn` if the discipline has that option.
impl fmt::Display for Aqm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Aqm::DropTail => f.write_str("droptail"),
            Aqm::CoDel(marking) => write!(f, "codel,ecn={marking}"),
            Aqm::FqCodel(marking) => write!(f, "fq_codel,ecn={marking}"),
            Aqm::Pie(marking) => write!(f, "pie,ecn={marking}"),
            Aqm::DualPi2 => f.write_str("dualpi2"),
        }
    }
}
