//! LTE cell, FDD: a base station and its terminals. In each direction a
//! scheduler assigns resource blocks every millisecond. `docs/models/lte.md`
//! describes the model, its sources by clause and its validation.
//!
//! Each millisecond in which a direction has packets is one event; idle
//! milliseconds cost nothing.

mod bearer;
mod blocks;
mod carrier;
mod fading;
mod grants;
mod keys;
mod meter;
mod quality;
mod rates;
mod scheduler;
mod spec;
mod terminal;
mod timing;

pub use spec::{
    LteBandwidth, LteBearers, LteError, LteMotion, LteQuality, LteScheduler, LteSignal, LteSpec,
    LteTerminal,
};

use super::model::Model;
use super::port::Port;
use super::radio::RadioCounters;
use crate::{ChannelId, Departure, PacketInfo, ServiceTime, StationId, Tally};
use carrier::{Carrier, CarrierDirection};
use weft_units::{Deadline, Duration, Instant, Rng};

/// LTE cell. Terminals have the numbers of the specification, followed by the
/// base station. Uplink and downlink are one channel each.
pub(crate) struct Lte<P> {
    up: Carrier<P>,
    down: Carrier<P>,
    base_station: u16,
}

const UP: ChannelId = ChannelId(0);
const DOWN: ChannelId = ChannelId(1);

impl<P> Lte<P> {
    pub fn new(spec: &LteSpec, rng: &Rng) -> Lte<P> {
        Lte {
            up: Carrier::new(spec, CarrierDirection::Up, &rng.stream("up")),
            down: Carrier::new(spec, CarrierDirection::Down, &rng.stream("down")),
            base_station: spec.terminals.len() as u16,
        }
    }

    /// Returns the carrier of the direction in which the station sends, and the station's
    /// number there.
    fn of(&self, station: StationId) -> (&Carrier<P>, usize) {
        match station.0 == self.base_station {
            true => (&self.down, 0),
            false => (&self.up, usize::from(station.0)),
        }
    }

    fn of_mut(&mut self, station: StationId) -> (&mut Carrier<P>, usize) {
        match station.0 == self.base_station {
            true => (&mut self.down, 0),
            false => (&mut self.up, usize::from(station.0)),
        }
    }

    fn carrier_mut(&mut self, channel: ChannelId) -> &mut Carrier<P> {
        match channel {
            UP => &mut self.up,
            _ => &mut self.down,
        }
    }
}

impl<P> Model<P> for Lte<P> {
    fn channel_count(&self) -> u16 {
        2
    }

    fn channel_of(&self, station: StationId) -> ChannelId {
        match station.0 == self.base_station {
            true => DOWN,
            false => UP,
        }
    }

    fn enqueue(
        &mut self,
        now: Instant,
        from: StationId,
        to: StationId,
        info: PacketInfo,
        packet: P,
    ) {
        let terminal = usize::from(from.0.min(to.0));
        let (carrier, _) = self.of_mut(from);
        carrier.enqueue(now, terminal, info, packet);
    }

    fn poll(&mut self, now: Instant, channel: ChannelId) -> Option<(StationId, Departure<P>)> {
        let base_station = self.base_station;
        let (port, departure) = self.carrier_mut(channel).poll(now)?;
        let station = match channel {
            UP => port as u16,
            _ => base_station,
        };
        Some((StationId(station), departure))
    }

    fn poll_timeout(&self, channel: ChannelId) -> Option<Deadline> {
        match channel {
            UP => self.up.poll_timeout(),
            _ => self.down.poll_timeout(),
        }
    }

    fn cut(&mut self, now: Instant, station: StationId) {
        let (carrier, port) = self.of_mut(station);
        carrier.cut(now, port);
    }

    fn restore(&mut self, now: Instant, station: StationId) {
        let (carrier, port) = self.of_mut(station);
        carrier.restore(now, port);
    }

    fn service_time(&mut self, now: Instant, station: StationId) -> ServiceTime {
        let (carrier, port) = self.of_mut(station);
        carrier.service_time(now, port)
    }

    fn channel_time(&mut self, now: Instant, channel: ChannelId) -> Option<ServiceTime> {
        Some(self.carrier_mut(channel).carrier_time(now))
    }

    fn radio(&self, station: StationId) -> Option<RadioCounters> {
        let (carrier, port) = self.of(station);
        Some(carrier.counters(port))
    }

    fn carried_to(&mut self, now: Instant, station: StationId) -> Option<Duration> {
        let terminal = usize::from(station.0);
        (station.0 != self.base_station).then(|| self.down.terminal_time(now, terminal))
    }

    fn port(&self, station: StationId) -> &Port<P> {
        let (carrier, port) = self.of(station);
        carrier.port(port)
    }

    fn port_mut(&mut self, now: Instant, station: StationId) -> &mut Port<P> {
        let (carrier, port) = self.of_mut(station);
        carrier.port_mut(now, port)
    }

    fn in_flight(&self, station: StationId) -> Tally {
        let (carrier, port) = self.of(station);
        carrier.in_flight(port)
    }
}

#[cfg(test)]
mod tests;
