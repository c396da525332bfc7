use crate::line::Line;
use crate::medium::port::Port;
use crate::medium::service::{Meter, Service};
use crate::medium::station::{Admission, Station};
use crate::queue::Limit;
use crate::transmitter::{Step, Transmitter};
use crate::{
    Capacity, Counters, Departure, GilbertElliott, LinkSpec, PacketInfo, QueueLimit, ServiceTime,
    Tally,
};
use weft_units::{Bytes, Deadline, Duration, Instant, Rate, Rng};

/// One direction of a wired medium: one station with its own transmitter.
///
/// Calls may come in any order, but `now` must not decrease (an earlier `now` counts as
/// the latest one). Poll until `None` whenever the deadline is reached and after every
/// call that changes something.
///
/// A packet that the discipline drops at its turn is returned together with the packet
/// that was transmitted in its place, with the time of its drop.
pub struct Link<P> {
    now: Instant,
    capacity: Capacity,
    transmitter: Transmitter<P>,
    station: Station<P>,
    meter: Meter,
}

impl<P> Link<P> {
    /// Creates a link that is up and empty at the run's epoch.
    #[must_use]
    pub fn new(spec: &LinkSpec, rng: Rng) -> Link<P> {
        let limit = Limit::new(spec.queue, &spec.capacity, spec.delay);
        let mut link = Link {
            now: Instant::ZERO,
            capacity: spec.capacity.clone(),
            transmitter: Transmitter::new(&spec.capacity, spec.burst, &rng),
            station: Station::new(limit, spec.aqm, Line::new(spec, &rng), &rng),
            meter: Meter::new(Service::Idle),
        };
        link.limit_follows_rate();
        link.measure(Instant::ZERO);
        link
    }

    /// Adds a packet to the link's queue. `info` can be just a size.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, info: impl Into<PacketInfo>, packet: P) {
        let now = self.advance(now);
        let info = info.into();
        if self.station.is_up() && self.transmitter.is_idle() {
            let through = Admission::GoesThrough;
            self.station.enqueue(now, info, packet, through);
            self.start_service(now);
            self.measure(now);
        } else {
            self.station.enqueue(now, info, packet, Admission::Waits);
        }
    }

    /// Returns the next packet that has ended by `now`, in time order.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Departure<P>> {
        let now = self.advance(now);
        self.station.poll(now)
    }

    /// Returns the time at which [`Link::poll`] may return a packet without another call
    /// before, if there is one.
    #[must_use]
    #[inline]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let ended = self.station.poll_timeout();
        if ended.is_some() {
            return ended;
        }
        if self.transmitter.is_empty() && self.station.is_empty() {
            return None;
        }
        let deadline = |at, reason| Some(Deadline { at, reason });
        let arrival = self.transmitter.finish().map(|at| self.station.arrival(at));
        match (self.transmitter.next_change(), arrival) {
            (Some(change), arrival) if arrival.is_none_or(|at| change <= at) => {
                deadline(change, "capacity")
            }
            (_, arrival) => deadline(arrival?, "arrival"),
        }
    }

    /// Sets the capacity to `rate` from now on, replacing any schedule. A packet in
    /// transmission continues at the new rate; zero is an outage in which packets wait.
    pub fn set_capacity(&mut self, now: Instant, rate: Rate) {
        let now = self.advance(now);
        self.capacity = Capacity::Constant(rate);
        self.transmitter.set_capacity(now, rate);
        self.limit_follows_rate();
        self.start_service(now);
        self.measure(now);
    }

    /// Switches the link off: waiting packets, the packet in transmission and
    /// later arrivals are dropped; packets that have left the transmitter still
    /// arrive.
    pub fn cut(&mut self, now: Instant) {
        let now = self.advance(now);
        let in_service = self.transmitter.abort(now);
        self.station.cut(now, in_service);
        self.measure(now);
    }

    /// Switches the link on again.
    pub fn restore(&mut self, now: Instant) {
        let now = self.advance(now);
        self.station.restore();
        self.measure(now);
    }

    /// Changes the one-way propagation delay of packets transmitted from now on. If it
    /// shrinks, packets queue up behind those in flight, so the order is kept.
    pub fn set_delay(&mut self, now: Instant, delay: Duration) {
        self.advance(now);
        self.station.line_mut().set_delay(delay);
    }

    /// Changes the standard deviation of the propagation delay of packets
    /// transmitted from now on.
    pub fn set_jitter(&mut self, now: Instant, jitter: Duration) {
        self.advance(now);
        self.station.line_mut().set_jitter(jitter);
    }

    /// Changes the probability, 0 to 1, that a packet transmitted from now on
    /// is lost.
    pub fn set_loss(&mut self, now: Instant, loss: f64) {
        self.advance(now);
        self.station.line_mut().losses().set_random(loss);
    }

    /// Changes the burst losses of packets transmitted from now on.
    pub fn set_burst_loss(&mut self, now: Instant, model: Option<GilbertElliott>) {
        self.advance(now);
        self.station.line_mut().losses().set_bursts(model);
    }

    /// Changes the limit of the queue; waiting packets stay.
    pub fn set_queue(&mut self, now: Instant, limit: QueueLimit) {
        self.advance(now);
        self.station.set_limit(limit, &self.capacity);
        self.limit_follows_rate();
    }

    /// Whether the link is switched on.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.station.is_up()
    }

    /// Returns the capacity as of the latest call, even if the link is down.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        self.transmitter.rate()
    }

    /// Returns the one-way propagation delay.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.station.line().delay()
    }

    /// Returns the bytes waiting for transmission as of the latest call, without the
    /// packet being transmitted.
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        self.station.backlog()
    }

    /// Returns the current limit of the queue in bytes.
    #[must_use]
    pub fn queue_limit(&self) -> Bytes {
        self.station.limit()
    }

    /// Returns the waiting time of a packet enqueued at the time of the latest call, at
    /// the current capacity; `None` in an outage with packets waiting.
    #[must_use]
    pub fn queue_delay(&self) -> Option<Duration> {
        self.transmitter.time_for(self.now, self.station.backlog())
    }

    /// Returns the time at which the queue runs empty without further packets and
    /// capacity changes, at the earliest the time of the latest call; `None` in an outage
    /// with packets waiting.
    #[must_use]
    pub fn empty_at(&self) -> Option<Instant> {
        Some(self.now + self.queue_delay()?)
    }

    /// Returns the packets that the link has taken, by outcome.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.station.counters()
    }

    /// Returns the packets on the link: waiting, being transmitted, travelling, or ended
    /// but not polled yet.
    #[must_use]
    pub fn in_flight(&self) -> Tally {
        self.station.in_flight(self.transmitter.size_in_service())
    }

    /// Returns the service that the link gave to its packets until `now`.
    pub fn service_time(&mut self, now: Instant) -> ServiceTime {
        let now = self.advance(now);
        self.meter.until(now)
    }

    pub(crate) fn port(&self) -> &Port<P> {
        self.station.port()
    }

    pub(crate) fn port_mut(&mut self, now: Instant) -> &mut Port<P> {
        self.advance(now);
        self.station.port_mut()
    }

    /// Advances the transmitter to `now`.
    #[inline]
    fn advance(&mut self, now: Instant) -> Instant {
        let now = self.now.max(now);
        if self.transmitter.is_due(now) {
            self.transmit_until(now);
        }
        self.now = now;
        now
    }

    fn transmit_until(&mut self, now: Instant) {
        while let Some(step) = self.transmitter.step(now) {
            let at = match step {
                Step::Sent {
                    at,
                    item,
                    queued_for,
                } => {
                    self.station.send(at, item, queued_for);
                    at
                }
                Step::RateChanged { at } => {
                    self.limit_follows_rate();
                    at
                }
            };
            self.start_service(at);
            self.measure(at);
            if !self.transmitter.is_due(now) {
                break;
            }
        }
    }

    fn start_service(&mut self, at: Instant) {
        if self.transmitter.is_idle()
            && let Some(item) = self.station.next(at)
        {
            self.transmitter.start(at, item);
        }
    }

    /// Records the state of the link from `at` on.
    #[inline]
    fn measure(&mut self, at: Instant) {
        let blocked = self.transmitter.rate() == Rate::ZERO || !self.station.is_up();
        let service = match self.transmitter.is_empty() {
            _ if blocked => Service::Blocked,
            true => Service::Idle,
            false => Service::Used,
        };
        self.meter.set(at, service);
    }

    /// Adjusts a queue limit in time to the rate of a schedule, but not to the
    /// variation of a trace.
    fn limit_follows_rate(&mut self) {
        if self.capacity.is_planned() {
            self.station.limit_to_rate(self.transmitter.rate());
        }
    }
}

#[cfg(test)]
mod tests;
