//! A call over several links is never worse than over the best single link: compares the
//! default scheduler with a plain call over each of them alone.

mod world;

use weft_experiment::{
    CallSetup, CameraSetup, FlowDetail, FlowSetup, LinkSetup, Route, Setup, SideSetup,
};
use weft_links::{Capacity, LineStep, LinkSpec, Schedule};
use weft_session::{Level, SchedulerKind};
use weft_units::{Duration, Freezes, Instant, Rate};
use world::*;

const SECONDS: u64 = 30;
const SEEDS: u64 = 2;

/// Quality for the people in the call, over all seeds.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Mean of a run.
    freeze: f64,
    p95: f64,
}

/// Tolerance for the failure of a link that carried everything, and for its effect on the
/// jitter buffer in the next two seconds.
const MORE_FREEZE: f64 = 0.5;
const MORE_P95: f64 = 60.0;
/// Tolerance if both links have short outages: the delay of a call that freezes longer
/// says less.
const MORE_P95_MOVING: f64 = 120.0;
const MORE_P95_SHARE: f64 = 1.1;

fn see(links: &[LinkSpec], of: &[usize], scheduler: SchedulerKind) -> Seen {
    let mut setup = Setup::new(seconds(SECONDS));
    for (index, spec) in links.iter().enumerate() {
        let link = LinkSetup::symmetric(&index.to_string(), spec);
        setup.links.push(link);
    }
    let camera = CameraSetup::synthetic(30.0, Rate::from_kbps(2500));
    let mut side = SideSetup::filming(vec![camera]);
    side.scheduler = scheduler;
    let mut call = CallSetup::one_way(side);
    if scheduler == SchedulerKind::Single {
        call.level = Level::SenderSide;
    }
    let routes = of.iter().map(|link| Route::forward(&[*link])).collect();
    setup.flows.push(FlowSetup::call("call", routes, call));
    let (mut freeze, mut delays) = (Duration::ZERO, Vec::new());
    for seed in 1..=SEEDS {
        let record = run(&setup, seed);
        let FlowDetail::Call(call) = &record.flows[0].detail else {
            panic!("no call");
        };
        let frames = &call.caller.streams[0].frames;
        let shown = frames
            .iter()
            .filter_map(|f| Some((f.captured_at, f.shown?.at)));
        let mut at: Vec<Instant> = Vec::new();
        for (captured, display) in shown {
            at.push(display);
            delays.push((display - captured).as_millis_f64());
        }
        at.sort();
        at.push(Instant::ZERO + seconds(SECONDS));
        let mut freezes = Freezes::new();
        at.iter().for_each(|at| freezes.on_picture(*at));
        freeze += freezes.total();
    }
    delays.sort_by(f64::total_cmp);
    Seen {
        freeze: freeze.as_secs_f64() / SEEDS as f64,
        p95: delays[delays.len() * 95 / 100],
    }
}

fn never_worse(what: &str, links: &[LinkSpec]) {
    never_worse_by(what, links, MORE_P95);
}

fn never_worse_by(what: &str, links: &[LinkSpec], more_p95: f64) {
    let all: Vec<usize> = (0..links.len()).collect();
    let weft = see(links, &all, SchedulerKind::default());
    let single = |link: usize| see(links, &[link], SchedulerKind::Single);
    let singles: Vec<Seen> = all.iter().map(|link| single(*link)).collect();
    // The call that freezes least comes first; a frozen call has few frames to count.
    let order = |a: &&Seen, b: &&Seen| {
        let by_freeze = a.freeze.total_cmp(&b.freeze);
        by_freeze.then(a.p95.total_cmp(&b.p95))
    };
    let best = *singles.iter().min_by(order).expect("a link");
    eprintln!("{what}: {weft:?}, the best alone {best:?}");
    assert!(
        weft.freeze <= best.freeze + MORE_FREEZE,
        "{what}: {weft:?} against {singles:?}"
    );
    assert!(
        weft.p95 <= best.p95 * MORE_P95_SHARE + more_p95,
        "{what}: {weft:?} against {singles:?}"
    );
}

#[test]
fn links_that_stay_as_they_are() {
    never_worse(
        "equal",
        &["rate=4mbit,delay=25ms", "rate=4mbit,delay=25ms"].map(link),
    );
    never_worse(
        "rates",
        &["rate=6mbit,delay=20ms", "rate=1mbit,delay=30ms"].map(link),
    );
    never_worse(
        "delays",
        &["rate=4mbit,delay=20ms", "rate=4mbit,delay=150ms"].map(link),
    );
    let three = [
        "rate=4mbit,delay=20ms",
        "rate=2mbit,delay=50ms",
        "rate=3mbit,delay=90ms",
    ];
    never_worse("three", &three.map(link));
}

#[test]
fn a_link_that_loses_one_packet_in_twenty() {
    let links = ["rate=4mbit,delay=20ms,loss=5%", "rate=4mbit,delay=40ms"];
    never_worse("lossy", &links.map(link));
}

#[test]
fn a_link_that_dies_and_returns() {
    let mut links = ["rate=6mbit,delay=15ms", "rate=3mbit,delay=40ms"].map(link);
    let step = |at, loss| LineStep {
        at: seconds(at),
        delay: None,
        loss: Some(loss),
    };
    links[0].line_steps = vec![step(10, 1.0), step(20, 0.0)];
    never_worse("dying", &links);
}

#[test]
fn a_link_that_loses_most_of_its_capacity() {
    let mut links = ["rate=6mbit,delay=15ms", "rate=3mbit,delay=40ms"].map(link);
    let steps = [(0, 6000), (10, 500), (20, 6000)];
    let steps = steps.map(|(at, kbps)| (seconds(at), Rate::from_kbps(kbps)));
    let schedule = Schedule::new(steps.to_vec()).expect("a schedule");
    links[0].capacity = Capacity::Schedule(schedule);
    never_worse("collapse", &links);
}

#[test]
fn people_who_move() {
    let walking = [
        "trace=generated:walking/wifi,delay=10ms",
        "trace=generated:walking/lte,delay=30ms",
    ];
    never_worse("walking", &walking.map(link));
    let driving = [
        "trace=generated:driving/lte,delay=35ms",
        "trace=generated:driving/lte2,delay=30ms",
    ];
    never_worse_by("driving", &driving.map(link), MORE_P95_MOVING);
}
