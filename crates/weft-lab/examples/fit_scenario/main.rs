//! Tries values of the fitted parameters in scenario files, and prints how far the
//! results are from the published ones (`docs/results/converge-as-published.md`):
//!
//! `cargo run --release -p weft-lab --example fit_scenario -- links [SCENARIO [LINK]] [PARAMETER=VALUE]... [search]`
//!
//! `PARAMETER=VALUE` replaces the file's value of that parameter. `search` replaces one
//! parameter after another by its best value until none improves.
//!
//! `... -- devices` fits the delay of cameras and screens. Candidates that fit are
//! marked. Exits with status 1 if a file contains a value that does not fit.

mod devices;
mod links;
mod measure;

use std::process::ExitCode;

use devices::Devices;
use links::{Bench, Conditions, FITS, Fit, OF_A_FIT, PARAMETERS, Sweep};

/// Prints all candidates of a link; returns whether the file's values fit.
fn examine(fit: &'static Fit, instead: &[String], searching: bool) -> bool {
    let mut bench = Bench::of(fit, OF_A_FIT);
    println!("{} {}", fit.scenario, fit.link);
    let in_file = Conditions::of(fit, instead);
    let at = match searching {
        true => links::search(&mut bench, in_file.clone()),
        false => in_file.clone(),
    };
    println!("  {:<44} {:>9} {:>9}", "", "published", "here");
    for row in bench.rows(&at) {
        println!(
            "  {:<44} {:>9.4} {:>9.4}",
            row.name, row.published, row.here
        );
    }
    println!("  residual {:.3}", bench.residual(&at));
    for argument in at.set(fit.link) {
        println!("  {argument}");
    }
    let mut right = true;
    for parameter in PARAMETERS {
        let sweep = Sweep::of(&mut bench, parameter, parameter.candidates, &at);
        sweep.print();
        if let Some(wrong) = sweep.wrong(parameter.of(&in_file)) {
            println!("  WRONG: {wrong}");
            right = false;
        }
    }
    right
}

/// Prints the delay of cameras and screens; returns whether the file's value fits best.
fn examine_devices() -> bool {
    let devices = Devices::measure();
    println!("device-delay");
    for row in &devices.rows {
        println!(
            "  {:<44} {:>9.4} {:>9.4}",
            row.name, row.published, row.here
        );
    }
    println!("  {:>10} {:>10}", "ms", "residual");
    for (value, residual) in &devices.tried {
        let mark = if *value == devices.best() { " <" } else { "" };
        println!("  {value:>10} {residual:>10.3}{mark}");
    }
    let right = devices.in_file == devices.best();
    if !right {
        println!("  WRONG: the file has {}", devices.in_file);
    }
    right
}

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1);
    let (instead, words): (Vec<_>, Vec<_>) = arguments.partition(|each| each.contains('='));
    let (verbs, wanted): (Vec<_>, Vec<_>) = words.into_iter().partition(|each| each == "search");
    let is_wanted = |fit: &&Fit| {
        let names = ["links", fit.scenario, fit.link];
        wanted.iter().zip(names).all(|(asked, name)| asked == name)
    };
    let fits: Vec<&Fit> = FITS.iter().filter(is_wanted).collect();
    let is_of_devices = wanted.first().is_none_or(|group| group == "devices");
    if fits.is_empty() && !is_of_devices {
        eprintln!(
            "nothing is fitted of `{}`: {FITS:?}, or devices",
            wanted.join(" ")
        );
        return ExitCode::FAILURE;
    }
    let mut all_right = true;
    for fit in fits {
        all_right &= examine(fit, &instead, !verbs.is_empty());
    }
    if is_of_devices {
        all_right &= examine_devices();
    }
    match all_right {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::links::Runs;
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/results/converge-as-published.md");

    #[test]
    fn every_value_of_the_files_is_a_candidate() {
        for fit in FITS {
            let at = Conditions::of(fit, &[]);
            for parameter in PARAMETERS {
                let value = parameter.of(&at);
                let is_known = parameter.candidates.contains(&value);
                assert!(is_known, "{fit:?} {} {value}", parameter.name);
            }
        }
    }

    /// The page's table: link, rate, dips, loss, burst, queue, residual.
    #[test]
    fn the_page_has_the_values_of_the_files() {
        for fit in FITS {
            let name = format!("| {}, {} |", fit.scenario, fit.link);
            let is_its = |line: &&str| {
                line.to_lowercase()
                    .replace("t-mobile", "tmobile")
                    .starts_with(&name)
            };
            let line = PAGE.lines().find(is_its);
            let line = line.unwrap_or_else(|| panic!("no row {name}"));
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let at = Conditions::of(fit, &[]);
            for (place, name) in (2..).zip(["rate", "dips", "loss", "burst", "queue"]) {
                let number = cells[place].split(' ').next().map(str::parse);
                let parameter = PARAMETERS.iter().find(|each| each.name == name);
                let in_file = parameter.map(|each| each.of(&at));
                assert_eq!(number.and_then(Result::ok), in_file, "{fit:?} {name}");
            }
        }
    }

    /// There are too few and too short runs for a fit, but a fifth of these losses gives
    /// residuals several margins apart. The program itself takes minutes for all links
    /// and parameters.
    #[test]
    fn the_losses_of_the_drive_are_those_that_fit() {
        let runs = Runs {
            seeds: 2,
            seconds: 60,
        };
        for fit in FITS.iter().filter(|fit| fit.scenario == "driving") {
            let at = Conditions::of(fit, &[]);
            let mut bench = Bench::of(fit, runs);
            for parameter in PARAMETERS.iter().filter(|each| each.name == "loss") {
                let sweep = Sweep::of(&mut bench, parameter, &[1.0, 5.0], &at);
                sweep.print();
                assert_eq!(sweep.wrong(parameter.of(&at)), None, "{fit:?}");
                assert!(sweep.wrong(1.0).is_some(), "{fit:?}");
            }
        }
    }
}
