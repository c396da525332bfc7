//! Results of runs, read from the folders written by `weft lab run --out`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::TableError;
use super::names::natural;
use crate::scenario::By;

/// Layout of `summary.json` that this program reads.
const SCHEMA: u32 = 1;
/// Maximum depth of searched folders; campaigns have four levels.
const DEEPEST: usize = 8;

/// `summary.json` of one scenario, as far as tables need it.
#[derive(Clone, Debug, Deserialize)]
pub struct Summary {
    schema: u32,
    pub scenario: String,
    pub version: String,
    pub notes: Vec<String>,
    pub seeds: Vec<u64>,
    pub partial: bool,
    pub results: Vec<Row>,
    pub published: Vec<Published>,
    /// Folder of the results, relative to the searched one.
    #[serde(skip)]
    pub folder: String,
    /// Path for opening it.
    #[serde(skip)]
    path: PathBuf,
}

/// Metric of a system over all seeds.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    pub system: String,
    pub metric: String,
    pub mean: f64,
    pub ci95: [Option<f64>; 2],
    pub n: usize,
}

/// Published value beside our value.
#[derive(Clone, Debug, Deserialize)]
pub struct Published {
    pub system: String,
    pub metric: String,
    pub source: String,
    pub published: Option<f64>,
    pub agrees: [Option<f64>; 2],
    pub relative_to: Option<String>,
    pub relative_metric: Option<String>,
    pub by: By,
    pub here: Option<f64>,
    pub ci95: [Option<f64>; 2],
    pub verdict: String,
}

/// Value of the simulator beside that of the emulator.
#[derive(Clone, Debug, Deserialize)]
pub struct Disagreement {
    pub system: String,
    pub metric: String,
    pub sim: f64,
    pub emu: f64,
    pub relative: Option<f64>,
    pub agrees: bool,
}

/// All results below a folder.
#[derive(Debug)]
pub struct Results {
    pub(super) folder: PathBuf,
    /// In the order of scenarios, then of folders.
    pub(super) summaries: Vec<Summary>,
    /// Lists with the folder in which each was found.
    pub(super) disagreements: Vec<(String, Vec<Disagreement>)>,
}

impl Results {
    /// Reads every `summary.json` in `folder` and below it.
    ///
    /// # Errors
    /// If there is none, or one cannot be read.
    pub fn read(folder: &Path) -> Result<Results, TableError> {
        let mut results = Results {
            folder: folder.to_owned(),
            summaries: Vec::new(),
            disagreements: Vec::new(),
        };
        results.search(folder, 0)?;
        let key = |each: &Summary| (natural(&each.scenario), natural(&each.folder));
        results.summaries.sort_by_key(key);
        results
            .disagreements
            .sort_by_key(|(folder, _)| natural(folder));
        match results.summaries.is_empty() {
            true => Err(TableError::NoResults(folder.to_owned())),
            false => Ok(results),
        }
    }

    fn search(&mut self, at: &Path, depth: usize) -> Result<(), TableError> {
        let within = at.strip_prefix(&self.folder).unwrap_or(at);
        let within = within.display().to_string();
        if let Some(read) = json::<Summary>(&at.join("summary.json"))? {
            if read.schema != SCHEMA {
                return Err(TableError::Schema {
                    path: at.join("summary.json"),
                    found: read.schema,
                });
            }
            self.summaries.push(Summary {
                folder: within.clone(),
                path: at.to_owned(),
                ..read
            });
        }
        if let Some(read) = json(&at.join("disagreements.json"))? {
            self.disagreements.push((within, read));
        }
        let entries = match fs::read_dir(at) {
            Ok(entries) => entries,
            Err(error) => return Err(unread(at, error)),
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            // There are many series files, and links may form cycles.
            let skipped = path.ends_with("series") || path.is_symlink() || depth == DEEPEST;
            if path.is_dir() && !skipped {
                self.search(&path, depth + 1)?;
            }
        }
        Ok(())
    }
}

impl Summary {
    /// Returns the name of the scenario within its set.
    pub fn name(&self) -> &str {
        self.scenario.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the result of a system in a metric.
    pub fn row(&self, system: &str, metric: &str) -> Option<&Row> {
        let is = |row: &&Row| row.system == system && row.metric == metric;
        self.results.iter().find(is)
    }

    /// Returns the names of the systems, in the order of the results.
    pub fn systems(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for row in &self.results {
            if names.last() != Some(&row.system.as_str()) && !names.contains(&row.system.as_str()) {
                names.push(&row.system);
            }
        }
        names
    }

    /// Returns the number of seeds with a note about this system.
    pub fn noted(&self, system: &str) -> usize {
        let start = format!("{system}, seed ");
        let seeds = self
            .notes
            .iter()
            .filter_map(|note| note.strip_prefix(&start));
        let mut seeds: Vec<&str> = seeds.filter_map(|rest| rest.split(':').next()).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds.len()
    }

    /// Returns the values of each run, by system and metric, in the order of the seeds.
    ///
    /// # Errors
    /// If `runs.csv` cannot be read.
    pub fn runs(&self) -> Result<BTreeMap<(String, String), Vec<f64>>, TableError> {
        let path = self.path.join("runs.csv");
        let text = fs::read_to_string(&path).map_err(|error| unread(&path, error))?;
        let mut runs: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
        for line in text.lines().skip(1) {
            if let [system, _, metric, value] = &cells(line)[..]
                && let Ok(value) = value.parse()
            {
                let key = (system.clone(), metric.clone());
                runs.entry(key).or_default().push(value);
            }
        }
        Ok(runs)
    }
}

/// Splits a line of CSV into cells (RFC 4180).
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let cell = cells.last_mut().expect("never empty");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            letter => cell.push(letter),
        }
    }
    cells
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, TableError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unread(path, error)),
    };
    let read = serde_json::from_str(&text);
    read.map(Some).map_err(|error| unread(path, error.into()))
}

fn unread(path: &Path, error: std::io::Error) -> TableError {
    TableError::Unread {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::cells;

    #[test]
    fn commas_between_quotes_belong_to_the_cell() {
        let line = r#""down (1mbit, 2bdp)",3,"a ""b""",0.5"#;
        assert_eq!(cells(line), ["down (1mbit, 2bdp)", "3", "a \"b\"", "0.5"]);
    }
}
