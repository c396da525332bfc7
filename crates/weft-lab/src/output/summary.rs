//! `summary.json`: the results for programs.

use serde::Serialize;

use crate::engine::EngineKind;
use crate::outcome::{Answer, Compared, Difference, Outcome, Row, SystemCheck, Worse};

/// Version of the layout; a change that breaks readers counts it up.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    scenario: &'a str,
    engine: EngineKind,
    version: &'static str,
    /// What is allowed, but perhaps not meant.
    notes: Vec<String>,
    seeds: Vec<u64>,
    /// What stood for the star in the traces' names: of seed 1, 2 and so on;
    /// empty where there is no such pattern.
    traces: Vec<&'a str>,
    /// Runs are missing: it was interrupted, or some failed.
    partial: bool,
    /// Sentences that name the better system and the difference.
    answers: Vec<Answer>,
    results: Vec<Row>,
    differences: Vec<Difference>,
    published: Vec<Compared>,
    worse_than_single: Vec<Worse>,
    selfcheck: SelfCheck,
}

#[derive(Serialize)]
struct SelfCheck {
    ok: bool,
    checks: Vec<SystemCheck>,
}

/// The file's content. It depends on scenario, version and the runs that
/// ended, on nothing else.
#[must_use]
pub fn summary(outcome: &Outcome<'_>) -> String {
    let checks = outcome.checks();
    let summary = Summary {
        schema: SCHEMA,
        scenario: &outcome.scenario().name,
        engine: outcome.engine(),
        version: crate::VERSION,
        notes: outcome.notes(),
        seeds: outcome.seeds(),
        traces: outcome.traces(),
        partial: outcome.finished() < outcome.wanted(),
        answers: outcome.answers(),
        results: outcome.rows(),
        differences: outcome.differences(),
        published: outcome.compared(),
        worse_than_single: outcome.worse_than_single(),
        selfcheck: SelfCheck {
            ok: checks.iter().all(|c| c.check.ok),
            checks,
        },
    };
    // Maps with keys of text and finite numbers always have a form in JSON.
    let mut text = serde_json::to_string_pretty(&summary).expect("plain data");
    text.push('\n');
    text
}
