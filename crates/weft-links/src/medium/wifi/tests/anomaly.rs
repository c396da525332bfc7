//! One slow station among fast ones: Heusse et al., Performance Anomaly of
//! 802.11b (INFOCOM 2003). All stations get the same low throughput.

use super::bianchi::{Chain, Times, times};
use super::saturated::{Load, assert_near, cell, saturate, stations, upwards};
use crate::TrafficClass;
use crate::medium::wifi::rate::Modulation;
use crate::medium::wifi::timing::{Countdown, Timing};
use crate::medium::wifi::{ApQueue, WifiStandard};
use weft_units::Duration;

/// Returns the throughput of each of `n` stations in bits per microsecond if one of them
/// has the times of `slow`: Bianchi's slots, of unequal length.
fn each(chain: Chain, n: u32, bits: f64, fast: Times, slow: Times) -> f64 {
    let (tau, _) = chain.solve(n);
    let others = (1.0 - tau).powi(n as i32 - 1);
    let alone = tau * others;
    let n = f64::from(n);
    let quiet = (1.0 - tau) * others;
    // A collision takes as long as its longest frame.
    let of_fast = (1.0 - tau) * (1.0 - others) - (n - 1.0) * alone;
    let with_slow = tau * (1.0 - others);
    let in_a_row = |times: Times| chain.in_a_row(bits, times.success, times.slot);
    let success = |times: Times| in_a_row(times).1;
    let collision = |times: Times| times.collision + times.slot;
    let slot = quiet * fast.slot
        + alone * ((n - 1.0) * success(fast) + success(slow))
        + of_fast * collision(fast)
        + with_slow * collision(slow);
    alone * in_a_row(fast).0 / slot
}

#[test]
fn a_slow_station_slows_all_others_down_to_its_throughput() {
    for (standard, fast, slow) in [
        (WifiStandard::B, "11mbit", "1mbit"),
        (WifiStandard::G, "54mbit", "6mbit"),
    ] {
        for n in [2, 3, 5, 10] {
            let mut rates = vec![fast; n as usize];
            rates[0] = slow;
            let spec = stations(standard, &rates);
            let timing = Timing::of(standard);
            let access = timing.access[0];
            let window = f64::from(access.window_min + 1);
            let chain = Chain {
                window,
                doublings: (f64::from(access.window_max + 1) / window).log2() as i32,
                countdown: Countdown::Ends,
            };
            let times = |station: usize| {
                let rate = spec.stations[station].up.fixed().expect("a rate");
                let modulation = Modulation::of(standard, spec.guard, rate);
                times(&timing, &modulation, timing.frame(1500))
            };
            let expected = each(chain, n, 12_000.0, times(1), times(0));
            let outcome = saturate(
                cell(&spec),
                &upwards(n as u16, 1500),
                Duration::from_secs(800),
            );
            let what = format!("802.11{}, {slow} among {fast}, n {n}", standard.name());
            assert_near(&format!("{what}, slow"), outcome.mbps[0], expected, 0.03);
            let mean = outcome.mbps[1..].iter().sum::<f64>() / f64::from(n - 1);
            assert_near(&format!("{what}, fast"), mean, expected, 0.03);
        }
    }
}

/// Packets of the same size are sent to two fast stations and a slow one:
/// Hoiland-Jorgensen et al. 2017, figure 5.
#[test]
fn airtime_fairness_ends_the_anomaly_of_downloads() {
    let mut spec = stations(WifiStandard::N, &["mcs15", "mcs15", "mcs0"]);
    let loads: Vec<Load> = (0..3)
        .map(|to| Load {
            from: 3,
            to,
            size: 1500,
            class: TrafficClass::default(),
        })
        .collect();
    let mut slow_share = |queue: ApQueue| {
        spec.ap_queue = queue;
        let outcome = saturate(cell(&spec), &loads, Duration::from_secs(60));
        // Aggregates of 42 and of 2 packets, with their answers: 3682 + 48 us and 3502 +
        // 84 us, as in the computation of goodput.
        let time = [3730.0 / 42.0, 3730.0 / 42.0, 3586.0 / 2.0];
        let times: Vec<f64> = outcome.mbps.iter().zip(time).map(|(m, t)| m * t).collect();
        println!("{}: {:?} Mbit/s", queue.name(), outcome.mbps);
        (times[2] / times.iter().sum::<f64>(), outcome.total())
    };
    // Each station gets the same number of packets through the single queue; a packet of
    // the slow station takes 1793 us, of the others 89.
    let (share, with_fifo) = slow_share(ApQueue::Fifo);
    assert!(share > 0.8, "{share}");
    assert!(with_fifo < 20.0, "{with_fifo}");
    let (share, by_airtime) = slow_share(ApQueue::Airtime);
    assert_near(
        "the slow station's share of the airtime",
        share,
        1.0 / 3.0,
        0.03,
    );
    assert!(by_airtime > 75.0, "{by_airtime}");
}
