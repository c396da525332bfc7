//! Campaigns: one file with scenarios, engines, clients, their order and repetitions. An
//! interrupted campaign can be resumed.

use std::path::Path;

use serde::Deserialize;
use weft_units::UnknownName;

use crate::catalogue;
use crate::engine::emu::Client;
use crate::engine::{EngineKind, Engines};
use crate::names::file_name;
use crate::scenario::Scenario;

/// Contents of a campaign file.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// One line.
    pub title: String,
    /// Jobs in the order of the file, one for each client.
    pub jobs: Vec<Job>,
}

/// Scenario with a client.
#[derive(Clone, Debug)]
pub struct Job {
    /// Folder below that of the campaign.
    pub name: String,
    /// Scenario with the changes of the campaign.
    pub scenario: Scenario,
    /// Engines that run it, one after the other.
    pub engines: Vec<EngineKind>,
    /// Client under test.
    pub client: Client,
    /// Whether runs in which the machine was too slow count, with a note.
    pub keeps_rejected: bool,
    /// Order in which its seeds are run.
    pub order: Order,
}

/// Order in which the seeds of a job are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// All seeds of the job together.
    AtOnce,
    /// One seed of each consecutive job, then the next seed, so that all jobs have the
    /// same number of seeds after any stop.
    Rounds,
    /// In a separate process, in parallel with the run's other clients; the position in
    /// the file identifies it.
    SideBySide(usize),
}

/// Error: a campaign cannot be run; the text has the location and the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CampaignError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    title: String,
    /// Number of seeds of every run that does not set its own. Default 5.
    #[serde(default = "five")]
    repetitions: u32,
    runs: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    /// Folder of its results. Default: the scenario's name.
    name: Option<String>,
    /// `SET/NAME`, or a file.
    scenario: String,
    /// Engines, as in `--engine`. Default `sim`.
    #[serde(default)]
    engine: Wanted,
    /// Default: only weft.
    #[serde(default)]
    clients: Vec<String>,
    /// Systems, as in `--systems`; by default those of the scenario.
    #[serde(default)]
    systems: Vec<String>,
    /// Number of seeds, as in `--seeds`; by default the campaign's repetitions.
    seeds: Option<u32>,
    /// Changes, as in `--set`.
    #[serde(default)]
    set: Vec<String>,
    /// Whether to keep rejected runs, as with `--keep-rejected`.
    #[serde(default)]
    keep_rejected: bool,
    /// Whether to run all seeds together instead of in rounds with the neighbouring jobs.
    #[serde(default)]
    at_once: bool,
    /// Whether all clients run in parallel.
    #[serde(default)]
    side_by_side: bool,
}

/// Engines, selected by name.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(try_from = "String")]
struct Wanted(Engines);

impl TryFrom<String> for Wanted {
    type Error = UnknownName;

    fn try_from(name: String) -> Result<Wanted, UnknownName> {
        name.parse().map(Wanted)
    }
}

const fn five() -> u32 {
    5
}

/// Changes to a campaign from the command line.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Repetitions of every job; `None` for those of the file.
    pub seeds: Option<u32>,
    /// Arguments of `--set` for every scenario.
    pub set: Vec<String>,
    /// Names of jobs, or of runs with all their clients; empty for all.
    pub only: Vec<String>,
}

impl Campaign {
    /// Whether the file is a campaign, not a scenario.
    #[must_use]
    pub fn is_meant(path: &Path) -> bool {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let table = toml::de::DeTable::parse(&text);
        // No scenario has one of these keys.
        let own = ["runs", "run", "repetitions"];
        table.is_ok_and(|table| own.iter().any(|key| table.get_ref().contains_key(*key)))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The first error found.
    pub fn read(path: &Path, changes: &Changes) -> Result<Campaign, CampaignError> {
        let name = path.display();
        let wrong = |error: &dyn std::fmt::Display| CampaignError(format!("{name}: {error}"));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let file: File = toml::from_str(&text).map_err(|error| wrong(&error))?;
        let mut jobs = Vec::new();
        for (at, entry) in file.runs.iter().enumerate() {
            let seeds = changes.seeds.or(entry.seeds).unwrap_or(file.repetitions);
            let found = entry.jobs(at, seeds, &changes.set);
            let found = found.map_err(|error| wrong(&format!("run {}: {error}", at + 1)))?;
            jobs.extend(found);
        }
        for (at, job) in jobs.iter().enumerate() {
            if jobs[..at].iter().any(|other| other.name == job.name) {
                let remedy = "give one of the runs a `name` of its own";
                return Err(wrong(&format!(
                    "two runs are called {}: {remedy}",
                    job.name
                )));
            }
        }
        choose(&mut jobs, &changes.only).map_err(|error| wrong(&error))?;
        Ok(Campaign {
            title: file.title,
            jobs,
        })
    }
}

/// Keeps only the named jobs.
fn choose(jobs: &mut Vec<Job>, only: &[String]) -> Result<(), String> {
    let is = |job: &Job, name: &str| {
        let rest = job.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if let Some(unknown) = only
        .iter()
        .find(|name| !jobs.iter().any(|job| is(job, name)))
    {
        let known = jobs.iter().map(|job| job.name.as_str());
        return Err(crate::names::unknown_name(
            "--only: there is no run",
            unknown,
            known,
        ));
    }
    if !only.is_empty() {
        jobs.retain(|job| only.iter().any(|name| is(job, name)));
    }
    Ok(())
}

impl Entry {
    fn jobs(&self, at: usize, seeds: u32, more: &[String]) -> Result<Vec<Job>, String> {
        let Wanted(engines) = self.engine;
        if !engines.run_programs() && (!self.clients.is_empty() || self.side_by_side) {
            return Err(
                "the simulator runs weft's own code: `clients` and `side-by-side` need \
                        engine = \"emu\""
                    .to_owned(),
            );
        }
        let entries = catalogue::find(&self.scenario)?;
        let [entry] = entries.as_slice() else {
            return Err(format!(
                "`{}` is a whole set: name one scenario",
                self.scenario
            ));
        };
        let mut set = self.set.clone();
        set.extend(more.iter().cloned());
        set.push(format!("seeds={seeds}"));
        if !self.systems.is_empty() {
            set.push(format!("systems={:?}", self.systems));
        }
        let scenario = entry.scenario(&set).map_err(|error| error.to_string())?;
        let weft = ["weft".to_owned()];
        let clients = match self.clients.is_empty() {
            true => &weft[..],
            false => &self.clients,
        };
        let name = self.name.clone().unwrap_or_else(|| entry.name.clone());
        let several = clients.len() > 1;
        let only_programs = engines.kinds().into_iter().all(EngineKind::runs_programs);
        let job = |text: &String| {
            let client: Client = text.parse().map_err(|error| format!("{error}"))?;
            let name = match several {
                true => format!("{name}/{}", file_name(text)),
                false => name.clone(),
            };
            Ok(Job {
                name,
                scenario: scenario.clone(),
                engines: engines.kinds(),
                client,
                keeps_rejected: self.keep_rejected,
                order: match self.side_by_side {
                    true => Order::SideBySide(at),
                    false if self.at_once || !only_programs => Order::AtOnce,
                    false => Order::Rounds,
                },
            })
        };
        clients.iter().map(job).collect()
    }
}

#[cfg(test)]
mod tests;
