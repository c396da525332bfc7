use crate::tools::{Pair, round_trip, spec, udp, with_echo};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};
use weft_emu::{Fate, Logging, PacketRecord, Rejected};
use weft_links::{Capacity, DropReason, Link, Schedule, WiredDirection};
use weft_testing::where_the_machine_keeps_up;
use weft_units::{Bytes, Rate, Rng};

/// UDP and IPv4 headers.
const HEADERS: usize = 28;

#[test]
fn a_round_trip_takes_the_delays_of_both_directions() {
    where_the_machine_keeps_up(|| {
        let Some(pair) = Pair::start("rate=100mbit,delay=20ms") else {
            return;
        };
        for (from, to) in [
            (IpAddr::V4(pair.at_left.v4), IpAddr::V4(pair.at_right.v4)),
            (IpAddr::V6(pair.at_left.v6), IpAddr::V6(pair.at_right.v6)),
        ] {
            let here = udp(&pair.running, pair.left, (from, 0));
            let there = udp(&pair.running, pair.right, (to, 7));
            let to = SocketAddr::from((to, 7));
            let times = with_echo(&there, || {
                let times = (0..10).map(|_| round_trip(&here, to).expect("an answer"));
                times.collect::<Vec<_>>()
            });
            let shortest = times.iter().min().expect("ten");
            // The model's delay is exact; the machine adds the rest. A busy machine may
            // take any time, but not every time.
            assert!(*shortest >= Duration::from_millis(40), "{times:?}");
            assert!(*shortest < Duration::from_millis(45), "{times:?}");
        }
        let report = pair.running.stop();
        let link = report.link(pair.link);
        for direction in [link.forward(), link.backward()] {
            assert_eq!(direction.counters.delivered.packets, 20);
            assert_eq!(direction.counters.dropped().packets, 0);
        }
        assert_eq!(report.lateness.count(), 40);
        assert_eq!((report.rejected, report.device_drops), (0, 0));
    });
}

/// Sends `count` datagrams at once and receives those that arrive.
fn flood(pair: &Pair, count: usize, size: usize) -> usize {
    let here = udp(&pair.running, pair.left, (pair.at_left.v4, 0));
    let there = udp(&pair.running, pair.right, (pair.at_right.v4, 9));
    for _ in 0..count {
        let sent = here.send_to(&vec![0; size - HEADERS], (pair.at_right.v4, 9));
        assert_eq!(sent.expect("room"), size - HEADERS);
    }
    // Time limit for the last packet: the whole queue and the transmission.
    let all = Duration::from_secs(3);
    there.set_read_timeout(Some(all)).expect("a time-out");
    let began = Instant::now();
    let arrivals = std::iter::from_fn(|| there.recv(&mut [0; 2048]).ok());
    let arrivals = arrivals.take_while(|_| began.elapsed() < all).count();
    assert!(began.elapsed() < all * 2);
    arrivals
}

#[test]
fn a_flood_fills_the_queue_to_its_limit_exactly() {
    // A packet of 1000 bytes takes 80 ms: one is in transmission, fifteen wait, and the
    // rest of the burst is dropped.
    let Some(pair) = Pair::start("rate=100kbit,delay=1ms,queue=15kB") else {
        return;
    };
    assert_eq!(flood(&pair, 50, 1000), 16);
    let report = pair.running.stop();
    let counters = report.link(pair.link).forward().counters;
    assert_eq!(counters.sent.packets, 50);
    assert_eq!(counters.delivered.packets, 16);
    assert_eq!(counters.queue_full.packets, 34);
    // The last one waits for fifteen others of 80 ms each, minus the duration of the
    // burst.
    let longest = report.link(pair.link).forward().queueing.max();
    let [most, least] = [1200, 1120].map(weft_units::Duration::from_millis);
    assert!(longest <= most && longest > least, "{longest:?}");
}

#[test]
fn each_packet_fares_as_the_model_says() {
    const SPEC: &str = "rate=2mbit,delay=5ms,queue=10kB,aqm=codel,loss=10%,jitter=1ms";
    let logged = |network: &mut weft_emu::Network| network.set_logging(Logging::Packets);
    let Some(pair) = Pair::with(SPEC, logged) else {
        return;
    };
    flood(&pair, 100, 700);
    let report = pair.running.stop();
    let packets = report.packets.as_ref().expect("it has room");
    let packets = packets.as_ref().expect("it was asked for");
    let forward = |r: &PacketRecord| r.station == WiredDirection::Forward.station();
    let records: Vec<_> = packets.iter().filter(forward).collect();
    assert_eq!(records.len(), 100);
    assert!(records.iter().any(|r| r.fate != Fate::Delivered));

    // Replays the packets at equal times in virtual time.
    let rng = Rng::new(1).stream("links").stream("link").stream("forward");
    let mut link = Link::new(&spec(SPEC), rng);
    let mut entered: Vec<_> = records.iter().map(|r| r.entered).collect();
    entered.sort();
    for at in entered {
        link.enqueue(at, Bytes(700), at);
    }
    let mut expected = Vec::new();
    while let Some(deadline) = link.poll_timeout() {
        while let Some(departure) = link.poll(deadline.at) {
            expected.push(match departure {
                weft_links::Departure::Delivered { packet, at, .. } => (packet, at, None),
                weft_links::Departure::Dropped { packet, at, reason } => (packet, at, Some(reason)),
            });
        }
    }
    let reason = |fate| match fate {
        Fate::Delivered => None,
        Fate::Dropped(reason) => Some(reason),
    };
    let mut here: Vec<_> = records
        .iter()
        .map(|r| (r.entered, r.ended, reason(r.fate)))
        .collect();
    here.sort();
    expected.sort();
    assert_eq!(here, expected);
    let lost = here.iter().filter(|e| e.2 == Some(DropReason::RandomLoss));
    assert!(lost.count() > 0, "ten percent of the delivered ones");
}

#[test]
fn the_course_of_a_link_counts_from_the_beginning() {
    where_the_machine_keeps_up(|| {
        let outage = |network: &mut weft_emu::Network| network.set_logging(Logging::Packets);
        let rate = Rate::from_mbps(10);
        let ms = weft_units::Duration::from_millis;
        let steps = vec![(ms(0), rate), (ms(300), Rate::ZERO), (ms(600), rate)];
        let mut course = spec("rate=10mbit,delay=1ms");
        course.capacity = Capacity::Schedule(Schedule::new(steps).expect("in order"));
        let Some(pair) = Pair::of(course, outage) else {
            return;
        };
        let here = udp(&pair.running, pair.left, (pair.at_left.v4, 0));
        let tick = |ms| {
            // No packet arrives, so this is a sleep.
            let timeout = Some(Duration::from_millis(ms));
            here.set_read_timeout(timeout).expect("a time-out");
            assert!(here.recv(&mut [0; 8]).is_err());
        };
        tick(350);
        pair.running.begin();
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(800) {
            here.send_to(&[0; 100], (pair.at_right.v4, 9))
                .expect("room");
            tick(10);
        }
        let report = pair.running.stop();
        assert!(report.duration >= ms(800));
        let packets = report.packets.as_ref().expect("it has room");
        let packets = packets.as_ref().expect("it was asked for");
        let forward = packets
            .iter()
            .filter(|r| r.station == WiredDirection::Forward.station());
        let ends: Vec<_> = forward.map(|r| r.ended.as_secs_f64()).collect();
        let within = |from, to| ends.iter().filter(|at| (from..to).contains(*at)).count();
        assert!(within(0.0, 0.302) > 5, "{ends:?}");
        assert_eq!(within(0.302, 0.601), 0, "{ends:?}");
        assert!(within(0.601, 0.9) > 5, "{ends:?}");
        let intervals = &report.link(pair.link).forward().intervals;
        assert_eq!(intervals[4].packets, 0);
        assert!(intervals[6].packets > 1, "what waited in the outage");
    });
}

#[test]
fn a_run_that_is_late_is_rejected_with_the_reason() {
    let strict = |network: &mut weft_emu::Network| {
        network.reject_above(weft_units::Duration::ZERO);
    };
    let Some(pair) = Pair::with("rate=100mbit,delay=1ms", strict) else {
        return;
    };
    let here = udp(&pair.running, pair.left, (pair.at_left.v4, 0));
    let there = udp(&pair.running, pair.right, (pair.at_right.v4, 7));
    let to = SocketAddr::from((pair.at_right.v4, 7));
    with_echo(&there, || (0..20).for_each(|_| drop(round_trip(&here, to))));
    let report = pair.running.stop();
    let [p50, p99, p999] = report.lateness_percentiles();
    // No timer is exact, so every packet is late, at least by microseconds.
    assert!(p50 <= p99 && p99 <= p999 && p999 > weft_units::Duration::ZERO);
    assert!(p999 <= report.lateness.max());
    let error = report.verdict().expect_err("later than nothing");
    assert!(matches!(error, Rejected::Late { lateness, .. } if lateness == p999));
    assert!(
        error
            .to_string()
            .contains("at p99.9; the limit is 0 ms: the"),
        "{error}"
    );
}

#[test]
fn packets_without_a_receiver_enter_no_queue() {
    let Some(pair) = Pair::start("rate=10mbit,delay=1ms") else {
        return;
    };
    let here = udp(&pair.running, pair.left, (pair.at_left.v4, 0));
    for to in ["198.18.0.77:9", "192.0.2.1:9"] {
        here.send_to(b"?", to).expect("room");
    }
    let there = udp(&pair.running, pair.right, (pair.at_right.v4, 7));
    let to = SocketAddr::from((pair.at_right.v4, 7));
    with_echo(&there, || round_trip(&here, to)).expect("an answer");
    let report = pair.running.stop();
    assert_eq!(report.unroutable, 2);
    assert_eq!(report.link(pair.link).forward().counters.sent.packets, 1);
}

#[test]
fn a_mark_arrives_in_the_header() {
    use rustix::net::{AddressFamily, SocketType, ipproto, recv, sockopt};
    // Every L4S packet that waits for more than 1.2 ms is marked.
    let Some(pair) = Pair::start("rate=1mbit,delay=1ms,queue=1s,aqm=dualpi2") else {
        return;
    };
    const COUNT: usize = 20;
    const ECT1: u8 = 0b01;
    const CE: u8 = 0b11;
    // A raw socket returns the IP header; the kernel has verified its checksum.
    let there = pair.running.within(pair.right, || {
        rustix::net::socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::UDP))
    });
    let there = there.expect("a host").expect("root's");
    let all = Some(Duration::from_secs(1));
    sockopt::set_socket_timeout(&there, sockopt::Timeout::Recv, all).expect("a time-out");
    let here = udp(&pair.running, pair.left, (pair.at_left.v4, 0));
    sockopt::set_ip_tos(&here, ECT1).expect("any value");
    for _ in 0..COUNT {
        here.send_to(&[0; 972], (pair.at_right.v4, 9))
            .expect("room");
    }
    let mut bytes = [0; 2048];
    let fields = std::iter::from_fn(|| {
        recv(&there, &mut bytes, rustix::net::RecvFlags::empty()).ok()?;
        Some(bytes[1] & 0b11)
    });
    let fields: Vec<u8> = fields.take(COUNT).collect();
    let counters = pair.running.stop().link(pair.link).forward().counters;
    // In overload the discipline also drops packets.
    assert_eq!(
        fields.len() as u64,
        counters.delivered.packets,
        "{counters:?}"
    );
    assert!(fields.iter().all(|f| [ECT1, CE].contains(f)), "{fields:?}");
    let marked = fields.iter().filter(|f| **f == CE).count();
    assert!(marked > COUNT / 2, "{fields:?}");
    assert_eq!(counters.marked.packets, marked as u64);
}
