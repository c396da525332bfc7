//! A queue and the acknowledged link behind it (3GPP TS 36.322, AM): packets
//! are cut to fit transport blocks, blocks that were given up are sent again,
//! and what comes out is in order.

use super::timing::DECODING;
use crate::Aqm;
use crate::discipline::Discipline;
use crate::medium::port::Port;
use crate::queue::Item;
use crate::{PacketInfo, Tally};
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rng};

/// Of one terminal in one direction.
pub(super) struct Bearer<P> {
    limit: Bytes,
    queue: Discipline<P>,
    /// The packet of which a part was sent.
    head: Option<Head<P>>,
    /// Those that were sent as a whole and are not given on.
    sent: VecDeque<Sent<P>>,
    /// What the receiver misses, from `base` on.
    window: VecDeque<Pdu>,
    base: u64,
    /// Before it, gaps were noticed by what came after them.
    noticed: u64,
    /// To be sent again.
    repeats: Vec<Repeat>,
    /// Bytes that have ever left the queue, with their headers.
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
    /// The unit that has its end.
    last: u64,
}

/// What one transport block has of the bearer.
#[derive(Default)]
struct Pdu {
    /// Parts of it that are being transmitted.
    flying: u32,
    /// Bytes that are to be sent again.
    left: u64,
    received: bool,
    /// When a later one was received.
    gap: Option<Instant>,
}

struct Repeat {
    number: u64,
    ready: Instant,
}

/// A part of a unit in a transport block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub bearer: usize,
    number: u64,
    bytes: u64,
}

/// MAC subheader of 3 bytes (3GPP TS 36.321, 6.1.2), RLC header of 2 (TS
/// 36.322, 6.2.1.4).
const PDU_HEADER: u64 = 5;
/// PDCP header of 2 bytes (3GPP TS 36.323, 6.2.3), length in the RLC header of
/// 1.5.
const PACKET_HEADER: u64 = 4;
/// t-Reordering of the default configuration (3GPP TS 36.331, 9.2.1.1): how long
/// the receiver waits for HARQ before it asks.
const REORDERING: Duration = Duration::from_millis(35);
/// How long its report takes, as a transport block does.
const STATUS: Duration = DECODING;
/// t-PollRetransmit of the same, after which the sender repeats unasked.
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

    /// Takes a packet into the queue, or refuses it.
    pub fn enqueue(&mut self, now: Instant, info: PacketInfo, packet: P, port: &mut Port<P>) {
        if let Some(item) = port.admit(now, info, packet) {
            self.queue.push(item, self.limit, port.exits());
        }
    }

    /// Bytes that were never sent, with their headers.
    pub fn fresh(&self) -> u64 {
        let head = self.head.as_ref().map_or(0, |head| head.left);
        let waiting = self.queue.backlog().0 + PACKET_HEADER * self.queue.len() as u64;
        head + waiting
    }

    /// What [`Bearer::fresh`] has gone down by so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes that can be sent again.
    pub fn repeatable(&self, at: Instant) -> u64 {
        let ready = self.repeats.iter().filter(|r| r.ready <= at);
        ready.map(|r| self.unit(r.number).left + PDU_HEADER).sum()
    }

    /// A block for these bytes has to be so large.
    pub fn with_header(fresh: u64) -> u64 {
        match fresh {
            0 => 0,
            bytes => bytes + PDU_HEADER,
        }
    }

    /// When the next part can be sent again.
    pub fn next_repeat(&self) -> Option<Instant> {
        self.repeats.iter().map(|r| r.ready).min()
    }

    /// Puts into a block what has room, and gives the bytes that are left.
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

    /// Takes what has room in this unit out of the queue: so many bytes.
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

    /// A part has come, and was decoded at this time: gives on what is in
    /// order now.
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

    /// A part was given up, which the sender knows at this time.
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

    /// Everything, and nothing is on its way any more.
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

    /// What waits or is on its way.
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
