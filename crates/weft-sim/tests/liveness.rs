//! Calls in which all links, or nearly all, fail.

mod world;

use weft_experiment::{
    CallRecord, CallSetup, CameraSetup, FlowDetail, FlowSetup, LinkSetup, Record, Route, Setup,
    SideSetup,
};
use weft_links::{LineStep, LinkSpec};
use weft_session::PathState;
use weft_units::{Duration, Instant, PathId, Rate};
use world::*;

/// Creates a call with one path for each of two links.
fn call(specs: [LinkSpec; 2], duration: u64) -> Setup {
    let mut setup = Setup::new(seconds(duration));
    let mut routes = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let name = index.to_string();
        setup.links.push(LinkSetup::symmetric(&name, spec));
        routes.push(Route::forward(&[index]));
    }
    let camera = CameraSetup::synthetic(30.0, Rate::from_kbps(2500));
    let call = CallSetup::one_way(SideSetup::filming(vec![camera]));
    setup.flows.push(FlowSetup::call("call", routes, call));
    setup
}

/// Returns a link that loses everything from `from` to `to`.
fn dead(spec: &str, from: u64, to: u64) -> LinkSpec {
    let step = |at, loss| LineStep {
        at: seconds(at),
        delay: None,
        loss: Some(loss),
    };
    LinkSpec {
        line_steps: vec![step(from, 1.0), step(to, 0.0)],
        ..link(spec)
    }
}

fn both_dead(from: u64, to: u64) -> [LinkSpec; 2] {
    [
        dead("rate=6mbit,delay=20ms", from, to),
        dead("rate=4mbit,delay=45ms", from, to),
    ]
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn record(run: &Record) -> &CallRecord {
    match &run.flows[0].detail {
        FlowDetail::Call(call) => call,
        other => panic!("no call but {other:?}"),
    }
}

#[test]
fn media_is_held_back_while_all_links_are_dead_and_a_keyframe_restarts() {
    for seed in 1..=5 {
        let run = run(&call(both_dead(10, 13), 20), seed);
        // No media is sent from a second after the suspicion on, only checks, ten a
        // second on each path, and the encoder makes no frames.
        let legs = run.flows[0].routes.iter().flat_map(|r| &r.there.series);
        let silent = legs.filter(|s| s.at > at(11_400) && s.at <= at(13_000));
        let sent: u64 = silent.map(|s| s.sent.0).sum();
        assert!((2_000..=10_000).contains(&sent), "{sent} bytes in 1.6 s");
        let record = record(&run);
        let series = record.caller.series.iter();
        let waiting = series.filter(|s| s.at > at(11_400) && s.at <= at(13_000));
        let queued: u64 = waiting.flat_map(|s| &s.paths).map(|p| p.queued.0).sum();
        assert_eq!(queued, 0, "bytes wait for a pacer");
        // Then the newest picture is shown, and none that was captured during the outage.
        let frames = record.caller.streams[0].frames.iter();
        let mut shown = frames.filter_map(|f| Some((f, f.shown?.at)));
        let (first, shown) = shown
            .find(|(_, shown)| *shown >= at(13_000))
            .expect("a picture");
        assert!(shown <= at(13_500), "the picture is back at {shown:?}");
        assert!(
            first.keyframe && first.captured_at >= at(13_000),
            "{first:?}"
        );
        let changes = &record.caller.path_changes;
        let down = changes.iter().filter(|c| c.state == PathState::Down);
        assert_eq!(
            down.count(),
            0,
            "no path is worse than the other: {changes:?}"
        );
    }
}

#[test]
fn consent_ends_after_30_seconds_without_an_answer_and_begins_again() {
    let run = run(&call(both_dead(10, 45), 50), 1);
    for side in [&record(&run).caller, &record(&run).callee] {
        for path in [PathId(0), PathId(1)] {
            let changes = side.path_changes.iter();
            let changes = changes.filter(|c| c.path == path && c.state != PathState::Suspect);
            let from = changes.skip_while(|c| c.state != PathState::Down);
            let from: Vec<_> = from.map(|c| (c.at.as_secs_f64(), c.state)).collect();
            // The last answer was to a check at most two seconds before.
            let [(down, PathState::Down), (up, PathState::Up)] = from[..] else {
                panic!("{path:?}: {from:?}");
            };
            assert!((38.0..=40.2).contains(&down), "{path:?}: down at {down} s");
            assert!((45.0..=45.6).contains(&up), "{path:?}: up at {up} s");
        }
    }
    let frames = &record(&run).caller.streams[0].frames;
    let late = frames.iter().filter(|f| f.captured_at > at(47_000));
    let (shown, all) = late.fold((0, 0), |(shown, all), f| {
        (shown + usize::from(f.shown.is_some()), all + 1)
    });
    assert!(shown > 75 && shown * 100 >= all * 95, "{shown} of {all}");
}

/// The links lose one check in five, and one answer in five.
#[test]
fn loss_never_takes_the_last_path() {
    for seed in 1..=5 {
        let lossy = |delay| link(&format!("rate=4mbit,delay={delay}ms,loss=20%"));
        let run = run(&call([lossy(20), lossy(45)], 60), seed);
        for side in [&record(&run).caller, &record(&run).callee] {
            let mut state = [PathState::Up; 2];
            for change in &side.path_changes {
                state[usize::from(change.path.0)] = change.state;
                assert_ne!(state, [PathState::Down; 2], "at {:?}", change.at);
            }
        }
        // Every second also has media.
        let legs = run.flows[0].routes.iter().map(|r| &r.there.series);
        let legs: Vec<_> = legs.collect();
        for second in 1..60 {
            let within =
                |at: Instant| (second as f64..=second as f64 + 1.0).contains(&at.as_secs_f64());
            let sent = legs.iter().flat_map(|s| s.iter()).filter(|s| within(s.at));
            let sent: u64 = sent.map(|s| s.sent.0).sum();
            assert!(sent > 5_000, "{sent} bytes in second {second}");
        }
    }
}
