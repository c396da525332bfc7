//! The links of `converge/*-as-published`, each fitted to the published results of WebRTC
//! over it alone.

use std::collections::BTreeMap;

use weft_lab::Scenario;
use weft_links::{Capacity, Generated, QueueLimit, WiredDirection};

use crate::measure::{Row, fitted_rows, read};

/// Runs of each candidate with each number of cameras.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    pub seeds: u32,
    /// Length of each run.
    pub seconds: u32,
}

/// Runs of a fit.
pub const OF_A_FIT: Runs = Runs {
    seeds: 6,
    seconds: 120,
};

/// Margin above the smallest residual within which candidates fit. Chosen by us after a
/// trial of 0.03: about the variation of the residual with the seed.
pub const MARGIN: f64 = 0.05;

/// Link of a scenario.
#[derive(Debug)]
pub struct Fit {
    pub scenario: &'static str,
    pub link: &'static str,
}

pub const FITS: &[Fit] = &[
    fit("driving", "verizon"),
    fit("driving", "tmobile"),
    fit("walking", "wifi"),
    fit("walking", "tmobile"),
    fit("stationary", "wifi"),
    fit("stationary", "tmobile"),
];

const fn fit(scenario: &'static str, link: &'static str) -> Fit {
    Fit { scenario, link }
}

/// Fitted parameter of each link; the search follows their order.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub candidates: &'static [f64],
    of: fn(&Conditions) -> f64,
    set: fn(&mut Conditions, f64),
}

pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "loss",
        candidates: &[
            0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0,
        ],
        of: |at| at.loss,
        set: |at, value| at.loss = value,
    },
    Parameter {
        name: "burst",
        candidates: &[1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0],
        of: |at| at.burst,
        set: |at, value| at.burst = value,
    },
    Parameter {
        name: "rate",
        candidates: &[15.0, 20.0, 25.0, 35.0, 50.0, 75.0, 100.0, 150.0],
        of: |at| f64::from(at.trace.scale.rate),
        set: |at, value| at.trace.scale.rate = value as u32,
    },
    Parameter {
        name: "dips",
        candidates: &[50.0, 100.0, 150.0, 200.0, 300.0, 400.0, 600.0, 1000.0],
        of: |at| f64::from(at.trace.scale.dips),
        set: |at, value| at.trace.scale.dips = value as u32,
    },
    Parameter {
        name: "queue",
        candidates: &[100.0, 150.0, 200.0, 300.0, 600.0, 1200.0],
        of: |at| at.queue,
        set: |at, value| at.queue = value,
    },
];

impl Parameter {
    pub fn of(&self, at: &Conditions) -> f64 {
        (self.of)(at)
    }

    /// Returns the conditions with another value of the parameter.
    pub fn with(&self, at: &Conditions, value: f64) -> Conditions {
        let mut at = at.clone();
        (self.set)(&mut at, value);
        at
    }
}

/// Link with a generated trace, in the form of a scenario file.
#[derive(Clone, PartialEq, Debug)]
pub struct Conditions {
    /// Capacity, and the lengths of fades, handovers and outages.
    trace: Generated,
    /// Share of the packets lost on the link, per cent.
    loss: f64,
    /// Mean number of consecutive lost packets.
    burst: f64,
    /// Size of the queue, ms.
    queue: f64,
}

impl Conditions {
    /// Returns the conditions of the file, with changes of the form `PARAMETER=VALUE`.
    pub fn of(fit: &Fit, instead: &[String]) -> Conditions {
        let found = Conditions::in_scenario(&fit.read(&[]), fit.link);
        PARAMETERS.iter().fold(found, |at, parameter| {
            let mut pairs = instead.iter().filter_map(|pair| pair.split_once('='));
            let given = pairs.find(|(name, _)| *name == parameter.name);
            match given.map(|(_, value)| value.parse()) {
                Some(Ok(value)) => parameter.with(&at, value),
                _ => at,
            }
        })
    }

    fn in_scenario(scenario: &Scenario, link: &str) -> Conditions {
        let mut links = scenario.variants[0].setup.links.iter();
        let found = links.find(|each| each.name == link);
        let spec = found.and_then(|each| each.medium.link(WiredDirection::Forward.station()));
        let spec = spec.unwrap_or_else(|| panic!("{} has no link {link}", scenario.name));
        let (Capacity::Generated(trace), QueueLimit::Time(queue), Some(bursts)) =
            (&spec.capacity, spec.queue, spec.burst_loss)
        else {
            panic!("{link}: a generated trace, burst loss and a queue in ms are fitted")
        };
        // Rounds a value that was a decimal fraction before its conversion to
        // probabilities.
        let decimal = |value: f64| (value * 1e6).round() / 1e6;
        Conditions {
            trace: *trace,
            loss: decimal(bursts.mean_loss() * 100.0),
            burst: decimal(1.0 / bursts.to_good),
            queue: queue.as_millis_f64(),
        }
    }

    /// Formats the conditions as arguments of `--set`.
    pub fn set(&self, link: &str) -> Vec<String> {
        let Conditions {
            trace,
            loss,
            burst,
            queue,
        } = self;
        vec![
            format!("links.{link}.trace=\"{trace}\""),
            format!("links.{link}.burst-loss=\"{loss}%/{burst}\""),
            format!("links.{link}.queue=\"{queue}ms\""),
        ]
    }
}

impl Fit {
    fn read(&self, set: &[String]) -> Scenario {
        read(&format!("converge/{}-as-published", self.scenario), set)
    }
}

/// Measures candidates and remembers the results.
pub struct Bench {
    fit: &'static Fit,
    runs: Runs,
    known: BTreeMap<Vec<String>, Vec<Row>>,
}

impl Bench {
    pub fn of(fit: &'static Fit, runs: Runs) -> Bench {
        Bench {
            fit,
            runs,
            known: BTreeMap::new(),
        }
    }

    /// Returns the root mean square of the rows' residuals.
    pub fn residual(&mut self, at: &Conditions) -> f64 {
        let rows = self.rows(at);
        let squares = rows.iter().map(|row| row.residual().powi(2));
        (squares.sum::<f64>() / rows.len() as f64).sqrt()
    }

    pub fn rows(&mut self, at: &Conditions) -> &[Row] {
        let (fit, Runs { seeds, seconds }) = (self.fit, self.runs);
        let set = at.set(fit.link);
        self.known.entry(set).or_insert_with_key(|set| {
            let mut all = vec![
                format!("systems=[\"webrtc@{}\"]", fit.link),
                format!("seeds={seeds}"),
                format!("duration=\"{seconds}s\""),
            ];
            all.extend(set.iter().cloned());
            fitted_rows(&fit.read(&all))
        })
    }
}

/// Values of one parameter with their residuals; the other parameters are fixed.
pub struct Sweep {
    pub parameter: &'static Parameter,
    tried: Vec<(f64, f64)>,
}

impl Sweep {
    /// Measures these candidates.
    pub fn of(
        bench: &mut Bench,
        parameter: &'static Parameter,
        candidates: &[f64],
        at: &Conditions,
    ) -> Sweep {
        let residual = |&value: &f64| (value, bench.residual(&parameter.with(at, value)));
        Sweep {
            parameter,
            tried: candidates.iter().map(residual).collect(),
        }
    }

    /// Returns the value with the smallest residual; the first one if several are equal.
    fn best(&self) -> (f64, f64) {
        let tried = self.tried.iter().copied();
        let least = tried.min_by(|a, b| a.1.total_cmp(&b.1));
        least.expect("there are candidates")
    }

    fn fits(&self, residual: f64) -> bool {
        residual <= self.best().1 + MARGIN
    }

    /// Returns the reason why a value does not fit.
    pub fn wrong(&self, value: f64) -> Option<String> {
        let name = self.parameter.name;
        match self.tried.iter().find(|(tried, _)| *tried == value) {
            Some((_, residual)) if self.fits(*residual) => None,
            Some((_, residual)) => Some(format!(
                "{name} {value} has a residual of {residual:.3}, {} one of {:.3}",
                self.best().0,
                self.best().1
            )),
            None => Some(format!("{name} {value} is not a candidate")),
        }
    }

    pub fn print(&self) {
        println!("  {:>10} {:>10}", self.parameter.name, "residual");
        for (value, residual) in &self.tried {
            let mark = if self.fits(*residual) { " <" } else { "" };
            println!("  {value:>10} {residual:>10.3}{mark}");
        }
    }
}

/// Replaces one parameter after another by its best value until none improves.
pub fn search(bench: &mut Bench, mut at: Conditions) -> Conditions {
    loop {
        let before = at.clone();
        for parameter in PARAMETERS {
            let sweep = Sweep::of(bench, parameter, parameter.candidates, &at);
            // A fitting value is kept, even if another one is slightly better.
            if sweep.wrong(parameter.of(&at)).is_some() {
                at = parameter.with(&at, sweep.best().0);
            }
            println!("  {} = {}", parameter.name, parameter.of(&at));
        }
        if at == before {
            return at;
        }
    }
}
