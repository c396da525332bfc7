use crate::Departure;
use crate::line::Line;
use crate::queue::{Exits, Item, Refused};
use crate::{Counters, DropReason, PacketInfo, Tally};
use weft_units::{Bytes, Deadline, Duration, Instant};

/// Entry and exit of a station's packets on every medium: a switch, the line from the
/// medium to the receiver, and the counters. The medium itself decides about waiting and
/// service: it takes a packet with [`Port::admit`] and passes it to [`Port::send`] after
/// the transmission, or to [`Port::exits`].
pub(crate) struct Port<P> {
    switch: Switch,
    line: Line<P>,
    exits: Exits<P>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    Up,
    Down,
}

impl<P> Port<P> {
    /// Creates a port that is up.
    pub fn new(line: Line<P>) -> Port<P> {
        Port {
            switch: Switch::Up,
            line,
            exits: Exits::new(),
        }
    }

    /// Accepts a packet, unless the station is switched off.
    #[inline]
    pub fn admit(&mut self, now: Instant, info: PacketInfo, packet: P) -> Option<Item<P>> {
        self.exits.counters.sent.add(info.size);
        let item = Item {
            packet,
            info,
            enqueued: now,
        };
        if self.switch == Switch::Down {
            self.exits.drop(now, item, DropReason::LinkDown);
            return None;
        }
        Some(item)
    }

    /// Returns the exits for packets that are not transmitted or not received.
    pub fn exits(&mut self) -> &mut Exits<P> {
        &mut self.exits
    }

    /// Sends a packet, whose last bit left at `at`, over the line.
    pub fn send(&mut self, at: Instant, item: Item<P>, queued_for: Duration) {
        self.line.send(at, item, queued_for);
    }

    /// Returns the next packet that has ended by `now`, in time order.
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

    /// Returns the end of the next packet that has already left the medium; every other
    /// packet ends later.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let deadline = |at, reason| Some(Deadline { at, reason });
        if let Some(refused) = self.exits.refused.front() {
            return deadline(refused.at, "drop");
        }
        // The line keeps the order: nothing arrives before its first packet.
        deadline(self.line.front()?.at, "arrival")
    }

    /// Returns the earliest arrival of a packet that leaves the medium at `at`.
    pub fn arrival(&self, at: Instant) -> Instant {
        at + self.line.shortest()
    }

    /// Switches the station off: its packets on the medium are dropped, and so
    /// are later arrivals.
    pub fn cut(&mut self, now: Instant, held: impl Iterator<Item = Item<P>>) {
        self.switch = Switch::Down;
        for item in held {
            self.exits.drop(now, item, DropReason::LinkDown);
        }
    }

    pub fn restore(&mut self) {
        self.switch = Switch::Up;
    }

    pub fn is_up(&self) -> bool {
        self.switch == Switch::Up
    }

    pub fn line(&self) -> &Line<P> {
        &self.line
    }

    pub fn line_mut(&mut self) -> &mut Line<P> {
        &mut self.line
    }

    pub fn counters(&self) -> &Counters {
        &self.exits.counters
    }

    /// Returns the number and size of the packets that are travelling, or that have ended
    /// but were not polled yet.
    pub fn in_flight(&self) -> Tally {
        let travelling = self.line.iter().map(|t| t.item.info.size);
        let refused = self.exits.refused.iter().map(|r| r.item.info.size);
        travelling.chain(refused).collect()
    }
}

impl FromIterator<Bytes> for Tally {
    fn from_iter<I: IntoIterator<Item = Bytes>>(sizes: I) -> Tally {
        let mut tally = Tally::default();
        sizes.into_iter().for_each(|size| tally.add(size));
        tally
    }
}

fn dropped<P>(packet: P, at: Instant, reason: DropReason) -> Departure<P> {
    Departure::Dropped { packet, at, reason }
}
