//! Stored tasks from before an interruption, which need not run again. A campaign keeps
//! them permanently, so that more can be added; a single run keeps them until all have
//! ended.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Folder, OutputError, failed};
use crate::measure::check::Check;
use crate::measure::percentiles::RunPercentiles;
use crate::measure::run::Value;
use crate::measure::series::{Column, Frozen, Series, Tile};
use crate::names::interned;
use crate::run::{Participants, Run, Task, task_name};
use crate::scenario::Scenario;

/// Folder of a campaign's tasks.
const CAMPAIGN: &str = "tasks";
/// Folder of an unfinished run's tasks.
const UNFINISHED: &str = "unfinished";
/// File with the conditions of the tasks; tasks are resumed only if the conditions are
/// equal.
const ABOUT: &str = "about.txt";

/// Stored run. Its series and checks own their words; those of [`Run`] are static.
#[derive(Serialize, Deserialize)]
struct Kept {
    variant: usize,
    seed: u64,
    /// Absent for all flows.
    alone: Option<Vec<usize>>,
    values: Vec<Value>,
    competing: Vec<(Vec<usize>, f64)>,
    t: Vec<f64>,
    columns: Vec<KeptColumn>,
    #[serde(default)]
    freezes: Vec<Frozen>,
    #[serde(default)]
    tiles: Vec<Tile>,
    #[serde(default)]
    percentiles: RunPercentiles,
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
    /// Returns the stored tasks of a campaign in the folder, which is resumed under the
    /// conditions `about`.
    ///
    /// # Errors
    /// If the folder contains tasks with other conditions, or is unreadable.
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

    /// Stores a finished task of a campaign.
    ///
    /// # Errors
    /// For example if the disk is full.
    pub fn keep(&self, scenario: &Scenario, run: &Run) -> Result<(), OutputError> {
        self.keep_in(CAMPAIGN, scenario, run)
    }

    /// Opens the folder at `path` with the tasks of an interrupted run under equal
    /// conditions; if there was none, empties it like [`Folder::create`].
    ///
    /// # Errors
    /// If it cannot be written.
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

    /// Returns the scenario whose results are in the folder at `path`; `None` if there
    /// are none.
    #[must_use]
    pub fn scenario_at(path: &Path) -> Option<String> {
        let text = fs::read_to_string(path.join("summary.json")).ok()?;
        let summary: serde_json::Value = serde_json::from_str(&text).ok()?;
        summary["scenario"].as_str().map(str::to_owned)
    }

    /// Stores a task until all have ended.
    ///
    /// # Errors
    /// For example if the disk is full.
    pub fn keep_for_now(&self, scenario: &Scenario, run: &Run) -> Result<(), OutputError> {
        self.keep_in(UNFINISHED, scenario, run)
    }

    /// Removes the tasks that were stored until then.
    ///
    /// # Errors
    /// If they cannot be removed.
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
        // Unreadable tasks run again.
        let read = |path| unpack(&fs::read(path).ok()?);
        Ok(paths.iter().filter_map(read).collect())
    }

    fn keep_in(&self, place: &str, scenario: &Scenario, run: &Run) -> Result<(), OutputError> {
        let name = task_name(scenario, &run.task);
        self.write(&format!("{place}/{name}.json"), pack(run).as_bytes())
    }
}

/// Returns a finished task as text, for a program that collects tasks of other processes.
#[must_use]
pub fn pack(run: &Run) -> String {
    // Plain data with finite numbers.
    serde_json::to_string(&Kept::of(run)).expect("plain data")
}

/// Returns the task from the text of [`pack`]; `None` if the text is from another
/// version.
#[must_use]
pub fn unpack(text: &[u8]) -> Option<Run> {
    let kept: Kept = serde_json::from_slice(text).ok()?;
    Some(kept.into_run())
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
            alone: match &run.task.participants {
                Participants::All => None,
                Participants::Only(flows) => Some(flows.clone()),
            },
            values: run.values.clone(),
            competing: run.competing.clone(),
            t: run.series.t.clone(),
            columns: run.series.columns.iter().map(column).collect(),
            freezes: run.series.freezes.clone(),
            tiles: run.series.tiles.clone(),
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
                participants: self.alone.map_or(Participants::All, Participants::Only),
            },
            values: self.values,
            competing: self.competing,
            series: Series {
                t: self.t,
                columns: self.columns.into_iter().map(column).collect(),
                freezes: self.freezes,
                tiles: self.tiles,
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
