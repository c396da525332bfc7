//! Terminal output for the runs of a scenario.

use weft_lab::Scenario;
use weft_lab::outcome::{Answer, Outcome};
use weft_lab::output::{self, Folder, Rows};

use super::args::Common;
use crate::exit::{Failure, say};

/// Maximum number of varied values whose answers are printed in full; with more, only the
/// first sentence of each is printed. Chosen by us: a screen of text.
const MOST_LONG_ANSWERS: usize = 6;

pub fn tell(outcome: &Outcome<'_>, common: &Common, out: Option<&Folder>) -> Result<(), Failure> {
    say(text(outcome, common, out).trim_end())
}

pub fn text(outcome: &Outcome<'_>, common: &Common, out: Option<&Folder>) -> String {
    let scenario = outcome.scenario();
    let one = if scenario.seeds == 1 { "" } else { "s" };
    let mut text = format!(
        "{}: {}\n{} s, {} seed{one}, {} in brackets\n\n",
        scenario.name,
        scenario.title,
        scenario.duration().as_secs_f64(),
        scenario.seeds,
        scenario.centre.interval(scenario.seeds)
    );
    if outcome.finished() < outcome.wanted() {
        let (finished, wanted) = (outcome.finished(), outcome.wanted());
        text += &format!("partial: {finished} of {wanted} runs\n\n");
    }
    let rows = match common.all {
        true => Rows::All,
        false => Rows::Foremost,
    };
    text += &output::printed(outcome, rows);
    let worse = output::printed_worse(outcome, rows);
    if !worse.is_empty() {
        text += &format!("\n{worse}");
    }
    let published = outcome.compared();
    if !published.is_empty() {
        let agreeing = published
            .iter()
            .filter(|each| each.verdict == "agrees")
            .count();
        text += &format!(
            "\n{agreeing} of {} published values agree\n",
            published.len()
        );
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
        Some(out) => {
            text += &format!("\nreport: {}\n", out.path().join("report.html").display());
        }
        None if common.out.is_none() => {
            text += "\nadd --out DIR for the report and the time series\n";
        }
        None => {}
    }
    // Last, where people look first.
    let answers = outcome.answers();
    if answers.len() > MOST_LONG_ANSWERS {
        let first = |answer: &Answer| format!("\n{}: {}", answer.case, answer.sentences[0]);
        text += &answers.iter().map(first).collect::<String>();
        return text + "\n";
    }
    for answer in answers {
        text += "\n";
        if !answer.case.is_empty() {
            text += &format!("{}:\n", answer.case);
        }
        text += &answer.sentences.join("\n");
        text += "\n";
    }
    text
}

/// Returns the error for failed and missing runs.
pub fn verdict(outcome: &Outcome<'_>) -> Result<(), Failure> {
    outcome
        .incomplete()
        .map_or(Ok(()), |text| Err(Failure::Run(text)))
}

/// Returns the names of the scenarios that an early end skipped.
pub fn not_run<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> String {
    let names: Vec<&str> = scenarios.map(|scenario| scenario.name.as_str()).collect();
    format!("not run: {}", names.join(", "))
}
