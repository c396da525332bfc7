//! Cell of IEEE 802.11: stations around an access point that hear each other
//! and take turns by DCF (802.11b and g) or EDCA (802.11n).
//! `docs/models/wifi.md` describes the model, its sources by clause and its
//! validation.
//!
//! Each transmission opportunity has two events, its beginning and its end.
//! Slots, interframe spaces and answers have none: the time of the next
//! transmission follows from the contenders' counters.

mod contender;
mod control;
mod keys;
mod lane;
mod losses;
mod obss;
mod rate;
mod sender;
mod signal;
mod spec;
mod timing;
mod turns;

pub use rate::{GuardInterval, WifiRate, WifiStandard};
pub use signal::{WifiMotion, WifiSignal};
pub use spec::{ApQueue, WifiError, WifiObssRelation, WifiRateControl, WifiSpec, WifiStation};

use super::model::Model;
use super::port::Port;
use super::radio::RadioCounters;
use super::service::{Meter, Service};
use crate::{ChannelId, Departure, PacketInfo, ServiceTime, StationId, Tally};
use contender::{Contender, Contenders};
use control::RadioDirection;
use obss::OverlappingNetwork;
use sender::{Sender, SenderSetup};
use signal::Signal;
use timing::Timing;
use weft_units::{Deadline, Duration, Instant, Rng};

/// WiFi cell. Stations have the numbers of the specification, followed by the
/// access point.
pub(crate) struct Wifi<P> {
    now: Instant,
    timing: Timing,
    radios: Vec<Radio>,
    senders: Vec<Sender<P>>,
    /// Senders with packets that have left the medium, in order.
    leaving: Vec<usize>,
    contenders: Contenders,
    meters: Vec<Meter>,
    /// Use of the channel: one exchange, idle, or a collision.
    channel: Meter,
    counters: Vec<RadioCounters>,
    air: Air,
    obss: Option<OverlappingNetwork>,
    /// Margin in dB by which a signal at the access point survives a collision.
    capture: Option<f64>,
    /// End of the last busy period.
    busy_until: Instant,
    /// Transmissions on the air; more than one is a collision.
    on_air: Vec<Transmission>,
}

/// Radio link between a station and the access point.
struct Radio {
    up: RadioDirection,
    down: RadioDirection,
    /// Signal of the station at the access point, and the reverse.
    signal_up: Signal,
    signal_down: Signal,
}

/// State of the medium for stations that hear everything.
#[derive(Clone, Copy)]
enum Air {
    /// The next transmission starts at this time, unless an earlier sender appears.
    Idle { next: Option<Instant> },
    /// Overlapping networks transmit; the next sender that does not hear them starts at
    /// time `next`.
    Obss {
        until: Instant,
        next: Option<Instant>,
    },
    Busy {
        until: Instant,
        /// End of the busy time for stations that do not transmit, also after a missing
        /// answer or an undecodable frame.
        others_idle: Instant,
    },
}

struct Transmission {
    contender: usize,
    lane: usize,
    /// Index of its rate in the sender's options.
    option: usize,
    /// Number of its frames, and number of those that survive noise.
    frames: u32,
    intact: u32,
    begun: Instant,
    /// End of the data.
    ended: Instant,
    /// Duration of the answer after the data.
    answer: Duration,
    is_answered: bool,
}

impl Transmission {
    /// Returns the duration, including the answer if there was one.
    fn took(&self) -> Duration {
        let data = self.ended.saturating_since(self.begun);
        match self.is_answered {
            true => data + self.answer,
            false => data,
        }
    }
}

impl<P> Wifi<P> {
    pub fn new(spec: &WifiSpec, rng: &Rng) -> Wifi<P> {
        let timing = Timing {
            attempts: u32::from(spec.attempts),
            ..Timing::of(spec.standard)
        };
        let radio = |(index, station): (usize, &WifiStation)| {
            let rng = rng.stream("radio").stream(&index.to_string());
            let way = |control, name| {
                let rng = rng.stream(name);
                RadioDirection::new(spec.standard, spec.guard, control, &timing, &rng)
            };
            Radio {
                up: way(station.up, "up"),
                down: way(station.down, "down"),
                signal_up: Signal::new(&station.signal, &rng),
                signal_down: Signal::new(station.signal_down(), &rng),
            }
        };
        let radios = spec.stations.iter().enumerate().map(radio).collect();
        Wifi::of(timing, radios, spec, rng)
    }

    fn of(timing: Timing, radios: Vec<Radio>, spec: &WifiSpec, rng: &Rng) -> Wifi<P> {
        let categories = timing.access.len();
        let access_point = spec.stations.len();
        let rngs: Vec<Rng> = (0..=access_point)
            .map(|index| match index == access_point {
                true => rng.stream("access point"),
                false => rng.stream(&index.to_string()),
            })
            .collect();
        let sender = |(index, rng): (usize, &Rng)| {
            let station = spec.stations.get(index);
            Sender::new(&SenderSetup {
                receivers: match station {
                    Some(_) => access_point..access_point + 1,
                    None => 0..access_point,
                },
                categories,
                limit: station.map_or(spec.queue, |s| s.queue),
                aqm: station.map_or(spec.aqm, |s| s.aqm),
                order: station.map_or(spec.ap_queue, |_| ApQueue::PerStation),
                delay: spec.delay,
                rng,
            })
        };
        let contenders = |(index, rng): (usize, &Rng)| {
            let rng = rng.stream("backoff");
            let timing = &timing;
            let hears = spec
                .stations
                .get(index)
                .is_none_or(|s| s.obss == WifiObssRelation::Heard);
            let own = (0..categories).map(move |category| {
                Contender::new(timing, category, hears, rng.stream(&category.to_string()))
            });
            own.collect::<Vec<_>>()
        };
        let mut wifi = Wifi {
            now: Instant::ZERO,
            radios,
            senders: rngs.iter().enumerate().map(sender).collect(),
            leaving: Vec::new(),
            contenders: Contenders::new(
                rngs.iter().enumerate().flat_map(contenders).collect(),
                categories,
            ),
            meters: rngs.iter().map(|_| Meter::new(Service::Idle)).collect(),
            channel: Meter::new(Service::Idle),
            counters: vec![RadioCounters::default(); rngs.len()],
            air: Air::Idle { next: None },
            obss: OverlappingNetwork::new(spec, rng.stream("strangers")),
            capture: spec.capture,
            busy_until: Instant::ZERO,
            on_air: Vec::new(),
            timing,
        };
        wifi.defer_obss(Instant::ZERO);
        wifi.contend();
        wifi
    }
}

impl<P> Model<P> for Wifi<P> {
    fn enqueue(
        &mut self,
        now: Instant,
        from: StationId,
        to: StationId,
        info: PacketInfo,
        packet: P,
    ) {
        let now = self.advance(now);
        let (from, to) = (usize::from(from.0), usize::from(to.0));
        let category = self.timing.category(info.class);
        self.senders[from].enqueue(now, to, category, info, packet);
        self.note_leaving(from);
        let index = from * self.categories() + category;
        if self.contenders.is_active(index) || !self.senders[from].has_work(category) {
            return;
        }
        // A packet that arrives at the end of an exchange arrived during the data, before
        // the answer: the medium was busy.
        let is_busy = matches!(self.air, Air::Busy { .. })
            || self.contenders.waits_for_obss(index)
            || self.busy_until == now;
        self.contenders.activate(index, now, is_busy);
        let access = self.contenders.access_at(index);
        if let Air::Idle { next } | Air::Obss { next, .. } = &mut self.air {
            *next = next.iter().copied().chain(access).min();
            self.measure(now);
        }
    }

    fn poll(&mut self, now: Instant, _: ChannelId) -> Option<(StationId, Departure<P>)> {
        let now = self.advance(now);
        let mut place = 0;
        while let Some(sender) = self.leaving.get(place).copied() {
            let port = self.senders[sender].port_mut();
            if let Some(departure) = port.poll(now) {
                return Some((StationId(sender as u16), departure));
            }
            match port.poll_timeout() {
                Some(_) => place += 1,
                None => {
                    self.leaving.remove(place);
                }
            }
        }
        None
    }

    fn poll_timeout(&self, _: ChannelId) -> Option<Deadline> {
        let leaving = self.leaving.iter();
        let ended = leaving.map(|sender| self.senders[*sender].port().poll_timeout());
        let turn = match self.air {
            Air::Idle { next } => next,
            Air::Obss { until, next } => next.into_iter().chain([until]).min(),
            Air::Busy { until, .. } => Some(until),
        };
        let turn = turn.map(|at| Deadline { at, reason: "turn" });
        ended.fold(turn, Deadline::earlier)
    }

    fn cut(&mut self, now: Instant, station: StationId) {
        let now = self.advance(now);
        let index = usize::from(station.0);
        self.senders[index].cut(now);
        self.note_leaving(index);
        let categories = self.categories();
        let own = index * categories..(index + 1) * categories;
        own.for_each(|index| self.contenders.deactivate(index));
        if !matches!(self.air, Air::Busy { .. }) {
            self.contend();
        }
        self.measure(now);
    }

    fn restore(&mut self, now: Instant, station: StationId) {
        let now = self.advance(now);
        self.senders[usize::from(station.0)].port_mut().restore();
        self.measure(now);
    }

    fn service_time(&mut self, now: Instant, station: StationId) -> ServiceTime {
        let now = self.advance(now);
        self.meters[usize::from(station.0)].until(now)
    }

    fn channel_time(&mut self, now: Instant, _: ChannelId) -> Option<ServiceTime> {
        let now = self.advance(now);
        Some(self.channel.until(now))
    }

    fn radio(&self, station: StationId) -> Option<RadioCounters> {
        Some(self.counters[usize::from(station.0)])
    }

    fn port(&self, station: StationId) -> &Port<P> {
        self.senders[usize::from(station.0)].port()
    }

    fn port_mut(&mut self, now: Instant, station: StationId) -> &mut Port<P> {
        self.advance(now);
        self.senders[usize::from(station.0)].port_mut()
    }

    fn in_flight(&self, station: StationId) -> Tally {
        self.senders[usize::from(station.0)].in_flight()
    }
}

#[cfg(test)]
mod tests;
