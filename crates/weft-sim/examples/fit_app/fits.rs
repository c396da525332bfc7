//! Fits of parameters to published figures: a few lines of data for each, and the
//! measurement.

use weft_apps::{App, Family, Fitted, Model};
use weft_experiment::{Application, CongestionKind, TcpSetup};
use weft_units::Bytes;

use crate::course::Course;
use crate::zoom::minute_at;

/// Parameter, its candidate values, and the figure.
pub struct Fit {
    app: App,
    name: &'static str,
    pub candidates: &'static [f64],
    /// Source of the figure, and the measured quantity.
    pub figure: &'static str,
    pub published: f64,
    /// Largest deviation from the figure for a value that fits.
    pub bound: f64,
    /// Measurement of one run with this seed.
    pub measure: fn(&Model, u64) -> f64,
}

impl Fit {
    pub fn is_of(&self, parameter: &Fitted) -> bool {
        (parameter.app, parameter.name) == (self.app, self.name)
    }

    pub fn parameter(&self) -> &'static Fitted {
        let found = weft_apps::FITTED.iter().find(|each| self.is_of(each));
        found.unwrap_or_else(|| panic!("{} has no {}", self.app, self.name))
    }

    /// Returns the model of its file, with changes of the form `PARAMETER=VALUE`.
    pub fn model(&self, instead: &[String]) -> Model {
        let Family::Model(model) = self.app.family() else {
            panic!("{} is a call", self.app)
        };
        let own = weft_apps::FITTED.iter().filter(|each| each.app == self.app);
        own.fold(model, |model, parameter| {
            let mut pairs = instead.iter().filter_map(|pair| pair.split_once('='));
            let given = pairs.find(|(name, _)| *name == parameter.name);
            match given.and_then(|(_, value)| value.parse().ok()) {
                Some(value) => parameter.with(model, value),
                None => model,
            }
        })
    }
}

pub const FITS: &[Fit] = &[
    Fit {
        app: App::WhatsApp,
        name: "highest, kbit/s",
        candidates: &[400.0, 425.0, 450.0, 475.0, 500.0],
        figure: "Grote et al., figure 2: what it sends alone, kbit/s",
        published: 450.0,
        bound: 12.0,
        measure: |model, seed| {
            let course = Course::of(model, 120, "rate=5mbit,delay=25ms,queue=2bdp");
            course.run(seed).sent(60, 120)
        },
    },
    Fit {
        app: App::WhatsApp,
        name: "rise after a whole burst, kbit/s",
        candidates: &[5.0, 10.0, 20.0, 30.0, 50.0],
        figure: "Grote et al., section IV-A: back within 60 s behind 187.5 kB, share of runs",
        published: 1.0,
        bound: 0.0,
        measure: |model, seed| f64::from(recovers(model, seed, "187500B", 60)),
    },
    Fit {
        app: App::ZoomBackend,
        name: "highest, kbit/s",
        candidates: &[3_700.0, 3_800.0, 3_900.0, 4_000.0],
        figure: "Sander et al., figure 2: its best second alone on 4 Mbit/s, slightly below 4",
        published: 3_900.0,
        bound: 50.0,
        measure: |model, seed| {
            let ran = Course::of(model, 60, NARROWED).run(seed);
            (30..60).map(|at| ran.sent(at, at + 1)).fold(0.0, f64::max)
        },
    },
    Fit {
        app: App::ZoomBackend,
        name: "memory, s",
        candidates: &[10.0, 20.0, 30.0, 40.0],
        figure: "Sander et al., figure 2: seconds above 3 Mbit/s after the fall to 0.5",
        published: 30.0,
        bound: 4.0,
        measure: |model, seed| {
            let ran = narrowed(model).run(seed);
            let high = (60..120).filter(|&at| ran.sent(at, at + 1) > 3_000.0);
            high.count() as f64
        },
    },
    Fit {
        app: App::ZoomBackend,
        name: "overshoot after a fall",
        candidates: &[2.0, 3.0, 4.0, 5.0, 6.0],
        figure: "Sander et al., figure 2: its highest second after that, over 0.5 Mbit/s",
        published: 4.0,
        bound: 0.5,
        measure: |model, seed| {
            let ran = narrowed(model).run(seed);
            let seconds = (94..120).map(|at| ran.sent(at, at + 1) / 500.0);
            seconds.fold(0.0, f64::max)
        },
    },
    Fit {
        app: App::ZoomBackend,
        name: "trial counts below loss",
        candidates: &[0.005, 0.01, 0.02, 0.03, 0.04, 0.05],
        figure: "Sander et al., figure 3: equality with CUBIC at 1 Mbit/s, 0.5 BDP, 50 ms",
        published: 0.6,
        bound: 0.15,
        measure: |model, seed| {
            let ran = beside_cubic(model, "rate=1mbit,delay=25ms,queue=0.5bdp").run(seed);
            let (zoom, tcp) = (ran.arrived(0, 60, 120), ran.arrived(1, 60, 120));
            if zoom >= tcp {
                1.0 - tcp / zoom
            } else {
                zoom / tcp - 1.0
            }
        },
    },
    Fit {
        app: App::ZoomBackend,
        name: "packets a second at the lowest rate",
        candidates: &[40.0, 42.0, 43.0, 44.4, 46.0, 48.0],
        figure: "Sander et al., table 2: packets sent behind drop-tail, at 10.5 % of loss",
        published: 3_155.0,
        bound: 50.0,
        measure: |model, _| minute_at(0.105, model).0,
    },
    Fit {
        app: App::ZoomBackend,
        name: "more of them, over the share lost",
        candidates: &[1.5, 1.65, 1.76, 1.85, 2.0],
        figure: "Sander et al., table 2: packets sent behind FQ-CoDel, at 23.9 % of loss",
        published: 3_784.0,
        bound: 50.0,
        measure: |model, _| minute_at(0.239, model).0,
    },
    Fit {
        app: App::ZoomBackend,
        name: "their size, B",
        candidates: &[830.0, 845.0, 860.0, 875.0, 890.0],
        figure: "Sander et al., table 2, derived: mean size at 10.5 % of loss, B",
        published: 890.0,
        bound: 9.0,
        measure: |model, _| minute_at(0.105, model).1,
    },
    Fit {
        app: App::ZoomBackend,
        name: "less of it, B over the share lost",
        candidates: &[1_450.0, 1_550.0, 1_650.0, 1_750.0, 1_875.0],
        figure: "Sander et al., table 2, derived: mean size at 23.9 % of loss, B",
        published: 639.0,
        bound: 7.0,
        measure: |model, _| minute_at(0.239, model).1,
    },
    Fit {
        app: App::ZoomClient,
        name: "highest, kbit/s",
        candidates: &[2_300.0, 2_400.0, 2_500.0, 2_600.0, 2_700.0],
        figure: "Sander et al., figure 2: its best second alone on 4 Mbit/s, kbit/s",
        published: 2_500.0,
        bound: 50.0,
        measure: |model, seed| {
            let ran = Course::of(model, 60, NARROWED).run(seed);
            (30..60).map(|at| ran.sent(at, at + 1)).fold(0.0, f64::max)
        },
    },
    Fit {
        app: App::ZoomClient,
        name: "highest of an old call, kbit/s",
        candidates: &[3_000.0, 3_250.0, 3_500.0, 3_750.0],
        figure: "Sander et al., figure 2: its best second before the rate falls, kbit/s",
        published: 3_500.0,
        bound: 100.0,
        measure: |model, seed| {
            let ran = Course::of(model, 240, NARROWED).run(seed);
            (180..240)
                .map(|at| ran.sent(at, at + 1))
                .fold(0.0, f64::max)
        },
    },
    Fit {
        app: App::Skype,
        name: "rise, of the rate a second",
        candidates: &[0.05, 0.1, 0.15, 0.2, 0.25],
        figure: "Boyaci et al., figure 2: rises of 80 kbit/s that it follows within 10 s, of 6",
        published: 6.0,
        bound: 0.0,
        measure: |model, seed| {
            let ran = Course::at_home(model, 260).steps(&stairs()).run(seed);
            let rises = (200..=600).step_by(80).zip((140..).step_by(10));
            let follows =
                rises.filter(|(kbps, at)| ran.sent(at + 5, at + 10) >= 0.75 * f64::from(*kbps));
            follows.count() as f64
        },
    },
    Fit {
        app: App::Skype,
        name: "redundancy, of the rate",
        candidates: &[0.1, 0.15, 0.2, 0.25, 0.3],
        figure: "Boyaci et al., figure 10: what it sends with 1 % of loss, over before",
        published: 1.2,
        bound: 0.05,
        measure: |model, seed| {
            let ran = Course::at_home(model, 120).losing(60, 0.01).run(seed);
            ran.sent(80, 120) / ran.sent(30, 60)
        },
    },
    Fit {
        app: App::LiveMessenger,
        name: "light loss from",
        candidates: &[0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35],
        figure: "Boyaci et al., section 4.2.2: falls beside the upload, share of runs",
        published: 0.0,
        bound: 0.0,
        measure: |model, seed| {
            let upload = TcpSetup {
                application: Application::Upload(Bytes(9_000_000)),
                ..TcpSetup::long_lived(CongestionKind::Reno)
            };
            falls(&Course::at_home(model, 240).beside(upload, 60), seed, 5)
        },
    },
    Fit {
        app: App::LiveMessenger,
        name: "heavy loss from",
        candidates: &[0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6],
        figure: "Boyaci et al., figure 6: its rate 25 to 30 s after the capacity is back, of its highest",
        published: 1.0,
        bound: 0.05,
        measure: |model, seed| {
            let ran = Course::at_home(model, 100).steps(&DEEP).run(seed);
            ran.sent(65, 70) / model.highest.as_kbps()
        },
    },
    Fit {
        app: App::Eyebeam,
        name: "falls for a loss of",
        candidates: &[0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45],
        figure: "Boyaci et al., section 4.2.3: falls beside BitTorrent, share of runs",
        published: 0.0,
        bound: 0.0,
        measure: |model, seed| falls(&beside_swarm(model), seed, 30),
    },
    Fit {
        app: App::Eyebeam,
        name: "hesitates, s",
        candidates: &[5.0, 10.0, 15.0, 20.0, 25.0, 30.0],
        figure: "Boyaci et al., figure 6: falls only after the capacity is back, share of runs",
        published: 1.0,
        bound: 0.0,
        measure: |model, seed| {
            // Its rate without a fall has equal swings.
            let hesitates = weft_apps::FITTED.iter();
            let mut hesitates = hesitates.filter(|each| each.name == "hesitates, s");
            let never = hesitates.next().map(|own| own.with(model.clone(), 1_000.0));
            let never = never.expect("a parameter of this name");
            let run = |model| Course::at_home(model, 100).steps(&DEEP).run(seed);
            let (ran, never) = (run(model), run(&never));
            let has_fallen = |&at: &usize| ran.sent(at, at + 1) < 0.8 * never.sent(at, at + 1);
            f64::from((0..100).find(has_fallen).is_some_and(|at| at >= 40))
        },
    },
];

/// Figure 2 of Sander et al.: 10 BDP at 4 Mbit/s and a round trip of 50 ms.
const NARROWED: &str = "rate=4mbit,delay=25ms,queue=250kB";

/// Function 10-50 of Boyaci et al.
const DEEP: [(u64, u64); 5] = [(0, 1000), (10, 600), (20, 200), (30, 600), (40, 1000)];

/// Returns function 10-10 of these authors, down to 40 kbit/s and up again.
fn stairs() -> Vec<(u64, u64)> {
    let down = (0..=12).map(|step| (step * 10, 1000 - step * 80));
    let up = (1..=12).map(|step| (120 + step * 10, 40 + step * 80));
    down.chain(up).collect()
}

fn narrowed(model: &Model) -> Course {
    Course::of(model, 120, NARROWED).steps(&[(0, 4000), (60, 500)])
}

/// Starts CUBIC first, and Zoom 30 s later.
fn beside_cubic(model: &Model, link: &str) -> Course {
    let course = Course::of(model, 120, link).both_ways().joined_at(30);
    course.beside_one(CongestionKind::Cubic, 0)
}

fn beside_swarm(model: &Model) -> Course {
    let swarm = TcpSetup {
        connections: 24,
        ..TcpSetup::long_lived(CongestionKind::Reno)
    };
    Course::at_home(model, 180).beside(swarm, 60)
}

/// Returns 1 if it sends less than 0.7 of its rate in any window of `span` seconds after
/// the 60th.
fn falls(course: &Course, seed: u64, span: usize) -> f64 {
    let ran = course.run(seed);
    let spans = (60..180 - span).step_by(5);
    let least = spans
        .map(|at| ran.sent(at, at + span))
        .fold(f64::MAX, f64::min);
    f64::from(least < 0.7 * ran.sent(30, 60))
}

/// Returns whether WhatsApp reaches its rate again this many seconds after the link does:
/// figure 3 of Grote et al.
fn recovers(model: &Model, seed: u64, queue: &str, seconds: usize) -> bool {
    let link = format!("rate=3mbit,delay=25ms,queue={queue}");
    let steps = [
        (0, 3000),
        (60, 2000),
        (120, 1000),
        (180, 750),
        (240, 300),
        (300, 3000),
    ];
    let ran = Course::of(model, 480, &link).steps(&steps).run(seed);
    ran.sent(290 + seconds, 300 + seconds) >= 0.97 * model.highest.as_kbps()
}
