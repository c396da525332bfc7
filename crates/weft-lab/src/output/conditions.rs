//! Conditions of a run that are not part of its results.

use std::time::{Instant, SystemTime};

use serde::Serialize;

/// Conditions of a run that are not part of the scenario.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Conditions {
    /// Command that reproduces the results.
    pub command: String,
    /// End of the run: seconds since 1970, UTC.
    pub unix_s: u64,
    /// Duration in seconds.
    pub took_s: f64,
    /// Machine: system, processor architecture, number of threads.
    pub machine: String,
}

impl Conditions {
    /// Returns the conditions of runs on this machine that started at `begun` and end
    /// now, with `jobs` in parallel. `command` reproduces them.
    #[must_use]
    pub fn now(command: String, begun: Instant, jobs: usize) -> Conditions {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Conditions {
            command,
            unix_s: since.map_or(0, |since| since.as_secs()),
            took_s: begun.elapsed().as_secs_f64(),
            machine: format!(
                "{} {}, {} processors, {jobs} runs at a time",
                std::env::consts::OS,
                std::env::consts::ARCH,
                processors()
            ),
        }
    }
}

/// Returns the number of processors: the default number of parallel runs.
#[must_use]
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
