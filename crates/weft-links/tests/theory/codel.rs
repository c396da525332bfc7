use crate::world::{Kind, Result, Source, World};
use weft_links::{Departure, Ecn, Link, LinkSpec, PacketInfo};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

const SPAN: Duration = Duration::from_secs(60);

/// Runs one flow over 12 Mbps and 50 ms, after ten seconds.
fn one(kind: Kind, ecn: Ecn, aqm: &str) -> Result {
    let source = Source {
        kind,
        ecn,
        rtt: Duration::from_millis(50),
    };
    let spec = format!("rate=12mbit,delay=25ms,queue=1s,aqm={aqm}");
    let warm_up = Duration::from_secs(10);
    let world = World::new(&spec, &[source], warm_up);
    world.run(SPAN + warm_up).remove(0)
}

#[test]
fn codel_keeps_the_queue_of_a_responsive_flow_near_its_target() {
    // The mean stays near the target of 5 ms, while the same flow fills a second of
    // drop-tail. A single Reno halves from one product and the target: between 0.55 and
    // 1.1 of the product it uses about 84 %.
    let codel = one(Kind::Reno, Ecn::NotEct, "codel");
    let mean = codel.mean_wait_ms();
    assert!((1.0..10.0).contains(&mean), "{mean} ms");
    let mbps = codel.mbps(SPAN);
    assert!((9.6..=11.4).contains(&mbps), "{mbps} Mbps");
    let droptail = one(Kind::Reno, Ecn::NotEct, "droptail").mean_wait_ms();
    assert!(droptail > 20.0 * mean, "{droptail} ms");
}

#[test]
fn codel_marks_what_can_be_marked_and_drops_none_of_it() {
    let marked = one(Kind::Reno, Ecn::Ect0, "codel,ecn=on");
    assert_eq!(marked.dropped, 0);
    assert!((1..500).contains(&marked.marked), "{}", marked.marked);
    let mean = marked.mean_wait_ms();
    assert!((1.0..10.0).contains(&mean), "{mean} ms");
    let off = one(Kind::Reno, Ecn::Ect0, "codel,ecn=off");
    assert_eq!(off.marked, 0);
    assert!(off.dropped > 0);
}

/// Returns the drop times of a queue that always has a backlog of a second.
fn drops_of_a_standing_queue() -> Vec<Duration> {
    let spec: LinkSpec = "rate=12mbit,queue=100s,aqm=codel".parse().expect("a spec");
    let mut link = Link::new(&spec, Rng::new(0));
    let mut drops = Vec::new();
    // 1,000 packets at once, then one for each that leaves: one packet per millisecond.
    for packet in 0..1_000 {
        link.enqueue(Instant::ZERO, Bytes(1500), packet);
    }
    for ms in 1..2_000 {
        let now = Instant::ZERO + Duration::from_millis(ms);
        link.enqueue(now, PacketInfo::new(Bytes(1500)), 0);
        while let Some(departure) = link.poll(now) {
            if let Departure::Dropped { at, .. } = departure {
                drops.push(at - Instant::ZERO);
            }
        }
    }
    drops
}

#[test]
fn drops_of_a_standing_queue_come_by_the_control_law() {
    // A packet leaves every millisecond. The first packet that waited 5 ms leaves at 5
    // ms; the first drop comes 100 ms later; then the drops follow after 100 ms / sqrt(n)
    // each: 100, 70.7, 57.7, 50 ms, rounded up to the next departure (RFC 8289 section
    // 5).
    let drops = drops_of_a_standing_queue();
    let expected = [105.0, 205.0, 276.0, 334.0, 384.0];
    for (drop, expected) in drops.iter().zip(expected) {
        let off = drop.as_millis_f64() - expected;
        assert!((-0.5..1.5).contains(&off), "{drop:?} for {expected}");
    }
    // The n-th drop comes after about 200 ms x sqrt(n): at 2 s it is the 100th, minus
    // those that would fall into the first interval.
    assert!((80..110).contains(&drops.len()), "{}", drops.len());
}

#[test]
fn a_constant_overload_is_drained_once_the_control_law_has_caught_up() {
    // The n-th drop comes at 200 ms x sqrt(n), so there are 50 t drops a second after t
    // seconds. 2,000 packets a second enter and 1,000 leave: until about 20 s the limit
    // of the queue must help, then CoDel alone empties it (and restarts: it is made for
    // flows that react).
    let source = Source {
        kind: Kind::Constant(Rate::from_mbps(24)),
        ecn: Ecn::NotEct,
        rtt: Duration::from_millis(50),
    };
    let run = |warm_up, seconds| {
        let warm_up = Duration::from_secs(warm_up);
        let spec = "rate=12mbit,delay=25ms,queue=1s,aqm=codel";
        let world = World::new(spec, &[source], warm_up);
        world.run(Duration::from_secs(seconds)).remove(0)
    };
    // The queue is full, and its head leaves faster than the link by 50 t drops a second:
    // 1,000 packets over 1,250 to 1,750 a second.
    let early = run(5, 15);
    let (low, high) = (early.wait_ms_at(0.05), early.wait_ms_at(0.95));
    assert!(540.0 < low && high < 840.0, "{low} to {high} ms");
    let drained = run(20, 40).wait_ms_at(0.0);
    assert!((0.0..5.0).contains(&drained), "{drained} ms");
}
