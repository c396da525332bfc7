use crate::Departure;
use crate::discipline::Discipline;
use crate::line::Line;
use crate::queue::{Exits, Item, Limit, Refused};
use crate::{Aqm, Capacity, Counters, DropReason, PacketInfo, QueueLimit, Tally};
use weft_units::{Bytes, Deadline, Duration, Instant, Rate, Rng};

/// What a station has of its own on every medium: a switch, the queue under
/// its discipline and limit, the way from the medium to the receiver, and the
/// counts. Service is the medium's: it takes a packet by [`Station::next`]
/// and hands it over by [`Station::send`] when it has transmitted it.
pub(crate) struct Station<P> {
    switch: Switch,
    limit: Limit,
    queue: Discipline<P>,
    line: Line<P>,
    exits: Exits<P>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    Up,
    Down,
}

/// Whether a packet that comes has to find room.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It waits, and the limit holds.
    Waits,
    /// The medium takes it at once, and it needs no room.
    GoesThrough,
}

impl<P> Station<P> {
    /// A station that is up and has nothing to send.
    pub fn new(limit: Limit, aqm: Aqm, line: Line<P>, rng: &Rng) -> Station<P> {
        Station {
            switch: Switch::Up,
            limit,
            queue: Discipline::new(aqm, rng),
            line,
            exits: Exits::new(),
        }
    }

    /// Takes a packet into the queue, or refuses it.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, info: PacketInfo, packet: P, admission: Admission) {
        self.exits.counters.sent.add(info.size);
        let item = Item {
            packet,
            info,
            enqueued: now,
        };
        if self.switch == Switch::Down {
            self.exits.drop(now, item, DropReason::LinkDown);
            return;
        }
        let room = match admission {
            Admission::Waits => self.limit.bytes(),
            Admission::GoesThrough => Bytes(u64::MAX),
        };
        self.queue.push(item, room, &mut self.exits);
    }

    /// The packet to transmit from `at` on.
    pub fn next(&mut self, at: Instant) -> Option<Item<P>> {
        self.queue.pop(at, &mut self.exits)
    }

    /// Takes a packet on its way whose last bit left at `at`.
    pub fn send(&mut self, at: Instant, item: Item<P>, queued_for: Duration) {
        self.line.send(at, item, queued_for);
    }

    /// The next packet that has ended by `now`, in order of time.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Departure<P>> {
        let arrival = self.line.front().map(|t| t.at).filter(|at| *at <= now);
        let refusal = self.exits.refused.front().map(|r| r.at);
        match (refusal, arrival) {
            (Some(refusal), arrival) if arrival.is_none_or(|at| refusal <= at) => {
                let Refused { item, at, reason } = self.exits.refused.pop_front()?;
                self.exits.counters.on_drop(reason, item.info.size);
                Some(dropped(item.packet, at, reason))
            }
            (_, Some(at)) => {
                let travelling = self.line.pop()?;
                let Item { packet, info, .. } = travelling.item;
                if let Some(reason) = travelling.lost {
                    self.exits.counters.on_drop(reason, info.size);
                    return Some(dropped(packet, at, reason));
                }
                self.exits.counters.delivered.add(info.size);
                let queued_for = travelling.queued_for;
                Some(Departure::Delivered {
                    packet,
                    at,
                    queued_for,
                    ecn: info.ecn,
                })
            }
            _ => None,
        }
    }

    /// When the next of those packets ends that the medium has no part in any
    /// more; every other one ends later.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let deadline = |at, reason| Some(Deadline { at, reason });
        if let Some(refused) = self.exits.refused.front() {
            return deadline(refused.at, "drop");
        }
        // The line keeps the order: nothing arrives before its front.
        deadline(self.line.front()?.at, "arrival")
    }

    /// The earliest arrival of a packet that leaves the medium at `at`.
    pub fn arrival(&self, at: Instant) -> Instant {
        at + self.line.shortest()
    }

    /// Switches the station off: what waits is dropped, as is what comes.
    /// `in_service` is its packet that the medium was transmitting.
    pub fn cut(&mut self, now: Instant, in_service: Option<Item<P>>) {
        self.switch = Switch::Down;
        let waiting = std::iter::from_fn(|| self.queue.remove());
        for item in in_service.into_iter().chain(waiting) {
            self.exits.drop(now, item, DropReason::LinkDown);
        }
    }

    pub fn restore(&mut self) {
        self.switch = Switch::Up;
    }

    pub fn is_up(&self) -> bool {
        self.switch == Switch::Up
    }

    pub fn set_limit(&mut self, limit: QueueLimit, capacity: &Capacity) {
        self.limit = Limit::new(limit, capacity, self.line.delay());
    }

    /// A limit in time is of this rate from now on.
    pub fn limit_to_rate(&mut self, rate: Rate) {
        self.limit.on_rate(rate);
    }

    pub fn limit(&self) -> Bytes {
        self.limit.bytes()
    }

    pub fn line(&self) -> &Line<P> {
        &self.line
    }

    pub fn line_mut(&mut self) -> &mut Line<P> {
        &mut self.line
    }

    /// Bytes that wait.
    pub fn backlog(&self) -> Bytes {
        self.queue.backlog()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn counters(&self) -> &Counters {
        &self.exits.counters
    }

    /// What the station's packets come to that wait, are being transmitted
    /// (`in_service`), travel, or have ended and were not polled yet.
    pub fn in_flight(&self, in_service: Option<Bytes>) -> Tally {
        let travelling = self.line.iter().map(|t| t.item.info.size);
        let refused = self.exits.refused.iter().map(|r| r.item.info.size);
        let mut tally = Tally {
            packets: self.queue.len() as u64,
            bytes: self.queue.backlog(),
        };
        in_service
            .into_iter()
            .chain(travelling)
            .chain(refused)
            .for_each(|size| tally.add(size));
        tally
    }
}

fn dropped<P>(packet: P, at: Instant, reason: DropReason) -> Departure<P> {
    Departure::Dropped { packet, at, reason }
}
