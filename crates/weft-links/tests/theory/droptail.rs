use crate::world::{Kind, PACKET, Source, World};
use weft_links::{Departure, Ecn, Link, LinkSpec};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

#[test]
fn overload_fills_the_queue_to_its_limit_and_no_further() {
    // 100 ms at 12 Mbps with one packet per millisecond: 100 packets wait behind the one
    // in transmission. A packet that takes the last place just as one starts waits for
    // all of them; a later one waits less.
    let source = Source {
        kind: Kind::Constant(Rate::from_mbps(24)),
        ecn: Ecn::NotEct,
        rtt: Duration::from_millis(20),
    };
    let warm_up = Duration::from_secs(1);
    let world = World::new("rate=12mbit,delay=10ms,queue=100ms", &[source], warm_up);
    let result = &world.run(Duration::from_secs(11))[0];
    let longest = result.wait_ms_at(1.0);
    assert!((99.0..=101.0).contains(&longest), "{longest} ms");
    assert!((99.0..=101.0).contains(&result.mean_wait_ms()));
    let share = result.dropped as f64 / (result.dropped + result.delivered) as f64;
    assert!((0.495..0.505).contains(&share), "half is too much: {share}");
}

#[test]
fn reno_with_one_product_of_buffer_keeps_the_link_full() {
    // Rule of thumb: a buffer of one bandwidth-delay product keeps a single Reno at full
    // rate (Appenzeller et al. 2004, section 2).
    let source = Source {
        kind: Kind::Reno,
        ecn: Ecn::NotEct,
        rtt: Duration::from_millis(50),
    };
    let warm_up = Duration::from_secs(10);
    let world = World::new("rate=12mbit,delay=25ms,queue=1bdp", &[source], warm_up);
    let result = &world.run(Duration::from_secs(70))[0];
    let mbps = result.mbps(Duration::from_secs(60));
    assert!((11.7..=12.01).contains(&mbps), "{mbps} Mbps");
}

/// Returns the arrival times of `count` packets that were enqueued together at `at`.
fn arrivals(spec: &str, at: Instant, count: u32) -> Vec<Duration> {
    let spec: LinkSpec = spec.parse().expect("a link specification");
    let mut link = Link::new(&spec, Rng::new(0));
    for packet in 0..count {
        link.enqueue(at, PACKET, packet);
    }
    let mut out = Vec::new();
    while let Some(deadline) = link.poll_timeout() {
        while let Some(departure) = link.poll(deadline.at) {
            if let Departure::Delivered { at: arrival, .. } = departure {
                out.push(arrival - at);
            }
        }
    }
    out
}

#[test]
fn a_token_bucket_lets_its_depth_through_at_once() {
    // 4,500 bytes of depth are three packets; the others come at the rate, one packet
    // every 12 ms at 1 Mbps.
    let ms = |n| Duration::from_millis(n);
    let times = arrivals("rate=1mbit,burst=4500B,queue=1s", Instant::ZERO, 5);
    assert_eq!(times, [ms(0), ms(0), ms(0), ms(12), ms(24)]);
    // With half a packet more, the fourth waits only for the other half.
    let times = arrivals("rate=1mbit,burst=5250B,queue=1s", Instant::ZERO, 5);
    assert_eq!(times, [ms(0), ms(0), ms(0), ms(6), ms(18)]);
}

#[test]
fn a_token_bucket_fills_at_its_rate_and_no_further_than_its_depth() {
    let mut link = Link::new(
        &"rate=1mbit,burst=3000B,queue=1s".parse().expect("a spec"),
        Rng::new(0),
    );
    let last = |link: &mut Link<u32>, at: Instant, count| {
        for packet in 0..count {
            link.enqueue(at, PACKET, packet);
        }
        let mut last = at;
        while let Some(deadline) = link.poll_timeout() {
            last = deadline.at;
            while link.poll(last).is_some() {}
        }
        last - at
    };
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    // The bucket is empty after four packets: two were saved, two took 24 ms.
    assert_eq!(last(&mut link, at(0), 4), Duration::from_millis(24));
    // 12 ms later, one packet is saved, and the second takes 12 ms.
    assert_eq!(last(&mut link, at(36), 2), Duration::from_millis(12));
    // Any idle time saves at most two packets.
    assert_eq!(last(&mut link, at(9_000), 3), Duration::from_millis(12));
    assert_eq!(link.counters().delivered.bytes, Bytes(9 * 1500));
}
