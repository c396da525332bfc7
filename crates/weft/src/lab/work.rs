//! Execution of one scenario: its runs, including those of an interrupted command, and
//! its folder.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use weft_lab::Scenario;
use weft_lab::engine::{Engine, EngineError};
use weft_lab::outcome::Outcome;
use weft_lab::output::{self, Conditions, Folder};
use weft_lab::run::{self as runs, Plan};

use super::args::Common;
use super::progress::Progress;
use crate::exit::Failure;

/// Scenario to run, and the destination of its results.
pub struct Work<'a> {
    scenario: &'a Scenario,
    common: &'a Common,
    stop: &'a AtomicBool,
    /// Command that reproduces the results.
    command: String,
    place: String,
    pub out: Option<Folder>,
    /// Runs that the same command had finished before an interruption.
    left: Vec<runs::Run>,
}

impl<'a> Work<'a> {
    /// Prepares the work, with a folder at `path` for the results: a new one,
    /// or that of an interrupted command with its finished runs. `place` is a
    /// prefix of the progress line.
    pub fn new(
        scenario: &'a Scenario,
        common: &'a Common,
        stop: &'a AtomicBool,
        command: String,
        place: String,
        path: Option<&Path>,
    ) -> Result<Work<'a>, Failure> {
        let (out, left) = match path {
            Some(path) => {
                let (out, left) = resume(path, scenario, &command)?;
                (Some(out), left)
            }
            None => (None, Vec::new()),
        };
        Ok(Work {
            scenario,
            common,
            stop,
            command,
            place,
            out,
            left,
        })
    }

    /// Runs the scenario and writes its results. Finished runs are available
    /// even after a failure.
    pub fn run(&mut self, engine: &dyn Engine) -> (Outcome<'a>, Result<(), Failure>) {
        let common = self.common;
        let jobs = common.jobs.map_or_else(output::processors, usize::from);
        let begun = Instant::now();
        let mut outcome = Outcome::of(self.scenario, engine.kind());
        let mut progress = Progress::new(outcome.wanted(), &self.place, !common.json);
        let mut tasks = Plan::of(self.scenario).tasks;
        for run in std::mem::take(&mut self.left) {
            tasks.retain(|task| *task != run.task);
            outcome.add(run);
            progress.step();
        }
        let each = |ended: runs::TaskResult| -> Result<(), Failure> {
            match ended {
                Ok(run) => {
                    let wrote = self.out.as_ref().map_or(Ok(()), |out| {
                        out.write_series(self.scenario, &run)?;
                        out.keep_for_now(self.scenario, &run)
                    });
                    // The run counts even if its series cannot be written.
                    outcome.add(run);
                    progress.step();
                    wrote.map_err(Failure::run)
                }
                Err(failed) => {
                    let lacking = matches!(failed.error, EngineError::Lacking(_));
                    let error = failed.error.clone();
                    outcome.add_failed(failed);
                    progress.step();
                    match lacking {
                        true => Err(error.into()),
                        false => Ok(()),
                    }
                }
            }
        };
        let ran = runs::run_tasks(self.scenario, engine, &tasks, jobs, self.stop, each);
        progress.end();
        let conditions = Conditions::now(self.command.clone(), begun, engine.at_a_time(jobs));
        // After "disk full" there may be space for the small files.
        let out = self.out.as_ref();
        let wrote = out.map_or(Ok(()), |out| out.write_outcome(&outcome, &conditions));
        (outcome, ran.and(wrote.map_err(Failure::run)))
    }
}

/// Returns the folder of a scenario's results, one of `of` scenarios.
pub fn folder(out: &Path, scenario: &Scenario, of: usize) -> PathBuf {
    if of > 1 {
        out.join(&scenario.name)
    } else {
        out.to_owned()
    }
}

/// Command line for a shell.
pub fn shell(words: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    let quoted = words.map(|word| match word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Deletes the kept runs of these folders after a complete command.
pub fn forget(ended: &[Folder], stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let forgotten = ended.iter().try_for_each(Folder::all_ended);
    forgotten.map_err(Failure::run)
}

/// Opens the folder at `path`, with the runs that an interrupted `command` left.
pub fn resume(
    path: &Path,
    scenario: &Scenario,
    command: &str,
) -> Result<(Folder, Vec<runs::Run>), Failure> {
    if let Some(other) = Folder::scenario_at(path).filter(|other| *other != scenario.name) {
        return Err(Failure::usage(format!(
            "{}: this folder has the results of {other}, and {} would replace them: give another \
             folder with --out, or remove this one",
            path.display(),
            scenario.name
        )));
    }
    let about = format!(
        "{command}\n{}\nset-ups {:016x}\n",
        this_program(),
        runs::fingerprint(scenario)
    );
    let (folder, mut left) = Folder::resume(path, &about).map_err(Failure::usage)?;
    let plan = Plan::of(scenario).tasks;
    left.retain(|run| plan.contains(&run.task));
    if !left.is_empty() {
        complain!(
            "weft: {}: continues after {} of {} runs, which had finished before the interruption",
            path.display(),
            left.len(),
            plan.len()
        );
    }
    Ok((folder, left))
}

/// Identity of this build, by size and modification time of the program. Results of
/// another build are not resumed.
fn this_program() -> String {
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let change = file.as_ref().ok().and_then(|file| file.modified().ok());
    let change = change.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    format!(
        "weft {} of {} bytes, {:?} after the epoch",
        env!("CARGO_PKG_VERSION"),
        file.map_or(0, |file| file.len()),
        change.unwrap_or_default()
    )
}
