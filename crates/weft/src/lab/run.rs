//! `weft lab run` and `weft lab compare`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use weft_lab::campaign::Campaign;
use weft_lab::engine::emu::{self, Client, Emulator, Late, Settings};
use weft_lab::engine::sim::Simulator;
use weft_lab::engine::{Engine, EngineError};
use weft_lab::outcome::Outcome;
use weft_lab::output::{self, Conditions, Folder};
use weft_lab::{Scenario, ScenarioError, run as runs, shelf};

use super::args::{Common, CompareArgs, Engine as Wanted, RunArgs};
use super::progress::Progress;
use super::{both, campaign};
use crate::exit::{Failure, say};
use crate::interrupt;

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    if let [one] = args.scenarios.as_slice()
        && Campaign::is_meant(Path::new(one))
    {
        return campaign::run(Path::new(one), args);
    }
    possible(args)?;
    if args.engine != Wanted::Sim {
        // Now, while this process has one thread.
        emu::take_right()?;
    }
    let mut set = args.set.clone();
    set.extend(overrides(&args.common).map(|(_, set)| set));
    let mut scenarios = Vec::new();
    for name in &args.scenarios {
        for entry in shelf::find(name).map_err(Failure::usage)? {
            let read = entry.scenario(&set);
            scenarios.push(read.map_err(|e| Failure::usage(as_flag(e, &args.common)))?);
        }
    }
    check_folders(&scenarios, args.common.out.as_deref())?;
    let command = |scenario: &Scenario| {
        let words = ["weft", "lab", "run", &scenario.source.file].map(str::to_owned);
        let set = args
            .set
            .iter()
            .flat_map(|each| ["--set".to_owned(), each.clone()]);
        let words = words.into_iter().chain(set).chain(flags(&args.common));
        shell(words.chain(engine_flags(args)))
    };
    match args.engine {
        Wanted::Sim => all(&scenarios, &args.common, &command, &Simulator, &stop_flag()),
        Wanted::Emu => {
            let (engine, scenarios) = emulated(args, &scenarios)?;
            all(&scenarios, &args.common, &command, &engine, &stop_flag())
        }
        Wanted::Both => {
            let (engine, there) = emulated(args, &scenarios)?;
            let pairs: Vec<_> = scenarios.into_iter().zip(there).collect();
            both::run(&pairs, &args.common, &command, &engine, &stop_flag())
        }
    }
}

/// The emulator, and the scenarios as the client sees them, all of which it
/// can do.
fn emulated(args: &RunArgs, scenarios: &[Scenario]) -> Result<(Emulator, Vec<Scenario>), Failure> {
    let engine = Emulator::new(Settings {
        client: args.client.clone(),
        late: match args.keep_rejected {
            true => Late::Noted,
            false => Late::Rejected,
        },
    })?;
    for variant in scenarios.iter().flat_map(|scenario| &scenario.variants) {
        engine.check(&variant.setup)?;
    }
    let scenarios = scenarios.iter();
    let seen = scenarios.map(|scenario| runs::as_seen_by(&args.client, scenario));
    Ok((engine, seen.collect()))
}

pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let text = shelf::comparison(&args.links, args.streams).map_err(Failure::usage)?;
    let set: Vec<String> = overrides(&args.common).map(|(_, set)| set).collect();
    let parsed = Scenario::parse("weft lab compare", &text, &set);
    let scenario = parsed.map_err(|error| match error.at {
        // The text that it has a place in is ours, not the user's.
        Some(_) => Failure::usage(format!("weft lab compare: {}", error.message)),
        None => Failure::usage(as_flag(error, &args.common)),
    })?;
    let command = |_: &Scenario| {
        let links = args
            .links
            .iter()
            .flat_map(|each| ["--link".to_owned(), each.clone()]);
        let streams = ["--streams".to_owned(), args.streams.to_string()];
        let words = ["weft", "lab", "compare"].map(str::to_owned).into_iter();
        shell(words.chain(links).chain(streams).chain(flags(&args.common)))
    };
    all(
        &[scenario],
        &args.common,
        &command,
        &Simulator,
        &stop_flag(),
    )
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        match error {
            EngineError::Lacking(text) => Failure::Machine(text),
            EngineError::Run(text) => Failure::Run(text),
        }
    }
}

fn possible(args: &RunArgs) -> Result<(), Failure> {
    if !args.only.is_empty() {
        return Err(Failure::usage(
            "--only: it chooses among the runs of a campaign: name the file of one, alone",
        ));
    }
    if args.engine == Wanted::Sim && args.client != Client::Weft {
        return Err(Failure::usage(format!(
            "--client {}: the simulator runs weft's own code; real programs need --engine emu",
            args.client
        )));
    }
    match (args.engine, args.keep_rejected, args.common.jobs) {
        (Wanted::Sim, true, _) => Err(Failure::usage(
            "--keep-rejected: in virtual time no run is rejected: leave it away",
        )),
        (Wanted::Emu, _, Some(_)) => Err(Failure::usage(
            "--jobs: emulated runs need the machine for themselves: leave it away",
        )),
        _ => Ok(()),
    }
}

fn engine_flags(args: &RunArgs) -> Vec<String> {
    let engine = match args.engine {
        Wanted::Sim => return Vec::new(),
        Wanted::Emu => "emu",
        Wanted::Both => "both",
    };
    let mut flags = vec!["--engine".to_owned(), engine.to_owned()];
    flags.extend(["--client".to_owned(), args.client.to_string()]);
    if args.keep_rejected {
        flags.push("--keep-rejected".to_owned());
    }
    flags
}

/// Flags that stand for fields of the scenario, as written and as arguments of
/// `--set`.
fn overrides(common: &Common) -> impl Iterator<Item = (String, String)> {
    let names: Vec<&str> = common.systems.iter().map(|name| name.trim()).collect();
    let seeds = common
        .seeds
        .map(|n| (format!("--seeds {n}"), format!("seeds={n}")));
    let duration = common
        .duration
        .map(|s| (format!("--duration {s}"), format!("duration=\"{s}s\"")));
    let systems = (!names.is_empty()).then(|| {
        (
            format!("--systems {}", names.join(",")),
            format!("systems={names:?}"),
        )
    });
    [seeds, duration, systems].into_iter().flatten()
}

/// An error in the place of a flag names the flag that was written.
fn as_flag(mut error: ScenarioError, common: &Common) -> ScenarioError {
    let flag = overrides(common).find(|(_, set)| error.file == format!("--set {set}"));
    if let Some((flag, _)) = flag {
        error.file = flag;
    }
    error
}

/// The flags that change results.
fn flags(common: &Common) -> Vec<String> {
    let mut flags = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        flags.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    add(
        "--systems",
        (!common.systems.is_empty()).then(|| common.systems.join(",")),
    );
    add("--seeds", common.seeds.map(|n| n.to_string()));
    add("--duration", common.duration.map(|s| s.to_string()));
    flags
}

/// A command line that can be pasted.
pub fn shell(words: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    let quoted = words.map(|word| match word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Runs them one after the other until `stop` is set; failures are told at the
/// end.
fn all(
    scenarios: &[Scenario],
    common: &Common,
    command: &dyn Fn(&Scenario) -> String,
    engine: &dyn Engine,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let mut bad = Vec::new();
    let mut summaries = Vec::new();
    for (index, scenario) in scenarios.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            bad.push(not_run(scenarios[index..].iter()));
            break;
        }
        let place = match scenarios.len() {
            1 => String::new(),
            all => format!("{} ({} of {all}) ", scenario.name, index + 1),
        };
        let out = common
            .out
            .as_deref()
            .map(|out| folder(out, scenario, scenarios.len()));
        let work = Work {
            scenario,
            common,
            out: out.map(|path| create(&path)).transpose()?,
            stop,
            command: command(scenario),
            place,
        };
        let (outcome, ran) = work.run(engine);
        let written = work.out.as_ref().filter(|_| ran.is_ok());
        if common.json {
            summaries.push(output::summary(&outcome));
        } else {
            tell(&outcome, common, written)?;
        }
        match ran.and_then(|()| verdict(&outcome)) {
            Ok(()) => {}
            Err(Failure::Run(text)) => bad.push(text),
            Err(other) => return Err(other),
        }
    }
    match (common.json, &summaries[..]) {
        (false, _) => {}
        (true, [one]) => say(one.trim_end())?,
        // One text that any parser takes.
        (true, many) => say(format_args!("[{}]", many.join(",")))?,
    }
    if bad.is_empty() {
        Ok(())
    } else {
        Err(Failure::Run(bad.join("\n")))
    }
}

/// What is missing after an early end.
pub fn not_run<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> String {
    let names: Vec<&str> = scenarios.map(|scenario| scenario.name.as_str()).collect();
    format!("not run: {}", names.join(", "))
}

/// Becomes true with Ctrl-C.
pub fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    interrupt::on_ctrl_c(move || asked.store(true, Ordering::Relaxed));
    stop
}

pub fn create(path: &Path) -> Result<Folder, Failure> {
    Folder::create(path).map_err(Failure::usage)
}

/// No scenario may be written over the results of another.
fn check_folders(scenarios: &[Scenario], out: Option<&Path>) -> Result<(), Failure> {
    let Some(out) = out else { return Ok(()) };
    for (index, scenario) in scenarios.iter().enumerate() {
        let path = folder(out, scenario, scenarios.len());
        let mut before = scenarios[..index].iter();
        if let Some(other) = before.find(|other| other.name == scenario.name) {
            return Err(Failure::usage(format!(
                "{} and {} would both be written into {}: run each with an --out of its own",
                other.source.file,
                scenario.source.file,
                path.display()
            )));
        }
    }
    Ok(())
}

pub fn folder(out: &Path, scenario: &Scenario, of: usize) -> PathBuf {
    if of > 1 {
        out.join(&scenario.name)
    } else {
        out.to_owned()
    }
}

/// A scenario to run, and what becomes of its results.
pub struct Work<'a> {
    pub scenario: &'a Scenario,
    pub common: &'a Common,
    pub out: Option<Folder>,
    pub stop: &'a AtomicBool,
    /// What gives the same results.
    pub command: String,
    /// Before the progress.
    pub place: String,
}

impl<'a> Work<'a> {
    /// Runs and writes it. What was finished is there also after a failure.
    pub fn run(&self, engine: &dyn Engine) -> (Outcome<'a>, Result<(), Failure>) {
        let common = self.common;
        let jobs = common.jobs.map_or_else(processors, usize::from);
        let begun = Instant::now();
        let mut outcome = Outcome::of(self.scenario, engine.kind());
        let mut progress = Progress::new(outcome.wanted(), &self.place, !common.json);
        let each = |ended: runs::Ended| -> Result<(), Failure> {
            match ended {
                Ok(run) => {
                    let out = self.out.as_ref();
                    let wrote = out.map_or(Ok(()), |out| out.write_series(self.scenario, &run));
                    // It counts also where there is no room for its series.
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
        let ran = runs::run(self.scenario, engine, jobs, self.stop, each);
        progress.end();
        let conditions = conditions(self.command.clone(), begun, engine, jobs);
        // After a full disk there may be room for the small files.
        let out = self.out.as_ref();
        let wrote = out.map_or(Ok(()), |out| out.write_outcome(&outcome, &conditions));
        (outcome, ran.and(wrote.map_err(Failure::run)))
    }
}

/// How it was run.
pub fn conditions(command: String, begun: Instant, engine: &dyn Engine, jobs: usize) -> Conditions {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Conditions {
        command,
        unix_s: since.map_or(0, |since| since.as_secs()),
        took_s: begun.elapsed().as_secs_f64(),
        machine: format!(
            "{} {}, {} processors, {} runs at a time",
            std::env::consts::OS,
            std::env::consts::ARCH,
            processors(),
            engine.at_a_time(jobs)
        ),
    }
}

pub fn tell(outcome: &Outcome<'_>, common: &Common, out: Option<&Folder>) -> Result<(), Failure> {
    let scenario = outcome.scenario();
    let one = if scenario.seeds == 1 { "" } else { "s" };
    let mut text = format!(
        "{}: {}\n{} s, {} seed{one}, 95 % confidence intervals in brackets\n\n",
        scenario.name,
        scenario.title,
        scenario.duration().as_secs_f64(),
        scenario.seeds
    );
    if outcome.finished() < outcome.wanted() {
        let (finished, wanted) = (outcome.finished(), outcome.wanted());
        text += &format!("partial: {finished} of {wanted} runs\n\n");
    }
    text += &output::printed(outcome);
    let worse = output::printed_worse(outcome);
    if !worse.is_empty() {
        text += &format!("\n{worse}");
    }
    for note in outcome.notes().into_iter().chain(output::missing(outcome)) {
        text += &format!("note: {note}\n");
    }
    for check in outcome.checks().iter().filter(|c| !c.check.ok) {
        text += &format!(
            "self-check: {} {}: {} configured {:.3}, measured {:.3}\n",
            check.system,
            check.check.of,
            check.check.what,
            check.check.configured,
            check.check.measured
        );
    }
    match out {
        Some(out) => text += &format!("\n{}", out.path().join("report.html").display()),
        None if common.out.is_none() => {
            text += "\nadd --out DIR for the report and the time series";
        }
        None => {}
    }
    say(text.trim_end())
}

/// What of it counts as a failure.
pub fn verdict(outcome: &Outcome<'_>) -> Result<(), Failure> {
    let name = &outcome.scenario().name;
    if let Some(failed) = outcome.failed().first() {
        let system = &outcome.scenario().variants[failed.task.variant].name;
        return Err(Failure::run(format!(
            "{name}: {} of {} runs failed, the first of them {system} with seed {}: {}",
            outcome.failed().len(),
            outcome.wanted(),
            failed.task.seed,
            failed.error
        )));
    }
    if outcome.finished() < outcome.wanted() {
        return Err(Failure::run(format!(
            "{name}: partial, {} of {} runs were finished",
            outcome.finished(),
            outcome.wanted()
        )));
    }
    Ok(())
}

pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests;
