//! What carries packets between stations: one closed type, a folder for each
//! kind. Whoever hosts a medium knows its stations by number and nothing of
//! its kind.

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
    ApQueue, GuardInterval, WifiError, WifiMotion, WifiRate, WifiRateControl, WifiSignal, WifiSpec,
    WifiStandard, WifiStation, WifiStrangers,
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

/// A medium and the packets of its stations, each in the queue of its station
/// until the medium serves it.
///
/// Stations that can get in each other's way share a *channel*, which has one
/// deadline: a cell has one channel, the directions of a wired medium are two.
///
/// Order of calls: any, with `now` never going back. Poll a channel until
/// `None` whenever its deadline is reached and after every call that changes
/// something for one of its stations. A station or channel that the medium
/// does not have is a mistake of the caller and panics.
pub struct Medium<P>(Kind<P>);

// A box would put a pointer before every packet of the kind that is used most.
#[expect(clippy::large_enum_variant, reason = "media are few and live long")]
enum Kind<P> {
    Wired(Wired<P>),
    Wifi(Box<Wifi<P>>),
    Lte(Box<Lte<P>>),
    #[cfg(any(test, feature = "testing"))]
    TokenRing(TokenRing<P>),
}

/// `$what` of the model, whatever its kind.
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
    /// A medium at the run's epoch: every station is up and has nothing to
    /// send.
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

    /// One for the stations of a cell together, two of a wired medium.
    pub fn channels(&self) -> impl Iterator<Item = ChannelId> + use<P> {
        let count = of!(&self.0, model => model.channel_count());
        (0..count).map(ChannelId)
    }

    /// The channel that the station sends on.
    #[must_use]
    #[inline]
    pub fn channel_of(&self, station: StationId) -> ChannelId {
        of!(&self.0, model => model.channel_of(station))
    }

    /// Gives a packet to the queue of the station that sends it, for the
    /// station that is to receive it. Its size alone will do for `info`.
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

    /// The next packet of the channel that has ended by `now`, and the station
    /// that sent it: those of one station in order of time.
    #[inline]
    pub fn poll(&mut self, now: Instant, channel: ChannelId) -> Option<(StationId, Departure<P>)> {
        of!(&mut self.0, model => model.poll(now, channel))
    }

    /// When [`Medium::poll`] may have something to give, if ever without
    /// another call.
    #[must_use]
    #[inline]
    pub fn poll_timeout(&self, channel: ChannelId) -> Option<Deadline> {
        of!(&self.0, model => model.poll_timeout(channel))
    }

    /// Switches a station off: its packets that wait or are being transmitted
    /// are dropped, as is what comes; what has left the medium still arrives.
    pub fn cut(&mut self, now: Instant, station: StationId) {
        of!(&mut self.0, model => model.cut(now, station));
    }

    /// Switches a station on again.
    pub fn restore(&mut self, now: Instant, station: StationId) {
        of!(&mut self.0, model => model.restore(now, station));
    }

    /// Changes the one-way propagation delay of what the station transmits
    /// from now on; its packets keep their order.
    pub fn set_delay(&mut self, now: Instant, station: StationId, delay: Duration) {
        self.port_mut(now, station).line_mut().set_delay(delay);
    }

    /// Changes the probability, 0 to 1, that a packet which the station
    /// transmits from now on is lost on its way.
    pub fn set_loss(&mut self, now: Instant, station: StationId, loss: f64) {
        let line = self.port_mut(now, station).line_mut();
        line.losses().set_random(loss);
    }

    /// What the medium was to a station until `now`.
    pub fn service_time(&mut self, now: Instant, station: StationId) -> ServiceTime {
        of!(&mut self.0, model => model.service_time(now, station))
    }

    /// What a channel of a cell was used for until `now`: `used` by one
    /// exchange of frames or by resource blocks (each its part of the whole),
    /// `idle` while nobody sent, as stations waited for their turns or had
    /// nothing to send, and `blocked` by transmissions at the same time and by
    /// strangers. `None` where there is no cell.
    pub fn channel_time(&mut self, now: Instant, channel: ChannelId) -> Option<ServiceTime> {
        of!(&mut self.0, model => model.channel_time(now, channel))
    }

    /// Of a channel on which one sends to many, what was used until `now` for
    /// what was sent to this station; `None` where nobody counts that.
    pub fn carried_to(&mut self, now: Instant, station: StationId) -> Option<Duration> {
        of!(&mut self.0, model => model.carried_to(now, station))
    }

    /// What a station did with its turns, if it is one of a cell.
    #[must_use]
    pub fn radio(&self, station: StationId) -> Option<RadioCounters> {
        of!(&self.0, model => model.radio(station))
    }

    /// What the medium holds of a station: waiting, being transmitted,
    /// travelling, or ended but not polled yet.
    #[must_use]
    pub fn in_flight(&self, station: StationId) -> Tally {
        of!(&self.0, model => model.in_flight(station))
    }

    /// What the medium has taken from a station and given back.
    #[must_use]
    pub fn counters(&self, station: StationId) -> &Counters {
        self.port(station).counters()
    }

    /// Whether the station is switched on.
    #[must_use]
    pub fn is_up(&self, station: StationId) -> bool {
        self.port(station).is_up()
    }

    /// One-way propagation delay from the station.
    #[must_use]
    pub fn delay(&self, station: StationId) -> Duration {
        self.port(station).line().delay()
    }

    /// The medium as one whose stations have a capacity each that is known
    /// beforehand, if it is of that kind.
    #[must_use]
    pub fn wired(&self) -> Option<&Wired<P>> {
        match &self.0 {
            Kind::Wired(wired) => Some(wired),
            Kind::Wifi(_) | Kind::Lte(_) => None,
            #[cfg(any(test, feature = "testing"))]
            Kind::TokenRing(_) => None,
        }
    }

    /// The same, to change it.
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
