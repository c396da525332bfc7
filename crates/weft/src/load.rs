//! `weft load`: publishers and viewers for a server, and their measurements.

mod args;

use std::path::Path;
use std::time::Duration;

use weft_load::{LoadError, LoadReport, Progress, page, run as run_load, summary};

pub use args::LoadArgs;

use crate::exit::{Failure, say};
use crate::{descriptors, interrupt};

/// Number of steps in which the progress of joining is reported.
const STEPS: usize = 10;

pub fn run(args: &LoadArgs) -> Result<(), Failure> {
    let config = args.config()?;
    descriptors::raise_limit();
    // Reports an unwritable file before the run instead of after it.
    for file in [&args.json, &args.page].into_iter().flatten() {
        write(file, "")?;
    }
    let stop = interrupt::flag();
    let report = run_load(config, &stop, progress())?;
    if let Some(file) = &args.json {
        let json = serde_json::to_string_pretty(&report).map_err(Failure::run)?;
        write(file, &(json + "\n"))?;
    }
    if let Some(file) = &args.page {
        write(file, &page(&report, &command()))?;
    }
    say(summary(&report))?;
    verdict(&report)
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let written = std::fs::write(file, text);
    written.map_err(|error| Failure::usage(format!("{}: {error}", file.display())))
}

/// Command line without the token.
fn command() -> String {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    for index in 0..arguments.len() {
        if arguments[index] == "--token" && index + 1 < arguments.len() {
            arguments[index + 1] = "TOKEN".to_owned();
        } else if arguments[index].starts_with("--token=") {
            arguments[index] = "--token=TOKEN".to_owned();
        }
    }
    format!("weft {}", arguments.join(" "))
}

/// Returns a function that prints the progress to standard error.
fn progress() -> impl FnMut(Progress) {
    let mut told = usize::MAX;
    move |progress| match progress {
        Progress::Encoding => complain!("weft: encoding the pictures"),
        Progress::Joining(done, all) => {
            let step = done * STEPS / all.max(1);
            if step != told {
                told = step;
                complain!("weft: {done} of {all} have joined");
            }
        }
        Progress::Measuring(Duration { .. }) => complain!("weft: measuring"),
    }
}

/// Fails if participants failed, so that a script sees it in the exit status.
fn verdict(report: &LoadReport) -> Result<(), Failure> {
    let people = report.participants;
    match (people.failed, people.without_picture) {
        (0, 0) => Ok(()),
        (0, blind) => Err(Failure::Run(format!(
            "{blind} of {} participants never had a picture",
            people.wanted
        ))),
        (failed, _) => Err(Failure::Run(format!(
            "{failed} of {} participants failed; the reasons are above",
            people.wanted
        ))),
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        match error {
            LoadError::Config(_) | LoadError::Usage(_) => Failure::usage(error),
            LoadError::Join(error) => error.into(),
            LoadError::Machine(_) => Failure::machine(error),
            LoadError::Stopped => Failure::Stopped(libc::SIGINT),
            LoadError::Clip(_) => Failure::run(error),
        }
    }
}
