use super::rate::{GuardInterval, WifiRate, WifiStandard};
use super::signal::WifiSignal;
use crate::Aqm;
use weft_units::{Bytes, Duration};

/// Cell of IEEE 802.11: stations around an access point, all within range of
/// each other.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiSpec {
    /// Standard of all stations. Default 802.11n.
    pub standard: WifiStandard,
    /// Guard interval of 802.11n. Default short.
    pub guard: GuardInterval,
    /// Stations besides the access point, at least one. Packets travel between
    /// one of them and the access point.
    pub stations: Vec<WifiStation>,
    /// Queue limit at the access point. Default 3 MB, 2000 full packets (chosen
    /// by us: the rates and delays of the GCC thesis imply it).
    pub queue: Bytes,
    /// Sharing of the access point's queue. Default one queue for all stations.
    pub ap_queue: ApQueue,
    /// Discipline of the access point's queue, or of each of its queues.
    /// Default drop-tail.
    pub aqm: Aqm,
    /// Margin in dB over all other signals together at which a frame at the access point
    /// survives a collision (capture). With `None`, the default, no frame survives.
    pub capture: Option<f64>,
    /// Share, below 1, of the time left by the cell in which overlapping networks occupy
    /// the medium. Default zero.
    pub interference: f64,
    /// Mean length of a transmission of overlapping networks. Default 2 ms
    /// (chosen by us: about an aggregate).
    pub busy_period: Duration,
    /// Attempts per frame before it is dropped, at least one. Default 7
    /// (dot11ShortRetryLimit); drivers try longer, some up to 30 times.
    pub attempts: u8,
    /// One-way delay of the wire behind the access point. Default zero.
    pub delay: Duration,
}

/// Station of a cell.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiStation {
    /// Rate control of the station.
    pub up: WifiRateControl,
    /// Rate control of the access point towards it.
    pub down: WifiRateControl,
    /// Signal of the station at the access point. It determines frame losses,
    /// and the capture of one of several simultaneous frames (`capture`).
    /// Default constantly 40 dB (chosen by us: a few metres away), at which no
    /// frame is lost.
    pub signal: WifiSignal,
    /// Signal of the access point at the station, if it differs because of more power or
    /// less noise. Motion affects both signals.
    pub signal_back: Option<WifiSignal>,
    /// Whether the station and overlapping networks hear each other. Default: they do.
    pub obss: WifiObssRelation,
    /// Queue limit of the station, in each category. Default 1.5 MB, 1000 full
    /// packets (Linux's default length of a device's queue).
    pub queue: Bytes,
    /// Discipline of its queues. Default drop-tail.
    pub aqm: Aqm,
}

/// Rate control of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WifiRateControl {
    /// Fixed rate.
    Fixed(WifiRate),
    /// `ideal`: the fastest rate with a loss below a tenth at the receiver's
    /// signal, which is known with an age of up to 50 ms.
    Ideal,
    /// `minstrel`: the rate with the highest throughput, found by trying rates
    /// like Linux's minstrel_ht.
    Minstrel,
}

weft_units::named! {
    /// Relation of a station to overlapping networks (OBSS); the access point and
    /// those networks always hear each other.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum WifiObssRelation: "relation of a foreign network" {
        /// `heard`: both wait for each other.
        #[default]
        Heard = "heard",
        /// `hidden`: neither waits for the other, and frames that arrive at the
        /// access point during a transmission of an overlapping network are lost.
        Hidden = "hidden",
    }
}

weft_units::named! {
    /// Organisation of the access point's queue for several stations.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum ApQueue: "queue of an access point" {
        /// `fifo`: one limit for all. The next transmission serves the receiver of the
        /// oldest packet, and includes other packets for that receiver up to the
        /// standard's aggregation limit.
        #[default]
        Fifo = "fifo",
        /// `per-station`: each station has its own queue and limit; the access
        /// point serves them in turn.
        PerStation = "per-station",
        /// `airtime`: a queue per station, served so that backlogged stations get
        /// equal airtime, including collisions and failures, at any rate.
        Airtime = "airtime",
    }
}

/// Invalid cell.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WifiError {
    /// The cell has only an access point.
    #[error("a cell has an access point and at least one station: add one")]
    NoStation,
    /// The access point runs out of association identifiers.
    #[error("a cell of {stations} stations: an access point has addresses for {MOST_STATIONS}")]
    TooManyStations {
        /// Number of stations.
        stations: usize,
    },
    /// A rate that the cell's standard does not have.
    #[error(
        "802.11{} has no rate {rate}: it has {}", standard.name(), known_rates(*standard)
    )]
    NoSuchRate {
        /// Standard of the cell.
        standard: WifiStandard,
        /// Rate in the specification, as written.
        rate: String,
    },
    /// Overlapping networks that come and go too often to be modelled.
    #[error(
        "an overlapping network holds the medium for 10us at a time or longer: raise `busy-period`"
    )]
    BusyPeriod,
    /// A signal that would cause losses that are not modelled.
    #[error(
        "what noise does to 802.11b is not modelled: give its stations one of its rates and \
         a signal that stays"
    )]
    UnknownLosses,
}

/// Highest number of stations: association identifiers are 1 to 2007 (IEEE 802.11-2016,
/// 9.4.1.8).
const MOST_STATIONS: usize = 2007;
const AP_QUEUE: Bytes = Bytes(3_000_000);
/// Default of dot11ShortRetryLimit.
pub(super) const ATTEMPTS: u8 = 7;
/// Shortest busy period, about a slot; chosen by us.
const LEAST_BUSY_PERIOD: Duration = Duration::from_micros(10);
const BUSY_PERIOD: Duration = Duration::from_millis(2);
const SNR: f64 = 40.0;
const STATION_QUEUE: Bytes = Bytes(1_500_000);

impl WifiSpec {
    /// Creates a cell of these stations; its access point has one queue.
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

    /// Checks that the cell is possible.
    ///
    /// # Errors
    /// The first problem.
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
    /// Creates a station with this rate in both directions.
    #[must_use]
    pub fn new(rate: WifiRate) -> WifiStation {
        WifiStation::of(WifiRateControl::Fixed(rate))
    }

    /// Creates a station with this rate control in both directions.
    #[must_use]
    pub fn of(control: WifiRateControl) -> WifiStation {
        WifiStation {
            up: control,
            down: control,
            signal: WifiSignal::steady(SNR),
            signal_back: None,
            obss: WifiObssRelation::default(),
            queue: STATION_QUEUE,
            aqm: Aqm::DropTail,
        }
    }

    /// Returns the signal of the access point at the station.
    pub(super) fn signal_down(&self) -> &WifiSignal {
        self.signal_back.as_ref().unwrap_or(&self.signal)
    }
}

impl WifiRateControl {
    /// Returns the rate, if it is fixed.
    #[must_use]
    pub const fn fixed(self) -> Option<WifiRate> {
        match self {
            WifiRateControl::Fixed(rate) => Some(rate),
            WifiRateControl::Ideal | WifiRateControl::Minstrel => None,
        }
    }
}

fn known_rates(standard: WifiStandard) -> String {
    let names: Vec<String> = standard.rates().iter().map(WifiRate::to_string).collect();
    names.join(", ")
}
