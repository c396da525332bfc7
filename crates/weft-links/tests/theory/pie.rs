use crate::world::{Kind, Result, Source, World};
use weft_links::Ecn;
use weft_units::{Duration, Rate};

const WARM_UP: Duration = Duration::from_secs(10);
const SPAN: Duration = Duration::from_secs(60);

fn run(aqm: &str, kind: Kind, ecn: Ecn, flows: usize) -> Vec<Result> {
    let source = Source {
        kind,
        ecn,
        rtt: Duration::from_millis(50),
    };
    let spec = format!("rate=24mbit,delay=25ms,queue=1s,aqm={aqm}");
    World::new(&spec, &vec![source; flows], WARM_UP).run(SPAN + WARM_UP)
}

fn mean_wait_ms(results: &[Result]) -> f64 {
    let waits = results.iter().flat_map(|r| &r.waits_ms);
    let count = results.iter().map(|r| r.waits_ms.len()).sum::<usize>();
    waits.sum::<f64>() / count as f64
}

#[test]
fn pie_holds_the_delay_of_responsive_flows_at_its_target() {
    // QDELAY_REF is 15 ms (RFC 8033 section 4.2).
    let results = run("pie", Kind::Reno, Ecn::NotEct, 8);
    let mean = mean_wait_ms(&results);
    assert!((11.0..19.0).contains(&mean), "{mean} ms");
    let mbps: f64 = results.iter().map(|r| r.mbps(SPAN)).sum();
    assert!((22.8..=24.01).contains(&mbps), "{mbps} Mbps");
}

#[test]
fn pie_holds_its_target_against_a_constant_overload() {
    // 25 % too much: in the long run, a fifth must be dropped.
    let kind = Kind::Constant(Rate::from_mbps(30));
    let result = &run("pie", kind, Ecn::NotEct, 1)[0];
    let mean = result.mean_wait_ms();
    assert!((11.0..19.0).contains(&mean), "{mean} ms");
    let share = result.dropped as f64 / (result.dropped + result.delivered) as f64;
    assert!((0.195..0.205).contains(&share), "{share}");
}

#[test]
fn pie_marks_in_place_of_drops_up_to_a_tenth() {
    let marked = run("pie,ecn=on", Kind::Reno, Ecn::Ect0, 8);
    assert_eq!(marked.iter().map(|r| r.dropped).sum::<u64>(), 0);
    let marks: u64 = marked.iter().map(|r| r.marked).sum();
    let packets: u64 = marked.iter().map(|r| r.delivered).sum();
    let share = marks as f64 / packets as f64;
    assert!((0.001..0.05).contains(&share), "{share}");
    // If a fifth must be dropped, marks do not help: it drops (RFC 8033 section 5.1).
    let kind = Kind::Constant(Rate::from_mbps(30));
    let overload = &run("pie,ecn=on", kind, Ecn::Ect0, 1)[0];
    let share = overload.dropped as f64 / (overload.dropped + overload.delivered) as f64;
    assert!((0.195..0.205).contains(&share), "{share}");
}

#[test]
fn pie_lets_a_burst_pass() {
    // 100 ms of packets arrive at once at an idle queue: within the allowance of 150 ms
    // nothing is dropped (RFC 8033 section 4.4), and they leave before it ends.
    let spec = "rate=12mbit,queue=1s,aqm=pie".parse().expect("a spec");
    let mut link = weft_links::Link::new(&spec, weft_units::Rng::new(0));
    for packet in 0..100 {
        link.enqueue(weft_units::Instant::ZERO, crate::world::PACKET, packet);
    }
    while let Some(deadline) = link.poll_timeout() {
        while link.poll(deadline.at).is_some() {}
    }
    assert_eq!(link.counters().delivered.packets, 100);
}
