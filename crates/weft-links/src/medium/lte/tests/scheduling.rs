//! Schedulers compared with theory.

use super::super::scheduler::{Candidate, Scheduler};
use super::super::spec::{LteMotion, LteQuality, LteScheduler, LteSpec};
use super::{Towards, World, assert_near, at_ms, cell, ms};
use weft_units::{Instant, Rng};

fn with(scheduler: LteScheduler, spec: LteSpec) -> LteSpec {
    LteSpec { scheduler, ..spec }
}

/// Equal terminals get equal shares, and their number costs nothing, as in ns-3's
/// `lte-pf-ff-mac-scheduler`.
#[test]
fn terminals_alike_get_the_same_of_the_whole() {
    for scheduler in [LteScheduler::ProportionalFair, LteScheduler::RoundRobin] {
        for (cqi, count) in [(15, 1), (15, 3), (11, 6), (8, 12), (5, 15)] {
            let mut world = World::new(with(scheduler, cell(&vec![cqi; count], 1)), 1);
            let packets = 20_000 / count as u64;
            let rates = world.saturate(Towards::Terminals, 4, packets);
            let whole = super::super::rates::Cqi::new(cqi).unwrap().block(50) as f64 * 8e-3;
            for rate in rates {
                let what = format!("{} {count} at CQI {cqi}", scheduler.name());
                assert_near(&what, rate, whole / count as f64, 0.02);
            }
        }
    }
}

/// On constant channels, proportional fairness gives equal shares of the resource blocks,
/// like round robin; with max-rate, the best terminal takes all.
#[test]
fn unequal_terminals_have_equal_shares_of_the_blocks_or_the_best_has_all() {
    let cqis = [15, 10, 6, 3];
    for scheduler in LteScheduler::ALL {
        let mut world = World::new(with(scheduler, cell(&cqis, 1)), 1);
        let rates = world.saturate(Towards::Terminals, 4, 13_000);
        let shares = world.shares(at_ms(4_000));
        let whole = |cqi: u8| super::super::rates::Cqi::new(cqi).unwrap().block(50) as f64 * 8e-3;
        for (index, cqi) in cqis.into_iter().enumerate() {
            let what = format!("{} CQI {cqi}", scheduler.name());
            let share = match (scheduler, index) {
                (LteScheduler::MaxRate, 0) => 1.0,
                (LteScheduler::MaxRate, _) => {
                    assert_eq!(rates[index], 0.0, "{what}");
                    continue;
                }
                _ => 0.25,
            };
            assert_near(&what, shares[index], share, 0.01);
            assert_near(&what, rates[index], whole(cqi) * share, 0.02);
        }
    }
}

/// The rates follow the power of Rayleigh fading, drawn again each millisecond: serving
/// each terminal at its best gains 1 + 1/2 + ... + 1/N over round robin.
#[test]
fn proportional_fairness_gains_what_the_harmonic_numbers_say() {
    for count in [2, 4, 8] {
        let gain: f64 = (1..=count).map(|n| 1.0 / n as f64).sum();
        let served = |kind| {
            let mut rng = Rng::new(1);
            let mut scheduler = Scheduler::new(kind, count);
            let mut bytes = vec![0.0; count];
            for millisecond in 1..100_000 {
                let candidate = |terminal| Candidate {
                    terminal,
                    rate: -1_000.0 * (1.0 - rng.unit()).ln(),
                    wanted: u64::MAX,
                    is_urgent: false,
                };
                let mut all: Vec<_> = (0..count).map(candidate).collect();
                scheduler.sort(at_ms(millisecond), &mut all);
                scheduler.serve(all[0].terminal, all[0].rate as u64);
                bytes[all[0].terminal] += all[0].rate;
            }
            bytes
        };
        let fair = served(LteScheduler::ProportionalFair);
        let in_turn = served(LteScheduler::RoundRobin);
        let sum = |bytes: &[f64]| bytes.iter().sum::<f64>();
        assert_near("gain", sum(&fair) / sum(&in_turn), gain, 0.05);
        for bytes in &fair {
            assert_near("share", *bytes, sum(&fair) / count as f64, 0.05);
        }
    }
}

/// With fading terminals, old reports and errors, proportional fairness carries more than
/// round robin, and a far terminal keeps about its share of the blocks, unlike with
/// max-rate.
#[test]
fn fading_terminals_gain_by_proportional_fairness_and_far_ones_keep_their_share() {
    let run = |scheduler| {
        let mut spec = with(scheduler, cell(&[1; 4], 1));
        spec.errors = 0.1;
        for (terminal, snr) in spec.terminals.iter_mut().zip([15.0, 15.0, 5.0, 5.0]) {
            terminal.down.quality = LteQuality::Fading {
                snr,
                motion: LteMotion::Walking,
            };
        }
        let mut world = World::new(spec, 3);
        let rates = world.saturate(Towards::Terminals, 30, 50_000);
        (rates.iter().sum::<f64>(), world.shares(at_ms(30_000)))
    };
    let (in_turn, _) = run(LteScheduler::RoundRobin);
    let (fair, shares) = run(LteScheduler::ProportionalFair);
    let (best, greedy) = run(LteScheduler::MaxRate);
    println!("{in_turn:.1}, {fair:.1}, {best:.1} Mbit/s; {shares:.2?}, {greedy:.2?}");
    assert!(
        fair > 1.05 * in_turn && best > fair,
        "{in_turn} {fair} {best}"
    );
    assert!(shares.iter().all(|share| (0.15..0.35).contains(share)));
    assert!(greedy.iter().any(|share| *share < 0.1));
}

/// A terminal that wants little gets it, and the next one gets the rest.
#[test]
fn one_terminal_uses_what_another_leaves() {
    for scheduler in LteScheduler::ALL {
        let mut world = World::new(with(scheduler, cell(&[10, 12], 1)), 1);
        for number in 0..8_000 {
            world.enqueue(Instant::ZERO, Towards::Terminals, 0, number);
        }
        for number in 0..200 {
            let at = at_ms(20 * number);
            world.run(at);
            world.enqueue(at, Towards::Terminals, 1, number);
        }
        world.run(at_ms(4_000));
        let own = world.delivered.iter().filter(|d| d.1 >= 1_000_000_000);
        let longest =
            own.map(|(_, packet, at)| at.saturating_since(at_ms(20 * (packet % 1_000_000_000))));
        let longest = longest.max().expect("packets");
        // The other terminals' packets wait for seconds.
        assert!(longest <= ms(8), "{}: {longest:?}", scheduler.name());
        let shares = world.shares(at_ms(4_000));
        assert_near("used", shares[0] + shares[1], 1.0, 0.002);
    }
}
