//! `weft lab`: experiments in virtual time and with real packets.

pub mod args;
mod bench;
mod both;
mod campaign;
mod import;
mod progress;
mod run;
mod said;
mod work;

use std::fmt::Write as _;
use std::path::Path;

use weft_lab::catalogue::{self, Entry};
use weft_lab::output::{self, Side};
use weft_lab::table::{self, Results};

use crate::exit::{Failure, say};
use args::{LabArgs, LabCommand, ListArgs, ReportArgs, TableArgs};

pub fn run(args: LabArgs) -> Result<(), Failure> {
    match args.command {
        LabCommand::List(args) => list(&args),
        LabCommand::Run(args) => run::run(&args),
        LabCommand::Compare(args) => run::compare(&args),
        LabCommand::Report(args) => report(&args),
        LabCommand::Import(args) => import::import(&args),
        LabCommand::Table(args) => tables(&args),
        LabCommand::Bench(args) => bench::bench(&args),
    }
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let entries = catalogue::entries();
    let wanted = |entry: &&Entry| args.set.as_ref().is_none_or(|set| entry.set() == set);
    let found: Vec<&Entry> = entries.iter().filter(wanted).collect();
    if let (Some(set), true) = (&args.set, found.is_empty()) {
        return Err(Failure::usage(catalogue::unknown(set)));
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
    let page = output::compare_folders(&sides).map_err(Failure::usage)?;
    let wrong = |error| Failure::usage(format!("--out {}: {error}", args.out.display()));
    std::fs::write(&args.out, page).map_err(wrong)?;
    say(args.out.display())
}

fn tables(args: &TableArgs) -> Result<(), Failure> {
    let results = Results::read(&args.folder).map_err(Failure::usage)?;
    let tables = table::tables(&args.set, &results, &args.only).map_err(Failure::usage)?;
    for line in &tables.missing {
        complain!("weft: {line}");
    }
    if tables.printed.is_empty() {
        let folder = args.folder.display();
        return Err(Failure::usage(format!(
            "{folder}: there are no results of the set {} in this folder: run `weft lab run {} --out DIR`",
            args.set, args.set
        )));
    }
    let Some(path) = &args.into else {
        let text = |each: &table::Printed| format!("## {}\n\n{}", each.title, each.text);
        let texts: Vec<String> = tables.printed.iter().map(text).collect();
        return say(texts.join("\n").trim_end());
    };
    let name = path.display().to_string();
    let wrong = |error| Failure::usage(format!("--into {name}: {error}"));
    let page = std::fs::read_to_string(path).map_err(wrong)?;
    let page = table::replaced(&page, &name, &tables.printed).map_err(Failure::usage)?;
    std::fs::write(path, page).map_err(wrong)?;
    say(name)
}
