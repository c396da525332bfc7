//! `weft lab run` and `weft lab compare`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use weft_lab::outcome::Outcome;
use weft_lab::output::{self, Conditions, Folder};
use weft_lab::{Scenario, run as runs, shelf};

use super::args::{Common, CompareArgs, Engine, RunArgs};
use super::progress::Progress;
use crate::exit::Failure;
use crate::interrupt;

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    possible(args)?;
    let mut set = args.set.clone();
    set.extend(overrides(&args.common));
    let mut scenarios = Vec::new();
    for name in &args.scenarios {
        for entry in shelf::find(name).map_err(Failure::usage)? {
            scenarios.push(entry.scenario(&set).map_err(Failure::usage)?);
        }
    }
    let command = |scenario: &Scenario| {
        let words = ["weft", "lab", "run", &scenario.source.file].map(str::to_owned);
        let set = args
            .set
            .iter()
            .flat_map(|each| ["--set".to_owned(), each.clone()]);
        shell(words.into_iter().chain(set).chain(flags(&args.common)))
    };
    all(&scenarios, &args.common, &command)
}

pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let text = shelf::comparison(&args.links, args.streams).map_err(Failure::usage)?;
    let parsed = Scenario::parse("weft lab compare", &text, &overrides(&args.common));
    let scenario = parsed.map_err(|error| match error.at {
        // The text that it has a place in is ours, not the user's.
        Some(_) => Failure::usage(format!("weft lab compare: {}", error.message)),
        None => Failure::usage(error),
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
    all(&[scenario], &args.common, &command)
}

/// What this version and this machine can do.
fn possible(args: &RunArgs) -> Result<(), Failure> {
    if args.engine == Engine::Emu {
        return Err(Failure::machine(
            "--engine emu: the emulator is not part of this version; --engine sim runs the same \
             scenarios in virtual time",
        ));
    }
    if args.client != "weft" {
        return Err(Failure::usage(format!(
            "--client {}: the simulator runs weft's own code; real programs need --engine emu",
            args.client
        )));
    }
    Ok(())
}

/// Flags that stand for fields of the scenario.
fn overrides(common: &Common) -> Vec<String> {
    let mut set = Vec::new();
    if let Some(seeds) = common.seeds {
        set.push(format!("seeds={seeds}"));
    }
    if let Some(duration) = common.duration {
        set.push(format!("duration={duration}s"));
    }
    if !common.systems.is_empty() {
        let names: Vec<String> = common
            .systems
            .iter()
            .map(|name| format!("{:?}", name.trim()))
            .collect();
        set.push(format!("systems=[{}]", names.join(",")));
    }
    set
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
fn shell(words: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    let quoted = words.map(|word| match word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Runs them one after the other; the first failure is told at the end.
fn all(
    scenarios: &[Scenario],
    common: &Common,
    command: &dyn Fn(&Scenario) -> String,
) -> Result<(), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    interrupt::on_ctrl_c(move || asked.store(true, Ordering::Relaxed));
    let mut bad = Vec::new();
    for (index, scenario) in scenarios.iter().enumerate() {
        let place = match scenarios.len() {
            1 => String::new(),
            all => format!("{} ({} of {all}) ", scenario.name, index + 1),
        };
        let out = common
            .out
            .as_deref()
            .map(|out| folder(out, scenario, scenarios.len()));
        let out = out
            .map(|path| Folder::create(&path))
            .transpose()
            .map_err(Failure::usage)?;
        if let Err(failure) = one(
            scenario,
            common,
            out.as_ref(),
            &stop,
            &command(scenario),
            &place,
        ) {
            match failure {
                Failure::Run(text) => bad.push(text),
                other => return Err(other),
            }
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if bad.is_empty() {
        Ok(())
    } else {
        Err(Failure::Run(bad.join("\n")))
    }
}

fn folder(out: &Path, scenario: &Scenario, of: usize) -> PathBuf {
    if of > 1 {
        out.join(&scenario.name)
    } else {
        out.to_owned()
    }
}

fn one(
    scenario: &Scenario,
    common: &Common,
    out: Option<&Folder>,
    stop: &AtomicBool,
    command: &str,
    place: &str,
) -> Result<(), Failure> {
    let jobs = common.jobs.map_or_else(processors, usize::from);
    let begun = Instant::now();
    let mut outcome = Outcome::new(scenario);
    let mut progress = Progress::new(outcome.wanted(), place, !common.json);
    let ran = runs::run(scenario, jobs, stop, |ended| {
        match ended {
            Ok(run) => {
                if let Some(out) = out {
                    out.write_series(scenario, &run)?;
                }
                outcome.add(run);
            }
            Err(failed) => outcome.add_failed(failed),
        }
        progress.step();
        Ok(())
    });
    progress.end();
    let conditions = Conditions {
        command: command.to_owned(),
        unix_s: SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |d| d.as_secs()),
        took_s: begun.elapsed().as_secs_f64(),
        machine: format!(
            "{} {}, {jobs} threads",
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
    };
    // After a full disk there may be room for the small files.
    let wrote = out.map_or(Ok(()), |out| out.write_outcome(&outcome, &conditions));
    tell(&outcome, common, out.filter(|_| wrote.is_ok()));
    let ran: Result<(), output::OutputError> = ran;
    ran.and(wrote).map_err(Failure::run)?;
    verdict(&outcome)
}

fn tell(outcome: &Outcome<'_>, common: &Common, out: Option<&Folder>) {
    if common.json {
        print!("{}", output::summary(outcome));
        return;
    }
    let scenario = outcome.scenario();
    println!("{}: {}", scenario.name, scenario.title);
    println!(
        "{} s, {} seeds, 95 % confidence intervals in brackets\n",
        scenario.duration().as_secs_f64(),
        scenario.seeds
    );
    if outcome.finished() < outcome.wanted() {
        let (finished, wanted) = (outcome.finished(), outcome.wanted());
        println!("partial: {finished} of {wanted} runs\n");
    }
    print!("{}", output::printed(outcome));
    let worse = output::printed_worse(outcome);
    if !worse.is_empty() {
        print!("\n{worse}");
    }
    for note in scenario.notes() {
        println!("note: {note}");
    }
    for check in outcome.checks().iter().filter(|c| !c.check.ok) {
        println!(
            "self-check: {} {}: {} configured {:.3}, measured {:.3}",
            check.system,
            check.check.of,
            check.check.what,
            check.check.configured,
            check.check.measured
        );
    }
    match out {
        Some(out) => println!("\n{}", out.path().join("report.html").display()),
        None if common.out.is_none() => {
            println!("\nadd --out DIR for the report and the time series");
        }
        None => {}
    }
}

/// What of it counts as a failure.
fn verdict(outcome: &Outcome<'_>) -> Result<(), Failure> {
    let name = &outcome.scenario().name;
    if let Some(failed) = outcome.failed().first() {
        let system = &outcome.scenario().variants[failed.variant].name;
        return Err(Failure::run(format!(
            "{name}: {} of {} runs failed, the first of them {system} with seed {}: {}",
            outcome.failed().len(),
            outcome.wanted(),
            failed.seed,
            failed.message
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

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
