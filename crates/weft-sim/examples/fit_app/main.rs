//! Tries values of every fitted parameter of the application models (`weft_apps::FITTED`)
//! under the conditions of the figure that it is fitted to, and prints the results next
//! to the figure (`docs/models/applications.md`):
//! `cargo run -p weft-sim --example fit_app -- [APPLICATION [PARAMETER]] [PARAMETER=VALUE]...`
//!
//! `PARAMETER=VALUE` replaces the file's value of that parameter. A candidate fits if it
//! misses the figure by no more than the fit's bound; these are marked. Exits with status
//! 1 if an application's file contains a value that does not fit.

mod course;
mod fits;
mod zoom;

use std::process::ExitCode;

use fits::{FITS, Fit};
use weft_apps::{Fitted, Model};

/// Runs of each candidate; the result is their mean.
const SEEDS: u64 = 3;

/// Result of a fit.
struct Outcome {
    tried: Vec<Tried>,
    in_file: f64,
}

/// Candidate, its measurement, and the deviation from the figure.
struct Tried {
    value: f64,
    measured: f64,
    missed: f64,
    fits: bool,
}

impl Outcome {
    fn of(fit: &Fit, instead: &[String]) -> Outcome {
        let (parameter, model) = (fit.parameter(), fit.model(instead));
        let tried = fit.candidates.iter().map(|&value| {
            let measured = mean(fit, &parameter.with(model.clone(), value));
            let missed = (measured - fit.published).abs();
            Tried {
                value,
                measured,
                missed,
                fits: missed <= fit.bound,
            }
        });
        Outcome {
            tried: tried.collect(),
            in_file: parameter.of(&model),
        }
    }

    /// Returns the error in the file, if there is one.
    fn wrong(&self) -> Option<String> {
        let of_file = self.tried.iter().find(|tried| tried.value == self.in_file);
        match of_file {
            Some(tried) if tried.fits => None,
            Some(tried) => Some(format!(
                "the file's {} misses by {:.3}",
                tried.value, tried.missed
            )),
            None => Some(format!("the file's {} is not a candidate", self.in_file)),
        }
    }
}

fn mean(fit: &Fit, model: &Model) -> f64 {
    let runs = (1..=SEEDS).map(|seed| (fit.measure)(model, seed));
    runs.sum::<f64>() / SEEDS as f64
}

fn title(parameter: &Fitted) -> String {
    format!("{}: {}", parameter.app, parameter.name)
}

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1);
    let (instead, wanted): (Vec<_>, Vec<_>) = arguments.partition(|each| each.contains('='));
    let mut all_right = true;
    let is_wanted = |fit: &&Fit| {
        let parameter = fit.parameter();
        let names = [parameter.app.name(), parameter.name];
        wanted.iter().zip(names).all(|(asked, name)| asked == name)
    };
    for fit in FITS.iter().filter(is_wanted) {
        let outcome = Outcome::of(fit, &instead);
        println!("{}", title(fit.parameter()));
        println!("  {}: {}, within {}", fit.figure, fit.published, fit.bound);
        println!(
            "  {:>10} {:>10} {:>10}",
            "candidate", "measured", "residual"
        );
        for tried in &outcome.tried {
            let mark = if tried.fits { " <" } else { "" };
            let (value, measured, missed) = (tried.value, tried.measured, tried.missed);
            println!("  {value:>10} {measured:>10.3} {missed:>10.3}{mark}");
        }
        if let Some(wrong) = outcome.wrong() {
            println!("  WRONG: {wrong}");
            all_right = false;
        }
    }
    match all_right {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fitted_parameter_has_one_fit() {
        for parameter in weft_apps::FITTED {
            let fits = FITS.iter().filter(|fit| fit.is_of(parameter));
            assert_eq!(fits.count(), 1, "{}", title(parameter));
        }
        assert_eq!(FITS.len(), weft_apps::FITTED.len());
    }

    #[test]
    fn files_have_what_fits_and_every_figure_rules_something_out() {
        let wrong = FITS.iter().filter_map(|fit| {
            let outcome = Outcome::of(fit, &[]);
            let all_fit = outcome.tried.iter().all(|tried| tried.fits);
            let vague = all_fit.then(|| "any candidate fits".to_owned());
            Some(format!(
                "{}: {}",
                title(fit.parameter()),
                outcome.wrong().or(vague)?
            ))
        });
        assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
    }
}
