//! Output of a run: `summary.json`, tables, time series, and the report.

mod columns;
mod comparison;
mod conditions;
mod imported;
mod kept;
mod layout;
mod parquet;
mod pivot;
mod report;
mod summary;
mod tables;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::measure::series::Tile;
use crate::names::file_name;
use crate::outcome::Outcome;
use crate::run::{Run, task_name};
use crate::scenario::Scenario;

pub use comparison::{ComparisonError, Side};
pub use conditions::{Conditions, processors};
pub use imported::{ImportOutputError, printed_recordings, recordings_json, write_recordings};
pub use kept::{pack, unpack};
pub use report::{data as report_data, missing, render};
pub use summary::summary;
pub use tables::{Rows, printed, printed_worse};

/// Error: a file could not be written or read; the text has the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}: {remedy}", path = path.display())]
pub struct OutputError {
    path: PathBuf,
    error: io::Error,
    remedy: &'static str,
}

/// Error: two folders could not be compared; the text has the remedy.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// One of them has no results.
    #[error(transparent)]
    Unread(#[from] OutputError),
    /// They have nothing in common.
    #[error(transparent)]
    ComparisonError(#[from] ComparisonError),
}

/// Folder of the output.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Names of the series written by a run, one per line, so that the next run into this
/// folder can distinguish them from other files.
const WRITTEN: &str = "series/written.txt";
/// Files about all runs together, without `report.json`.
const OUTCOME: [&str; 6] = [
    "summary.json",
    "profiles.csv",
    "results.csv",
    "runs.csv",
    "runs.parquet",
    "report.html",
];

impl Folder {
    /// Creates the folder and checks that it is writable before hours of work start.
    /// Removes the output of an earlier run, but no other files: old results would
    /// otherwise lie beside the new series until the run ends, and series of former
    /// systems among the new ones.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path) -> Result<Folder, OutputError> {
        let folder = Folder {
            path: path.to_owned(),
        };
        fs::create_dir_all(path.join("series")).map_err(|e| failed(path, e))?;
        let used = folder.is_used();
        folder.write("report.json", b"{}")?;
        if used {
            folder.remove_outcome()?;
        }
        folder.remove_written()?;
        Ok(folder)
    }

    /// Opens the folder with its contents, to continue.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keeping(path: &Path) -> Result<Folder, OutputError> {
        let folder = Folder {
            path: path.to_owned(),
        };
        fs::create_dir_all(path.join("series")).map_err(|e| failed(path, e))?;
        Ok(folder)
    }

    /// Whether an earlier run was written into it.
    fn is_used(&self) -> bool {
        let data = fs::read_to_string(self.path.join("report.json"));
        data.is_ok_and(|data| report::is_ours(&data))
    }

    fn remove_outcome(&self) -> Result<(), OutputError> {
        for name in OUTCOME {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(&path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn remove_written(&self) -> Result<(), OutputError> {
        let list = self.path.join(WRITTEN);
        let Ok(names) = fs::read_to_string(&list) else {
            return Ok(());
        };
        // A name that we would not write is not ours, even if it is listed.
        let plain = |name: &&str| *name == file_name(name) && name.contains(".seed");
        for name in names.lines().filter(plain) {
            for kind in ["csv", "parquet", "tiles.csv"] {
                let _ = fs::remove_file(self.path.join(format!("series/{name}.{kind}")));
            }
        }
        fs::remove_file(&list).map_err(|e| failed(&list, e))
    }

    /// Records a name before its file is written, so that none is forgotten.
    fn note_written(&self, name: &str) -> Result<(), OutputError> {
        let list = self.path.join(WRITTEN);
        let file = fs::File::options().create(true).append(true).open(&list);
        let noted = file.and_then(|mut file| writeln!(file, "{name}"));
        noted.map_err(|e| failed(&list, e))
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the time series of one run, and the tiles of a conference.
    ///
    /// # Errors
    /// For example if the disk is full.
    pub fn write_series(&self, scenario: &Scenario, run: &Run) -> Result<(), OutputError> {
        let name = task_name(scenario, &run.task);
        self.note_written(&name)?;
        let name = format!("series/{name}");
        self.write(
            &format!("{name}.csv"),
            tables::series(&run.series).as_bytes(),
        )?;
        self.write(
            &format!("{name}.parquet"),
            &tables::series_parquet(&run.series),
        )?;
        if !run.series.tiles.is_empty() {
            let tiles = Tile::table(&run.series.tiles);
            self.write(&format!("{name}.tiles.csv"), tiles.as_bytes())?;
        }
        Ok(())
    }

    /// Writes all files about all runs together.
    ///
    /// # Errors
    /// For example if the disk is full.
    pub fn write_outcome(
        &self,
        outcome: &Outcome<'_>,
        conditions: &Conditions,
    ) -> Result<(), OutputError> {
        self.write("summary.json", summary(outcome).as_bytes())?;
        self.write("results.csv", tables::results(outcome).as_bytes())?;
        self.write("profiles.csv", tables::profiles(outcome).as_bytes())?;
        self.write("runs.csv", tables::runs(outcome).as_bytes())?;
        self.write("runs.parquet", &tables::runs_parquet(outcome))?;
        let data = report::data(outcome, conditions);
        self.write("report.json", data.as_bytes())?;
        self.write("report.html", render(&data).as_bytes())
    }

    /// Writes a file atomically; the previous content remains until then.
    fn write(&self, name: &str, content: &[u8]) -> Result<(), OutputError> {
        let path = self.path.join(name);
        let draft = self.path.join(format!("{name}.part"));
        let written = fs::File::create(&draft)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_data()))
            .and_then(|()| fs::rename(&draft, &path));
        written.map_err(|error| {
            // An incomplete draft only takes space.
            let _ = fs::remove_file(&draft);
            failed(&path, error)
        })
    }
}

/// Rewrites `report.html` from the `report.json` beside it.
///
/// # Errors
/// If one cannot be read, or the other cannot be written.
pub fn rewrite_report(path: &Path) -> Result<PathBuf, OutputError> {
    let folder = Folder {
        path: path.to_owned(),
    };
    folder.write("report.html", render(&read_data(path)?).as_bytes())?;
    Ok(path.join("report.html"))
}

/// Returns the data of a folder's report.
fn read_data(path: &Path) -> Result<String, OutputError> {
    let file = path.join("report.json");
    let bad = |error: io::Error, remedy: &'static str| OutputError {
        path: file.clone(),
        error,
        remedy,
    };
    let data = fs::read_to_string(&file).map_err(|error| {
        bad(
            error,
            "give the folder that `weft lab run --out` has written",
        )
    })?;
    report::check_data(&data).map_err(|(what, remedy)| bad(io::Error::other(what), remedy))?;
    Ok(data)
}

/// Returns the page that compares the results of two folders, with the differences of the
/// second from the first.
///
/// # Errors
/// If one cannot be read, or they have nothing in common.
pub fn compare_folders(sides: &[Side; 2]) -> Result<String, CompareError> {
    let [first, second] = sides;
    let data = [read_data(&first.folder)?, read_data(&second.folder)?];
    Ok(render(&comparison::data(sides, &data)?))
}

fn failed(path: &Path, error: io::Error) -> OutputError {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room there, or give another folder with --out"
        }
        _ => "give a folder that you may write with --out",
    };
    OutputError {
        path: path.to_owned(),
        error,
        remedy,
    }
}

#[cfg(test)]
mod tests;
