//! Queue with the acknowledged link behind it (3GPP TS 36.322, AM): packets are segmented
//! to fit transport blocks, abandoned blocks are retransmitted, and packets leave in
//! order.

use super::timing::DECODING;
use crate::Aqm;
use crate::discipline::Discipline;
use crate::medium::port::Port;
use crate::queue::Item;
use crate::{PacketInfo, Tally};
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rng};

/// Bearer of one terminal in one direction.
pub(super) struct Bearer<P> {
    limit: Bytes,
    queue: Discipline<P>,
    /// Partially sent packet.
    head: Option<Head<P>>,
    /// Packets that were sent completely and are not delivered yet.
    sent: VecDeque<Sent<P>>,
    /// Units missing at the receiver, starting at `base`.
    window: VecDeque<Pdu>,
    base: u64,
    /// Number below which gaps are known, because later units arrived.
    noticed: u64,
    /// Units to retransmit.
    repeats: Vec<Repeat>,
    /// Bytes, with headers, that have ever left the queue.
    taken: u64,
}

struct Head<P> {
    item: Item<P>,
    waited: Duration,
    left: u64,
}

struct Sent<P> {
    item: Item<P>,
    waited: Duration,
    /// Unit that contains its end.
    last: u64,
}

/// Part of the bearer in one transport block.
#[derive(Default)]
struct Pdu {
    /// Number of parts that are being transmitted.
    flying: u32,
    /// Bytes to retransmit.
    left: u64,
    received: bool,
    /// Time at which a later unit was received.
    gap: Option<Instant>,
}

struct Repeat {
    number: u64,
    ready: Instant,
}

/// Part of a unit in a transport block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub bearer: usize,
    number: u64,
    bytes: u64,
}

/// MAC subheader of 3 bytes (3GPP TS 36.321, 6.1.2) and RLC header of 2 (TS
/// 36.322, 6.2.1.4).
const PDU_HEADER: u64 = 5;
/// PDCP header of 2 bytes (3GPP TS 36.323, 6.2.3) and 1.5 bytes for the length
/// in the RLC header.
const PACKET_HEADER: u64 = 4;
/// t-Reordering of the default configuration (3GPP TS 36.331, 9.2.1.1): time that the
/// receiver waits for HARQ before it requests a retransmission.
const REORDERING: Duration = Duration::from_millis(35);
/// Duration of the receiver's report, equal to that of a transport block.
const STATUS: Duration = DECODING;
/// t-PollRetransmit of the default configuration: time after which the sender retransmits
/// without a request.
const POLL_RETRANSMIT: Duration = Duration::from_millis(45);

impl<P> Bearer<P> {
    pub fn new(limit: Bytes, aqm: Aqm, rng: &Rng) -> Bearer<P> {
        Bearer {
            limit,
            queue: Discipline::new(aqm, rng),
            head: None,
            sent: VecDeque::new(),
            window: VecDeque::new(),
            base: 0,
            noticed: 0,
            repeats: Vec::new(),
            taken: 0,
        }
    }

    /// Adds a packet to the queue, or rejects it.
    pub fn enqueue(&mut self, now: Instant, info: PacketInfo, packet: P, port: &mut Port<P>) {
        if let Some(item) = port.admit(now, info, packet) {
            self.queue.push(item, self.limit, port.exits());
        }
    }

    /// Returns the bytes, with headers, that have never been sent.
    pub fn fresh(&self) -> u64 {
        let head = self.head.as_ref().map_or(0, |head| head.left);
        let waiting = self.queue.backlog().0 + PACKET_HEADER * self.queue.len() as u64;
        head + waiting
    }

    /// Returns the total decrease of [`Bearer::fresh`] so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the bytes that can be retransmitted.
    pub fn repeatable(&self, at: Instant) -> u64 {
        let ready = self.repeats.iter().filter(|r| r.ready <= at);
        ready.map(|r| self.unit(r.number).left + PDU_HEADER).sum()
    }

    /// Returns the block size that these bytes need.
    pub fn with_header(fresh: u64) -> u64 {
        match fresh {
            0 => 0,
            bytes => bytes + PDU_HEADER,
        }
    }

    /// Returns the time of the next possible retransmission.
    pub fn next_repeat(&self) -> Option<Instant> {
        self.repeats.iter().map(|r| r.ready).min()
    }

    /// Fills a block and returns the bytes that do not fit.
    pub fn fill(
        &mut self,
        at: Instant,
        bearer: usize,
        mut room: u64,
        port: &mut Port<P>,
        parts: &mut Vec<Part>,
    ) -> u64 {
        for index in 0..self.repeats.len() {
            let Repeat { number, ready } = self.repeats[index];
            if ready > at || room <= PDU_HEADER {
                continue;
            }
            let unit = self.unit_mut(number);
            let bytes = unit.left.min(room - PDU_HEADER);
            unit.left -= bytes;
            unit.flying += 1;
            room -= bytes + PDU_HEADER;
            parts.push(Part {
                bearer,
                number,
                bytes,
            });
        }
        let (window, base) = (&self.window, self.base);
        self.repeats
            .retain(|r| window[(r.number - base) as usize].left > 0);
        if room <= PDU_HEADER + PACKET_HEADER {
            return room;
        }
        let number = self.base + self.window.len() as u64;
        let bytes = self.take(at, room - PDU_HEADER, number, port);
        if bytes == 0 {
            return room;
        }
        self.window.push_back(Pdu {
            flying: 1,
            ..Pdu::default()
        });
        parts.push(Part {
            bearer,
            number,
            bytes,
        });
        room - PDU_HEADER - bytes
    }

    /// Takes packets that fit this unit out of the queue; returns their bytes.
    fn take(&mut self, at: Instant, room: u64, number: u64, port: &mut Port<P>) -> u64 {
        let mut bytes = 0;
        while bytes < room {
            let mut head = match self.head.take() {
                Some(head) => head,
                None => match self.queue.pop(at, port.exits()) {
                    Some(item) => Head {
                        waited: item.age(at),
                        left: item.info.size.0 + PACKET_HEADER,
                        item,
                    },
                    None => break,
                },
            };
            let part = head.left.min(room - bytes);
            bytes += part;
            head.left -= part;
            if head.left > 0 {
                self.head = Some(head);
                break;
            }
            self.sent.push_back(Sent {
                item: head.item,
                waited: head.waited,
                last: number,
            });
        }
        self.taken += bytes;
        bytes
    }

    /// Handles a part that was decoded at this time: delivers the packets that are now in
    /// order.
    pub fn receive(&mut self, decoded: Instant, part: Part, port: &mut Port<P>) {
        let unit = self.unit_mut(part.number);
        unit.flying -= 1;
        unit.received = unit.flying == 0 && unit.left == 0;
        for number in self.noticed.max(self.base)..part.number {
            let unit = self.unit_mut(number);
            if unit.received {
                continue;
            }
            unit.gap = Some(decoded);
            let asked = decoded + REORDERING + STATUS;
            let repeat = self.repeats.iter_mut().find(|r| r.number == number);
            if let Some(repeat) = repeat {
                repeat.ready = repeat.ready.min(asked);
            }
        }
        self.noticed = self.noticed.max(part.number);
        while self.window.front().is_some_and(|unit| unit.received) {
            self.window.pop_front();
            self.base += 1;
        }
        let base = self.base;
        while self.sent.front().is_some_and(|sent| sent.last < base)
            && let Some(sent) = self.sent.pop_front()
        {
            port.send(decoded, sent.item, sent.waited);
        }
    }

    /// Handles an abandoned part; the sender knows about it at this time.
    pub fn give_up(&mut self, known: Instant, part: Part) {
        let unit = self.unit_mut(part.number);
        unit.flying -= 1;
        unit.left += part.bytes;
        let ready = match unit.gap {
            Some(noticed) => (noticed + REORDERING).max(known) + STATUS,
            None => known + POLL_RETRANSMIT,
        };
        let number = part.number;
        match self.repeats.iter_mut().find(|r| r.number == number) {
            Some(repeat) => repeat.ready = repeat.ready.max(ready),
            None => self.repeats.push(Repeat { number, ready }),
        }
    }

    /// Removes all packets, including those in transmission.
    pub fn clear(&mut self) -> impl Iterator<Item = Item<P>> {
        self.taken += self.fresh();
        self.base += self.window.len() as u64;
        self.window.clear();
        self.repeats.clear();
        let sent = self.sent.drain(..).map(|sent| sent.item);
        let head = self.head.take().map(|head| head.item);
        let queue = &mut self.queue;
        sent.chain(head)
            .chain(std::iter::from_fn(move || queue.remove()))
    }

    /// Returns the packets that wait or are in transmission.
    pub fn held(&self) -> Tally {
        let head = self.head.iter().map(|head| head.item.info.size);
        let sent = self.sent.iter().map(|sent| sent.item.info.size);
        let waiting = Tally {
            packets: self.queue.len() as u64,
            bytes: self.queue.backlog(),
        };
        waiting + head.chain(sent).collect()
    }

    fn unit(&self, number: u64) -> &Pdu {
        &self.window[(number - self.base) as usize]
    }

    fn unit_mut(&mut self, number: u64) -> &mut Pdu {
        &mut self.window[(number - self.base) as usize]
    }
}
