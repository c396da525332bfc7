//! The loss of a constant rate beside TCP depends on its phase.

mod simulated;

use simulated::outcome;
use weft_lab::catalogue;

#[test]
fn phases_alone_decide_what_a_constant_rate_loses() {
    let entry = catalogue::find("demo/udp-phase").unwrap().remove(0);
    let scenario = entry.scenario(&["links.line.rate=2mbit".into()]).unwrap();
    let outcome = outcome(&scenario);
    let rows = outcome.rows();
    let losses = |system: &str| {
        let of = rows
            .iter()
            .filter(|r| r.system.starts_with(system) && r.metric == "loss.udp");
        of.map(|r| r.mean).collect::<Vec<f64>>()
    };
    let (even, jitter) = (losses("even"), losses("jitter"));
    assert_eq!([even.len(), jitter.len()], [12, 12]);
    let least = |losses: &[f64]| losses.iter().copied().fold(1.0, f64::min);
    let most = |losses: &[f64]| losses.iter().copied().fold(0.0, f64::max);
    // With one start time it loses nothing, with another one in a hundred.
    assert_eq!(least(&even), 0.0, "{even:?}");
    assert!((0.005..0.015).contains(&most(&even)), "{even:?}");
    // With jitter every phase has losses.
    assert!(least(&jitter) > 0.001, "{jitter:?}");
    assert!(most(&jitter) < 0.03, "{jitter:?}");
}
