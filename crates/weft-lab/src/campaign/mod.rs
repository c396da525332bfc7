//! Campaigns: scenarios with engines and clients, in an order and with
//! repetitions, as one file that a run which was interrupted goes on with.

use std::path::Path;

use serde::Deserialize;

use crate::engine::emu::Client;
use crate::engine::{EngineKind, Engines, UnknownEngine};
use crate::names::file_name;
use crate::scenario::Scenario;
use crate::shelf;

/// What a campaign file says.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// One line.
    pub title: String,
    /// In the order of the file, one for each client.
    pub jobs: Vec<Job>,
}

/// A scenario with a client.
#[derive(Clone, Debug)]
pub struct Job {
    /// The folder below that of the campaign.
    pub name: String,
    /// With what the campaign changes of it.
    pub scenario: Scenario,
    /// What runs it, one after the other.
    pub engines: Vec<EngineKind>,
    /// The client under test.
    pub client: Client,
    /// Runs in which the machine was too slow count, with a note.
    pub keeps_rejected: bool,
    /// When its seeds are run.
    pub order: Order,
}

/// When the seeds of a job are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// All at its place.
    AtOnce,
    /// A seed of each of the jobs in a row, then the next one: every stop
    /// leaves whole rounds of all.
    Rounds,
    /// In a process of its own, beside those of the same run with other
    /// clients; its position in the file tells these apart.
    SideBySide(usize),
}

/// A campaign that cannot be run; the text has place and remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CampaignError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    title: String,
    /// Seeds of every run that does not say its own. Default 5.
    #[serde(default = "five")]
    repetitions: u32,
    runs: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    /// The folder of its results. Default: the scenario.
    name: Option<String>,
    /// `SET/NAME`, or a file.
    scenario: String,
    /// As `--engine`. Default `sim`.
    #[serde(default)]
    engine: Wanted,
    /// Default weft alone.
    #[serde(default)]
    clients: Vec<String>,
    /// As `--systems`; none: those of the scenario.
    #[serde(default)]
    systems: Vec<String>,
    /// As `--seeds`; none: the campaign's repetitions.
    seeds: Option<u32>,
    /// As `--set`.
    #[serde(default)]
    set: Vec<String>,
    /// As `--keep-rejected`.
    #[serde(default)]
    keep_rejected: bool,
    /// All seeds at its place, in place of rounds with its neighbours.
    #[serde(default)]
    at_once: bool,
    /// All clients at the same time.
    #[serde(default)]
    side_by_side: bool,
}

/// Engines by their name.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(try_from = "String")]
struct Wanted(Engines);

impl TryFrom<String> for Wanted {
    type Error = UnknownEngine;

    fn try_from(name: String) -> Result<Wanted, UnknownEngine> {
        name.parse().map(Wanted)
    }
}

const fn five() -> u32 {
    5
}

/// What the command line changes of a campaign.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Repetitions of every job; `None`: as the file says.
    pub seeds: Option<u32>,
    /// Arguments of `--set` for every scenario.
    pub set: Vec<String>,
    /// Names of jobs, or of runs with all their clients; none: all.
    pub only: Vec<String>,
}

impl Campaign {
    /// Whether the file is a campaign, and no scenario.
    #[must_use]
    pub fn is_meant(path: &Path) -> bool {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let table = toml::de::DeTable::parse(&text);
        // No scenario has any of these.
        let own = ["runs", "run", "repetitions"];
        table.is_ok_and(|table| own.iter().any(|key| table.get_ref().contains_key(*key)))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The first thing that is wrong.
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

/// Leaves those that are named.
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
        let entries = shelf::find(&self.scenario)?;
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
