use crate::discipline::Discipline;
use crate::line::Line;
use crate::queue::{Exits, Item, Limit, Refused};
use crate::transmitter::{Step, Transmitter};
use crate::{
    Capacity, Counters, DropReason, Ecn, GilbertElliott, LinkSpec, PacketInfo, QueueLimit, Tally,
};
use weft_units::{Bytes, Deadline, Duration, Instant, Rate, Rng};

/// One direction of a link: queue, transmitter, propagation.
///
/// Order of calls: any, with `now` never going back (an earlier `now` counts
/// as the latest one). Poll until `None` whenever the deadline is reached and
/// after every call that changes something.
///
/// A packet that a discipline drops when its turn comes is given back with
/// the packet that was transmitted in its place, at the time of its drop.
pub struct Link<P> {
    now: Instant,
    switch: Switch,
    capacity: Capacity,
    transmitter: Transmitter<P>,
    limit: Limit,
    queue: Discipline<P>,
    line: Line<P>,
    exits: Exits<P>,
}

/// The end of a packet on the link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Departure<P> {
    /// It reached the other end.
    Delivered {
        /// What was enqueued.
        packet: P,
        /// When its last bit arrived.
        at: Instant,
        /// How long it waited before its transmission began.
        queued_for: Duration,
        /// Its ECN field on arrival: [`Ecn::Ce`] when it was marked.
        ecn: Ecn,
    },
    /// It did not.
    Dropped {
        /// What was enqueued.
        packet: P,
        /// When it was dropped; for a random loss, when it would have
        /// arrived.
        at: Instant,
        /// Why.
        reason: DropReason,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    Up,
    Down,
}

impl<P> Link<P> {
    /// A link that is up and empty at the run's epoch.
    #[must_use]
    pub fn new(spec: &LinkSpec, rng: Rng) -> Link<P> {
        let mut link = Link {
            now: Instant::ZERO,
            switch: Switch::Up,
            capacity: spec.capacity.clone(),
            transmitter: Transmitter::new(&spec.capacity, spec.burst, &rng),
            limit: Limit::new(spec.queue, &spec.capacity, spec.delay),
            queue: Discipline::new(spec.aqm, &rng),
            line: Line::new(spec, &rng),
            exits: Exits::new(),
        };
        link.limit_follows_rate();
        link
    }

    /// Gives a packet to the link's queue. Its size alone will do for
    /// `info`.
    pub fn enqueue(&mut self, now: Instant, info: impl Into<PacketInfo>, packet: P) {
        let now = self.advance(now);
        let info = info.into();
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
        if self.transmitter.is_idle() {
            // What goes straight through needs no room.
            self.queue.push(item, Bytes(u64::MAX), &mut self.exits);
            self.start_service(now);
        } else {
            self.queue.push(item, self.limit.bytes(), &mut self.exits);
        }
    }

    /// The next packet that has ended by `now`, in order of time.
    pub fn poll(&mut self, now: Instant) -> Option<Departure<P>> {
        let now = self.advance(now);
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

    /// When [`Link::poll`] may have something to give, if ever without
    /// another call.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let deadline = |at, reason| Some(Deadline { at, reason });
        if let Some(refused) = self.exits.refused.front() {
            return deadline(refused.at, "drop");
        }
        // The line keeps the order: nothing arrives before its front.
        if let Some(first) = self.line.front() {
            return deadline(first.at, "arrival");
        }
        if self.transmitter.is_empty() && self.queue.is_empty() {
            return None;
        }
        let change = self.transmitter.next_change();
        let arrival = self.transmitter.finish();
        let arrival = arrival.map(|at| at + self.line.shortest());
        Deadline::earlier(
            change.and_then(|at| deadline(at, "capacity")),
            arrival.and_then(|at| deadline(at, "arrival")),
        )
    }

    /// From now on the capacity is `rate`, in place of any schedule. A packet
    /// in the middle of its transmission goes on at the new rate; zero is an
    /// outage in which packets wait.
    pub fn set_capacity(&mut self, now: Instant, rate: Rate) {
        let now = self.advance(now);
        self.capacity = Capacity::Constant(rate);
        self.transmitter.set_capacity(now, rate);
        self.limit_follows_rate();
        self.start_service(now);
    }

    /// Switches the link off: what waits or is being transmitted is dropped,
    /// as is what comes; what has left the transmitter still arrives.
    pub fn cut(&mut self, now: Instant) {
        let now = self.advance(now);
        self.switch = Switch::Down;
        let in_service = self.transmitter.abort(now);
        let waiting = std::iter::from_fn(|| self.queue.remove());
        for item in in_service.into_iter().chain(waiting) {
            self.exits.drop(now, item, DropReason::LinkDown);
        }
    }

    /// Switches the link on again.
    pub fn restore(&mut self, now: Instant) {
        self.advance(now);
        self.switch = Switch::Up;
    }

    /// Changes the one-way propagation delay of what is transmitted from now
    /// on. When it shrinks, packets queue up behind those on their way: order
    /// is kept.
    pub fn set_delay(&mut self, now: Instant, delay: Duration) {
        self.advance(now);
        self.line.set_delay(delay);
    }

    /// Changes the standard deviation of the propagation delay of what is
    /// transmitted from now on.
    pub fn set_jitter(&mut self, now: Instant, jitter: Duration) {
        self.advance(now);
        self.line.set_jitter(jitter);
    }

    /// Changes the probability, 0 to 1, that a packet transmitted from now on
    /// is lost.
    pub fn set_loss(&mut self, now: Instant, loss: f64) {
        self.advance(now);
        self.line.losses().set_random(loss);
    }

    /// Changes the losses in bursts of what is transmitted from now on.
    pub fn set_burst_loss(&mut self, now: Instant, model: Option<GilbertElliott>) {
        self.advance(now);
        self.line.losses().set_bursts(model);
    }

    /// Changes the limit of the queue; what waits stays.
    pub fn set_queue(&mut self, now: Instant, limit: QueueLimit) {
        self.advance(now);
        self.limit = Limit::new(limit, &self.capacity, self.line.delay());
        self.limit_follows_rate();
    }

    /// Whether the switch is on.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.switch == Switch::Up
    }

    /// Capacity as of the latest call, whatever the switch.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        self.transmitter.rate()
    }

    /// One-way propagation delay.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.line.delay()
    }

    /// Bytes waiting for transmission as of the latest call, without the
    /// packet being transmitted.
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        self.queue.backlog()
    }

    /// What may wait at present.
    #[must_use]
    pub fn queue_limit(&self) -> Bytes {
        self.limit.bytes()
    }

    /// How long a packet enqueued at the time of the latest call would wait
    /// at the present capacity; `None` in an outage with packets waiting.
    #[must_use]
    pub fn queue_delay(&self) -> Option<Duration> {
        self.transmitter.time_for(self.now, self.queue.backlog())
    }

    /// When the queue runs empty if nothing more comes and the capacity stays,
    /// at the earliest the time of the latest call; `None` in an outage with
    /// packets waiting.
    #[must_use]
    pub fn empty_at(&self) -> Option<Instant> {
        Some(self.now + self.queue_delay()?)
    }

    /// What the link has taken and given back.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.exits.counters
    }

    /// What the link holds: waiting, being transmitted, travelling, or ended
    /// but not polled yet.
    #[must_use]
    pub fn in_flight(&self) -> Tally {
        let serving = self.transmitter.size_in_service();
        let travelling = self.line.iter().map(|t| t.item.info.size);
        let refused = self.exits.refused.iter().map(|r| r.item.info.size);
        let mut tally = Tally {
            packets: self.queue.len() as u64,
            bytes: self.queue.backlog(),
        };
        serving
            .into_iter()
            .chain(travelling)
            .chain(refused)
            .for_each(|size| tally.add(size));
        tally
    }

    /// Runs the transmitter to `now`.
    fn advance(&mut self, now: Instant) -> Instant {
        let now = self.now.max(now);
        while self.transmitter.is_due(now)
            && let Some(step) = self.transmitter.step(now)
        {
            let at = match step {
                Step::Sent {
                    at,
                    item,
                    queued_for,
                } => {
                    self.line.send(at, item, queued_for);
                    at
                }
                Step::RateChanged { at } => {
                    self.limit_follows_rate();
                    at
                }
            };
            self.start_service(at);
        }
        self.now = now;
        now
    }

    fn start_service(&mut self, at: Instant) {
        if self.transmitter.is_idle()
            && let Some(item) = self.queue.pop(at, &mut self.exits)
        {
            self.transmitter.start(at, item);
        }
    }

    /// A queue in time follows a schedule, not the swings of a trace.
    fn limit_follows_rate(&mut self) {
        if self.capacity.is_planned() {
            self.limit.on_rate(self.transmitter.rate());
        }
    }
}

fn dropped<P>(packet: P, at: Instant, reason: DropReason) -> Departure<P> {
    Departure::Dropped { packet, at, reason }
}

#[cfg(test)]
mod tests;
