//! Results of a scenario's runs.

use pyo3::prelude::*;
use weft_lab::outcome::{Difference, Outcome, Row};
use weft_lab::output::{self, Rows};
use weft_lab::run::{Participants, Run};

use crate::error::LabError;
use crate::table::{Column, Table, counts, numbers, texts};

/// Results of all runs of a scenario. `print(results)` shows the most important ones;
/// `summary()`, `runs()`, `differences()` and `series()` are tables for polars, pandas
/// and pyarrow; `report()` shows everything in a notebook.
#[pyclass(frozen, module = "weft_lab")]
pub struct Results {
    /// Name of the scenario.
    #[pyo3(get)]
    scenario: String,
    /// Names of the systems, in the order of the scenario.
    #[pyo3(get)]
    systems: Vec<String>,
    /// Number of runs that have finished.
    #[pyo3(get)]
    finished: usize,
    /// Number of runs of the scenario's plan.
    #[pyo3(get)]
    planned: usize,
    /// Failed runs: system, seed and error.
    #[pyo3(get)]
    failed: Vec<(String, u64, String)>,
    /// Notes that readers need to judge the results.
    #[pyo3(get)]
    notes: Vec<String>,
    /// Sentences that name the better system and the difference.
    #[pyo3(get)]
    answers: Vec<String>,
    /// Error for failed and missing runs.
    pub incomplete: Option<String>,
    text: String,
    summary: String,
    report: String,
    rows: Vec<Row>,
    differences: Vec<Difference>,
    runs: Vec<(String, Run)>,
}

impl Results {
    /// Creates the results of an outcome and its runs.
    pub fn new(outcome: &Outcome<'_>, runs: Vec<Run>, report: String) -> Results {
        let scenario = outcome.scenario();
        let name = |variant: usize| scenario.variants[variant].name.clone();
        let answers = outcome.answers().into_iter();
        let answers: Vec<String> = answers
            .flat_map(|answer| {
                let case = answer.case;
                answer
                    .sentences
                    .into_iter()
                    .map(move |sentence| match case.is_empty() {
                        true => sentence,
                        false => format!("{case}: {sentence}"),
                    })
            })
            .collect();
        let mut runs: Vec<Run> = runs
            .into_iter()
            .filter(|run| run.task.participants == Participants::All)
            .collect();
        runs.sort_by_key(|run| (run.task.variant, run.task.seed));
        let failed = outcome.failed().iter();
        Results {
            scenario: scenario.name.clone(),
            systems: scenario.variants.iter().map(|v| v.name.clone()).collect(),
            finished: outcome.finished(),
            planned: outcome.wanted(),
            failed: failed
                .map(|f| (name(f.task.variant), f.task.seed, f.error.to_string()))
                .collect(),
            notes: outcome.notes(),
            incomplete: outcome.incomplete(),
            text: format!(
                "{}: {}\n{} of {} runs\n\n{}\n{}",
                scenario.name,
                scenario.title,
                outcome.finished(),
                outcome.wanted(),
                output::printed(outcome, Rows::Foremost).replace("with --all", "in summary()"),
                answers.join("\n")
            ),
            answers,
            summary: output::summary(outcome),
            report,
            rows: outcome.rows(),
            differences: outcome.differences(),
            runs: runs
                .into_iter()
                .map(|run| (name(run.task.variant), run))
                .collect(),
        }
    }

    fn run(&self, system: &str, seed: u64) -> PyResult<&Run> {
        let found = self
            .runs
            .iter()
            .find(|(name, run)| name == system && run.task.seed == seed);
        found.map(|(_, run)| run).ok_or_else(|| {
            let seeds = self.runs.iter().filter(|(name, _)| name == system);
            let seeds: Vec<String> = seeds.map(|(_, run)| run.task.seed.to_string()).collect();
            LabError::new_err(match seeds.is_empty() {
                true => format!(
                    "there is no run of the system `{system}`: there are {}",
                    self.systems.join(", ")
                ),
                false => format!(
                    "there is no run of `{system}` with seed {seed}: there are seeds {}",
                    seeds.join(", ")
                ),
            })
        })
    }
}

/// Creates the columns of an estimate: mean and interval.
fn estimates<'a>(all: impl Iterator<Item = (f64, [Option<f64>; 2])> + Clone) -> [Column<'a>; 3] {
    [
        numbers("mean", all.clone().map(|(mean, _)| Some(mean))),
        numbers("low", all.clone().map(|(_, interval)| interval[0])),
        numbers("high", all.map(|(_, interval)| interval[1])),
    ]
}

#[pymethods]
impl Results {
    /// Mean and 95 % confidence interval (`low`, `high`) of each metric of each system,
    /// over `n` seeds.
    fn summary(&self) -> PyResult<Table> {
        let rows = self.rows.iter();
        let mut columns = vec![
            texts("system", rows.clone().map(|row| &row.system)),
            texts("metric", rows.clone().map(|row| &row.metric)),
            texts("unit", rows.clone().map(|row| row.unit)),
        ];
        columns.extend(estimates(rows.clone().map(|row| (row.mean, row.ci95))));
        columns.push(counts("n", rows.map(|row| row.n as u64)));
        Table::new(columns)
    }

    /// Difference of each system from the baseline, seed by seed, with its 95 %
    /// confidence interval and a verdict: `better`, `worse`, `different` (for a metric
    /// without a better direction), `same` or `unclear`.
    fn differences(&self) -> PyResult<Table> {
        let all = self.differences.iter();
        let mut columns = vec![
            texts("system", all.clone().map(|each| &each.system)),
            texts("baseline", all.clone().map(|each| &each.baseline)),
            texts("metric", all.clone().map(|each| &each.metric)),
            texts("unit", all.clone().map(|each| each.unit)),
        ];
        columns.extend(estimates(all.clone().map(|each| (each.mean, each.ci95))));
        columns.push(texts("verdict", all.clone().map(|each| each.verdict)));
        columns.push(counts("n", all.map(|each| each.n as u64)));
        Table::new(columns)
    }

    /// Each metric of each run: `system`, `seed`, `metric`, `value`.
    fn runs(&self) -> PyResult<Table> {
        let rows = self.runs.iter().flat_map(|(system, run)| {
            let seed = run.task.seed;
            run.values
                .iter()
                .map(move |(metric, value)| (system, seed, metric, *value))
        });
        Table::new(vec![
            texts("system", rows.clone().map(|row| row.0)),
            counts("seed", rows.clone().map(|row| row.1)),
            texts("metric", rows.clone().map(|row| row.2)),
            numbers("value", rows.map(|row| Some(row.3))),
        ])
    }

    /// Time series of one run: `t` in seconds, and a column for each quantity of each
    /// flow and link, such as `rate_mbps.call`.
    fn series(&self, system: &str, seed: u64) -> PyResult<Table> {
        let series = &self.run(system, seed)?.series;
        let heads: Vec<String> = series.columns.iter().map(|column| column.head()).collect();
        let mut columns = vec![numbers("t", series.t.iter().copied().map(Some))];
        for (head, column) in heads.iter().zip(&series.columns) {
            columns.push(match column.words.is_empty() {
                true => numbers(head, column.values.iter().copied()),
                false => {
                    let words = (0..column.values.len()).map(|row| column.word(row));
                    texts(head, words.map(Option::unwrap_or_default))
                }
            });
        }
        Table::new(columns)
    }

    /// Results as JSON: the same bytes as `summary.json` and as the output of `weft lab
    /// compare --json`.
    fn to_json(&self) -> &str {
        &self.summary
    }

    /// Interactive report with every metric, distribution and time series.
    fn report(&self) -> Report {
        Report {
            html: output::render(&self.report),
        }
    }

    fn __str__(&self) -> &str {
        self.text.trim_end()
    }

    fn __repr__(&self) -> String {
        format!(
            "<weft_lab.Results of {}: {} of {} runs>",
            self.scenario, self.finished, self.planned
        )
    }

    fn _repr_html_(&self) -> String {
        format!("<pre>{}</pre>", escaped(self.text.trim_end()))
    }
}

/// Report of a scenario: a page that loads nothing else.
#[pyclass(frozen, module = "weft_lab")]
pub struct Report {
    /// Page as HTML.
    #[pyo3(get)]
    html: String,
}

#[pymethods]
impl Report {
    /// Writes the page into a file.
    fn save(&self, path: std::path::PathBuf) -> PyResult<()> {
        Ok(std::fs::write(path, &self.html)?)
    }

    fn _repr_html_(&self) -> String {
        format!(
            "<iframe srcdoc=\"{}\" style=\"width: 100%; height: 800px; border: 0\"></iframe>",
            escaped(&self.html)
        )
    }

    fn __repr__(&self) -> String {
        format!("<weft_lab.Report of {} bytes>", self.html.len())
    }
}

/// Escapes a text for HTML and its attributes.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
