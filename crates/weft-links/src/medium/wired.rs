//! Pair of links: two stations, each with its own channel, so that their
//! traffic is independent.

mod link;

pub use link::Link;

use super::model::Model;
use super::port::Port;
use crate::{Capacity, ChannelId, Departure, LinkSpec, PacketInfo, ServiceTime, StationId, Tally};
use weft_units::{Deadline, Instant, Rng};

/// Medium of two stations that share nothing. A direction is named after its sender: on
/// every medium, queues, counters and service belong to a sender, and here each sender
/// has one receiver.
pub struct Wired<P> {
    links: [Link<P>; 2],
}

weft_units::named! {
    /// Direction of a wired medium, named by the sending station.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum WiredDirection: "direction" {
        /// From the first station, from left to right.
        Forward = "forward",
        /// From the second station, from right to left.
        Backward = "backward",
    }
}

impl WiredDirection {
    /// Returns the opposite direction.
    #[must_use]
    pub const fn reversed(self) -> WiredDirection {
        match self {
            WiredDirection::Forward => WiredDirection::Backward,
            WiredDirection::Backward => WiredDirection::Forward,
        }
    }

    /// Returns the direction in which this station of a wired medium sends.
    #[must_use]
    pub fn of(station: StationId) -> Option<WiredDirection> {
        WiredDirection::ALL
            .into_iter()
            .find(|d| d.station() == station)
    }

    /// Returns the sender in this direction.
    #[must_use]
    pub const fn station(self) -> StationId {
        StationId(self.index() as u16)
    }

    pub(super) const fn index(self) -> usize {
        match self {
            WiredDirection::Forward => 0,
            WiredDirection::Backward => 1,
        }
    }
}

impl<P> Wired<P> {
    pub(super) fn new(specs: &[LinkSpec; 2], rng: &Rng) -> Wired<P> {
        let mut specs = specs.clone();
        seed_traces(&mut specs, rng, rng);
        let link = |direction: WiredDirection| {
            let rng = rng.stream(direction.name());
            Link::new(&specs[direction.index()], rng)
        };
        Wired {
            links: WiredDirection::ALL.map(link),
        }
    }

    /// Returns the link of one direction, including its queue.
    #[must_use]
    pub fn direction(&self, direction: WiredDirection) -> &Link<P> {
        &self.links[direction.index()]
    }

    /// Returns the link like [`Wired::direction`], but mutable.
    #[must_use]
    pub fn direction_mut(&mut self, direction: WiredDirection) -> &mut Link<P> {
        &mut self.links[direction.index()]
    }
}

/// Gives seeds to generated traces that have none, from the generator of both directions
/// and that of their place.
pub(super) fn seed_traces(specs: &mut [LinkSpec; 2], rng: &Rng, place: &Rng) {
    for (spec, direction) in specs.iter_mut().zip(WiredDirection::ALL) {
        if let Capacity::Generated(generated) = &mut spec.capacity {
            generated.seed_by(rng, place, direction.name());
        }
    }
}

/// Each station has a channel with the same number.
impl<P> Model<P> for Wired<P> {
    fn channel_count(&self) -> u16 {
        2
    }

    #[inline]
    fn channel_of(&self, station: StationId) -> ChannelId {
        ChannelId(station.0)
    }

    #[inline]
    fn enqueue(
        &mut self,
        now: Instant,
        from: StationId,
        _to: StationId,
        info: PacketInfo,
        packet: P,
    ) {
        self.links[usize::from(from.0)].enqueue(now, info, packet);
    }

    #[inline]
    fn poll(&mut self, now: Instant, channel: ChannelId) -> Option<(StationId, Departure<P>)> {
        let departure = self.links[usize::from(channel.0)].poll(now)?;
        Some((StationId(channel.0), departure))
    }

    #[inline]
    fn poll_timeout(&self, channel: ChannelId) -> Option<Deadline> {
        self.links[usize::from(channel.0)].poll_timeout()
    }

    fn cut(&mut self, now: Instant, station: StationId) {
        self.links[usize::from(station.0)].cut(now);
    }

    fn restore(&mut self, now: Instant, station: StationId) {
        self.links[usize::from(station.0)].restore(now);
    }

    fn service_time(&mut self, now: Instant, station: StationId) -> ServiceTime {
        self.links[usize::from(station.0)].service_time(now)
    }

    fn port(&self, station: StationId) -> &Port<P> {
        self.links[usize::from(station.0)].port()
    }

    fn port_mut(&mut self, now: Instant, station: StationId) -> &mut Port<P> {
        self.links[usize::from(station.0)].port_mut(now)
    }

    fn in_flight(&self, station: StationId) -> Tally {
        self.links[usize::from(station.0)].in_flight()
    }
}
