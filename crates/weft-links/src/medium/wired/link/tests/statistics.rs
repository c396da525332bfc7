//! Known results of queueing and probability, over many packets and seeds.

use super::{Departure, Link, ms};
use crate::{LinkSpec, QueueLimit};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

/// Returns the mean wait in ms of packets of 125 bytes at 1 Mbps (1 ms each) that arrive
/// at random with this load.
fn mean_wait_ms(load: f64, seed: u64) -> f64 {
    let rng = Rng::new(seed);
    let mut arrivals = rng.stream("arrivals");
    let mut spec = LinkSpec::new(Rate::from_mbps(1), Duration::ZERO);
    spec.queue = QueueLimit::Bytes(Bytes(1_000_000));
    let mut link = Link::new(&spec, rng);
    let (mut now, mut total, mut count) = (Instant::ZERO, Duration::ZERO, 0_u32);
    for packet in 0..20_000 {
        let gap_ms = -(1.0 - arrivals.unit()).ln() / load;
        now += Duration::from_secs_f64(gap_ms / 1e3);
        link.enqueue(now, Bytes(125), packet);
        while let Some(departure) = link.poll(now) {
            if let Departure::Delivered { queued_for, .. } = departure {
                total += queued_for;
                count += 1;
            }
        }
    }
    total.as_millis_f64() / f64::from(count)
}

#[test]
fn the_mean_wait_is_that_of_an_m_d_1_queue() {
    // Pollaczek-Khinchine with constant service: load / (2 (1 - load)) of a service time,
    // which is 0.5 ms at half load and 2 ms at four fifths.
    for (load, expected) in [(0.5, 0.5), (0.8, 2.0)] {
        let waits: Vec<f64> = (0..20).map(|seed| mean_wait_ms(load, seed)).collect();
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        let ratio = mean / expected;
        assert!((0.95..1.05).contains(&ratio), "load {load}: {mean} ms");
    }
}

#[test]
fn losses_come_as_often_as_asked() {
    let mut spec = LinkSpec::new(Rate::from_mbps(1), ms(20));
    spec.loss = 0.1;
    let mut link = Link::new(&spec, Rng::new(5));
    for packet in 0..20_000_u64 {
        let now = Instant::ZERO + ms(packet);
        link.enqueue(now, Bytes(125), packet);
        while link.poll(now).is_some() {}
    }
    let counters = link.counters();
    let ended = counters.delivered.packets + counters.random_loss.packets;
    let share = counters.random_loss.packets as f64 / ended as f64;
    // Standard deviation sqrt(0.1 x 0.9 / 20,000) = 0.0021; the bounds are four of them.
    assert!((0.0915..0.1085).contains(&share), "{share}");
}

#[test]
fn jitter_is_gaussian_within_three_deviations() {
    let mut spec = LinkSpec::new(Rate::from_mbps(1), ms(50));
    spec.jitter = ms(5);
    let mut link = Link::new(&spec, Rng::new(9));
    // Far enough apart that order never interferes: 100 ms, with 1 ms of service.
    let mut ways = Vec::new();
    for packet in 0..20_000_u64 {
        let now = Instant::ZERO + ms(100 * packet);
        link.enqueue(now, Bytes(125), packet);
        while let Some(departure) = link.poll(now + ms(99)) {
            let Departure::Delivered { at, .. } = departure else {
                panic!("a link without loss dropped {departure:?}");
            };
            ways.push((at - now).as_millis_f64() - 1.0);
        }
    }
    assert_eq!(ways.len(), 20_000);
    let mean = ways.iter().sum::<f64>() / 20_000.0;
    let variance = ways.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / 20_000.0;
    assert!(ways.iter().all(|w| (35.0..=65.0).contains(w)));
    assert!((49.85..50.15).contains(&mean), "mean {mean}");
    // Truncation at three deviations takes 1.3 % of the deviation.
    assert!((4.8..5.05).contains(&variance.sqrt()), "{variance}");
}

#[test]
fn jitter_does_not_accumulate() {
    // A saturated link: order delays each arrival to the latest draw so far, but the last
    // of many is within three deviations of its own time.
    let mut spec = LinkSpec::new(Rate::from_mbps(1), ms(50));
    spec.jitter = ms(5);
    spec.queue = QueueLimit::Bytes(Bytes(10_000_000));
    let mut link = Link::new(&spec, Rng::new(2));
    for packet in 0..20_000_u64 {
        link.enqueue(Instant::ZERO, Bytes(125), packet);
    }
    let mut last = Instant::ZERO;
    while let Some(deadline) = link.poll_timeout() {
        while let Some(Departure::Delivered { packet, at, .. }) = link.poll(deadline.at) {
            let ideal = Instant::ZERO + ms(packet + 1 + 50);
            let off = at.signed_nanos_since(ideal).unsigned_abs();
            assert!(off <= ms(15).as_nanos(), "packet {packet}: {off} ns");
            last = at;
        }
    }
    assert!(last.saturating_since(Instant::ZERO) >= ms(20_035));
}
