//! Cell in which senders always have packets.

use crate::medium::model::Model;
use crate::medium::wifi::control::RadioDirection;
use crate::medium::wifi::rate::Modulation;
use crate::medium::wifi::signal::Signal;
use crate::medium::wifi::timing::Timing;
use crate::medium::wifi::{Radio, Wifi, WifiRate, WifiSignal, WifiSpec, WifiStandard, WifiStation};
use crate::{ChannelId, Departure, PacketInfo, RadioCounters, StationId, TrafficClass};
use weft_units::{Bytes, Duration, Instant, Rng};

/// Endless packets of one size from one station to another.
#[derive(Clone, Copy)]
pub struct Load {
    pub from: u16,
    pub to: u16,
    pub size: u64,
    pub class: TrafficClass,
}

/// Results after the first tenth of the run.
pub struct Outcome {
    /// Mbit/s of packets, per load.
    pub mbps: Vec<f64>,
    /// Abandoned packets, per load.
    pub retries: Vec<u64>,
    /// Counters of the first station.
    pub radio: RadioCounters,
}

impl Outcome {
    pub fn total(&self) -> f64 {
        self.mbps.iter().sum()
    }
}

/// Returns loads from every station to the access point, which is the last one.
pub fn upwards(stations: u16, size: u64) -> Vec<Load> {
    let load = |from| Load {
        from,
        to: stations,
        size,
        class: TrafficClass::default(),
    };
    (0..stations).map(load).collect()
}

pub fn stations(standard: WifiStandard, rates: &[&str]) -> WifiSpec {
    let rate = |name: &&str| -> WifiRate { standard.rate(name).expect("a rate") };
    let stations = rates.iter().map(rate).map(WifiStation::new).collect();
    WifiSpec::new(standard, stations)
}

/// Creates a cell whose stations have this timing and modulation.
pub fn custom(timing: Timing, modulation: Modulation, count: u16) -> Wifi<usize> {
    let spec = stations(WifiStandard::G, &vec!["54mbit"; usize::from(count)]);
    let radio = |_| Radio {
        up: RadioDirection::without_losses(modulation),
        down: RadioDirection::without_losses(modulation),
        signal_up: Signal::new(&WifiSignal::steady(40.0), &Rng::new(1)),
        signal_down: Signal::new(&WifiSignal::steady(40.0), &Rng::new(1)),
    };
    let radios = (0..count).map(radio).collect();
    Wifi::of(timing, radios, &spec, &Rng::new(1))
}

pub fn cell(spec: &WifiSpec) -> Wifi<usize> {
    spec.check().expect("a cell");
    Wifi::new(spec, &Rng::new(1))
}

/// Runs the cell for this span after a warm-up of a tenth of it. Packets are replaced as
/// they end.
pub fn saturate(wifi: Wifi<usize>, loads: &[Load], span: Duration) -> Outcome {
    let begin = Instant::ZERO + span / 10;
    let mut delivered = vec![0; loads.len()];
    let mut retries = vec![0; loads.len()];
    let wifi = feed(wifi, loads, begin + span, |departure| match departure {
        Departure::Delivered { packet, at, .. } => {
            delivered[*packet] += u64::from(*at > begin) * loads[*packet].size;
        }
        Departure::Dropped { packet, .. } => retries[*packet] += 1,
    });
    let mbps = |bytes: u64| bytes as f64 * 8.0 / 1e6 / span.as_secs_f64();
    Outcome {
        mbps: delivered.into_iter().map(mbps).collect(),
        retries,
        radio: wifi.radio(StationId(0)).expect("a station"),
    }
}

/// Returns the total Mbit/s in each second of a run.
pub fn by_second(wifi: Wifi<usize>, loads: &[Load], seconds: u64) -> Vec<f64> {
    let mut mbps = vec![0.0; seconds as usize];
    let end = Instant::ZERO + (Duration::from_secs(seconds) - Duration::from_nanos(1));
    feed(wifi, loads, end, |departure| {
        if let Departure::Delivered { packet, at, .. } = departure {
            let second = at.as_nanos() / Duration::from_secs(1).as_nanos();
            mbps[second as usize] += loads[*packet].size as f64 * 8.0 / 1e6;
        }
    });
    mbps
}

/// Gives each load another packet whenever one of its packets ends, until `end`.
fn feed(
    mut wifi: Wifi<usize>,
    loads: &[Load],
    end: Instant,
    mut on_end: impl FnMut(&Departure<usize>),
) -> Wifi<usize> {
    // More than an aggregate, so that there is always another one.
    const WAITING: usize = 150;
    let give = |wifi: &mut Wifi<usize>, now, index: usize| {
        let Load {
            from,
            to,
            size,
            class,
        } = loads[index];
        let info = PacketInfo::new(Bytes(size)).with_class(class);
        wifi.enqueue(now, StationId(from), StationId(to), info, index);
    };
    for index in 0..loads.len() {
        (0..WAITING).for_each(|_| give(&mut wifi, Instant::ZERO, index));
    }
    while let Some(deadline) = wifi.poll_timeout(ChannelId(0)).filter(|d| d.at <= end) {
        while let Some((_, departure)) = wifi.poll(deadline.at, ChannelId(0)) {
            on_end(&departure);
            let (Departure::Delivered { packet, .. } | Departure::Dropped { packet, .. }) =
                departure;
            give(&mut wifi, deadline.at, packet);
        }
    }
    wifi
}

/// Panics if the two differ by more than this share.
pub fn assert_near(what: &str, found: f64, expected: f64, share: f64) {
    let off = found / expected - 1.0;
    println!(
        "{what}: {found:.4}, closed form {expected:.4}: {:+.2} %",
        off * 100.0
    );
    assert!(
        off.abs() <= share,
        "{what}: {found:.4} is {:+.2} % off {expected:.4}",
        off * 100.0
    );
}
