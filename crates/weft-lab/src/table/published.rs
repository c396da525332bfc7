//! Published values beside our values: how many agree, and each of them.

use super::markdown::{self, range};
use super::names::natural;
use super::results::{Disagreement, Published, Summary};
use super::study::Table;
use crate::figures::figure;
use crate::scenario::By;

/// Number of rows of one kind above which they are summarised: one line for each verdict
/// with more than [`FEW`] rows. Chosen by us.
const MANY: usize = 8;
const FEW: usize = 3;
/// Marks, in its source, a value to which a parameter was fitted; it does not count as a
/// check.
const FITTED: &str = "(fitted)";
/// Marks, in its source, a value that any model gives; a published 0 is also trivial. These
/// are counted separately.
const TRIVIAL: &str = "(trivial)";
const VERDICTS: [&str; 5] = ["agrees", "lower", "higher", "unclear", "not measured"];

struct Line<'a> {
    scenario: &'a str,
    value: &'a Published,
    figure: &'a str,
    said: String,
    kind: Kind,
}

/// Weight of a published value as a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Check,
    Fitted,
    Trivial,
}

impl Kind {
    fn of(value: &Published) -> Kind {
        if value.source.contains(FITTED) {
            Kind::Fitted
        } else if value.source.contains(TRIVIAL) || value.published == Some(0.0) {
            Kind::Trivial
        } else {
            Kind::Check
        }
    }

    /// Returns the words after a verdict.
    fn mark(self) -> &'static str {
        match self {
            Kind::Check => "",
            Kind::Fitted => " (fitted)",
            Kind::Trivial => " (trivial)",
        }
    }
}

fn lines<'a>(table: &Table, summaries: &[&'a Summary]) -> Vec<Line<'a>> {
    let wanted = |value: &&Published| {
        table.systems.is_empty() || table.systems.iter().any(|one| one.matches(&value.system))
    };
    let of = |summary: &'a Summary| {
        let values = summary.published.iter().filter(wanted);
        values.map(move |value| line(summary.name(), value))
    };
    summaries.iter().flat_map(|summary| of(summary)).collect()
}

/// Splits a source, `AUTHORS, figure 3: WORDS`, into figure and words.
fn line<'a>(scenario: &'a str, value: &'a Published) -> Line<'a> {
    let source = value.source.as_str();
    let rest = source.split_once(", ").map_or(source, |(_, rest)| rest);
    let end = rest.find([':', ',', '(']).unwrap_or(rest.len());
    let said = rest[end..]
        .trim_start_matches([':', ','])
        .replace(FITTED, "")
        .replace(TRIVIAL, "");
    let said = match (said.trim(), value.published) {
        ("", Some(published)) => figure(published),
        (said, _) => said.to_owned(),
    };
    Line {
        scenario,
        value,
        figure: rest[..end].trim_end(),
        said,
        kind: Kind::of(value),
    }
}

fn figures<'a>(lines: &[Line<'a>]) -> Vec<&'a str> {
    let mut figures: Vec<&str> = lines.iter().map(|line| line.figure).collect();
    figures.sort_by_key(|figure| natural(figure));
    figures.dedup();
    figures
}

/// `shows = "agreement"`: a row for each figure of the study.
pub fn agreement(table: &Table, summaries: &[&Summary]) -> String {
    let lines = lines(table, summaries);
    if lines.is_empty() {
        return String::new();
    }
    let count = |title: &str, wanted: &dyn Fn(&Line<'_>) -> bool| {
        let own: Vec<&Line<'_>> = lines.iter().filter(|line| wanted(line)).collect();
        let having = |verdict: &str| {
            own.iter()
                .filter(|line| line.value.verdict == verdict)
                .count()
        };
        let mut counts = VERDICTS.iter().map(|verdict| having(verdict));
        let agree = counts.next().unwrap_or(0);
        let cells = counts.map(|count| {
            if count == 0 {
                String::new()
            } else {
                count.to_string()
            }
        });
        let start = [title.to_owned(), format!("{agree} of {}", own.len())];
        (!own.is_empty()).then(|| start.into_iter().chain(cells).collect::<Vec<String>>())
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    rows.extend(count("**all checks**", &|line| line.kind == Kind::Check));
    for figure in figures(&lines) {
        rows.extend(count(figure, &|line| {
            line.kind == Kind::Check && line.figure == figure
        }));
    }
    rows.extend(count("values that parameters were fitted to", &|line| {
        line.kind == Kind::Fitted
    }));
    rows.extend(count("trivial ones: 0, or what any model gives", &|line| {
        line.kind == Kind::Trivial
    }));
    let titles = ["", "agree", "lower", "higher", "unclear", "not measured"];
    markdown::table(&titles.map(str::to_owned), &rows)
}

/// `shows = "published"`: a table for each figure of the study.
pub fn values(table: &Table, summaries: &[&Summary]) -> String {
    let lines = lines(table, summaries);
    let titles = [
        "scenario",
        "condition",
        "metric",
        "published",
        "agrees",
        "here",
        "verdict",
    ];
    let mut text = String::new();
    for figure in figures(&lines) {
        let mut kinds: Vec<Vec<&Line<'_>>> = Vec::new();
        for line in lines.iter().filter(|line| line.figure == figure) {
            let key = |line: &Line<'_>| {
                (
                    line.scenario.to_owned(),
                    line.value.metric.clone(),
                    line.value.source.clone(),
                )
            };
            match kinds.iter_mut().find(|kind| key(kind[0]) == key(line)) {
                Some(kind) => kind.push(line),
                None => kinds.push(vec![line]),
            }
        }
        let rows: Vec<Vec<String>> = kinds.iter().flat_map(|kind| rows(kind)).collect();
        let mut title = figure.to_owned();
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        text += &format!(
            "### {title}\n\n{}\n",
            markdown::table(&titles.map(str::to_owned), &rows)
        );
    }
    text.trim_end().to_owned() + if text.is_empty() { "" } else { "\n" }
}

/// Rows of values with one scenario, metric and source.
fn rows(kind: &[&Line<'_>]) -> Vec<Vec<String>> {
    if kind.len() <= MANY {
        return kind.iter().map(|line| row(line)).collect();
    }
    let mut rows = Vec::new();
    for verdict in VERDICTS {
        let own: Vec<&&Line<'_>> = kind
            .iter()
            .filter(|line| line.value.verdict == verdict)
            .collect();
        if own.len() <= FEW {
            rows.extend(own.iter().map(|line| row(line)));
            continue;
        }
        let here = || own.iter().filter_map(|line| line.value.here);
        let span = [
            here().fold(f64::INFINITY, f64::min),
            here().fold(f64::NEG_INFINITY, f64::max),
        ];
        let first = own[0];
        rows.push(vec![
            first.scenario.to_owned(),
            format!(
                "{} of {} conditions{}",
                own.len(),
                kind.len(),
                if first.value.relative_to.is_some() || first.value.relative_metric.is_some() {
                    ", against another"
                } else {
                    ""
                }
            ),
            format!("`{}`", first.value.metric),
            one_or("each its own", own.iter().map(|line| line.said.clone())),
            one_or(
                "each its own",
                own.iter().map(|line| range(line.value.agrees)),
            ),
            range(span.map(Some)),
            bold(verdict, first.kind.mark()),
        ]);
    }
    rows
}

/// Returns the text that all have in common, or these words.
fn one_or(words: &str, mut texts: impl Iterator<Item = String>) -> String {
    match texts.next() {
        Some(first) if texts.all(|other| other == first) => first,
        _ => words.to_owned(),
    }
}

fn row(line: &Line<'_>) -> Vec<String> {
    let value = line.value;
    let here = value.here.map_or(String::new(), figure);
    let here = match value.ci95 {
        [Some(low), Some(high)] => format!("{here} [{}, {}]", figure(low), figure(high)),
        _ => here,
    };
    vec![
        line.scenario.to_owned(),
        format!("{}{}", value.system, against(value)),
        format!("`{}`", value.metric),
        line.said.clone(),
        range(value.agrees),
        here,
        bold(&value.verdict, line.kind.mark()),
    ]
}

fn bold(verdict: &str, mark: &str) -> String {
    match verdict {
        "agrees" => format!("agrees{mark}"),
        other => format!("**{other}**{mark}"),
    }
}

/// Returns the value that another is compared with, in words.
fn against(value: &Published) -> String {
    let metric = value
        .relative_metric
        .as_ref()
        .map(|metric| format!("`{metric}`"));
    let other: Vec<String> = metric
        .into_iter()
        .chain(value.relative_to.clone())
        .collect();
    match (other.is_empty(), value.by) {
        (true, _) => String::new(),
        (false, By::Ratio) => format!(", over that of {}", other.join(" of ")),
        (false, By::Difference) => format!(", less that of {}", other.join(" of ")),
    }
}

/// `shows = "engines"`: the simulator beside the emulator.
pub fn engines(table: &Table, all: &[(String, Vec<Disagreement>)]) -> String {
    let mut rows = Vec::new();
    for (folder, values) in all {
        for value in values {
            if !table.systems.is_empty()
                && !table.systems.iter().any(|one| one.matches(&value.system))
            {
                continue;
            }
            let relative = value
                .relative
                .map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0));
            let apart = if value.agrees { "" } else { "**apart**" };
            let digits = [value.sim, value.emu].map(|value| format!("{value:.3}"));
            let [sim, emu] = digits;
            rows.push(vec![
                folder.clone(),
                value.system.clone(),
                value.metric.clone(),
                sim,
                emu,
                relative,
                apart.to_owned(),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let titles = [
        "results",
        "system",
        "metric",
        "simulator",
        "emulator",
        "difference",
        "",
    ];
    markdown::table(&titles.map(str::to_owned), &rows)
}

#[cfg(test)]
mod tests {
    use super::one_or;

    #[test]
    fn conditions_with_ranges_of_their_own_do_not_show_the_first_one() {
        let of = |texts: &[&str]| one_or("each its own", texts.iter().map(|t| (*t).to_owned()));
        assert_eq!(of(&["1 to 2", "1 to 2"]), "1 to 2");
        assert_eq!(of(&["1 to 2", "3 to 4"]), "each its own");
    }
}
