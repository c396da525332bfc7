//! A cell in which senders always have something to send.

use crate::medium::model::Model;
use crate::medium::wifi::timing::Timing;
use crate::medium::wifi::{Modulation, Radio, Wifi, WifiRate, WifiSpec, WifiStandard, WifiStation};
use crate::{ChannelId, Departure, PacketInfo, StationId, TrafficClass};
use weft_units::{Bytes, Duration, Instant, Rng};

/// Packets of one size from one to another, without end.
#[derive(Clone, Copy)]
pub struct Load {
    pub from: u16,
    pub to: u16,
    pub size: u64,
    pub class: TrafficClass,
}

/// What came through after the first tenth of the run.
pub struct Outcome {
    /// Of each load, Mbit/s of packets.
    pub mbps: Vec<f64>,
    /// Of each load, packets that were given up.
    pub retries: Vec<u64>,
}

impl Outcome {
    pub fn total(&self) -> f64 {
        self.mbps.iter().sum()
    }
}

/// Every station sends to the access point, which is the last one.
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

/// A cell whose stations follow this timing and send at this modulation.
pub fn custom(timing: Timing, modulation: Modulation, count: u16) -> Wifi<usize> {
    let spec = stations(WifiStandard::G, &vec!["54mbit"; usize::from(count)]);
    let radio = Radio {
        up: modulation,
        down: modulation,
    };
    let radios = vec![radio; usize::from(count)];
    Wifi::of(timing, radios, &spec, &Rng::new(1))
}

pub fn cell(spec: &WifiSpec) -> Wifi<usize> {
    spec.check().expect("a cell");
    Wifi::new(spec, &Rng::new(1))
}

/// Runs the cell for so long and a tenth before. Packets are replaced as they
/// end.
pub fn saturate(mut wifi: Wifi<usize>, loads: &[Load], span: Duration) -> Outcome {
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
    let begin = Instant::ZERO + span / 10;
    let end = begin + span;
    let mut delivered = vec![0; loads.len()];
    let mut retries = vec![0; loads.len()];
    while let Some(deadline) = wifi.poll_timeout(ChannelId(0)).filter(|d| d.at <= end) {
        while let Some((_, departure)) = wifi.poll(deadline.at, ChannelId(0)) {
            let index = match departure {
                Departure::Delivered { packet, at, .. } => {
                    delivered[packet] += u64::from(at > begin) * loads[packet].size;
                    packet
                }
                Departure::Dropped { packet, .. } => {
                    retries[packet] += 1;
                    packet
                }
            };
            give(&mut wifi, deadline.at, index);
        }
    }
    let mbps = |bytes: u64| bytes as f64 * 8.0 / 1e6 / span.as_secs_f64();
    Outcome {
        mbps: delivered.into_iter().map(mbps).collect(),
        retries,
    }
}

/// Fails when the two differ by more than this share.
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
