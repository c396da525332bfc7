//! Stations of two access categories, against Bianchi's chain with a zone of
//! slots in which only the more urgent ones can transmit: Robinson and
//! Randhawa, Saturation Throughput Analysis of IEEE 802.11e EDCF (JSAC 22(5),
//! 2004).

use super::bianchi::{Chain, as_in_theory, times};
use super::saturated::{assert_near, cell, saturate, stations, upwards};
use crate::TrafficClass::{self, Background, BestEffort, Voice};
use crate::medium::wifi::WifiStandard;
use crate::medium::wifi::rate::Modulation;
use crate::medium::wifi::timing::{Countdown, Timing};
use crate::{ChannelId, PacketInfo, StationId};
use weft_units::{Bytes, Duration, Instant};

/// Stations of one category.
#[derive(Clone, Copy)]
struct Group {
    chain: Chain,
    stations: i32,
    /// Slots that AIFS has beyond the more urgent group's.
    later: i32,
}

/// The shares of the slots in which a station of either group succeeds, and
/// the mean time of a slot.
fn shares(urgent: Group, other: Group, slot: f64, busy: f64) -> ([f64; 2], f64) {
    let (a, b) = (urgent.stations, other.stations);
    let quiet = |tau: f64, n: i32| (1.0 - tau).powi(n);
    let zones = |tau: [f64; 2]| {
        let of_urgent = quiet(tau[0], a);
        let first: f64 = (0..other.later).map(|slot| of_urgent.powi(slot)).sum();
        let both = of_urgent * quiet(tau[1], b);
        let second = of_urgent.powi(other.later) / (1.0 - both);
        (first / (first + second), second / (first + second))
    };
    let mut tau = [0.1, 0.1];
    for _ in 0..2_000 {
        let (first, second) = zones(tau);
        let alone = quiet(tau[0], a - 1);
        let p = [
            1.0 - first * alone - second * alone * quiet(tau[1], b),
            1.0 - quiet(tau[0], a) * quiet(tau[1], b - 1),
        ];
        let next = [urgent.chain.tau(p[0]), other.chain.tau(p[1])];
        tau = [0, 1].map(|i| 0.9 * tau[i] + 0.1 * next[i]);
    }
    let (first, second) = zones(tau);
    let succeeds = f64::from(a) * tau[0] * quiet(tau[0], a - 1);
    let of_urgent = first * succeeds + second * succeeds * quiet(tau[1], b);
    let of_other = second * f64::from(b) * tau[1] * quiet(tau[1], b - 1) * quiet(tau[0], a);
    let idle = first * quiet(tau[0], a) + second * quiet(tau[0], a) * quiet(tau[1], b);
    ([of_urgent, of_other], idle * slot + (1.0 - idle) * busy)
}

/// Frames without aggregation, so that all take the same time.
fn against_closed_form(urgent: TrafficClass, other: TrafficClass, each: u16) {
    let timing = Timing {
        aggregation: None,
        attempts: u32::MAX,
        ..as_in_theory(Timing::of(WifiStandard::N))
    };
    let group = |class: TrafficClass| {
        let access = timing.access[timing.category(class)];
        let later = access.ifs - timing.access[timing.category(urgent)].ifs;
        let window = f64::from(access.window_min + 1);
        Group {
            chain: Chain {
                window,
                doublings: (f64::from(access.window_max + 1) / window).log2() as i32,
                countdown: Countdown::Begins,
            },
            stations: i32::from(each),
            later: (later.as_nanos() / timing.slot.as_nanos()) as i32,
        }
    };
    let spec = stations(WifiStandard::N, &vec!["mcs7"; usize::from(2 * each)]);
    let modulation = Modulation::of(
        WifiStandard::N,
        spec.guard,
        spec.stations[0].up.fixed().expect("a rate"),
    );
    let of_frame = times(&timing, &modulation, timing.frame(1500));
    // Busy with the IFS of the urgent group behind it; a collision ends as
    // late as an answer at the lowest rate would.
    let spared = timing.access[0].ifs - timing.access[timing.category(urgent)].ifs;
    let spared = spared.as_nanos() as f64 / 1e3;
    let (success, collision) = (of_frame.success - spared, of_frame.collision - spared);
    let ([a, b], slot) = shares(group(urgent), group(other), of_frame.slot, success);
    // What collisions take longer than successes.
    let idle_and_successes = (slot - of_frame.slot) / (success - of_frame.slot);
    let collided = idle_and_successes - a - b;
    let slot = slot + collided * (collision - success);
    let mut wifi = cell(&spec);
    wifi.timing = timing;
    let mut loads = upwards(2 * each, 1500);
    for (index, load) in loads.iter_mut().enumerate() {
        load.class = if index < usize::from(each) {
            urgent
        } else {
            other
        };
    }
    let outcome = saturate(wifi, &loads, Duration::from_secs(300));
    let of = |range: &[f64]| range.iter().sum::<f64>();
    let (first, second) = outcome.mbps.split_at(usize::from(each));
    let what = format!(
        "802.11n, {each} {} and {each} {}",
        urgent.as_str(),
        other.as_str()
    );
    assert_near(
        &format!("{what}, the former"),
        of(first),
        a * 12_000.0 / slot,
        0.03,
    );
    // The chain takes counters for geometric, which those who wait longest feel.
    assert_near(
        &format!("{what}, the latter"),
        of(second),
        b * 12_000.0 / slot,
        0.05,
    );
}

#[test]
fn categories_share_as_their_parameters_say() {
    against_closed_form(BestEffort, Background, 5);
}

#[test]
fn inside_a_station_the_more_urgent_category_goes_first() {
    let mut wifi = cell(&stations(WifiStandard::N, &["mcs7"]));
    let mut give = |us: u64, class, packet: usize| {
        let at = Instant::ZERO + Duration::from_micros(us);
        let info = PacketInfo::new(Bytes(1500)).with_class(class);
        use crate::medium::model::Model;
        wifi.enqueue(at, StationId(0), StationId(1), info, packet);
    };
    // While the first one is sent: the urgent one's turn comes 9 us before
    // that of best effort, and its largest backoff is 3 slots.
    give(1_000, BestEffort, 0);
    for packet in 1..200 {
        give(1_010, BestEffort, packet);
    }
    give(1_020, Voice, 200);
    use crate::medium::model::Model;
    let mut order = Vec::new();
    while let Some(deadline) = wifi.poll_timeout(ChannelId(0)) {
        while let Some((_, departure)) = wifi.poll(deadline.at, ChannelId(0)) {
            if let crate::Departure::Delivered { packet, .. } = departure {
                order.push(packet);
            }
        }
    }
    let place = order.iter().position(|packet| *packet == 200);
    // At most one aggregate of 22 packets is before it.
    assert!(place <= Some(23), "{place:?}");
    assert_eq!(order.len(), 201);
}
