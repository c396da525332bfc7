//! Media that carry packets between stations: one closed type, and a folder for each
//! kind. The host of a medium addresses its stations by number and never depends on its
//! kind.

mod ids;
mod keys;
mod lte;
mod model;
mod port;
mod radio;
mod service;
mod spec;
mod station;
#[cfg(any(test, feature = "testing"))]
mod token_ring;
mod waves;
mod wifi;
mod wired;

pub use ids::{ChannelId, StationId};
pub use lte::{
    LteBandwidth, LteBearers, LteError, LteMotion, LteQuality, LteScheduler, LteSignal, LteSpec,
    LteTerminal,
};
pub use radio::RadioCounters;
pub use service::ServiceTime;
pub use spec::MediumSpec;
pub use wifi::{
    ApQueue, GuardInterval, WifiError, WifiMotion, WifiObssRelation, WifiRate, WifiRateControl,
    WifiSignal, WifiSpec, WifiStandard, WifiStation,
};
pub use wired::{Link, Wired, WiredDirection};

use crate::{Counters, Departure, PacketInfo, Tally};
use lte::Lte;
use model::Model;
use port::Port;
use spec::KindSpec;
#[cfg(any(test, feature = "testing"))]
use token_ring::TokenRing;
use weft_units::{Deadline, Duration, Instant, Rng};
use wifi::Wifi;

/// Medium and the packets of its stations. Each packet waits in the queue of its station
/// until the medium serves it.
///
/// Stations that can block each other share a *channel*, which has one deadline. A cell
/// has one channel; a wired medium has one for each direction.
///
/// Calls may come in any order, but `now` must not decrease. Poll a channel until `None`
/// whenever its deadline is reached and after every call that changes one of its
/// stations. Panics if the medium has no such station or channel.
pub struct Medium<P>(Kind<P>);

// A box would need a pointer for every packet of the most common kind.
#[expect(clippy::large_enum_variant, reason = "media are few and live long")]
enum Kind<P> {
    Wired(Wired<P>),
    Wifi(Box<Wifi<P>>),
    Lte(Box<Lte<P>>),
    #[cfg(any(test, feature = "testing"))]
    TokenRing(TokenRing<P>),
}

/// Evaluates `$what` on the model of any kind.
macro_rules! of {
    ($medium:expr, $model:ident => $what:expr) => {
        match $medium {
            Kind::Wired($model) => $what,
            Kind::Wifi($model) => $what,
            Kind::Lte($model) => $what,
            #[cfg(any(test, feature = "testing"))]
            Kind::TokenRing($model) => $what,
        }
    };
}

impl<P> Medium<P> {
    /// Creates a medium at the run's epoch: every station is up and has no
    /// packets.
    #[must_use]
    pub fn new(spec: &MediumSpec, rng: &Rng) -> Medium<P> {
        Medium(match spec.kind() {
            KindSpec::Wired(links) => Kind::Wired(Wired::new(links, rng)),
            KindSpec::Wifi(cell) => Kind::Wifi(Box::new(Wifi::new(cell, rng))),
            KindSpec::Lte(cell) => Kind::Lte(Box::new(Lte::new(cell, rng))),
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(ring) => Kind::TokenRing(TokenRing::new(ring, rng)),
        })
    }

    /// Returns all channels: one for the stations of a cell together, two for a wired
    /// medium.
    pub fn channels(&self) -> impl Iterator<Item = ChannelId> + use<P> {
        let count = of!(&self.0, model => model.channel_count());
        (0..count).map(ChannelId)
    }

    /// Returns the channel on which the station sends.
    #[must_use]
    #[inline]
    pub fn channel_of(&self, station: StationId) -> ChannelId {
        of!(&self.0, model => model.channel_of(station))
    }

    /// Adds a packet to the queue of the sending station, for the receiving station.
    /// `info` can be just a size.
    #[inline]
    pub fn enqueue(
        &mut self,
        now: Instant,
        from: StationId,
        to: StationId,
        info: impl Into<PacketInfo>,
        packet: P,
    ) {
        of!(&mut self.0, model => model.enqueue(now, from, to, info.into(), packet));
    }

    /// Returns the next packet of the channel that has ended by `now`, with its sender.
    /// Packets of one station come in time order.
    #[inline]
    pub fn poll(&mut self, now: Instant, channel: ChannelId) -> Option<(StationId, Departure<P>)> {
        of!(&mut self.0, model => model.poll(now, channel))
    }

    /// Returns the time at which [`Medium::poll`] may return a packet without another
    /// call before, if there is one.
    #[must_use]
    #[inline]
    pub fn poll_timeout(&self, channel: ChannelId) -> Option<Deadline> {
        of!(&self.0, model => model.poll_timeout(channel))
    }

    /// Switches a station off. Waiting packets, the packet in transmission and
    /// later arrivals are dropped; packets that have left the medium still
    /// arrive.
    pub fn cut(&mut self, now: Instant, station: StationId) {
        of!(&mut self.0, model => model.cut(now, station));
    }

    /// Switches a station on again.
    pub fn restore(&mut self, now: Instant, station: StationId) {
        of!(&mut self.0, model => model.restore(now, station));
    }

    /// Changes the one-way propagation delay of packets that the station transmits from
    /// now on; their order stays the same.
    pub fn set_delay(&mut self, now: Instant, station: StationId, delay: Duration) {
        self.port_mut(now, station).line_mut().set_delay(delay);
    }

    /// Changes the loss probability, 0 to 1, of packets that the station
    /// transmits from now on.
    pub fn set_loss(&mut self, now: Instant, station: StationId, loss: f64) {
        let line = self.port_mut(now, station).line_mut();
        line.losses().set_random(loss);
    }

    /// Returns the service that a station got from the medium until `now`.
    pub fn service_time(&mut self, now: Instant, station: StationId) -> ServiceTime {
        of!(&mut self.0, model => model.service_time(now, station))
    }

    /// Returns the use of a cell's channel until `now`: `used` by one exchange of frames
    /// or by resource blocks (each for its part of the whole), `idle` while no station
    /// sent, because stations waited for their turns or had no packets, and `blocked` by
    /// simultaneous transmissions and overlapping networks. `None` for media without a
    /// cell.
    pub fn channel_time(&mut self, now: Instant, channel: ChannelId) -> Option<ServiceTime> {
        of!(&mut self.0, model => model.channel_time(now, channel))
    }

    /// Returns the time that a channel with one sender and many receivers spent on
    /// packets for this station until `now`; `None` if the medium does not count it.
    pub fn carried_to(&mut self, now: Instant, station: StationId) -> Option<Duration> {
        of!(&mut self.0, model => model.carried_to(now, station))
    }

    /// Returns the transmission counters of a station, if it belongs to a cell.
    #[must_use]
    pub fn radio(&self, station: StationId) -> Option<RadioCounters> {
        of!(&self.0, model => model.radio(station))
    }

    /// Returns the packets of a station on the medium: waiting, being transmitted,
    /// travelling, or ended but not polled yet.
    #[must_use]
    pub fn in_flight(&self, station: StationId) -> Tally {
        of!(&self.0, model => model.in_flight(station))
    }

    /// Returns the packets that a station has handed to the medium, by outcome.
    #[must_use]
    pub fn counters(&self, station: StationId) -> &Counters {
        self.port(station).counters()
    }

    /// Returns whether the station is switched on.
    #[must_use]
    pub fn is_up(&self, station: StationId) -> bool {
        self.port(station).is_up()
    }

    /// Returns the one-way propagation delay from the station.
    #[must_use]
    pub fn delay(&self, station: StationId) -> Duration {
        self.port(station).line().delay()
    }

    /// Returns the wired medium, in which each station has a known capacity; `None` for
    /// another kind.
    #[must_use]
    pub fn wired(&self) -> Option<&Wired<P>> {
        match &self.0 {
            Kind::Wired(wired) => Some(wired),
            Kind::Wifi(_) | Kind::Lte(_) => None,
            #[cfg(any(test, feature = "testing"))]
            Kind::TokenRing(_) => None,
        }
    }

    /// Returns the wired medium like [`Medium::wired`], but mutable.
    #[must_use]
    pub fn wired_mut(&mut self) -> Option<&mut Wired<P>> {
        match &mut self.0 {
            Kind::Wired(wired) => Some(wired),
            Kind::Wifi(_) | Kind::Lte(_) => None,
            #[cfg(any(test, feature = "testing"))]
            Kind::TokenRing(_) => None,
        }
    }

    fn port(&self, station: StationId) -> &Port<P> {
        of!(&self.0, model => model.port(station))
    }

    fn port_mut(&mut self, now: Instant, station: StationId) -> &mut Port<P> {
        of!(&mut self.0, model => model.port_mut(now, station))
    }
}

#[cfg(test)]
mod tests;
