//! `weft lab run CAMPAIGN.toml`: the runs of a campaign, resumed after an interruption.

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use weft_lab::Scenario;
use weft_lab::campaign::{Campaign, Changes, Job, Order};
use weft_lab::engine::emu::{Client, Late, Settings};
use weft_lab::engine::{self, Engine, EngineError, EngineKind, Engines};
use weft_lab::outcome::{Outcome, disagreements};
use weft_lab::output::{self, Conditions, Folder};
use weft_lab::run::{self as runs, Plan, Task};

use super::args::RunArgs;
use super::both::{DISAGREEMENTS, write};
use super::said::verdict;
use super::work::{forget, resume, shell};
use crate::exit::{Failure, say};
use crate::interrupt;

/// Attempts at a failing run; chosen by us: external programs fail occasionally.
const ATTEMPTS: u32 = 2;

pub fn run(path: &Path, args: &RunArgs) -> Result<(), Failure> {
    let out = possible(args)?;
    let duration = args.common.duration.map(|s| format!("duration=\"{s}s\""));
    let changes = Changes {
        seeds: args.common.seeds,
        set: args.common.set.iter().cloned().chain(duration).collect(),
        only: args.only.clone(),
    };
    let campaign = Campaign::read(path, &changes).map_err(Failure::usage)?;
    let wanted = |kind: &EngineKind| campaign.jobs.iter().any(|job| job.engines.contains(kind));
    for kind in EngineKind::ALL.into_iter().filter(wanted) {
        // Before this process starts a thread.
        engine::prepare(kind)?;
    }
    let stop = interrupt::flag();
    say(format_args!(
        "{}: {} runs of scenarios",
        campaign.title,
        campaign.jobs.len()
    ))?;
    let mut bad = Vec::new();
    let mut resumed = Vec::new();
    for group in groups(&campaign.jobs) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let ended = match group {
            [_, _, ..] if matches!(group[0].order, Order::SideBySide(_)) => {
                side_by_side(group, args)
            }
            _ => in_turn(group, args, (out, &mut resumed), &stop),
        };
        bad.extend(ended?);
    }
    forget(&resumed, &stop)?;
    if stop.load(Ordering::Relaxed) {
        bad.push(Failure::Run("stopped: start it again to go on".to_owned()));
    }
    // A missing requirement takes precedence over a failed run.
    bad.sort_by_key(|failure| !matches!(failure, Failure::Machine(_)));
    let said = |failure: &Failure| failure.to_string();
    let all: Vec<String> = bad.iter().map(said).collect();
    match bad.first() {
        None => Ok(()),
        Some(Failure::Machine(_)) => Err(Failure::Machine(all.join("\n"))),
        Some(_) => Err(Failure::Run(all.join("\n"))),
    }
}

/// Returns the output folder; the campaign file determines all other options.
fn possible(args: &RunArgs) -> Result<&Path, Failure> {
    let common = &args.common;
    let flags = [
        ("--engine", args.engine != Engines::default()),
        ("--client", args.client != Client::Weft),
        ("--keep-rejected", args.keep_rejected),
        ("--systems", !common.systems.is_empty()),
        ("--json", common.json),
    ];
    if let Some((flag, _)) = flags.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!(
            "{flag}: the campaign file sets this for each run: change it there"
        )));
    }
    if let Some(flag) = common.traces().next() {
        return Err(Failure::usage(format!(
            "{flag}: the calls of a campaign are not traced: run one of its scenarios with {flag}"
        )));
    }
    common
        .out
        .as_deref()
        .ok_or_else(|| Failure::usage("a campaign needs --out DIR to store its runs"))
}

/// Groups jobs that run together: parallel clients, and consecutive jobs in rounds.
fn groups(jobs: &[Job]) -> impl Iterator<Item = &[Job]> {
    jobs.chunk_by(|a, b| a.order == b.order && a.order != Order::AtOnce)
}

/// Runs each job in a separate process, because programs and network namespaces
/// must not mix.
fn side_by_side(jobs: &[Job], args: &RunArgs) -> Result<Vec<Failure>, Failure> {
    let program = std::env::current_exe().map_err(Failure::run)?;
    let start = |job: &Job| {
        let mut command = Command::new(&program);
        command.args(words(args, &job.name).into_iter().skip(1));
        command.spawn().map_err(Failure::run)
    };
    let started = jobs.iter().map(|job| Ok((job, start(job)?)));
    let started = started.collect::<Result<Vec<_>, Failure>>()?;
    let mut bad = Vec::new();
    for (job, mut child) in started {
        let status = child.wait().map_err(Failure::run)?;
        let text = format!("{}: {status}", job.name);
        match status.code() {
            Some(0) => {}
            Some(3) => bad.push(Failure::Machine(text)),
            _ => bad.push(Failure::Run(text)),
        }
    }
    Ok(bad)
}

/// Returns the command line that runs this job alone.
fn words(args: &RunArgs, job: &str) -> Vec<String> {
    let mut words: Vec<String> = ["weft", "lab", "run"].map(str::to_owned).to_vec();
    words.extend(args.scenarios.iter().cloned());
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    add("--only", job.to_owned());
    if let Some(out) = &args.common.out {
        add("--out", out.display().to_string());
    }
    if let Some(seeds) = args.common.seeds {
        add("--seeds", seeds.to_string());
    }
    if let Some(duration) = args.common.duration {
        add("--duration", duration.to_string());
    }
    let sets = args.common.set.iter();
    sets.for_each(|set| add("--set", set.clone()));
    words
}

/// Runs the jobs in turn, seed by seed. Adds to `resumed` the folders of runs that are
/// kept only until the end of the campaign.
fn in_turn(
    jobs: &[Job],
    args: &RunArgs,
    (out, resumed): (&Path, &mut Vec<Folder>),
    stop: &AtomicBool,
) -> Result<Vec<Failure>, Failure> {
    let mut bad = Vec::new();
    let seen: Vec<Scenario> = jobs
        .iter()
        .map(|job| runs::as_seen_by(&job.client, &job.scenario))
        .collect();
    let mut parts = Vec::new();
    for (job, seen) in jobs.iter().zip(&seen) {
        for &kind in &job.engines {
            // External programs do not support every option of a scenario.
            let scenario = match kind.runs_programs() {
                true => seen,
                false => &job.scenario,
            };
            match Part::begin(job, kind, scenario, args, out) {
                Ok(part) => parts.push(part),
                Err(Failure::Machine(text)) => {
                    bad.push(Failure::Machine(format!("{}: {text}", job.name)));
                }
                Err(other) => return Err(other),
            }
        }
    }
    let seeds = parts
        .iter()
        .map(|part| u64::from(part.scenario.seeds))
        .max();
    let rounds: Vec<RangeInclusive<u64>> = match jobs.first().map(|job| job.order) {
        Some(Order::Rounds) => (1..=seeds.unwrap_or(0)).map(|seed| seed..=seed).collect(),
        _ => seeds.into_iter().map(|last| 1..=last).collect(),
    };
    for round in rounds {
        for part in &mut parts {
            if part.lacks.is_none() && !stop.load(Ordering::Relaxed) {
                part.advance(round.clone(), args, stop)?;
            }
        }
    }
    for pair in parts
        .windows(2)
        .filter(|pair| pair[0].job.name == pair[1].job.name)
    {
        let found = disagreements(&pair[0].outcome, &pair[1].outcome);
        write(&out.join(&pair[0].job.name).join(DISAGREEMENTS), &found)?;
    }
    for part in parts {
        let ended = verdict(&part.outcome);
        let lacks = part.lacks.map(|text| format!("{}: {text}", part.job.name));
        bad.extend(lacks.map(Failure::Machine).or(ended.err()));
        if !part.kind.runs_programs() {
            resumed.push(part.folder);
        }
    }
    Ok(bad)
}

/// Scenario on one engine, with its finished runs.
struct Part<'a> {
    job: &'a Job,
    kind: EngineKind,
    scenario: &'a Scenario,
    engine: Box<dyn Engine>,
    folder: Folder,
    outcome: Outcome<'a>,
    done: Vec<Task>,
    /// Missing requirement that would make every further run fail.
    lacks: Option<String>,
}

impl<'a> Part<'a> {
    fn begin(
        job: &'a Job,
        kind: EngineKind,
        scenario: &'a Scenario,
        args: &RunArgs,
        out: &Path,
    ) -> Result<Part<'a>, Failure> {
        if kind.runs_programs() {
            job.client.find()?;
        }
        let late = match job.keeps_rejected {
            true => Late::Noted,
            false => Late::Rejected,
        };
        let client = job.client.clone();
        let engine = engine::make(kind, &Settings { client, late })?;
        for variant in &scenario.variants {
            engine.check(&variant.setup)?;
        }
        let mut path = out.join(&job.name);
        if job.engines.len() > 1 {
            path = path.join(kind.name());
        }
        // Emulated runs take minutes and are kept permanently, so that more repetitions
        // can be added. Simulated runs take seconds, and a newer simulator may differ, so
        // they are kept only until the end of the campaign.
        let (folder, left) = match kind.runs_programs() {
            true => (Folder::keeping(&path).map_err(Failure::usage)?, Vec::new()),
            false => resume(&path, scenario, &shell(words(args, &job.name).into_iter()))?,
        };
        let mut part = Part {
            job,
            kind,
            scenario,
            engine,
            folder,
            outcome: Outcome::of(scenario, kind),
            done: Vec::new(),
            lacks: None,
        };
        let kept = match kind.runs_programs() {
            true => part.kept(args)?,
            false => left,
        };
        let plan = Plan::of(scenario).tasks;
        for run in kept.into_iter().filter(|run| plan.contains(&run.task)) {
            part.done.push(run.task.clone());
            part.outcome.add(run);
        }
        Ok(part)
    }

    /// Returns the permanently kept runs with the same conditions.
    fn kept(&self, args: &RunArgs) -> Result<Vec<runs::Run>, Failure> {
        let (source, client) = (&self.scenario.source, &self.job.client);
        let mut set: Vec<&str> = source.arguments().collect();
        // Additional repetitions extend the existing ones, so the number of seeds is not
        // compared.
        set.retain(|argument| !argument.starts_with("seeds="));
        let late = self.job.keeps_rejected;
        let about = format!(
            "{set:?} {client} {late} {:?}\n{}",
            args.common.duration, source.text
        );
        self.folder.go_on(&about).map_err(Failure::usage)
    }

    /// Runs the missing ones of these seeds.
    fn advance(
        &mut self,
        seeds: RangeInclusive<u64>,
        args: &RunArgs,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let jobs = args
            .common
            .jobs
            .map_or_else(output::processors, usize::from);
        let mut failed = Vec::new();
        for _ in 0..ATTEMPTS {
            let mut tasks = Plan::of(self.scenario).tasks;
            tasks.retain(|task| seeds.contains(&task.seed) && !self.done.contains(task));
            failed.clear();
            let (outcome, folder, done) = (&mut self.outcome, &self.folder, &mut self.done);
            let (scenario, engine, kind) = (self.scenario, self.engine.as_ref(), self.kind);
            let lacks = &mut self.lacks;
            let each = |ended: runs::TaskResult| -> Result<(), Failure> {
                match ended {
                    Ok(run) => {
                        let series = folder.write_series(scenario, &run);
                        let kept = match kind.runs_programs() {
                            true => folder.keep(scenario, &run),
                            false => folder.keep_for_now(scenario, &run),
                        };
                        done.push(run.task.clone());
                        outcome.add(run);
                        kept.and(series).map_err(Failure::run)
                    }
                    Err(one) => {
                        if let EngineError::Lacking(text) = &one.error {
                            *lacks = Some(text.clone());
                        }
                        failed.push(one);
                        Ok(())
                    }
                }
            };
            runs::run_tasks(scenario, engine, &tasks, jobs, stop, each)?;
            if failed.is_empty() || self.lacks.is_some() || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        failed
            .into_iter()
            .for_each(|one| self.outcome.add_failed(one));
        let command = shell(words(args, &self.job.name).into_iter());
        let conditions = Conditions::now(command, begun, self.engine.at_a_time(jobs));
        let written = self.folder.write_outcome(&self.outcome, &conditions);
        written.map_err(Failure::run)?;
        say(format_args!(
            "{}: {} of {} runs",
            self.folder.path().display(),
            self.outcome.finished(),
            self.outcome.wanted()
        ))
    }
}
