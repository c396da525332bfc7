use weft_experiment::{
    CounterLog, CounterSample, FlowDetail, FlowKind, FlowRecord, FlowSetup, ReceivedCounters,
    Record, Route, Setup, UdpSetup,
};
use weft_units::{Duration, Instant, Rate};

use super::*;
use crate::measure::capacity::Capacities;

/// Returns the view of counters of one end, from 200 to 300 ms.
fn view(received: Vec<(f64, ReceivedCounters)>) -> View {
    let mut setup = Setup::new(Duration::from_millis(300));
    let kind = FlowKind::Udp(UdpSetup::new(Rate::from_mbps(1)));
    setup
        .flows
        .push(FlowSetup::new("call", Route::forward(&[0]), kind));
    let samples = received.into_iter().map(|(at_s, received)| CounterSample {
        at_s,
        received: Some(received),
        ..CounterSample::default()
    });
    let log = CounterLog {
        samples: samples.collect(),
    };
    let record = Record {
        ended_at: Instant::ZERO + setup.duration,
        sample_every: setup.sample_every,
        links: Vec::new(),
        flows: vec![FlowRecord {
            name: "call".to_owned(),
            routes: Vec::new(),
            detail: FlowDetail::Counted(vec![log]),
        }],
        events: 0,
    };
    let run = Run {
        setup: &setup,
        focus: &[0],
        from: Duration::from_millis(200),
        until: None,
        capacities: &Capacities::of(&setup),
        record: &record,
    };
    counters::views(&run, 0).remove(0)
}

#[test]
fn pictures_outside_the_measured_time_do_not_count() {
    let shown = |latencies: &[(f64, f64)]| ReceivedCounters {
        latencies: latencies.to_vec(),
        ..ReceivedCounters::default()
    };
    // The last sample comes after the end, and includes pictures from before it.
    let samples = vec![
        (0.19, shown(&[(0.18, 80.0)])),
        (0.31, shown(&[(0.253, 120.0), (0.301, 70.0)])),
    ];
    assert_eq!(view(samples).latency, [120.0]);
}

#[test]
fn uncounted_values_are_absent() {
    let frames = |frames| ReceivedCounters {
        frames: Some(frames),
        ..ReceivedCounters::default()
    };
    let view = view(vec![(0.1, frames(3.0)), (0.3, frames(6.0))]);
    assert_eq!(
        (view.shown, view.freezes, view.dropped),
        (Some(3.0), None, None)
    );
}
