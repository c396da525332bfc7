//! `weft lab`: experiments in virtual time and with real packets.

pub mod args;
mod bench;
mod both;
mod campaign;
mod progress;
mod run;
mod said;
mod work;

use std::fmt::Write as _;
use std::path::Path;

use weft_lab::output::{self, Side};
use weft_lab::shelf::{self, Entry};

use crate::exit::{Failure, say};
use args::{LabArgs, LabCommand, ListArgs, ReportArgs};

pub fn run(args: LabArgs) -> Result<(), Failure> {
    match args.command {
        LabCommand::List(args) => list(&args),
        LabCommand::Run(args) => run::run(&args),
        LabCommand::Compare(args) => run::compare(&args),
        LabCommand::Report(args) => report(&args),
        LabCommand::Bench(args) => bench::bench(&args),
    }
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let entries = shelf::entries();
    let wanted = |entry: &&Entry| args.set.as_ref().is_none_or(|set| entry.set() == set);
    let found: Vec<&Entry> = entries.iter().filter(wanted).collect();
    if let (Some(set), true) = (&args.set, found.is_empty()) {
        return Err(Failure::usage(shelf::unknown(set)));
    }
    let width = found
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for entry in found {
        // An unreadable file is listed with its error.
        let title = match entry.scenario(&[]) {
            Ok(scenario) => scenario.title,
            Err(error) => format!("(unusable: {})", error.message),
        };
        let _ = writeln!(text, "{:width$}  {title}", entry.name);
    }
    say(text.trim_end())
}

fn report(args: &ReportArgs) -> Result<(), Failure> {
    let [first, second] = &args.folders[..] else {
        let folder = Path::new(&args.folders[0]);
        let written = output::rewrite_report(folder).map_err(Failure::usage)?;
        return say(written.display());
    };
    let sides = [Side::of(first), Side::of(second)];
    let page = output::lay_over(&sides).map_err(Failure::usage)?;
    let wrong = |error| Failure::usage(format!("--out {}: {error}", args.out.display()));
    std::fs::write(&args.out, page).map_err(wrong)?;
    say(args.out.display())
}
