//! Contribution of cameras and screens to every latency: fitted under conditions with
//! little other latency, to WebRTC over each of two good links.

use weft_experiment::FlowKind;

use crate::measure::{Row, fitted_rows, read};

const SCENARIO: &str = "converge/stationary-as-published";
const CANDIDATES: &[f64] = &[
    80.0, 100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 160.0, 180.0, 200.0,
];
const RUNS: [&str; 3] = [
    "systems=[\"webrtc@wifi\", \"webrtc@tmobile\"]",
    "seeds=6",
    "duration=\"120s\"",
];

/// Value of the file, and every candidate with its residual.
pub struct Devices {
    pub in_file: f64,
    pub tried: Vec<(f64, f64)>,
    pub rows: Vec<Row>,
}

impl Devices {
    /// Measures all candidates with one run, because the delay is a sum.
    pub fn measure() -> Devices {
        let scenario = read(SCENARIO, &RUNS.map(str::to_owned));
        let setup = &scenario.variants[0].setup;
        let FlowKind::Call(call) = &setup.flows[0].kind else {
            panic!("{SCENARIO} is about a call");
        };
        let in_file = call.caller.cameras[0].device_delay.as_millis_f64();
        let rows = fitted_rows(&scenario).into_iter();
        let rows: Vec<Row> = rows
            .filter(|row| row.name.contains("e2e_ms_mean"))
            .collect();
        let residual = |&value: &f64| {
            let moved = rows.iter().map(|row| Row {
                here: row.here - in_file + value,
                ..row.clone()
            });
            let squares: f64 = moved.map(|row| row.residual().powi(2)).sum();
            (value, (squares / rows.len() as f64).sqrt())
        };
        Devices {
            in_file,
            tried: CANDIDATES.iter().map(residual).collect(),
            rows,
        }
    }

    /// Returns the candidate with the smallest residual.
    pub fn best(&self) -> f64 {
        let tried = self.tried.iter();
        let least = tried.min_by(|a, b| a.1.total_cmp(&b.1));
        least.expect("there are candidates").0
    }
}
