use super::rate::{GuardInterval, WifiRate, WifiStandard};
use super::signal::WifiSignal;
use crate::Aqm;
use weft_units::{Bytes, Duration};

/// A cell of IEEE 802.11: stations around an access point, which hear each
/// other.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiSpec {
    /// What all of them speak. Default 802.11n.
    pub standard: WifiStandard,
    /// Of 802.11n. Default short.
    pub guard: GuardInterval,
    /// Those beside the access point, at least one. Packets go between one of
    /// them and the access point.
    pub stations: Vec<WifiStation>,
    /// What may wait at the access point. Default 3 MB, 2000 full packets
    /// (chosen by us: what the GCC thesis's rates and delays imply).
    pub queue: Bytes,
    /// What has it. Default one for all stations.
    pub ap_queue: ApQueue,
    /// The discipline of the access point's queue, or of each of its queues.
    /// Default drop-tail.
    pub aqm: Aqm,
    /// How much stronger than all others together, in dB, a frame must arrive
    /// at the access point to survive a collision; `None`: none does. Default
    /// none.
    pub capture: Option<f64>,
    /// The share of the time, below 1, for which strangers hold the medium of
    /// what the cell leaves them. Default zero.
    pub interference: f64,
    /// How long strangers hold it at a time, in the mean. Default 2 ms (chosen
    /// by us: about an aggregate).
    pub busy_period: Duration,
    /// How often a frame is sent before it is given up, at least once. Default
    /// 7 (dot11ShortRetryLimit); drivers go on for longer, some up to 30 times.
    pub attempts: u8,
    /// One-way delay of the wire behind the access point. Default zero.
    pub delay: Duration,
}

/// A station of a cell.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiStation {
    /// What it sends at.
    pub up: WifiRateControl,
    /// What the access point sends to it at.
    pub down: WifiRateControl,
    /// Its signal at the access point, by which frames are lost, and by which
    /// one of several at the same time can be received (`capture`). Default
    /// 40 dB all the time (chosen by us: a few metres away), at which nothing
    /// is lost.
    pub signal: WifiSignal,
    /// The access point's at the station, where it is not the same: one that
    /// sends at more power, or hears with less noise. What moves, moves both.
    pub signal_back: Option<WifiSignal>,
    /// Whether it and strangers hear each other. Default heard.
    pub strangers: WifiStrangers,
    /// What may wait at it, in each category. Default 1.5 MB, 1000 full
    /// packets (Linux's default length of a device's queue).
    pub queue: Bytes,
    /// Its queues' discipline. Default drop-tail.
    pub aqm: Aqm,
}

/// What a sender takes its rate by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WifiRateControl {
    /// It has this one.
    Fixed(WifiRate),
    /// `ideal`: the fastest of which less than a tenth of the frames is lost at
    /// the signal that the receiver had some 50 ms ago at most.
    Ideal,
    /// `minstrel`: the one that brought most, as Linux's minstrel_ht finds it
    /// by trying.
    Minstrel,
}

/// What a station and strangers are to each other; the access point and they
/// always hear each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WifiStrangers {
    /// `heard`: they wait for each other.
    #[default]
    Heard,
    /// `hidden`: it sends while they do, they begin while it does, and what
    /// comes to the access point at the same time as they is lost.
    Hidden,
}

/// How the packets for several stations wait at the access point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ApQueue {
    /// `fifo`: one limit for all. The next transmission is to the receiver of
    /// the packet that has waited longest, and takes along what else waits
    /// for the same receiver as far as the standard can aggregate it.
    #[default]
    Fifo,
    /// `per-station`: each station has a queue and a limit of its own, and
    /// they are served in turn.
    PerStation,
    /// `airtime`: the same, but turns are dealt out so that stations for which
    /// something waits get the same time of the medium, collisions and
    /// failures counted in, whatever their rates.
    Airtime,
}

/// A cell that cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WifiError {
    /// Nobody is there but the access point.
    #[error("a cell has an access point and at least one station: add one")]
    NoStation,
    /// The access point runs out of association identifiers.
    #[error("a cell of {stations} stations: an access point has addresses for {MOST_STATIONS}")]
    TooManyStations {
        /// How many there are.
        stations: usize,
    },
    /// A rate that the cell's standard does not have.
    #[error(
        "802.11{} has no rate {rate}: it has {}", standard.as_str(), known_rates(*standard)
    )]
    NoSuchRate {
        /// That of the cell.
        standard: WifiStandard,
        /// What was asked for, as written.
        rate: String,
    },
    /// Strangers that come and go too often to be followed.
    #[error("strangers hold the medium for 10us at a time or longer: raise `busy-period`")]
    BusyPeriod,
    /// A signal that would decide about losses that are not modelled.
    #[error(
        "what noise does to 802.11b is not modelled: give its stations one of its rates and \
         a signal that stays"
    )]
    UnknownLosses,
}

/// Association identifiers are 1 to 2007 (IEEE 802.11-2016, 9.4.1.8).
const MOST_STATIONS: usize = 2007;
const AP_QUEUE: Bytes = Bytes(3_000_000);
/// dot11ShortRetryLimit's default.
pub(super) const ATTEMPTS: u8 = 7;
/// About a slot; chosen by us.
const LEAST_BUSY_PERIOD: Duration = Duration::from_micros(10);
const BUSY_PERIOD: Duration = Duration::from_millis(2);
const SNR: f64 = 40.0;
const STATION_QUEUE: Bytes = Bytes(1_500_000);

impl WifiSpec {
    /// A cell of these stations with an access point that has one queue.
    #[must_use]
    pub fn new(standard: WifiStandard, stations: Vec<WifiStation>) -> WifiSpec {
        WifiSpec {
            standard,
            guard: GuardInterval::default(),
            stations,
            queue: AP_QUEUE,
            ap_queue: ApQueue::default(),
            aqm: Aqm::DropTail,
            capture: None,
            interference: 0.0,
            busy_period: BUSY_PERIOD,
            attempts: ATTEMPTS,
            delay: Duration::ZERO,
        }
    }

    /// Whether there can be such a cell.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), WifiError> {
        let stations = self.stations.len();
        if stations == 0 {
            return Err(WifiError::NoStation);
        }
        if stations > MOST_STATIONS {
            return Err(WifiError::TooManyStations { stations });
        }
        if self.busy_period < LEAST_BUSY_PERIOD {
            return Err(WifiError::BusyPeriod);
        }
        let known = self.standard.rates();
        let controls = || self.stations.iter().flat_map(|s| [s.up, s.down]);
        let mut rates = controls().filter_map(WifiRateControl::fixed);
        if let Some(rate) = rates.find(|rate| !known.contains(rate)) {
            return Err(WifiError::NoSuchRate {
                standard: self.standard,
                rate: rate.to_string(),
            });
        }
        let signals = || {
            self.stations
                .iter()
                .flat_map(|s| [&s.signal, s.signal_down()])
        };
        let is_known = self.standard != WifiStandard::B
            || (controls().all(|control| control.fixed().is_some())
                && signals().all(WifiSignal::is_steady));
        is_known.then_some(()).ok_or(WifiError::UnknownLosses)
    }
}

impl WifiStation {
    /// One that sends and is sent to at this rate.
    #[must_use]
    pub fn new(rate: WifiRate) -> WifiStation {
        WifiStation::of(WifiRateControl::Fixed(rate))
    }

    /// One with this choice of rates, both ways.
    #[must_use]
    pub fn of(control: WifiRateControl) -> WifiStation {
        WifiStation {
            up: control,
            down: control,
            signal: WifiSignal::steady(SNR),
            signal_back: None,
            strangers: WifiStrangers::default(),
            queue: STATION_QUEUE,
            aqm: Aqm::DropTail,
        }
    }

    /// The access point's signal at it.
    pub(super) fn signal_down(&self) -> &WifiSignal {
        self.signal_back.as_ref().unwrap_or(&self.signal)
    }
}

impl WifiRateControl {
    /// The rate, if it is always the same.
    #[must_use]
    pub const fn fixed(self) -> Option<WifiRate> {
        match self {
            WifiRateControl::Fixed(rate) => Some(rate),
            WifiRateControl::Ideal | WifiRateControl::Minstrel => None,
        }
    }
}

impl WifiStrangers {
    /// All, by their names.
    pub const ALL: [WifiStrangers; 2] = [WifiStrangers::Heard, WifiStrangers::Hidden];

    /// As in scenario files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            WifiStrangers::Heard => "heard",
            WifiStrangers::Hidden => "hidden",
        }
    }
}

impl ApQueue {
    /// All, by their names.
    pub const ALL: [ApQueue; 3] = [ApQueue::Fifo, ApQueue::PerStation, ApQueue::Airtime];

    /// As in scenario files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ApQueue::Fifo => "fifo",
            ApQueue::PerStation => "per-station",
            ApQueue::Airtime => "airtime",
        }
    }
}

fn known_rates(standard: WifiStandard) -> String {
    let names: Vec<String> = standard.rates().iter().map(WifiRate::to_string).collect();
    names.join(", ")
}
