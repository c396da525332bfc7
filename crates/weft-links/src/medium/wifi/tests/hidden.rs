//! Stations that do not hear overlapping networks, although the access point does.

use super::saturated::{Load, Outcome, assert_near, cell, saturate, stations, upwards};
use crate::medium::tests::property::{calls, holds};
use crate::{
    Aqm, EcnMarking, MediumSpec, TrafficClass, WifiObssRelation, WifiSignal, WifiSpec, WifiStandard,
};
use proptest::prelude::*;
use weft_units::Duration;

/// Times of 802.11g at 54 Mbit/s with 1500 bytes, in seconds: DIFS, a slot, the data,
/// SIFS and ACK, and the timeout of the answer.
const DIFS: f64 = 28e-6;
const SLOT: f64 = 9e-6;
const DATA: f64 = 254e-6;
const ANSWER: f64 = 44e-6;
const TIMEOUT: f64 = 39e-6;

fn hidden(share: f64) -> WifiSpec {
    let mut spec = stations(WifiStandard::G, &["54mbit"]);
    spec.interference = share;
    spec.stations[0].obss = WifiObssRelation::Hidden;
    spec
}

fn run(spec: &WifiSpec, seconds: u64) -> Outcome {
    let stations = spec.stations.len() as u16;
    let span = Duration::from_secs(seconds);
    saturate(cell(spec), &upwards(stations, 1500), span)
}

/// Returns the Mbit/s of a saturated station. Overlapping networks are a memoryless
/// process with two states, so an attempt depends on the previous one only through the
/// state at its end. Busy periods have this mean, in seconds.
fn expected(share: f64, busy: f64) -> f64 {
    let begins = share / (busy * (1.0 - share));
    let both = 1.0 / busy + begins;
    let survives = (-begins * DATA).exp();
    // Probability of idle after some time, from idle or busy.
    let later = |was_idle: bool, decay: f64| match was_idle {
        true => 1.0 - share + share * decay,
        false => (1.0 - share) * (1.0 - decay),
    };
    // Mean of e^(-both t) over the slots of a backoff.
    let decay = |window: u32, fixed: f64| {
        let slots = (0..=window).map(|slots| (-both * SLOT * f64::from(slots)).exp());
        slots.sum::<f64>() / f64::from(window + 1) * (-both * fixed).exp()
    };
    let window = |attempt: u32| (16 << (attempt % 7)).min(1024) - 1;
    // Frequency of each state: by the number of the next attempt, with the first one
    // after an abandoned frame as the eighth, and by whether overlapping networks are
    // idle when its backoff starts.
    let mut often = [[0.0; 2]; 8];
    often[0][1] = 1.0;
    let (mut delivered, mut time) = (0.0, 0.0);
    for round in 0..2_000 {
        let mut next = [[0.0; 2]; 8];
        for attempt in 0..8_u32 {
            for was_idle in [false, true] {
                let weight = often[attempt as usize][usize::from(was_idle)];
                let idle = match attempt {
                    // Networks that wanted to start during the answer and the
                    // DIFS after it start now.
                    0 => {
                        let idle = (-begins * (ANSWER + DIFS)).exp();
                        let slots = decay(window(0), 0.0);
                        idle * later(true, slots) + (1.0 - idle) * later(false, slots)
                    }
                    _ => later(was_idle, decay(window(attempt), DIFS)),
                };
                let success = idle * survives;
                // Idle at the end of a frame that was hit.
                let at_end = later(true, (-both * DATA).exp()) * idle
                    + later(false, (-both * DATA).exp()) * (1.0 - idle)
                    - success;
                let after = (-both * TIMEOUT).exp();
                let fails = 1.0 - success;
                let idle_then =
                    later(true, after) * at_end + later(false, after) * (fails - at_end);
                let then = (attempt % 7 + 1) as usize;
                next[0][1] += weight * success;
                next[then][1] += weight * idle_then;
                next[then][0] += weight * (fails - idle_then);
                if round >= 1_000 {
                    let backoff = f64::from(window(attempt)) / 2.0 * SLOT;
                    time += weight * (DIFS + backoff + DATA);
                    time += weight * (success * ANSWER + fails * TIMEOUT);
                    delivered += weight * success;
                }
            }
        }
        often = next;
    }
    delivered / time * 12_000.0 / 1e6
}

#[test]
fn a_hidden_station_carries_what_the_overlapping_network_does_not_hit() {
    for (share, busy_ms) in [(0.1, 2), (0.3, 2), (0.5, 2), (0.3, 8)] {
        let mut spec = hidden(share);
        spec.busy_period = Duration::from_millis(busy_ms);
        let what = format!("802.11g, 54 Mbit/s, hidden from {share} of {busy_ms} ms");
        let goal = expected(share, busy_ms as f64 / 1e3);
        assert_near(&what, run(&spec, 400).total(), goal, 0.015);
    }
}

#[test]
fn only_stations_that_do_not_hear_the_overlapping_network_lose_frames_to_it() {
    let mut heard = hidden(0.3);
    heard.stations[0].obss = WifiObssRelation::Heard;
    let (heard, hidden) = (run(&heard, 50), run(&hidden(0.3), 50));
    assert_eq!(heard.radio.failed, 0);
    assert!(hidden.radio.failed > 0);
    assert!(hidden.total() < heard.total());
}

/// In the downlink, the access point and overlapping networks wait for each other.
#[test]
fn frames_to_a_hidden_station_are_not_hit() {
    let mut spec = hidden(0.3);
    let load = Load {
        from: 1,
        to: 0,
        size: 1500,
        class: TrafficClass::default(),
    };
    let down = |spec: &WifiSpec| saturate(cell(spec), &[load], Duration::from_secs(50)).total();
    let to_hidden = down(&spec);
    spec.stations[0].obss = WifiObssRelation::Heard;
    assert_eq!(to_hidden, down(&spec));
}

/// Frames that were hit are sent again, so with enough attempts none is lost.
#[test]
fn enough_attempts_lose_nothing() {
    let mut spec = hidden(0.3);
    let given_up = |spec: &WifiSpec| run(spec, 50).retries[0];
    assert!(given_up(&spec) > 0);
    spec.attempts = 100;
    assert_eq!(given_up(&spec), 0);
}

/// The first station hears overlapping networks and waits for them, but the second does
/// not: frames of the first fail only in collisions with the second.
#[test]
fn a_station_that_hears_the_overlapping_network_is_not_hit_beside_one_that_does_not() {
    let mut spec = stations(WifiStandard::N, &["mcs4", "mcs4"]);
    spec.interference = 0.3;
    spec.stations[1].obss = WifiObssRelation::Hidden;
    let beside = run(&spec, 50);
    assert!(beside.mbps[1] < 0.8 * beside.mbps[0], "{:?}", beside.mbps);
    assert!(beside.radio.collisions > 0);
    assert_eq!(beside.radio.failed, beside.radio.collisions);
}

/// Some stations collide, one is captured, one waits for overlapping networks,
/// and queues drop packets: time never decreases (the cell asserts it), and
/// each station delivers packets.
#[test]
fn hidden_stations_and_others_share_a_cell() {
    let mut spec = stations(WifiStandard::N, &["mcs4", "mcs4", "mcs4"]);
    spec.interference = 0.2;
    spec.capture = Some(10.0);
    spec.stations[1].signal = WifiSignal::steady(20.0);
    for hidden in &mut spec.stations[..2] {
        hidden.obss = WifiObssRelation::Hidden;
    }
    for aqm in [Aqm::DropTail, Aqm::DualPi2, Aqm::CoDel(EcnMarking::Off)] {
        spec.stations
            .iter_mut()
            .for_each(|station| station.aqm = aqm);
        let outcome = run(&spec, 20);
        assert!(outcome.mbps.iter().all(|mbps| *mbps > 0.5), "{aqm:?}");
    }
}

fn cells() -> impl Strategy<Value = MediumSpec> {
    (0_usize..3, 0.0..0.9_f64, any::<bool>()).prop_map(|(standard, share, drops)| {
        let standard = WifiStandard::ALL[standard];
        let rate = standard.rates()[0].to_string();
        let mut spec = stations(standard, &[&rate]);
        spec.interference = share;
        spec.stations[0].obss = WifiObssRelation::Hidden;
        if drops {
            spec.stations[0].aqm = Aqm::DualPi2;
        }
        MediumSpec::wifi(spec).expect("a cell")
    })
}

proptest! {
    #[test]
    fn a_cell_with_an_overlapping_network_is_a_medium(spec in cells(), calls in calls()) {
        holds(&spec, &calls)?;
    }
}
