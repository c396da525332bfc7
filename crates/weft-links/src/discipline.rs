//! Queue disciplines: who may wait, who leaves next, who is dropped or marked.

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

/// The queue discipline of a link. Each keeps the parameters that its source
/// recommends; the limit of the queue stands beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aqm {
    /// First come, first served; a full queue drops what comes.
    #[default]
    DropTail,
    /// Drops from the head while the delay stays above 5 ms (RFC 8289).
    CoDel(EcnMarking),
    /// Flows take turns, each under CoDel (RFC 8290).
    FqCodel(EcnMarking),
    /// Drops at random what comes, so that the delay stays about 15 ms (RFC
    /// 8033).
    Pie(EcnMarking),
    /// A queue for scalable flows (L4S) beside one for all others, coupled
    /// (RFC 9332). It always marks.
    DualPi2,
}

/// A discipline and the packets that wait in it. Time never goes back from
/// one call to the next.
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

    /// Takes a packet that comes at `item.enqueued`. Whatever the limit has
    /// no room for afterwards leaves by `exits`.
    pub fn push(&mut self, item: Item<P>, limit: Bytes, exits: &mut Exits<P>) {
        match self {
            Discipline::DropTail(q) => q.push(item, limit, exits),
            Discipline::CoDel(q) => q.push(item, limit, exits),
            Discipline::FqCodel(q) => q.push(item, limit, exits),
            Discipline::Pie(q) => q.push(item, limit, exits),
            Discipline::DualPi2(q) => q.push(item, limit, exits),
        }
    }

    /// The packet to transmit from `now` on. What is dropped in its place
    /// leaves by `exits`.
    pub fn pop(&mut self, now: Instant, exits: &mut Exits<P>) -> Option<Item<P>> {
        match self {
            Discipline::DropTail(q) => q.pop(),
            Discipline::CoDel(q) => q.pop(now, exits),
            Discipline::FqCodel(q) => q.pop(now, exits),
            Discipline::Pie(q) => q.pop(now),
            Discipline::DualPi2(q) => q.pop(now, exits),
        }
    }

    /// Any waiting packet, without the discipline's judgement.
    pub fn remove(&mut self) -> Option<Item<P>> {
        match self {
            Discipline::DropTail(q) => q.pop(),
            Discipline::CoDel(q) => q.fifo.pop(),
            Discipline::FqCodel(q) => q.remove(),
            Discipline::Pie(q) => q.fifo.pop(),
            Discipline::DualPi2(q) => q.remove(),
        }
    }

    /// Bytes that wait.
    pub fn backlog(&self) -> Bytes {
        match self {
            Discipline::DropTail(q) => q.fifo.bytes(),
            Discipline::CoDel(q) => q.fifo.bytes(),
            Discipline::FqCodel(q) => q.bytes(),
            Discipline::Pie(q) => q.fifo.bytes(),
            Discipline::DualPi2(q) => q.bytes(),
        }
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        match self {
            Discipline::DropTail(q) => q.fifo.len(),
            Discipline::CoDel(q) => q.fifo.len(),
            Discipline::FqCodel(q) => q.len(),
            Discipline::Pie(q) => q.fifo.len(),
            Discipline::DualPi2(q) => q.len(),
        }
    }

    /// When the first of those came that wait.
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

/// As in a link specification, with its `ecn` where it has the choice.
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
