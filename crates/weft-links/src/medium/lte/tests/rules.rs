//! Rules of the cell, one by one: HARQ, grants, reports, bearers, handovers, DRX, and
//! events.

use super::super::quality::Quality;
use super::super::rates::Cqi;
use super::super::spec::{LteBearers, LteMotion, LteQuality, LteSignal, LteSpec};
use super::{Towards, World, assert_near, at_ms, cell, ms};
use crate::{ChannelId, PacketInfo, StationId, TrafficClass};
use weft_units::{Bytes, Duration, Instant, Rng};

const DOWN: ChannelId = ChannelId(1);

/// Failed blocks use their resource blocks again and delay others; no packet is lost.
#[test]
fn a_tenth_of_the_blocks_is_sent_again_and_costs_a_tenth() {
    let rate = |errors: f64| {
        let mut spec = cell(&[12], 1);
        spec.errors = errors;
        let mut world = World::new(spec, 1);
        let rate = world.saturate(Towards::Terminals, 20, 60_000)[0];
        let counters = world.medium.radio(StationId(1)).expect("a cell");
        (rate, counters)
    };
    let (clean, counters) = rate(0.0);
    assert_eq!((counters.again, counters.failed), (0, 0));
    let (noisy, counters) = rate(0.1);
    assert_near("rate", noisy / clean, 0.9, 0.02);
    let first = (counters.attempts - counters.again) as f64;
    // One in a hundred second attempts fails.
    assert_near("failed", counters.failed as f64 / first, 0.1 + 0.001, 0.05);
    assert_near("again", counters.again as f64 / first, 0.1 + 0.001, 0.05);
}

#[test]
fn a_failed_block_comes_eight_milliseconds_later() {
    let mut spec = cell(&[12], 1);
    spec.errors = 0.1;
    let mut world = World::new(spec, 1);
    for number in 0..5_000 {
        let at = at_ms(20 * number);
        world.run(at);
        world.enqueue(at, Towards::Terminals, 0, number);
    }
    world.run(at_ms(200_000));
    let took = |n: u64| {
        let of = |d: &&(StationId, u64, Instant)| d.2.saturating_since(at_ms(20 * d.1)) == ms(n);
        world.delivered.iter().filter(of).count()
    };
    // The next millisecond, plus four until decoding.
    let (once, twice, thrice) = (took(5), took(13), took(21));
    assert_eq!(once + twice + thrice, 5_000);
    assert_near("at once", once as f64 / 5_000.0, 0.9, 0.01);
    assert!(thrice <= 15, "{thrice}");
}

/// Loss after four attempts, at margins below the CQI's threshold, is the product of the
/// errors of each attempt.
#[test]
fn loss_after_four_attempts_is_the_product_of_their_errors() {
    let signal = LteSignal {
        quality: LteQuality::Fading {
            snr: 10.0,
            motion: LteMotion::Still,
        },
        rank: 1,
    };
    let mut spec = cell(&[1], 1);
    spec.errors = 0.1;
    let mut quality = Quality::new(&signal, &spec, &Rng::new(1));
    let cqi = Cqi::new(10).unwrap();
    let snr = super::super::fading::Fading::new(
        10.0,
        LteMotion::Still,
        &mut Rng::new(1).stream("fading"),
    );
    let (mut left, mut expected, blocks) = (0, 0.0, 200_000);
    for n in 0..blocks {
        let at = at_ms(n);
        let margin = snr.snr(at) - cqi.threshold();
        let error = |before: i32| (0.1 * 10_f64.powf(-margin - f64::from(before))).min(1.0);
        expected += (0..4).map(error).product::<f64>();
        left += u32::from((0..4).all(|before| quality.fails(at, cqi, before)));
    }
    assert!(expected > 2_000.0, "{expected}");
    assert_near("left", f64::from(left), expected, 0.05);
}

/// The outer loop reaches the target share of errors, regardless of the effect of fading
/// on reports.
#[test]
fn reports_are_corrected_until_a_tenth_fails() {
    for motion in LteMotion::ALL {
        let signal = LteSignal {
            quality: LteQuality::Fading { snr: 12.0, motion },
            rank: 1,
        };
        let mut spec = cell(&[1], 1);
        spec.errors = 0.1;
        let mut quality = Quality::new(&signal, &spec, &Rng::new(2));
        let (mut sent, mut failed) = (0.0, 0.0);
        for n in 0..100_000 {
            if let Some(cqi) = quality.cqi(at_ms(n)) {
                sent += 1.0;
                failed += f64::from(u8::from(quality.fails(at_ms(n), cqi, 0)));
            }
        }
        let share = failed / sent;
        println!("{}: {share:.3} of {sent}", motion.name());
        assert!((0.07..0.13).contains(&share), "{share}");
    }
}

/// A packet that fits the first grant takes a request within 10 ms, the grant 4 ms later,
/// the data 4 ms after that, and 4 ms until decoding. If there is more to send, the
/// reported rest comes 8 ms later.
#[test]
fn an_idle_uplink_asks_first() {
    for (size, low, high, longest) in [(60, 15.5, 18.5, 23), (1_000, 23.5, 26.5, 31)] {
        let mut took = Vec::new();
        for seed in 0..200 {
            let mut world = World::new(cell(&[12], 1), seed);
            let base = StationId(1);
            let at = at_ms(100) + Duration::from_micros(500);
            world.medium.enqueue(at, StationId(0), base, Bytes(size), 0);
            world.run(at_ms(200));
            let (_, _, arrived) = world.delivered[0];
            took.push(arrived.saturating_since(at).as_millis_f64());
        }
        let mean = took.iter().sum::<f64>() / took.len() as f64;
        println!("{size} bytes: {mean:.1} ms");
        assert!((low..high).contains(&mean), "{mean}");
        assert!(took.iter().all(|ms| *ms <= f64::from(longest)));
    }
}

/// While there is data to send, reports travel with it and grants come without requests.
#[test]
fn a_busy_uplink_needs_no_requests() {
    let mut world = World::new(cell(&[12], 1), 1);
    // 12 of the available 22 Mbit/s.
    for number in 0..4_000 {
        let at = at_ms(number);
        world.run(at);
        world.enqueue(at, Towards::BaseStation, 0, number);
    }
    world.run(at_ms(5_000));
    assert_eq!(world.delivered.len(), 4_000);
    let took = |d: &(StationId, u64, Instant)| d.2.saturating_since(at_ms(d.1)).as_millis_f64();
    let late = world.delivered.iter().skip(100).map(took);
    let mean = late.sum::<f64>() / 3_900.0;
    println!("{mean:.1} ms");
    assert!((11.0..15.0).contains(&mean), "{mean}");
}

#[test]
fn a_dedicated_bearer_goes_before_all_else() {
    let longest = |bearers| {
        let spec = LteSpec {
            bearers,
            ..cell(&[10, 10], 1)
        };
        let mut world = World::new(spec, 1);
        for number in 0..10_000 {
            for terminal in 0..2 {
                world.enqueue(Instant::ZERO, Towards::Terminals, terminal, number);
            }
        }
        let video = PacketInfo::new(Bytes(1_200)).with_class(TrafficClass::Video);
        for number in 0..100 {
            let at = at_ms(10 * number);
            world.run(at);
            let packet = 500_000_000 + number;
            world
                .medium
                .enqueue(at, StationId(2), StationId(0), video, packet);
        }
        world.run(at_ms(20_000));
        let urgent = world.delivered.iter().filter(|d| d.1 / 500_000_000 == 1);
        let took = urgent.map(|d| d.2.saturating_since(at_ms(10 * (d.1 - 500_000_000))));
        took.max().expect("video")
    };
    assert_eq!(longest(LteBearers::Dedicated), ms(5));
    assert!(longest(LteBearers::Default) > ms(1_000));
}

#[test]
fn a_handover_sends_nothing_and_loses_nothing() {
    let mut spec = cell(&[10], 1);
    spec.errors = 0.1;
    spec.terminals[0].handovers = vec![ms(500), ms(1_000)];
    let mut world = World::new(spec, 1);
    for number in 0..2_000 {
        let at = at_ms(number);
        world.run(at);
        world.enqueue(at, Towards::Terminals, 0, number);
    }
    world.run(at_ms(3_000));
    let numbers: Vec<u64> = world.delivered.iter().map(|d| d.1).collect();
    assert_eq!(numbers, (0..2_000).collect::<Vec<_>>());
    for gap in [500, 1_000] {
        // Earlier packets arrive within 4 ms, later ones not before 4 ms.
        let within = |d: &&(StationId, u64, Instant)| d.2 > at_ms(gap + 4) && d.2 < at_ms(gap + 54);
        assert_eq!(world.delivered.iter().filter(within).count(), 0);
        // The first packet may fail repeatedly.
        let mut arrivals = world.delivered.iter().map(|d| d.2);
        let after = arrivals.find(|at| *at > at_ms(gap + 4)).expect("one");
        assert!(after <= at_ms(gap + 54 + 16), "{after:?}");
    }
}

#[test]
fn a_terminal_that_sleeps_hears_once_in_a_cycle() {
    let mut spec = cell(&[10], 1);
    spec.drx = Some(ms(80));
    let mut world = World::new(spec, 1);
    // 1055 ms are 15 ms after the start of a cycle of 80: the terminal is asleep.
    for (number, at) in [(0, 10), (1, 100), (2, 1_055)] {
        world.run(at_ms(at));
        world.enqueue(at_ms(at), Towards::Terminals, 0, number);
    }
    world.run(at_ms(2_000));
    let times: Vec<_> = world.delivered.iter().map(|d| d.2).collect();
    assert_eq!(times, [at_ms(15), at_ms(105), at_ms(1_124)]);
}

/// An idle millisecond costs no event.
#[test]
fn there_are_events_only_while_somebody_has_something_to_send() {
    let mut world = World::new(cell(&[12, 12], 1), 1);
    world.run(at_ms(10_000));
    assert_eq!(world.events, 0);
    world.enqueue(at_ms(10_000), Towards::Terminals, 0, 1);
    world.run(at_ms(20_000));
    // The millisecond and the arrival.
    assert_eq!(world.events, 2);
    assert!(world.medium.poll_timeout(DOWN).is_none());
}

/// Every resource block is used or idle, to the nanosecond, and every used one belongs to
/// a terminal.
#[test]
fn blocks_add_up_to_the_run() {
    let mut spec = cell(&[12, 7, 3], 2);
    spec.errors = 0.1;
    spec.bandwidth = super::super::spec::LteBandwidth::Mhz15;
    let mut world = World::new(spec, 1);
    for number in 0..3_000 {
        let at = Instant::ZERO + Duration::from_micros(number * 777);
        world.run(at);
        let terminal = (number % 3) as u16;
        world.enqueue(at, Towards::Terminals, terminal, number);
        world.enqueue(at, Towards::BaseStation, terminal, number);
        if number % 10 == 0 {
            world.medium.service_time(at, StationId(terminal));
        }
    }
    let now = Instant::ZERO + Duration::from_nanos(2_400_123_457);
    world.run(now);
    let elapsed = now.saturating_since(Instant::ZERO);
    let stations = (0..4).map(StationId);
    let times: Vec<_> = stations
        .map(|id| world.medium.service_time(now, id))
        .collect();
    let [up, down] = [ChannelId(0), DOWN].map(|c| world.medium.channel_time(now, c).unwrap());
    assert!(times.iter().all(|time| time.elapsed() == elapsed));
    assert_eq!((up.elapsed(), down.elapsed()), (elapsed, elapsed));
    let terminals = times[..3]
        .iter()
        .fold(Duration::ZERO, |all, t| all + t.used);
    assert_eq!((terminals, times[3].used), (up.used, down.used));
    let carried = (0..3).map(|id| world.medium.carried_to(now, StationId(id)).unwrap());
    assert_eq!(carried.fold(Duration::ZERO, |all, t| all + t), down.used);
    assert!(up.used > ms(100) && up.idle > ms(100));
}

#[test]
fn the_way_back_of_a_cell_of_one_terminal_says_only_what_differs() {
    let text = "medium=lte,bandwidth=5MHz,cqi=12,queue=90kB";
    let cell = LteSpec::of_one(text, "cqi=14,rank=2,queue=60kB").unwrap();
    let terminal = &cell.terminals[0];
    assert_eq!((terminal.up.rank, terminal.down.rank), (1, 2));
    assert_eq!((terminal.queue, cell.queue), (Bytes(90_000), Bytes(60_000)));
    let alike = LteSpec::of_one(text, "").unwrap();
    assert_eq!(alike.terminals[0].up, alike.terminals[0].down);
    assert_eq!(alike.queue, Bytes(90_000));
    let error = LteSpec::of_one(text, "handovers=3s").unwrap_err();
    assert!(error.to_string().contains("both directions"), "{error}");
}
