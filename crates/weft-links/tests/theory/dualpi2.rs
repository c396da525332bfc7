use crate::world::{Kind, Result, Source, World};
use weft_links::Ecn;
use weft_units::{Duration, Rate};

const WARM_UP: Duration = Duration::from_secs(10);
const SPAN: Duration = Duration::from_secs(60);

fn source(kind: Kind, ecn: Ecn) -> Source {
    Source {
        kind,
        ecn,
        rtt: Duration::from_millis(20),
    }
}

fn run(sources: &[Source]) -> Vec<Result> {
    let spec = "rate=24mbit,delay=10ms,queue=250ms,aqm=dualpi2";
    World::new(spec, sources, WARM_UP).run(SPAN + WARM_UP)
}

#[test]
fn classic_and_scalable_flows_get_equal_rates_and_unequal_delays() {
    // The coupling is designed for equal rates (RFC 9332 section 2.1); the classic queue
    // is controlled to 15 ms, the scalable one marks at about 1 ms.
    let classic = source(Kind::Reno, Ecn::NotEct);
    let scalable = source(Kind::Scalable, Ecn::Ect1);
    let results = run(&[classic, classic, classic, scalable, scalable, scalable]);
    let (classic, scalable) = results.split_at(3);
    let mbps = |flows: &[Result]| flows.iter().map(|r| r.mbps(SPAN)).sum::<f64>();
    let wait = |flows: &[Result]| flows.iter().map(Result::mean_wait_ms).sum::<f64>() / 3.0;
    let ratio = mbps(classic) / mbps(scalable);
    assert!((0.6..1.6).contains(&ratio), "{ratio}");
    let sum = mbps(&results);
    assert!((22.0..=24.01).contains(&sum), "{sum} Mbps");
    let (slow, fast) = (wait(classic), wait(scalable));
    assert!((9.0..20.0).contains(&slow), "classic {slow} ms");
    assert!((0.1..2.0).contains(&fast), "scalable {fast} ms");
    assert_eq!(scalable.iter().map(|r| r.dropped).sum::<u64>(), 0);
    assert_eq!(classic.iter().map(|r| r.marked).sum::<u64>(), 0);
}

#[test]
fn the_marks_of_both_queues_are_coupled_by_a_square() {
    // p_C = (p_L / k)^2 with k = 2 (RFC 9332 section 2.1), while the scalable queue adds
    // no marks of its own: its flow is sparse.
    let classic = source(Kind::Reno, Ecn::Ect0);
    let sparse = source(Kind::Constant(Rate::from_mbps(1)), Ecn::Ect1);
    let results = run(&[classic, classic, classic, classic, sparse]);
    let share = |results: &[Result]| {
        let marked: u64 = results.iter().map(|r| r.marked).sum();
        let all: u64 = results.iter().map(|r| r.delivered).sum();
        marked as f64 / all as f64
    };
    let (p_c, p_l) = (share(&results[..4]), share(&results[4..]));
    assert!((0.001..0.1).contains(&p_c), "{p_c}");
    // The mean of squares slightly exceeds the square of the mean.
    let ratio = p_c / (p_l / 2.0).powi(2);
    assert!((0.95..1.25).contains(&ratio), "{p_c} and {p_l}: {ratio}");
}

#[test]
fn scalable_flows_alone_wait_no_longer_than_the_ramp() {
    let scalable = source(Kind::Scalable, Ecn::Ect1);
    let results = run(&[scalable, scalable]);
    // The ramp starts at 0.8 ms, and these flows do not pace: their bursts cost some of
    // the rate.
    let sum: f64 = results.iter().map(|r| r.mbps(SPAN)).sum();
    assert!((20.4..=24.01).contains(&sum), "{sum} Mbps");
    for flow in &results {
        assert_eq!(flow.dropped, 0);
        let mean = flow.mean_wait_ms();
        assert!((0.1..2.0).contains(&mean), "{mean} ms");
    }
}

#[test]
fn an_overload_of_scalable_packets_is_dropped_too() {
    // If marks do not help, packets of both kinds are dropped with at most 1 / k^2 = 1/4
    // (RFC 9332 appendix A.2); a fifth is enough here.
    let rude = source(Kind::Constant(Rate::from_mbps(30)), Ecn::Ect1);
    let result = &run(&[rude])[0];
    let share = result.dropped as f64 / (result.dropped + result.delivered) as f64;
    assert!((0.19..0.21).contains(&share), "{share}");
    let marked = result.marked as f64 / result.delivered as f64;
    assert!((0.9..=1.0).contains(&marked), "{marked}");
}
