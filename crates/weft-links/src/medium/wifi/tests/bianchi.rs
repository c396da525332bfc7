//! Saturated equal stations, compared with Bianchi: Performance Analysis of the IEEE
//! 802.11 Distributed Coordination Function (JSAC 18(3), 2000), and Bianchi and
//! Tinnirello: Remarks on IEEE 802.11 DCF Performance Analysis (IEEE Communications
//! Letters 9(8), 2005).

use super::saturated::{assert_near, cell, custom, saturate, stations, upwards};
use crate::medium::wifi::WifiStandard;
use crate::medium::wifi::rate::Modulation;
use crate::medium::wifi::timing::{Access, Countdown, Timing};
use weft_units::Duration;

const TOLERANCE: f64 = 0.01;

/// Chain of backoff stages, without a retry limit.
#[derive(Clone, Copy)]
pub struct Chain {
    /// CWmin + 1.
    pub window: f64,
    /// Number of doublings of the window.
    pub doublings: i32,
    pub countdown: Countdown,
}

/// Durations on a channel, in microseconds.
#[derive(Clone, Copy)]
pub struct Times {
    pub slot: f64,
    pub success: f64,
    pub collision: f64,
}

impl Chain {
    /// Returns the probability of a transmission in a slot, given that of a collision.
    pub fn tau(&self, p: f64) -> f64 {
        let stages = |share: &dyn Fn(f64) -> f64| -> f64 {
            let each = (0..self.doublings).map(|i| p.powi(i) * share(self.window * 2_f64.powi(i)));
            let last = share(self.window * 2_f64.powi(self.doublings));
            (1.0 - p) * each.sum::<f64>() + p.powi(self.doublings) * last
        };
        match self.countdown {
            // 2000, equation 7: a slot in which others transmit counts.
            Countdown::Begins => 1.0 / (1.0 + stages(&|window| (window - 1.0) / 2.0)),
            // 2005: a nonzero draw has one slot counted with the preceding transmission;
            // a zero transmits immediately.
            Countdown::Ends => 1.0 / (1.0 + stages(&|window| window / 2.0 - 1.0)),
        }
    }

    /// Returns the fixed point of transmission and collision.
    pub fn solve(&self, n: u32) -> (f64, f64) {
        let collides = |tau: f64| 1.0 - (1.0 - tau).powi(n as i32 - 1);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let p = (low + high) / 2.0;
            match collides(self.tau(p)) > p {
                true => low = p,
                false => high = p,
            }
        }
        (self.tau(low), low)
    }

    /// Returns the bits per microsecond of this many stations, each sending frames of
    /// this many bits.
    pub fn throughput(&self, n: u32, bits: f64, times: Times) -> f64 {
        let (tau, p) = self.solve(n);
        let n = f64::from(n);
        let quiet = (1.0 - tau).powf(n);
        let alone = n * tau * (1.0 - tau).powf(n - 1.0);
        let collided = 1.0 - quiet - alone;
        let Times {
            slot,
            success,
            collision,
        } = times;
        let (successes, collision) = match self.countdown {
            Countdown::Begins => (alone, collision),
            // A collided station that draws zero transmits immediately.
            Countdown::Ends => {
                let again = (n * tau - alone) * self.zero_after_collision(p);
                (alone + again, collision + slot)
            }
        };
        let (bits, success) = self.in_a_row(bits, success, slot);
        successes * bits / (quiet * slot + successes * success + collided * collision)
    }

    /// Returns the bits and time of a success including immediate successors.
    pub fn in_a_row(&self, bits: f64, success: f64, slot: f64) -> (f64, f64) {
        match self.countdown {
            Countdown::Begins => (bits, success),
            // A station that has just sent and draws zero transmits immediately; any
            // other station waits for a slot.
            Countdown::Ends => {
                let again = 1.0 - 1.0 / self.window;
                (bits / again, success / again + slot)
            }
        }
    }

    /// Returns the probability that a station draws zero after a collision.
    fn zero_after_collision(&self, p: f64) -> f64 {
        let zero = |stage: i32| 1.0 / (self.window * 2_f64.powi(stage));
        let last = self.doublings - 1;
        let below = (0..last).map(|i| (1.0 - p) * p.powi(i) * zero(i + 1));
        below.sum::<f64>() + p.powi(last) * zero(self.doublings)
    }
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

/// Returns the durations of a success and a collision with this timing, for frames of
/// this length.
pub fn times(timing: &Timing, modulation: &Modulation, bytes: u64) -> Times {
    let data = modulation.airtime(bytes);
    let ifs = timing.access[0].ifs;
    Times {
        slot: micros(timing.slot),
        success: micros(data + timing.sifs + modulation.ack + ifs),
        collision: micros(data + timing.eifs_extra + ifs),
    }
}

/// Returns the parameters of the paper's own figures, FHSS at 1 Mbit/s (table II):
/// payload 8184 bits, headers 272 and 128, an ACK 112 and 128, and no EIFS.
fn fhss(window: u32, doublings: u32) -> (Timing, Modulation) {
    let us = Duration::from_micros;
    let timing = Timing {
        sifs: us(28),
        slot: us(50),
        ack_timeout: us(1),
        eifs_extra: us(1),
        countdown: Countdown::Begins,
        attempts: u32::MAX,
        overhead: 0,
        aggregation: None,
        access: vec![Access {
            ifs: us(128),
            window_min: window - 1,
            window_max: (window << doublings) - 1,
            txop: Duration::ZERO,
        }],
    };
    let modulation = Modulation {
        preamble: us(272 + 128),
        extra_bits: 0,
        half_bits: 2,
        symbol: us(1),
        granule: us(1),
        extension: Duration::ZERO,
        // Including both propagation delays of a microsecond.
        ack: us(112 + 128 + 2),
        block_ack: Duration::ZERO,
    };
    (timing, modulation)
}

const FHSS_PAYLOAD: u64 = 8184 / 8;

/// Figure 6 of 2000, basic access, by the closed form: n, and the throughput with W = 32
/// and m = 3, W = 32 and m = 5, W = 128 and m = 3.
const FHSS: [(u32, [f64; 3]); 7] = [
    (1, [0.8388, 0.8388, 0.6732]),
    (2, [0.8473, 0.8473, 0.7676]),
    (5, [0.8097, 0.8102, 0.8250]),
    (10, [0.7532, 0.7579, 0.8263]),
    (20, [0.6788, 0.6975, 0.7981]),
    (30, [0.6273, 0.6603, 0.7702]),
    (50, [0.5529, 0.6109, 0.7252]),
];

#[test]
fn stations_of_fhss_have_the_throughput_of_2000() {
    for (n, published) in FHSS {
        for ((window, doublings), published) in
            [(32, 3), (32, 5), (128, 3)].into_iter().zip(published)
        {
            let (timing, modulation) = fhss(window, doublings);
            let chain = Chain {
                window: f64::from(window),
                doublings: doublings as i32,
                countdown: Countdown::Begins,
            };
            let times = times(&timing, &modulation, FHSS_PAYLOAD);
            assert_eq!((times.success, times.collision), (8982.0, 8713.0));
            let expected = chain.throughput(n, 8184.0, times);
            assert!(
                (expected - published).abs() < 1e-4,
                "{expected} {published}"
            );
            let wifi = custom(timing, modulation, n as u16);
            let outcome = saturate(
                wifi,
                &upwards(n as u16, FHSS_PAYLOAD),
                Duration::from_secs(150),
            );
            let what = format!("FHSS, W {window}, m {doublings}, n {n}");
            assert_near(&what, outcome.total(), expected, TOLERANCE);
        }
    }
}

/// Returns the timing of the theory, which has one slot grid for all: a station that sent
/// in a collision continues together with the stations that heard it, not as soon as its
/// answer is missing.
pub fn as_in_theory(timing: Timing) -> Timing {
    Timing {
        ack_timeout: timing.eifs_extra,
        ..timing
    }
}

/// Compares stations without a retry limit with the closed form, under either
/// rule of counting.
fn against_closed_form(standard: WifiStandard, rate: &str, n: u32, countdown: Countdown) {
    let spec = stations(standard, &vec![rate; n as usize]);
    let timing = Timing {
        countdown,
        attempts: u32::MAX,
        ..as_in_theory(Timing::of(standard))
    };
    let rate = spec.stations[0].up.fixed().expect("a rate");
    let modulation = Modulation::of(standard, spec.guard, rate);
    let access = timing.access[0];
    let window = f64::from(access.window_min + 1);
    let chain = Chain {
        window,
        doublings: (f64::from(access.window_max + 1) / window).log2() as i32,
        countdown,
    };
    let times = times(&timing, &modulation, timing.frame(1500));
    let expected = chain.throughput(n, 12_000.0, times);
    let wifi = custom(timing, modulation, n as u16);
    let outcome = saturate(wifi, &upwards(n as u16, 1500), Duration::from_secs(20));
    let what = format!("802.11{}, {countdown:?}, n {n}", standard.name());
    assert_near(&what, outcome.total(), expected, TOLERANCE);
}

#[test]
fn stations_of_802_11g_have_the_throughput_of_2005() {
    for n in 1..=50 {
        against_closed_form(WifiStandard::G, "54mbit", n, Countdown::Ends);
    }
}

#[test]
fn stations_of_802_11g_that_count_as_edca_have_the_throughput_of_2000() {
    for n in [1, 2, 5, 10, 16, 30, 50] {
        against_closed_form(WifiStandard::G, "54mbit", n, Countdown::Begins);
    }
}

#[test]
fn stations_of_802_11b_have_the_throughput_of_2005() {
    for n in [1, 2, 5, 10, 16, 20, 30, 50] {
        against_closed_form(WifiStandard::B, "11mbit", n, Countdown::Ends);
    }
}

#[test]
fn precedence_after_a_collision_changes_little() {
    // Stations that wait for an answer have a separate slot grid: ACKTimeout is shorter
    // than EIFS.
    let timing = Timing {
        attempts: u32::MAX,
        ..Timing::of(WifiStandard::G)
    };
    let spec = stations(WifiStandard::G, &["54mbit"; 16]);
    let carried = |timing| {
        let mut wifi = cell(&spec);
        wifi.timing = timing;
        saturate(wifi, &upwards(16, 1500), Duration::from_secs(20)).total()
    };
    let theory = carried(as_in_theory(timing.clone()));
    assert_near("802.11g, ACKTimeout, n 16", carried(timing), theory, 0.015);
}

#[test]
fn stations_that_give_up_after_seven_attempts_carry_less_among_fifty() {
    // 22.4 Mbit/s without a retry limit.
    let spec = stations(WifiStandard::G, &["54mbit"; 50]);
    let outcome = saturate(cell(&spec), &upwards(50, 1500), Duration::from_secs(10));
    let total = outcome.total();
    assert!((20.5..21.5).contains(&total), "{total}");
    let retries: u64 = outcome.retries.iter().sum();
    assert!(retries > 100, "{retries}");
}
