use super::*;
use proptest::prelude::*;

const PACKET: Bytes = Bytes(1250);

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// Sends as much as allowed until `end`; returns the sending times.
fn drain(pacer: &mut Pacer, from: Instant, end: Instant) -> Vec<Instant> {
    let mut times = Vec::new();
    let mut now = from;
    loop {
        now = pacer.next_send(now);
        if now >= end {
            return times;
        }
        pacer.on_sent(now, PACKET);
        times.push(now);
    }
}

#[test]
fn packets_leave_at_the_rate_after_a_burst_of_5_ms() {
    // 10,000 bits take 2 ms at 5 Mbps: packets leave a debt until 0, 2, 4, 6 ms; the
    // first three leave at once (0, 2, 4 <= 5), the fourth at 6 - 5 = 1 ms.
    let mut pacer = Pacer::new(Rate::from_mbps(5));
    let times = drain(&mut pacer, ms(100), ms(1100));
    assert_eq!(times[..5], [100, 100, 100, 101, 103].map(ms));
    // 500 packets are one second at the rate, 5 ms of burst are 2.5 more.
    assert!((500..=503).contains(&times.len()), "{}", times.len());
}

#[test]
fn an_idle_pacer_saves_nothing_up() {
    let mut pacer = Pacer::new(Rate::from_mbps(5));
    drain(&mut pacer, ms(0), ms(10));
    let times = drain(&mut pacer, ms(5_000), ms(5_010));
    assert!((5..=8).contains(&times.len()), "{}", times.len());
}

#[test]
fn a_debt_is_paid_at_the_new_rate() {
    let mut pacer = Pacer::new(Rate::from_mbps(1));
    // 3 packets are 30 ms at 1 Mbps, or 3 ms at 10 Mbps, which is within the burst.
    for _ in 0..3 {
        pacer.on_sent(ms(0), PACKET);
    }
    assert_eq!(pacer.next_send(ms(0)), ms(25));
    pacer.set_rate(ms(0), Rate::from_mbps(10));
    assert_eq!(pacer.next_send(ms(0)), ms(0));
    pacer.set_rate(ms(0), Rate::from_mbps(1));
    assert_eq!(pacer.next_send(ms(0)), ms(25));
}

#[test]
fn a_probe_is_evenly_spaced_at_its_rate_and_ends() {
    let mut pacer = Pacer::new(Rate::from_mbps(1));
    let cluster = ProbeCluster {
        id: ProbeId(7),
        rate: Rate::from_mbps(10),
        packets: 5,
        bytes: Bytes(5_000),
    };
    pacer.add_probe(ms(0), &cluster);
    for n in 0..5 {
        assert_eq!(pacer.probe(), Some(ProbeId(7)));
        let now = pacer.next_send(ms(n));
        assert_eq!(now, ms(n)); // 1 ms each at 10 Mbps
        pacer.on_sent(now, PACKET);
    }
    assert_eq!(pacer.probe(), None);
    assert_eq!(pacer.rate(), Rate::from_mbps(1));
}

#[test]
fn a_probe_keeps_its_rate_with_a_coarse_timer() {
    // 1.6 ms per packet, but the caller only polls every millisecond.
    let mut pacer = Pacer::new(Rate::from_mbps(1));
    let cluster = ProbeCluster {
        id: ProbeId(7),
        rate: Rate::from_kbps(6_250),
        packets: 11,
        bytes: Bytes(0),
    };
    pacer.add_probe(ms(0), &cluster);
    let mut times = Vec::new();
    for now in 0..100 {
        while pacer.probe().is_some() && pacer.next_send(ms(now)) == ms(now) {
            pacer.on_sent(ms(now), PACKET);
            times.push(now);
        }
    }
    // 0, 1.6, 3.2, .. 16 ms, rounded up.
    assert_eq!(times, [0, 2, 4, 5, 7, 8, 10, 12, 13, 15, 16]);
}

/// A path whose target is 100 kbit/s carries copies of another path at 500 kbit/s.
#[test]
fn copies_take_no_packets_from_a_probe_and_block_nothing_for_long() {
    let mut pacer = Pacer::new(Rate::from_kbps(100));
    for now in (0..2_000).step_by(20) {
        pacer.on_unreported(ms(now), PACKET);
    }
    assert_eq!(
        pacer.next_send(ms(1_980)),
        (ms(1_980) + MOST_BEHIND).saturating_sub(Pacer::BURST)
    );
    let cluster = ProbeCluster {
        id: ProbeId(1),
        rate: Rate::from_kbps(200),
        packets: 5,
        bytes: Bytes(0),
    };
    pacer.add_probe(ms(2_000), &cluster);
    let mut times = Vec::new();
    for now in 2_000..2_400 {
        if now % 20 == 0 {
            pacer.on_unreported(ms(now), PACKET);
        }
        if pacer.probe().is_some() && pacer.next_send(ms(now)) == ms(now) {
            pacer.on_sent(ms(now), PACKET);
            times.push(now);
        }
    }
    // 50 ms apart, starting after half of the debt at half of the rate.
    assert_eq!(times, [2_040, 2_090, 2_140, 2_190, 2_240]);
}

#[test]
fn a_probe_without_packets_is_given_up() {
    let mut pacer = Pacer::new(Rate::from_mbps(1));
    let cluster = ProbeCluster {
        id: ProbeId(1),
        rate: Rate::from_mbps(10),
        packets: 5,
        bytes: Bytes(5_000),
    };
    pacer.add_probe(ms(0), &cluster);
    pacer.on_sent(ms(4_999), PACKET);
    assert_eq!(pacer.probe(), Some(ProbeId(1)));
    pacer.on_sent(ms(5_000), PACKET);
    assert_eq!(pacer.probe(), None);
}

proptest! {
    /// Over any time, the bytes sent are at most rate times time, plus the burst and one
    /// packet.
    #[test]
    fn never_faster_than_the_rate(
        kbps in 1_u64..50_000,
        steps in proptest::collection::vec((0_u64..20_000, 1_u64..1500), 1..300),
    ) {
        let mut pacer = Pacer::new(Rate::from_kbps(kbps));
        let rate = pacer.rate();
        let (mut now, mut sent) = (Instant::ZERO, Bytes::ZERO);
        for (micros, size) in steps {
            now += Duration::from_micros(micros);
            if pacer.next_send(now) == now {
                pacer.on_sent(now, Bytes(size));
                sent += Bytes(size);
            }
            let allowed = rate * (now - Instant::ZERO + Pacer::BURST) + Bytes(1501);
            prop_assert!(sent <= allowed, "{sent:?} of {allowed:?}");
        }
    }
}
