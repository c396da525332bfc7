//! `weft lab run` and `weft lab compare`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use weft_lab::campaign::Campaign;
use weft_lab::engine::emu::{Client, Late, Settings};
use weft_lab::engine::sim::Simulator;
use weft_lab::engine::tracing::Tracing;
use weft_lab::engine::{self, Engine, EngineKind, Engines};
use weft_lab::output;
use weft_lab::run as runs;
use weft_lab::{Scenario, ScenarioError, catalogue};

use super::args::{Common, CompareArgs, RunArgs};
use super::said::{not_run, tell, verdict};
use super::work::{Work, folder, forget, shell};
use super::{both, campaign};
use crate::exit::{Failure, say_json};
use crate::interrupt;

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    if let [one] = args.scenarios.as_slice()
        && Campaign::is_meant(Path::new(one))
    {
        return campaign::run(Path::new(one), args);
    }
    possible(args)?;
    for kind in args.engine.kinds() {
        // Before this process starts a thread.
        engine::prepare(kind)?;
    }
    let set = changes(&args.common);
    let mut scenarios = Vec::new();
    for name in &args.scenarios {
        for entry in catalogue::find(name).map_err(Failure::usage)? {
            let read = entry.scenario(&set);
            scenarios.push(read.map_err(|e| Failure::usage(as_flag(e, &args.common)))?);
        }
    }
    check_folders(&scenarios, args.common.out.as_deref(), "--out")?;
    check_folders(&scenarios, args.common.pcap.as_deref(), "--pcap")?;
    check_folders(&scenarios, args.common.qlog.as_deref(), "--qlog")?;
    let command = |scenario: &Scenario| {
        let words = ["weft", "lab", "run", &scenario.source.file].map(str::to_owned);
        let words = words.into_iter().chain(flags(&args.common));
        shell(words.chain(engine_flags(args)))
    };
    let kinds = args.engine.kinds();
    let each = kinds.iter().map(|kind| prepared(*kind, args, &scenarios));
    let mut each = each.collect::<Result<Vec<_>, Failure>>()?;
    let stop = interrupt::flag();
    match (each.pop(), each.pop()) {
        (Some((emulator, there)), Some(_)) => {
            let pairs: Vec<_> = scenarios.into_iter().zip(there).collect();
            both::run(&pairs, &args.common, &command, emulator.as_ref(), &stop)
        }
        (Some((engine, seen)), None) => all(&seen, &args.common, &command, engine.as_ref(), &stop),
        (None, _) => Ok(()),
    }
}

/// Returns the engine and the scenarios prepared for it; it supports all of them.
fn prepared(
    kind: EngineKind,
    args: &RunArgs,
    scenarios: &[Scenario],
) -> Result<(Box<dyn Engine>, Vec<Scenario>), Failure> {
    let late = match args.keep_rejected {
        true => Late::Noted,
        false => Late::Rejected,
    };
    let client = args.client.clone();
    let engine = engine::make(kind, &Settings { client, late })?;
    for variant in scenarios.iter().flat_map(|scenario| &scenario.variants) {
        engine.check(&variant.setup)?;
    }
    let seen = |scenario: &Scenario| match kind.runs_programs() {
        true => runs::as_seen_by(&args.client, scenario),
        false => scenario.clone(),
    };
    Ok((engine, scenarios.iter().map(seen).collect()))
}

pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let text = catalogue::comparison(&args.links, args.streams).map_err(Failure::usage)?;
    let parsed = Scenario::parse("weft lab compare", &text, &changes(&args.common));
    let scenario = parsed.map_err(|error| match error.at {
        // The text with the error is generated, not written by the user.
        Some(_) => Failure::usage(error.message),
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
        &interrupt::flag(),
    )
}

fn possible(args: &RunArgs) -> Result<(), Failure> {
    if !args.only.is_empty() {
        return Err(Failure::usage(
            "--only: this option chooses runs of a campaign: name one campaign file and nothing else",
        ));
    }
    if !args.engine.run_programs() && args.client != Client::Weft {
        return Err(Failure::usage(format!(
            "--client {}: the simulator runs weft's own code; add --engine emu for real programs",
            args.client
        )));
    }
    if !args.engine.run_programs() && args.keep_rejected {
        return Err(Failure::usage(
            "--keep-rejected: no run is rejected in virtual time: remove this option",
        ));
    }
    if let Some(flag) = args.common.traces().next()
        && args.engine.run_programs()
    {
        return Err(Failure::usage(format!(
            "{flag}: only simulated calls are traced: remove --engine, or run tcpdump on an interface \
             of the emulator"
        )));
    }
    let kinds = args.engine.kinds();
    if args.common.jobs.is_some() && kinds.into_iter().all(EngineKind::runs_programs) {
        return Err(Failure::usage(
            "--jobs: emulated runs need the whole machine: remove this option",
        ));
    }
    Ok(())
}

fn engine_flags(args: &RunArgs) -> Vec<String> {
    if args.engine == Engines::default() {
        return Vec::new();
    }
    let mut flags = vec!["--engine".to_owned(), args.engine.to_string()];
    flags.extend(["--client".to_owned(), args.client.to_string()]);
    if args.keep_rejected {
        flags.push("--keep-rejected".to_owned());
    }
    flags
}

/// Returns all changes to a scenario, as arguments of `--set`.
fn changes(common: &Common) -> Vec<String> {
    let overrides = overrides(common).map(|(_, set)| set);
    common.set.iter().cloned().chain(overrides).collect()
}

/// Flags that set fields of the scenario, as written and as arguments of
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

/// Names the flag that the user wrote in an error.
fn as_flag(mut error: ScenarioError, common: &Common) -> ScenarioError {
    let flag = overrides(common).find(|(_, set)| error.file == format!("--set {set}"));
    if let Some((flag, _)) = flag {
        error.file = flag;
    }
    error
}

/// Returns the flags that change results.
fn flags(common: &Common) -> Vec<String> {
    let set = common.set.iter();
    let mut flags: Vec<String> = set
        .flat_map(|each| ["--set".to_owned(), each.clone()])
        .collect();
    let mut add = |name: &str, value: Option<String>| {
        flags.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    add(
        "--systems",
        (!common.systems.is_empty()).then(|| common.systems.join(",")),
    );
    add("--seeds", common.seeds.map(|n| n.to_string()));
    add("--duration", common.duration.map(|s| s.to_string()));
    // These flags do not change results, but only runs of the same command are resumed,
    // so that no trace is missing.
    for (flag, folder) in [("--pcap", &common.pcap), ("--qlog", &common.qlog)] {
        add(
            flag,
            folder.as_ref().map(|folder| folder.display().to_string()),
        );
    }
    flags
}

/// Runs the scenarios in order until `stop` is set; reports failures at the
/// end.
fn all(
    scenarios: &[Scenario],
    common: &Common,
    command: &dyn Fn(&Scenario) -> String,
    engine: &dyn Engine,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    check_calls(scenarios, common)?;
    let mut bad = Vec::new();
    let mut summaries = Vec::new();
    let mut ended = Vec::new();
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
        let tracing = tracing(common, scenario, scenarios.len())?;
        let engine = tracing.as_ref().map_or(engine, |tracing| tracing);
        let command = command(scenario);
        let mut work = Work::new(scenario, common, stop, command, place, out.as_deref())?;
        let (outcome, ran) = work.run(engine);
        let written = work.out.as_ref().filter(|_| ran.is_ok());
        if common.json {
            summaries.push(output::summary(&outcome));
        } else {
            tell(&outcome, common, written)?;
        }
        match ran.and_then(|()| verdict(&outcome)) {
            Ok(()) => ended.extend(work.out),
            Err(Failure::Run(text)) => bad.push(text),
            Err(other) => return Err(other),
        }
    }
    forget(&ended, stop)?;
    match (common.json, &summaries[..]) {
        (false, _) => {}
        (true, [one]) => say_json(one.trim_end())?,
        // A single JSON text that any parser accepts.
        (true, many) => say_json(format_args!("[{}]", many.join(",")))?,
    }
    if bad.is_empty() {
        Ok(())
    } else {
        Err(Failure::Run(bad.join("\n")))
    }
}

/// Checks that there is something to trace, if traces are requested.
fn check_calls(scenarios: &[Scenario], common: &Common) -> Result<(), Failure> {
    let mut variants = scenarios.iter().flat_map(|scenario| &scenario.variants);
    match common.traces().next() {
        Some(flag) if !variants.any(|variant| Tracing::covers(&variant.setup)) => {
            Err(Failure::usage(format!(
                "{flag}: only flows of the kind \"call\" are traced, and there is none: remove the option"
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the engine that traces the calls of one scenario of `of`, if requested.
fn tracing(common: &Common, scenario: &Scenario, of: usize) -> Result<Option<Tracing>, Failure> {
    let Some(flag) = common.traces().next() else {
        return Ok(None);
    };
    let place = |wanted: &Option<PathBuf>| wanted.as_ref().map(|out| folder(out, scenario, of));
    let [pcap, qlog] = [&common.pcap, &common.qlog].map(place);
    let tracing = Tracing::new(pcap.as_deref(), qlog.as_deref());
    let tracing = tracing.map_err(|error| Failure::usage(format!("{flag}: {error}")))?;
    Ok(Some(tracing))
}

/// Checks that no scenario overwrites the results of another in the folder of `flag`.
fn check_folders(scenarios: &[Scenario], out: Option<&Path>, flag: &str) -> Result<(), Failure> {
    let Some(out) = out else { return Ok(()) };
    for (index, scenario) in scenarios.iter().enumerate() {
        let path = folder(out, scenario, scenarios.len());
        let mut before = scenarios[..index].iter();
        if let Some(other) = before.find(|other| other.name == scenario.name) {
            return Err(Failure::usage(format!(
                "{} and {} would both be written to {}: run each with a separate {flag}",
                other.source.file,
                scenario.source.file,
                path.display()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
