use super::codel::Control;
use super::marking::EcnMarking;
use crate::DropReason;
use crate::queue::{Exits, Fifo, Item};
use crate::{FlowId, PacketInfo};
use std::collections::VecDeque;
use weft_units::{Bytes, Instant, Rng};

/// Number of queues (RFC 8290 section 5.2).
const QUEUES: usize = 1024;
/// Bytes that a queue may send in a round (RFC 8290 section 5.2): a full
/// Ethernet frame.
const QUANTUM: i64 = 1514;
/// Most packets dropped at once from the longest queue (RFC 8290 section 4.1).
const BATCH: usize = 64;

/// Fair queueing of flows, each under CoDel (RFC 8290).
pub(crate) struct FqCodel<P> {
    queues: Vec<Queue<P>>,
    /// Numbers of the queues that have just become active.
    new: VecDeque<usize>,
    /// Numbers of the other active queues, in the order of their turns.
    old: VecDeque<usize>,
    marking: EcnMarking,
    /// Random value that makes different flows share a queue in each seed.
    perturbation: u64,
    bytes: Bytes,
    packets: usize,
}

struct Queue<P> {
    fifo: Fifo<P>,
    control: Control,
    credit: i64,
    active: bool,
}

impl<P> FqCodel<P> {
    pub fn new(marking: EcnMarking, rng: &Rng) -> FqCodel<P> {
        let queue = |_| Queue {
            fifo: Fifo::new(),
            control: Control::default(),
            credit: 0,
            active: false,
        };
        FqCodel {
            queues: (0..QUEUES).map(queue).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            marking,
            perturbation: rng.stream("fq_codel").next_u64(),
            bytes: Bytes::ZERO,
            packets: 0,
        }
    }

    pub fn push(&mut self, item: Item<P>, limit: Bytes, exits: &mut Exits<P>) {
        let now = item.enqueued;
        let number = self.number_of(item.info.flow);
        self.on_arrival(&item.info);
        let queue = &mut self.queues[number];
        queue.fifo.push(item);
        if !queue.active {
            queue.active = true;
            queue.credit = QUANTUM;
            self.new.push_back(number);
        }
        while self.bytes > limit {
            self.shorten_the_longest(now, exits);
        }
    }

    pub fn pop(&mut self, now: Instant, exits: &mut Exits<P>) -> Option<Item<P>> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new {
                &mut self.new
            } else {
                &mut self.old
            };
            let number = *list.front()?;
            let queue = &mut self.queues[number];
            if queue.credit <= 0 {
                queue.credit += QUANTUM;
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let (packets, bytes) = (queue.fifo.len(), queue.fifo.bytes());
            let item = queue.control.pop(&mut queue.fifo, self.marking, now, exits);
            self.packets -= packets - queue.fifo.len();
            self.bytes -= bytes - queue.fifo.bytes();
            if let Some(item) = item {
                queue.credit -= item.info.size.0 as i64;
                return Some(item);
            }
            list.pop_front();
            // An emptied new queue moves behind the old ones, so that a flow cannot stay
            // new (RFC 8290 section 4.2).
            if from_new && !self.old.is_empty() {
                self.old.push_back(number);
            } else {
                queue.active = false;
            }
        }
    }

    pub fn remove(&mut self) -> Option<Item<P>> {
        let queues = self.queues.iter_mut();
        let item = queues.filter_map(|q| q.fifo.pop()).next()?;
        self.on_departure(&item.info);
        Some(item)
    }

    pub fn oldest(&self) -> Option<Instant> {
        let active = self.new.iter().chain(&self.old);
        let first = active.filter_map(|number| self.queues[*number].fifo.oldest());
        first.min()
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub fn len(&self) -> usize {
        self.packets
    }

    /// Drops half of the longest queue from its head, at most a batch.
    fn shorten_the_longest(&mut self, now: Instant, exits: &mut Exits<P>) {
        let longest = (0..QUEUES).max_by_key(|n| self.queues[*n].fifo.bytes());
        let number = longest.unwrap_or_default();
        let most = self.queues[number].fifo.len().div_ceil(2).min(BATCH);
        for _ in 0..most {
            let Some(item) = self.queues[number].fifo.pop() else {
                return;
            };
            self.on_departure(&item.info);
            exits.drop(now, item, DropReason::QueueFull);
        }
    }

    fn number_of(&self, flow: FlowId) -> usize {
        // The finaliser of SplitMix64 (Steele, Lea, Flood 2014) as a hash.
        let x = flow.0 ^ self.perturbation;
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % QUEUES as u64) as usize
    }

    fn on_arrival(&mut self, info: &PacketInfo) {
        self.packets += 1;
        self.bytes += info.size;
    }

    fn on_departure(&mut self, info: &PacketInfo) {
        self.packets -= 1;
        self.bytes -= info.size;
    }
}
