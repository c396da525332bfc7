use crate::Departure;
use crate::discipline::Discipline;
use crate::line::Line;
use crate::medium::port::Port;
use crate::queue::{Item, Limit};
use crate::{Aqm, Capacity, Counters, PacketInfo, QueueLimit, Tally};
use weft_units::{Bytes, Deadline, Duration, Instant, Rate, Rng};

/// Station with one queue for all its packets, under a discipline and a limit. The medium
/// serves it: it takes a packet with [`Station::next`] and passes it to [`Station::send`]
/// after the transmission.
pub(crate) struct Station<P> {
    port: Port<P>,
    limit: Limit,
    queue: Discipline<P>,
}

/// Whether an arriving packet needs room in the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The packet waits, and the limit applies.
    Waits,
    /// The medium takes the packet immediately, so it needs no room.
    GoesThrough,
}

impl<P> Station<P> {
    /// Creates a station that is up and has no packets.
    pub fn new(limit: Limit, aqm: Aqm, line: Line<P>, rng: &Rng) -> Station<P> {
        Station {
            port: Port::new(line),
            limit,
            queue: Discipline::new(aqm, rng),
        }
    }

    /// Adds a packet to the queue, or rejects it.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, info: PacketInfo, packet: P, admission: Admission) {
        let Some(item) = self.port.admit(now, info, packet) else {
            return;
        };
        let room = match admission {
            Admission::Waits => self.limit.bytes(),
            Admission::GoesThrough => Bytes(u64::MAX),
        };
        self.queue.push(item, room, self.port.exits());
    }

    /// Returns the packet to transmit from `at` on.
    pub fn next(&mut self, at: Instant) -> Option<Item<P>> {
        self.queue.pop(at, self.port.exits())
    }

    /// Sends a packet, whose last bit left at `at`, over the line.
    pub fn send(&mut self, at: Instant, item: Item<P>, queued_for: Duration) {
        self.port.send(at, item, queued_for);
    }

    /// Returns the next packet that has ended, like [`Port::poll`].
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Departure<P>> {
        self.port.poll(now)
    }

    /// Returns the next deadline, like [`Port::poll_timeout`].
    #[inline]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        self.port.poll_timeout()
    }

    /// Returns the earliest arrival of a packet that leaves the medium at `at`.
    pub fn arrival(&self, at: Instant) -> Instant {
        self.port.arrival(at)
    }

    /// Switches the station off: waiting packets and later arrivals are
    /// dropped. `in_service` is its packet in transmission.
    pub fn cut(&mut self, now: Instant, in_service: Option<Item<P>>) {
        let waiting = std::iter::from_fn(|| self.queue.remove());
        self.port.cut(now, in_service.into_iter().chain(waiting));
    }

    pub fn restore(&mut self) {
        self.port.restore();
    }

    pub fn is_up(&self) -> bool {
        self.port.is_up()
    }

    pub fn set_limit(&mut self, limit: QueueLimit, capacity: &Capacity) {
        self.limit = Limit::new(limit, capacity, self.line().delay());
    }

    /// Applies this rate to a limit in time from now on.
    pub fn limit_to_rate(&mut self, rate: Rate) {
        self.limit.on_rate(rate);
    }

    pub fn limit(&self) -> Bytes {
        self.limit.bytes()
    }

    pub fn line(&self) -> &Line<P> {
        self.port.line()
    }

    pub fn line_mut(&mut self) -> &mut Line<P> {
        self.port.line_mut()
    }

    /// Returns the bytes in the queue.
    pub fn backlog(&self) -> Bytes {
        self.queue.backlog()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn counters(&self) -> &Counters {
        self.port.counters()
    }

    pub fn port(&self) -> &Port<P> {
        &self.port
    }

    pub fn port_mut(&mut self) -> &mut Port<P> {
        &mut self.port
    }

    /// Returns the number and size of the station's packets that wait, are being
    /// transmitted (`in_service`), are travelling, or have ended but were not polled yet.
    pub fn in_flight(&self, in_service: Option<Bytes>) -> Tally {
        let waiting = Tally {
            packets: self.queue.len() as u64,
            bytes: self.queue.backlog(),
        };
        let in_service: Tally = in_service.into_iter().collect();
        waiting + in_service + self.port.in_flight()
    }
}
