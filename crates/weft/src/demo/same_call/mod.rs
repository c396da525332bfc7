//! Compares a call in the simulator with the same call over real sockets. The links of
//! one scenario run as models in virtual time, and as relays between sockets of this
//! machine; camera model, session and method of counting are the same.

mod sockets;

use weft_experiment::{CallSetup, FlowDetail, LinkSetup, Setup};
use weft_lab::catalogue;
use weft_testing::where_the_machine_keeps_up;
use weft_units::{Duration, Freezes, Instant};

/// Picture with its times at the camera and the display.
#[derive(Clone, Copy, Debug)]
struct ShownPicture {
    captured_at: Instant,
    shown_at: Option<Instant>,
}

/// Perceptible quality of a call.
#[derive(Clone, Copy, Debug)]
struct Figures {
    /// Displayed pictures per second.
    fps: f64,
    /// Latency from capture to display, in ms.
    mean_ms: f64,
    p95_ms: f64,
    freeze_s: f64,
}

impl Figures {
    fn of(seen: &[ShownPicture], span: Duration) -> Figures {
        let mut shown: Vec<(Instant, f64)> = Vec::new();
        for picture in seen {
            if let Some(at) = picture.shown_at {
                shown.push((at, (at - picture.captured_at).as_millis_f64()));
            }
        }
        let mut freezes = Freezes::new();
        shown.iter().for_each(|(at, _)| freezes.on_picture(*at));
        let mut latencies: Vec<f64> = shown.iter().map(|(_, ms)| *ms).collect();
        latencies.sort_by(f64::total_cmp);
        let count = latencies.len().max(1);
        let p95 = latencies.get((count * 95).div_ceil(100) - 1);
        Figures {
            fps: shown.len() as f64 / span.as_secs_f64(),
            mean_ms: latencies.iter().sum::<f64>() / count as f64,
            p95_ms: p95.copied().unwrap_or_default(),
            freeze_s: freezes.total().as_secs_f64(),
        }
    }

    fn mean(all: &[Figures]) -> Figures {
        let of = |field: fn(&Figures) -> f64| all.iter().map(field).sum::<f64>() / all.len() as f64;
        Figures {
            fps: of(|f| f.fps),
            mean_ms: of(|f| f.mean_ms),
            p95_ms: of(|f| f.p95_ms),
            freeze_s: of(|f| f.freeze_s),
        }
    }

    fn row(&self, what: &str) {
        println!(
            "| {what} | {:.2} | {:.1} | {:.1} | {:.2} |",
            self.fps, self.mean_ms, self.p95_ms, self.freeze_s
        );
    }
}

/// Call of a scenario, with its links.
struct Case {
    setup: Setup,
}

impl Case {
    fn of(scenario: &str, system: &str, set: &[&str]) -> Case {
        let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
        let entry = catalogue::find(scenario).expect("a scenario that weft brings along");
        let scenario = entry[0].scenario(&set).expect("it can be read");
        let variant = scenario.variants.into_iter().find(|v| v.name == system);
        Case {
            setup: variant.expect("its system").setup,
        }
    }

    fn call(&self) -> &CallSetup {
        self.setup.flows[0].traffic().media().expect("a call")
    }

    /// Links of the call's paths, one hop each.
    fn links(&self) -> impl Iterator<Item = &LinkSetup> {
        let routes = self.setup.flows[0].routes.iter();
        routes.map(|route| &self.setup.links[route.hops[0].link])
    }

    fn in_virtual_time(&self, seed: u64) -> Figures {
        let record = weft_sim::run(&self.setup, seed, &mut ()).expect("a good setup");
        let FlowDetail::Call(call) = &record.flows[0].detail else {
            panic!("no call");
        };
        let frames = call.caller.streams[0]
            .frames
            .iter()
            .map(|frame| ShownPicture {
                captured_at: frame.captured_at,
                shown_at: frame.shown.map(|shown| shown.at),
            });
        Figures::of(&frames.collect::<Vec<ShownPicture>>(), self.setup.duration)
    }

    fn over_sockets(&self, seed: u64) -> Figures {
        let seen = sockets::run(self, seed);
        Figures::of(&seen, self.setup.duration)
    }
}

/// Two good links and a fading one, for half a minute in each world.
#[test]
fn a_short_call_over_sockets_is_as_in_virtual_time() {
    where_the_machine_keeps_up(|| {
        let links = ["links.wifi.steps=[]", "links.wifi.steps-back=[]"];
        let more = ["links.lte.steps=[]", "links.lte.steps-back=[]"];
        let short = ["duration=6s", "links.wifi.loss=1%"];
        let case = Case::of("demo/ride", "weft", &[&links[..], &more, &short].concat());
        let (virtually, really) = (case.in_virtual_time(1), case.over_sockets(1));
        virtually.row("virtual time");
        really.row("sockets");
        // A busy machine adds unbounded delay, but no picture arrives sooner than in
        // virtual time, and none is lost.
        let fps = really.fps / virtually.fps;
        assert!((0.75..1.1).contains(&fps), "{really:?}, {virtually:?}");
        let latency = really.mean_ms / virtually.mean_ms;
        assert!((0.8..5.0).contains(&latency), "{really:?}, {virtually:?}");
    });
}

/// Compares the whole ride. Needs an otherwise idle machine: `cargo test
/// --release -p weft --bin weft same_call -- --ignored --nocapture`
#[test]
#[ignore = "eight minutes of real time on a quiet machine"]
fn rides_over_sockets_are_as_in_virtual_time() {
    const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;
    println!(
        "| call | pictures a second | latency, ms | p95, ms | frozen, s |\n|---|---|---|---|---|"
    );
    let mut apart = Vec::new();
    for system in ["weft", "converge"] {
        let case = Case::of("demo/ride", system, &[]);
        let virtually: Vec<Figures> = SEEDS.map(|seed| case.in_virtual_time(seed)).collect();
        let virtually = Figures::mean(&virtually);
        virtually.row(&format!("`{system}`, virtual time"));
        let really: Vec<Figures> = SEEDS.map(|seed| case.over_sockets(seed)).collect();
        let really = Figures::mean(&really);
        really.row(&format!("`{system}`, sockets"));
        for (what, ratio, bound) in [
            ("pictures", really.fps / virtually.fps, 0.1),
            ("mean latency", really.mean_ms / virtually.mean_ms, 0.2),
            ("p95 latency", really.p95_ms / virtually.p95_ms, 0.2),
        ] {
            if (ratio - 1.0).abs() > bound {
                apart.push(format!("{system}: {what} {ratio:.2} of virtual time"));
            }
        }
    }
    assert!(apart.is_empty(), "{apart:?}");
}
