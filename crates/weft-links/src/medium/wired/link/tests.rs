use super::Link;
use crate::Departure;
use crate::{
    Capacity, DropReason, Ecn, FlowId, LineStep, LinkSpec, PacketInfo, QueueLimit, Schedule, Tally,
};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

mod properties;
mod statistics;

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn link(spec: &str) -> Link<u32> {
    Link::new(&spec.parse().unwrap(), Rng::new(1))
}

/// Returns all packets until the link is silent, polling only at its deadlines.
fn drain(link: &mut Link<u32>) -> Vec<Departure<u32>> {
    let mut out = Vec::new();
    while let Some(deadline) = link.poll_timeout() {
        out.extend(std::iter::from_fn(|| link.poll(deadline.at)));
    }
    out
}

fn delivered(packet: u32, at: Instant, queued_for: Duration) -> Departure<u32> {
    Departure::Delivered {
        packet,
        at,
        queued_for,
        ecn: Ecn::NotEct,
    }
}

fn dropped(packet: u32, at: Instant, reason: DropReason) -> Departure<u32> {
    Departure::Dropped { packet, at, reason }
}

/// 1500 bytes at 1 Mbps take 12 ms.
const FULL: Bytes = Bytes(1500);

#[test]
fn packets_take_their_turn_and_propagation_is_not_queueing() {
    let mut link = link("rate=1mbit,delay=100ms");
    for packet in 0..3 {
        link.enqueue(at_ms(5), FULL, packet);
    }
    assert_eq!(link.queue_delay(), Some(ms(36)));
    assert_eq!(link.empty_at(), Some(at_ms(41)));
    let expected = [
        delivered(0, at_ms(117), ms(0)),
        delivered(1, at_ms(129), ms(12)),
        delivered(2, at_ms(141), ms(24)),
    ];
    assert_eq!(drain(&mut link), expected);
}

#[test]
fn the_ecn_field_passes_a_queue_that_does_not_mark() {
    let mut link = link("rate=1mbit");
    for (packet, bits) in (0..4).zip(0..4) {
        let info = PacketInfo::new(FULL).with_ecn(Ecn::from_bits(bits));
        link.enqueue(at_ms(0), info, packet);
    }
    let fields = drain(&mut link).into_iter().map(|d| match d {
        Departure::Delivered { ecn, .. } => ecn.bits(),
        Departure::Dropped { reason, .. } => panic!("dropped: {reason}"),
    });
    assert!(fields.eq(0..4));
    assert_eq!(link.counters().marked, Tally::default());
}

#[test]
fn a_late_caller_does_not_delay_the_packets_behind() {
    let mut link = link("rate=1mbit");
    link.enqueue(at_ms(0), FULL, 0);
    // There was no poll at 12 ms; the transmitter worked without it.
    link.enqueue(at_ms(20), FULL, 1);
    assert_eq!(link.poll(at_ms(50)), Some(delivered(0, at_ms(12), ms(0))));
    assert_eq!(link.poll(at_ms(50)), Some(delivered(1, at_ms(32), ms(0))));
    assert_eq!(link.poll(at_ms(50)), None);
}

#[test]
fn nothing_comes_out_before_its_time() {
    let mut link = link("rate=1mbit,delay=1ms");
    link.enqueue(at_ms(0), FULL, 0);
    let early = Instant::from_nanos(at_ms(13).as_nanos() - 1);
    assert_eq!(link.poll(early), None);
    assert_eq!(link.poll_timeout().unwrap().at, at_ms(13));
    assert!(link.poll(at_ms(13)).is_some());
}

#[test]
fn the_capacity_changes_in_the_middle_of_a_packet() {
    let mut link = link("rate=1mbit");
    link.enqueue(at_ms(0), FULL, 0);
    // After 6 ms, half of it has been sent; the other half takes 1.5 ms at 4 Mbps.
    link.set_capacity(at_ms(6), Rate::from_mbps(4));
    let at = Instant::ZERO + Duration::from_micros(7_500);
    assert_eq!(drain(&mut link), [delivered(0, at, ms(0))]);
}

#[test]
fn a_schedule_changes_the_capacity_in_the_middle_of_a_packet() {
    let mut spec: LinkSpec = "rate=1mbit".parse().unwrap();
    let steps = vec![
        (ms(0), Rate::from_mbps(1)),
        (ms(6), Rate::ZERO),
        (ms(100), Rate::from_kbps(500)),
    ];
    spec.capacity = Capacity::Schedule(Schedule::new(steps).unwrap());
    let mut link = Link::new(&spec, Rng::new(1));
    link.enqueue(at_ms(0), FULL, 0);
    link.enqueue(at_ms(50), FULL, 1);
    // Half is sent at 6 ms, then an outage, then 12 ms for the other half and 24 ms for
    // the next packet.
    let expected = [
        delivered(0, at_ms(112), ms(0)),
        delivered(1, at_ms(136), ms(62)),
    ];
    assert_eq!(drain(&mut link), expected);
}

#[test]
fn an_outage_keeps_what_waits() {
    let mut link = link("rate=0bit,queue=3000B");
    for packet in 0..3 {
        link.enqueue(at_ms(0), FULL, packet);
    }
    let full = dropped(2, at_ms(0), DropReason::QueueFull);
    assert_eq!(drain(&mut link), [full]);
    assert_eq!(link.queue_delay(), None);
    assert_eq!(link.empty_at(), None);
    assert_eq!(link.in_flight().packets, 2);
    link.set_capacity(at_ms(1_000), Rate::from_mbps(1));
    let expected = [
        delivered(0, at_ms(1_012), ms(1_000)),
        delivered(1, at_ms(1_024), ms(1_012)),
    ];
    assert_eq!(drain(&mut link), expected);
}

#[test]
fn the_queue_holds_its_bytes_beside_the_packet_in_transmission() {
    let mut link = link("rate=1mbit,queue=3kB");
    for packet in 0..4 {
        link.enqueue(at_ms(0), FULL, packet);
    }
    assert_eq!(link.backlog(), Bytes(3_000));
    let full = dropped(3, at_ms(0), DropReason::QueueFull);
    assert_eq!(link.poll(at_ms(0)), Some(full));
    assert_eq!(drain(&mut link).len(), 3);
    // A packet larger than the limit still passes if no packet is before it.
    link.enqueue(at_ms(100), Bytes(9_000), 4);
    assert_eq!(drain(&mut link), [delivered(4, at_ms(172), ms(0))]);
}

#[test]
fn queues_in_time_follow_the_capacity_and_in_products_do_not() {
    // 5 Mbps x 2 x 25 ms x 2 = 62,500 bytes; 5 Mbps x 300 ms = 187,500 bytes.
    let mut products = link("rate=5mbit,delay=25ms,queue=2bdp");
    let mut time = link("rate=5mbit,delay=25ms,queue=300ms");
    assert_eq!(products.queue_limit(), Bytes(62_500));
    assert_eq!(time.queue_limit(), Bytes(187_500));
    for link in [&mut products, &mut time] {
        link.set_capacity(at_ms(1), Rate::from_mbps(1));
        link.set_capacity(at_ms(2), Rate::ZERO);
    }
    assert_eq!(products.queue_limit(), Bytes(62_500));
    assert_eq!(time.queue_limit(), Bytes(37_500));
    time.set_queue(at_ms(3), QueueLimit::Bytes(Bytes(7_000)));
    assert_eq!(time.queue_limit(), Bytes(7_000));
}

#[test]
fn a_queue_of_less_than_a_packet_holds_one() {
    // Half of 0.5 Mbps x 2 x 15 ms is 938 bytes, 10 ms of it are 625.
    for queue in ["0.5bdp", "938B", "10ms"] {
        let spec = format!("rate=500kbit,delay=15ms,queue={queue}");
        let mut short = link(&spec);
        assert_eq!(short.queue_limit(), Bytes(1_514), "{queue}");
        for packet in 0..3 {
            short.enqueue(at_ms(0), FULL, packet);
        }
        let lost = dropped(2, at_ms(0), DropReason::QueueFull);
        assert_eq!(short.poll(at_ms(0)), Some(lost), "{queue}");
    }
    let mut falling = link("rate=5mbit,queue=10ms");
    assert_eq!(falling.queue_limit(), Bytes(6_250));
    falling.set_capacity(at_ms(1), Rate::from_kbps(500));
    assert_eq!(falling.queue_limit(), Bytes(1_514));
}

#[test]
fn a_cut_drops_what_is_not_transmitted_and_a_restored_link_is_empty() {
    let mut link = link("rate=1mbit,delay=20ms");
    for packet in 0..3 {
        link.enqueue(at_ms(0), FULL, packet);
    }
    // At 13 ms, the first packet is in flight and the second in transmission.
    link.cut(at_ms(13));
    link.enqueue(at_ms(14), FULL, 3);
    let expected = [
        dropped(1, at_ms(13), DropReason::LinkDown),
        dropped(2, at_ms(13), DropReason::LinkDown),
        dropped(3, at_ms(14), DropReason::LinkDown),
        delivered(0, at_ms(32), ms(0)),
    ];
    assert_eq!(drain(&mut link), expected);
    link.restore(at_ms(40));
    link.enqueue(at_ms(40), FULL, 4);
    assert_eq!(drain(&mut link), [delivered(4, at_ms(72), ms(0))]);
    let counters = link.counters();
    assert_eq!(counters.sent.packets, 5);
    assert_eq!(counters.delivered.bytes, Bytes(3_000));
    assert_eq!(counters.link_down.packets, 3);
    assert_eq!(counters.dropped().bytes, Bytes(4_500));
}

#[test]
fn a_lost_packet_has_used_the_link() {
    let mut link = link("rate=1mbit,delay=5ms,loss=100%");
    link.enqueue(at_ms(0), FULL, 0);
    let mut out = vec![];
    link.enqueue(at_ms(0), FULL, 1);
    out.extend(drain(&mut link));
    link.set_loss(at_ms(30), 0.0);
    link.enqueue(at_ms(30), FULL, 2);
    out.extend(drain(&mut link));
    let expected = [
        dropped(0, at_ms(17), DropReason::RandomLoss),
        dropped(1, at_ms(29), DropReason::RandomLoss),
        delivered(2, at_ms(47), ms(0)),
    ];
    assert_eq!(out, expected);
}

#[test]
fn a_shorter_delay_does_not_overtake() {
    let mut link = link("rate=1gbit,delay=100ms");
    link.enqueue(at_ms(0), Bytes(125), 0);
    link.set_delay(at_ms(1), ms(10));
    link.enqueue(at_ms(1), Bytes(125), 1);
    link.enqueue(at_ms(95), Bytes(125), 2);
    // 125 bytes at 1 Gbps take 1 us.
    let us = |n| Instant::ZERO + Duration::from_micros(n);
    let expected = [
        delivered(0, us(100_001), ms(0)),
        delivered(1, us(100_001), ms(0)),
        delivered(2, us(105_001), ms(0)),
    ];
    assert_eq!(drain(&mut link), expected);
}

#[test]
fn the_line_changes_at_its_steps() {
    let mut spec: LinkSpec = "rate=1mbit,delay=10ms".parse().unwrap();
    let step = |at, delay, loss| LineStep {
        at: ms(at),
        delay,
        loss,
    };
    spec.line_steps = vec![
        step(100, Some(ms(50)), None),
        step(200, Some(ms(5)), Some(1.0)),
        step(300, None, Some(0.0)),
    ];
    let mut link = Link::new(&spec, Rng::new(1));
    // 125 bytes take a millisecond; the time at which they have left counts.
    for (packet, at) in [98, 100, 250, 300].into_iter().enumerate() {
        link.enqueue(at_ms(at), Bytes(125), packet as u32);
    }
    let expected = [
        delivered(0, at_ms(109), ms(0)),
        delivered(1, at_ms(151), ms(0)),
        dropped(2, at_ms(256), DropReason::RandomLoss),
        delivered(3, at_ms(306), ms(0)),
    ];
    assert_eq!(drain(&mut link), expected);
}

#[test]
fn time_never_decreases_when_the_clock_goes_back() {
    let mut link = link("rate=1mbit");
    link.cut(at_ms(10));
    link.restore(at_ms(5));
    link.enqueue(at_ms(0), FULL, 0);
    assert_eq!(drain(&mut link), [delivered(0, at_ms(22), ms(0))]);
}

#[test]
fn the_same_seed_gives_the_same_departures() {
    let run = |spec: &str, seed| {
        let mut link = Link::new(&spec.parse().unwrap(), Rng::new(seed));
        for packet in 0..2_000_u32 {
            let info = PacketInfo::new(FULL).with_flow(FlowId(u64::from(packet % 8)));
            link.enqueue(at_ms(u64::from(packet) * 10), info, packet);
        }
        // A trace never ends.
        let end = at_ms(30_000);
        let mut out = Vec::new();
        while let Some(deadline) = link.poll_timeout().filter(|d| d.at < end) {
            out.extend(std::iter::from_fn(|| link.poll(deadline.at)));
        }
        out
    };
    for spec in [
        "rate=1mbit,jitter=5ms",
        "rate=1mbit,loss=20%",
        "rate=1mbit,burst-loss=20%/3",
        "rate=1mbit,aqm=pie",
        "trace=generated:driving/lte2,aqm=fq_codel",
    ] {
        let spec = format!("{spec},delay=20ms");
        assert_eq!(run(&spec, 1), run(&spec, 1), "{spec}");
        assert_ne!(run(&spec, 1), run(&spec, 2), "{spec}");
    }
}
