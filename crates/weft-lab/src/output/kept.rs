//! Tasks that were run before an interruption, so that they are not run again:
//! those of a campaign for good, so that more can join them; those of a single
//! run until all have ended.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Folder, OutputError, failed};
use crate::measure::check::Check;
use crate::measure::percentiles::OfRun;
use crate::measure::run::Value;
use crate::measure::series::{Column, Frozen, Series};
use crate::names::{file_name, interned};
use crate::run::{Cast, Run, Task};
use crate::scenario::Scenario;

/// Where those of a campaign are.
const CAMPAIGN: &str = "tasks";
/// Where those of a run are that has not ended.
const UNFINISHED: &str = "unfinished";
/// What they are of, in either: nothing else is gone on with.
const ABOUT: &str = "about.txt";

/// A run as it is kept. Series and checks have words of their own here, which
/// in [`Run`] are the program's.
#[derive(Serialize, Deserialize)]
struct Kept {
    variant: usize,
    seed: u64,
    /// None: everybody.
    alone: Option<Vec<usize>>,
    values: Vec<Value>,
    competing: Vec<(Vec<usize>, f64)>,
    t: Vec<f64>,
    columns: Vec<KeptColumn>,
    #[serde(default)]
    freezes: Vec<Frozen>,
    #[serde(default)]
    percentiles: OfRun,
    checks: Vec<KeptCheck>,
    events: u64,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct KeptColumn {
    name: String,
    of: String,
    unit: String,
    values: Vec<Option<f64>>,
    words: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct KeptCheck {
    of: String,
    what: String,
    configured: f64,
    measured: f64,
    ok: bool,
}

impl Folder {
    /// The tasks of a campaign that are kept in the folder, which goes on with
    /// `about`: the conditions, by which they are told from others.
    ///
    /// # Errors
    /// When the folder has others, or cannot be read.
    pub fn go_on(&self, about: &str) -> Result<Vec<Run>, OutputError> {
        match self.about(CAMPAIGN) {
            Some(known) if known == about => {}
            Some(_) => {
                return Err(OutputError {
                    path: self.path.join(CAMPAIGN).join(ABOUT),
                    error: std::io::Error::other("the runs in this folder had other conditions"),
                    remedy: "give another folder with --out, or remove this one",
                });
            }
            None => self.begin(CAMPAIGN, about)?,
        }
        self.tasks(CAMPAIGN)
    }

    /// Keeps a task of a campaign that has ended.
    ///
    /// # Errors
    /// When the disk is full, for one.
    pub fn keep(&self, scenario: &Scenario, run: &Run) -> Result<(), OutputError> {
        self.keep_in(CAMPAIGN, scenario, run)
    }

    /// The folder at `path` with the tasks that a run under the same conditions
    /// has left there when it was interrupted; emptied as by
    /// [`Folder::create`] if there was none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn resume(path: &Path, about: &str) -> Result<(Folder, Vec<Run>), OutputError> {
        let folder = Folder::keeping(path)?;
        if folder.about(UNFINISHED).as_deref() == Some(about) {
            let left = folder.tasks(UNFINISHED)?;
            return Ok((folder, left));
        }
        let folder = Folder::create(path)?;
        folder.all_ended()?;
        folder.begin(UNFINISHED, about)?;
        Ok((folder, Vec::new()))
    }

    /// The scenario whose results are in the folder at `path`; none where there
    /// are none.
    #[must_use]
    pub fn scenario_at(path: &Path) -> Option<String> {
        let text = fs::read_to_string(path.join("summary.json")).ok()?;
        let summary: serde_json::Value = serde_json::from_str(&text).ok()?;
        summary["scenario"].as_str().map(str::to_owned)
    }

    /// Keeps a task until all have ended.
    ///
    /// # Errors
    /// When the disk is full, for one.
    pub fn keep_for_now(&self, scenario: &Scenario, run: &Run) -> Result<(), OutputError> {
        self.keep_in(UNFINISHED, scenario, run)
    }

    /// Removes what was kept until then.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn all_ended(&self) -> Result<(), OutputError> {
        let path = self.path.join(UNFINISHED);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(&path, error)),
            _ => Ok(()),
        }
    }

    fn about(&self, place: &str) -> Option<String> {
        fs::read_to_string(self.path.join(place).join(ABOUT)).ok()
    }

    fn begin(&self, place: &str, about: &str) -> Result<(), OutputError> {
        let path = self.path.join(place);
        fs::create_dir_all(&path).map_err(|e| failed(&path, e))?;
        self.write(&format!("{place}/{ABOUT}"), about.as_bytes())
    }

    fn tasks(&self, place: &str) -> Result<Vec<Run>, OutputError> {
        let path = self.path.join(place);
        let entries = fs::read_dir(&path).map_err(|e| failed(&path, e))?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
        paths.sort();
        // What cannot be read is run again.
        let read = |path| serde_json::from_str::<Kept>(&fs::read_to_string(path).ok()?).ok();
        Ok(paths.iter().filter_map(read).map(Kept::into_run).collect())
    }

    fn keep_in(&self, place: &str, scenario: &Scenario, run: &Run) -> Result<(), OutputError> {
        let name = task_name(scenario, &run.task);
        // Plain data with finite numbers.
        let text = serde_json::to_string(&Kept::of(run)).expect("plain data");
        self.write(&format!("{place}/{name}.json"), text.as_bytes())
    }
}

/// The name of a task's files.
pub fn task_name(scenario: &Scenario, task: &Task) -> String {
    let system = file_name(&scenario.variants[task.variant].name);
    match &task.cast {
        Cast::Everybody => format!("{system}.seed{}", task.seed),
        Cast::Alone(flows) => {
            let flows: Vec<String> = flows.iter().map(ToString::to_string).collect();
            format!("{system}.alone{}.seed{}", flows.join("-"), task.seed)
        }
    }
}

impl Kept {
    fn of(run: &Run) -> Kept {
        let column = |column: &Column| KeptColumn {
            name: column.name.to_string(),
            of: column.of.clone(),
            unit: column.unit.to_owned(),
            values: column.values.clone(),
            words: column.words.iter().map(ToString::to_string).collect(),
        };
        let check = |check: &Check| KeptCheck {
            of: check.of.clone(),
            what: check.what.to_owned(),
            configured: check.configured,
            measured: check.measured,
            ok: check.ok,
        };
        Kept {
            variant: run.task.variant,
            seed: run.task.seed,
            alone: match &run.task.cast {
                Cast::Everybody => None,
                Cast::Alone(flows) => Some(flows.clone()),
            },
            values: run.values.clone(),
            competing: run.competing.clone(),
            t: run.series.t.clone(),
            columns: run.series.columns.iter().map(column).collect(),
            freezes: run.series.freezes.clone(),
            percentiles: run.percentiles.clone(),
            checks: run.checks.iter().map(check).collect(),
            events: run.events,
            notes: run.notes.clone(),
        }
    }

    fn into_run(self) -> Run {
        let column = |column: KeptColumn| Column {
            name: column.name.into(),
            of: column.of,
            unit: interned(&column.unit),
            values: column.values,
            words: column.words.iter().map(|word| interned(word)).collect(),
        };
        let check = |check: KeptCheck| Check {
            of: check.of,
            what: interned(&check.what),
            configured: check.configured,
            measured: check.measured,
            ok: check.ok,
        };
        Run {
            task: Task {
                variant: self.variant,
                seed: self.seed,
                cast: self.alone.map_or(Cast::Everybody, Cast::Alone),
            },
            values: self.values,
            competing: self.competing,
            series: Series {
                t: self.t,
                columns: self.columns.into_iter().map(column).collect(),
                freezes: self.freezes,
            },
            percentiles: self.percentiles,
            checks: self.checks.into_iter().map(check).collect(),
            events: self.events,
            notes: self.notes,
        }
    }
}

#[cfg(test)]
mod tests;
