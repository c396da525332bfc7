use crate::line::{Fate, Line};
use crate::queue::{Item, Queue};
use crate::{Capacity, Counters, DropReason, Ecn, LinkSpec, PacketInfo, QueueLimit, Tally};
use std::collections::VecDeque;
use weft_units::{Bytes, Deadline, Duration, Instant, Rate, Rng};

/// Bits of work are counted in units of rate (bits per second) times
/// nanoseconds, so that service is exact integer arithmetic.
const WORK_PER_BYTE: u128 = 8 * 1_000_000_000;

/// One direction of a link: drop-tail queue, transmitter, propagation.
///
/// Order of calls: any, with `now` never going back (an earlier `now` counts
/// as the latest one). Poll until `None` whenever the deadline is reached and
/// after every call that changes something.
pub struct Link<P> {
    now: Instant,
    switch: Switch,
    capacity: Capacity,
    rate: Rate,
    next_rate: Option<(Instant, Rate)>,
    queue: Queue<P>,
    service: Option<Service<P>>,
    line: Line<P>,
    refused: VecDeque<Refused<P>>,
    counters: Counters,
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

/// The packet being transmitted: `work` is left as of `since`.
struct Service<P> {
    item: Item<P>,
    work: u128,
    since: Instant,
    queued_for: Duration,
}

struct Refused<P> {
    item: Item<P>,
    at: Instant,
    reason: DropReason,
}

impl<P> Link<P> {
    /// A link that is up and empty at the run's epoch.
    #[must_use]
    pub fn new(spec: &LinkSpec, rng: Rng) -> Link<P> {
        let capacity = spec.capacity.clone();
        let (rate, next_rate) = capacity.at(Instant::ZERO);
        let mut queue = Queue::new(spec.queue, &capacity, spec.delay);
        queue.on_rate(rate);
        Link {
            now: Instant::ZERO,
            switch: Switch::Up,
            capacity,
            rate,
            next_rate,
            queue,
            service: None,
            line: Line::new(spec.delay, spec.jitter, spec.loss, &rng),
            refused: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Gives a packet to the link's queue. Its size alone will do for
    /// `info`.
    pub fn enqueue(&mut self, now: Instant, info: impl Into<PacketInfo>, packet: P) {
        let now = self.advance(now);
        let info = info.into();
        self.counters.sent.add(info.size);
        let item = Item {
            packet,
            info,
            enqueued: now,
        };
        let idle = self.service.is_none() && self.rate > Rate::ZERO;
        if self.switch == Switch::Down {
            self.refuse(item, DropReason::LinkDown);
        } else if idle || self.queue.has_room_for(info.size) {
            self.queue.push(item);
            self.start_service(now);
        } else {
            self.refuse(item, DropReason::QueueFull);
        }
    }

    /// The next packet that has ended by `now`, in order of time.
    pub fn poll(&mut self, now: Instant) -> Option<Departure<P>> {
        let now = self.advance(now);
        let arrival = self.line.front().map(|t| t.at).filter(|at| *at <= now);
        let refusal = self.refused.front().map(|r| r.at);
        match (refusal, arrival) {
            (Some(refusal), arrival) if arrival.is_none_or(|at| refusal <= at) => {
                let Refused { item, at, reason } = self.refused.pop_front()?;
                self.counters.on_drop(reason, item.info.size);
                Some(dropped(item.packet, at, reason))
            }
            (_, Some(at)) => {
                let travelling = self.line.pop()?;
                let Item { packet, info, .. } = travelling.item;
                if travelling.fate == Fate::IsLost {
                    self.counters.on_drop(DropReason::RandomLoss, info.size);
                    return Some(dropped(packet, at, DropReason::RandomLoss));
                }
                self.counters.delivered.add(info.size);
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
        if let Some(refused) = self.refused.front() {
            return deadline(refused.at, "drop");
        }
        // The line keeps the order: nothing arrives before its front.
        if let Some(first) = self.line.front() {
            return deadline(first.at, "arrival");
        }
        if self.service.is_none() && self.queue.is_empty() {
            return None;
        }
        let change = self.next_rate.and_then(|(at, _)| deadline(at, "capacity"));
        let earliest = self.finish().map(|at| at + self.line.shortest());
        Deadline::earlier(change, earliest.and_then(|at| deadline(at, "arrival")))
    }

    /// From now on the capacity is `rate`, in place of any schedule. A packet
    /// in the middle of its transmission goes on at the new rate; zero is an
    /// outage in which packets wait.
    pub fn set_capacity(&mut self, now: Instant, rate: Rate) {
        let now = self.advance(now);
        self.capacity = Capacity::Constant(rate);
        self.next_rate = None;
        self.change_rate(now, rate);
    }

    /// Switches the link off: what waits or is being transmitted is dropped,
    /// as is what comes; what has left the transmitter still arrives.
    pub fn cut(&mut self, now: Instant) {
        let now = self.advance(now);
        self.switch = Switch::Down;
        let in_service = self.service.take().map(|s| s.item);
        let waiting = std::iter::from_fn(|| self.queue.pop());
        let reason = DropReason::LinkDown;
        let refused = in_service.into_iter().chain(waiting);
        self.refused.extend(refused.map(|item| Refused {
            item,
            at: now,
            reason,
        }));
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
        self.line.set_loss(loss);
    }

    /// Changes the limit of the queue; what waits stays.
    pub fn set_queue(&mut self, now: Instant, limit: QueueLimit) {
        self.advance(now);
        let delay = self.line.delay();
        self.queue.set_limit(limit, &self.capacity, delay);
        self.queue.on_rate(self.rate);
    }

    /// Whether the switch is on.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.switch == Switch::Up
    }

    /// Capacity as of the latest call, whatever the switch.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        self.rate
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
        self.queue.limit_bytes()
    }

    /// How long a packet enqueued at the time of the latest call would wait
    /// at the present capacity; `None` in an outage with packets waiting.
    #[must_use]
    pub fn queue_delay(&self) -> Option<Duration> {
        let work = self.service.as_ref().map_or(0, |s| {
            let done = u128::from(self.rate.as_bps())
                * u128::from(self.now.saturating_since(s.since).as_nanos());
            s.work.saturating_sub(done)
        });
        let work = work + u128::from(self.queue.backlog().0) * WORK_PER_BYTE;
        if work == 0 {
            return Some(Duration::ZERO);
        }
        time_for(work, self.rate)
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
        &self.counters
    }

    /// What the link holds: waiting, being transmitted, travelling, or ended
    /// but not polled yet.
    #[must_use]
    pub fn in_flight(&self) -> Tally {
        let serving = self.service.iter().map(|s| s.item.info.size);
        let travelling = self.line.iter().map(|t| t.item.info.size);
        let refused = self.refused.iter().map(|r| r.item.info.size);
        let mut tally = Tally {
            packets: self.queue.len(),
            bytes: self.queue.backlog(),
        };
        serving
            .chain(travelling)
            .chain(refused)
            .for_each(|size| tally.add(size));
        tally
    }

    /// Runs the transmitter to `now`: free = max(free, arrival) + size / rate,
    /// in virtual time, with every change of capacity at its own time.
    fn advance(&mut self, now: Instant) -> Instant {
        let now = self.now.max(now);
        loop {
            let finish = self.finish().filter(|at| *at <= now);
            let change = self.next_rate.filter(|(at, _)| *at <= now);
            match (finish, change) {
                (Some(finish), change) if change.is_none_or(|(at, _)| finish <= at) => {
                    self.complete_service(finish);
                }
                (_, Some((at, rate))) => {
                    self.change_rate(at, rate);
                    self.next_rate = self.capacity.at(at).1;
                }
                _ => break,
            }
        }
        self.now = now;
        now
    }

    /// When the present transmission ends if the rate stays.
    fn finish(&self) -> Option<Instant> {
        let service = self.service.as_ref()?;
        let nanos = time_for(service.work, self.rate)?.as_nanos();
        let at = service.since.as_nanos().checked_add(nanos)?;
        Some(Instant::from_nanos(at))
    }

    fn change_rate(&mut self, at: Instant, rate: Rate) {
        if let Some(service) = &mut self.service {
            let time = at.saturating_since(service.since).as_nanos();
            let done = u128::from(self.rate.as_bps()) * u128::from(time);
            service.work = service.work.saturating_sub(done);
            service.since = at;
        }
        self.rate = rate;
        self.queue.on_rate(rate);
        self.start_service(at);
    }

    fn start_service(&mut self, at: Instant) {
        if self.service.is_some() || self.rate == Rate::ZERO {
            return;
        }
        self.service = self.queue.pop().map(|item| Service {
            work: u128::from(item.info.size.0) * WORK_PER_BYTE,
            since: at,
            queued_for: at.saturating_since(item.enqueued),
            item,
        });
    }

    fn complete_service(&mut self, at: Instant) {
        if let Some(service) = self.service.take() {
            self.line.send(at, service.item, service.queued_for);
        }
        self.start_service(at);
    }

    fn refuse(&mut self, item: Item<P>, reason: DropReason) {
        let at = item.enqueued;
        self.refused.push_back(Refused { item, at, reason });
    }
}

fn dropped<P>(packet: P, at: Instant, reason: DropReason) -> Departure<P> {
    Departure::Dropped { packet, at, reason }
}

/// Rounded up; `None` at rate zero and where it leaves no room on the clock
/// for the propagation after it.
fn time_for(work: u128, rate: Rate) -> Option<Duration> {
    let rate = u128::from(rate.as_bps());
    let nanos = (rate > 0).then(|| work.div_ceil(rate))?;
    let nanos = u64::try_from(nanos).ok()?;
    (nanos < u64::MAX / 4).then_some(Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests;
