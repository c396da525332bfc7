//! Two stations that take turns, for tests: the simplest medium with properties that no
//! wired medium has. The station with the token sends one packet; then the token moves to
//! the other station, if that has a packet. Passing the token takes time in which no
//! station sends. No station's rate is known beforehand.

use crate::line::Line;
use crate::medium::model::Model;
use crate::medium::port::Port;
use crate::medium::service::{Meter, Service};
use crate::medium::station::{Admission, Station};
use crate::queue::{Item, Limit};
use crate::{ChannelId, Departure, LinkSpec, PacketInfo, ServiceTime, StationId, Tally};
use weft_units::{Deadline, Duration, Instant, Rate, Rng};

const COUNT: usize = 2;

/// Specification of a ring.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TokenRingSpec {
    /// Specification of each station. The holder sends at the reference rate of
    /// the capacity.
    pub station: LinkSpec,
    /// Time that the token takes to reach the other station.
    pub pass: Duration,
}

pub(crate) struct TokenRing<P> {
    rate: Rate,
    pass: Duration,
    now: Instant,
    stations: [Station<P>; COUNT],
    meters: [Meter; COUNT],
    /// Station that has the token or gets it next.
    holder: usize,
    phase: Phase<P>,
}

enum Phase<P> {
    /// No station has a packet.
    Idle,
    /// The token is on its way to the holder.
    Passing { until: Instant },
    /// The holder is transmitting.
    Sending {
        item: Item<P>,
        queued_for: Duration,
        until: Instant,
    },
}

impl<P> TokenRing<P> {
    pub fn new(TokenRingSpec { station, pass }: &TokenRingSpec, rng: &Rng) -> TokenRing<P> {
        let own = |name| {
            let rng = rng.stream(name);
            let limit = Limit::new(station.queue, &station.capacity, station.delay);
            Station::new(limit, station.aqm, Line::new(station, &rng), &rng)
        };
        TokenRing {
            rate: station.capacity.reference(),
            pass: *pass,
            now: Instant::ZERO,
            stations: ["first", "second"].map(own),
            meters: [0, 1].map(|_| Meter::new(Service::Idle)),
            holder: 0,
            phase: Phase::Idle,
        }
    }

    fn advance(&mut self, now: Instant) -> Instant {
        let now = self.now.max(now);
        while let Phase::Passing { until } | Phase::Sending { until, .. } = self.phase
            && until <= now
        {
            match std::mem::replace(&mut self.phase, Phase::Idle) {
                Phase::Sending {
                    item, queued_for, ..
                } => {
                    self.stations[self.holder].send(until, item, queued_for);
                    self.next_turn(until);
                }
                Phase::Passing { .. } | Phase::Idle => self.begin(until),
            }
        }
        self.now = now;
        now
    }

    /// Passes the token to the other station, or keeps it.
    fn next_turn(&mut self, at: Instant) {
        let other = (self.holder + 1) % COUNT;
        if !self.stations[other].is_empty() {
            self.holder = other;
            let until = at + self.pass;
            self.phase = Phase::Passing { until };
            self.measure(at);
        } else {
            self.begin(at);
        }
    }

    /// Starts a transmission if the holder has a packet.
    fn begin(&mut self, at: Instant) {
        self.phase = match self.stations[self.holder].next(at) {
            Some(item) => Phase::Sending {
                until: at + self.rate.time_for(item.info.size).unwrap_or_default(),
                queued_for: item.age(at),
                item,
            },
            // The station was switched off before the token arrived.
            None if !self.stations[(self.holder + 1) % COUNT].is_empty() => {
                return self.next_turn(at);
            }
            None => Phase::Idle,
        };
        self.measure(at);
    }

    fn measure(&mut self, at: Instant) {
        for (index, meter) in self.meters.iter_mut().enumerate() {
            let service = match &self.phase {
                _ if !self.stations[index].is_up() => Service::Blocked,
                Phase::Idle => Service::Idle,
                Phase::Sending { .. } if index == self.holder => Service::Used,
                Phase::Passing { .. } | Phase::Sending { .. } => Service::Blocked,
            };
            meter.set(at, service);
        }
    }
}

impl<P> Model<P> for TokenRing<P> {
    fn enqueue(
        &mut self,
        now: Instant,
        from: StationId,
        _to: StationId,
        info: PacketInfo,
        packet: P,
    ) {
        let now = self.advance(now);
        let sender = &mut self.stations[usize::from(from.0)];
        sender.enqueue(now, info, packet, Admission::Waits);
        if matches!(self.phase, Phase::Idle) {
            self.next_turn(now);
        }
    }

    fn poll(&mut self, now: Instant, _: ChannelId) -> Option<(StationId, Departure<P>)> {
        let now = self.advance(now);
        let ids = (0..).map(StationId);
        let mut stations = ids.zip(&mut self.stations);
        stations.find_map(|(id, station)| Some((id, station.poll(now)?)))
    }

    fn poll_timeout(&self, _: ChannelId) -> Option<Deadline> {
        let ended = self.stations.iter().map(Station::poll_timeout);
        let phase = match self.phase {
            Phase::Idle => None,
            Phase::Passing { until } | Phase::Sending { until, .. } => Some(Deadline {
                at: until,
                reason: "turn",
            }),
        };
        ended.fold(phase, Deadline::earlier)
    }

    fn cut(&mut self, now: Instant, station: StationId) {
        let now = self.advance(now);
        let index = usize::from(station.0);
        let sends = matches!(self.phase, Phase::Sending { .. }) && self.holder == index;
        let in_service = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Sending { item, .. } if sends => Some(item),
            other => {
                self.phase = other;
                None
            }
        };
        self.stations[index].cut(now, in_service);
        if sends {
            self.next_turn(now);
        }
        self.measure(now);
    }

    fn restore(&mut self, now: Instant, station: StationId) {
        let now = self.advance(now);
        self.stations[usize::from(station.0)].restore();
        self.measure(now);
    }

    fn service_time(&mut self, now: Instant, station: StationId) -> ServiceTime {
        let now = self.advance(now);
        self.meters[usize::from(station.0)].until(now)
    }

    fn port(&self, station: StationId) -> &Port<P> {
        self.stations[usize::from(station.0)].port()
    }

    fn port_mut(&mut self, now: Instant, station: StationId) -> &mut Port<P> {
        self.advance(now);
        self.stations[usize::from(station.0)].port_mut()
    }

    fn in_flight(&self, station: StationId) -> Tally {
        let index = usize::from(station.0);
        let in_service = match &self.phase {
            Phase::Sending { item, .. } if self.holder == index => Some(item.info.size),
            _ => None,
        };
        self.stations[index].in_flight(in_service)
    }
}
