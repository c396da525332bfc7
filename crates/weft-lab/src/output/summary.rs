//! `summary.json`: the results for programs.

use serde::Serialize;

use crate::engine::EngineKind;
use crate::outcome::{Answer, Compared, Difference, Outcome, Row, SystemCheck, Worse};

/// Version of the layout, incremented by changes that break readers.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    scenario: &'a str,
    engine: EngineKind,
    version: &'static str,
    /// Notes on settings that are allowed, but possibly unintended.
    notes: Vec<String>,
    seeds: Vec<u64>,
    /// Texts matched by the star in the traces' names, for seeds 1, 2 and so on; empty
    /// without a pattern.
    traces: Vec<&'a str>,
    /// Whether runs are missing, because the run was interrupted or some failed.
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

/// Returns the file's content. It depends only on scenario, version and the finished
/// runs.
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
    // Maps with text keys and finite numbers always have a JSON form.
    let mut text = serde_json::to_string_pretty(&summary).expect("plain data");
    text.push('\n');
    text
}
