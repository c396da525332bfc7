use crate::world::{Kind, Result, Source, World};
use weft_links::{Departure, Ecn, FlowId, Link, LinkSpec, PacketInfo};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

const WARM_UP: Duration = Duration::from_secs(10);
const SPAN: Duration = Duration::from_secs(60);

fn source(kind: Kind, rtt_ms: u64) -> Source {
    Source {
        kind,
        ecn: Ecn::NotEct,
        rtt: Duration::from_millis(rtt_ms),
    }
}

fn run(aqm: &str, sources: &[Source]) -> Vec<Result> {
    let spec = format!("rate=12mbit,delay=10ms,queue=1s,aqm={aqm}");
    World::new(&spec, sources, WARM_UP).run(SPAN + WARM_UP)
}

fn mbps(results: &[Result]) -> Vec<f64> {
    results.iter().map(|r| r.mbps(SPAN)).collect()
}

/// Returns the fairness index of Jain, Chiu, Hawe 1984: (sum x)^2 / (n sum x^2), one if
/// all are equal.
fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    sum * sum / (rates.len() as f64 * rates.iter().map(|r| r * r).sum::<f64>())
}

#[test]
fn flows_with_different_round_trips_get_equal_shares() {
    let sources = [20, 40, 80, 160].map(|rtt| source(Kind::Reno, rtt));
    let fair = mbps(&run("fq_codel", &sources));
    assert!((0.96..=1.0).contains(&jain(&fair)), "{fair:?}");
    // A single queue for all gives most to the shortest round trip.
    let unfair = mbps(&run("codel", &sources));
    assert!((0.25..0.9).contains(&jain(&unfair)), "{unfair:?}");
}

#[test]
fn a_flow_that_never_yields_takes_no_more_than_its_share() {
    let rude = source(Kind::Constant(Rate::from_mbps(24)), 20);
    let rates = mbps(&run("fq_codel", &[rude, source(Kind::Reno, 40)]));
    let (rude, reno) = (rates[0], rates[1]);
    assert!((5.9..=7.5).contains(&rude), "{rude} Mbps");
    assert!((4.5..=6.1).contains(&reno), "{reno} Mbps");
}

#[test]
fn a_sparse_flow_waits_for_no_bulk() {
    // RFC 8290 section 1.3: flows that use less than their share hardly wait. 1,500 bytes
    // at 12 Mbps take 1 ms: at most the packet in transmission and the one whose quantum
    // is not used up.
    let call = source(Kind::Constant(Rate::from_mbps(1)), 20);
    let bulk = source(Kind::Reno, 40);
    let results = run("fq_codel", &[call, bulk, bulk]);
    assert_eq!(results[0].dropped, 0);
    let longest = results[0].wait_ms_at(1.0);
    assert!((0.5..=3.0).contains(&longest), "{longest} ms");
}

#[test]
fn a_full_queue_drops_from_the_longest_flow() {
    let spec: LinkSpec = "rate=1mbit,queue=15kB,aqm=fq_codel"
        .parse()
        .expect("a spec");
    let mut link = Link::new(&spec, Rng::new(3));
    let info = |flow| PacketInfo::new(Bytes(1500)).with_flow(FlowId(flow));
    // One packet in transmission, eight of flow 1 and two of flow 2 fill the queue.
    for flow in [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2] {
        link.enqueue(Instant::ZERO, info(flow), flow);
    }
    assert_eq!(link.poll(Instant::ZERO), None);
    // One more packet of flow 2: half of flow 1's eight are dropped (RFC 8290 section
    // 4.1).
    link.enqueue(Instant::ZERO, info(2), 2);
    let dropped: Vec<u64> = std::iter::from_fn(|| link.poll(Instant::ZERO))
        .map(|d| match d {
            Departure::Dropped { packet, .. } => packet,
            Departure::Delivered { .. } => panic!("nothing arrives at once"),
        })
        .collect();
    assert_eq!(dropped, [1, 1, 1, 1]);
}
