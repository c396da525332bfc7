//! A pair of links: two stations, each with a channel of its own, so that what
//! one sends is no matter to the other.

mod link;

pub use link::Link;

use super::model::Model;
use super::station::Station;
use crate::{ChannelId, Departure, LinkSpec, PacketInfo, ServiceTime, StationId};
use weft_units::{Bytes, Deadline, Instant, Rng};

/// A medium of two stations that share nothing. A direction is what one of
/// them sends: queues, counts and service belong to a sender on every medium,
/// and here each sender has one receiver.
pub struct Wired<P> {
    links: [Link<P>; 2],
}

/// The directions of a wired medium, by the station that sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// What the first station sends, from left to right.
    Forward,
    /// What the second one sends, from right to left.
    Backward,
}

impl Direction {
    /// Both.
    pub const ALL: [Direction; 2] = [Direction::Forward, Direction::Backward];

    /// As in tables, and the name of its random streams.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn reversed(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }

    /// The one in which this station of a wired medium sends.
    #[must_use]
    pub fn of(station: StationId) -> Option<Direction> {
        Direction::ALL.into_iter().find(|d| d.station() == station)
    }

    /// Who sends in it.
    #[must_use]
    pub const fn station(self) -> StationId {
        StationId(self.index() as u16)
    }

    pub(super) const fn index(self) -> usize {
        match self {
            Direction::Forward => 0,
            Direction::Backward => 1,
        }
    }
}

impl<P> Wired<P> {
    pub(super) fn new(specs: &[LinkSpec; 2], rng: &Rng) -> Wired<P> {
        let link = |direction: Direction| {
            let rng = rng.stream(direction.as_str());
            Link::new(&specs[direction.index()], rng)
        };
        Wired {
            links: Direction::ALL.map(link),
        }
    }

    /// A direction.
    #[must_use]
    pub fn direction(&self, direction: Direction) -> &Link<P> {
        &self.links[direction.index()]
    }

    /// A direction, to change it.
    #[must_use]
    pub fn direction_mut(&mut self, direction: Direction) -> &mut Link<P> {
        &mut self.links[direction.index()]
    }
}

/// Each station has a channel of the same number.
impl<P> Model<P> for Wired<P> {
    fn channel_count(&self) -> u16 {
        2
    }

    #[inline]
    fn channel_of(&self, station: StationId) -> ChannelId {
        ChannelId(station.0)
    }

    #[inline]
    fn enqueue(&mut self, now: Instant, station: StationId, info: PacketInfo, packet: P) {
        self.links[usize::from(station.0)].enqueue(now, info, packet);
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

    fn station(&self, station: StationId) -> &Station<P> {
        self.links[usize::from(station.0)].station()
    }

    fn station_mut(&mut self, now: Instant, station: StationId) -> &mut Station<P> {
        self.links[usize::from(station.0)].station_mut(now)
    }

    fn in_service(&self, station: StationId) -> Option<Bytes> {
        self.links[usize::from(station.0)].in_service()
    }
}
