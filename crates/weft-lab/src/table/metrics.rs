//! `shows = "metrics"`: a row for each system, a column for each metric.

use super::markdown;
use super::names::{parts, shown};
use super::results::Summary;
use super::study::{Cell, Of, Table};

struct Line<'a> {
    summary: &'a Summary,
    system: &'a str,
}

impl Line<'_> {
    /// Returns scenario, folder, system and varied values: the columns before the
    /// metrics; those that differ are printed.
    fn labels(&self) -> [String; 4] {
        let (_, case) = parts(self.system);
        [
            self.summary.name().to_owned(),
            self.summary.folder.clone(),
            shown(self.system),
            case.to_owned(),
        ]
    }
}

const LABELS: [&str; 4] = ["scenario", "results", "system", "condition"];
const SYSTEM: usize = 2;
const FOLDER: usize = 1;

/// Returns the table without columns that no result has; empty without results.
pub fn table(table: &Table, summaries: &[&Summary], notes: &mut Vec<String>) -> String {
    let mut lines = Vec::new();
    for summary in summaries {
        for system in summary.systems() {
            if table.systems.is_empty() || table.systems.iter().any(|one| one.matches(system)) {
                lines.push(Line { summary, system });
            }
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    by_condition(&mut lines);
    let has = |line: &Line<'_>, cell: &Cell| {
        let mut metrics = cell.metric.0.iter();
        metrics.any(|metric| line.summary.row(line.system, metric).is_some())
    };
    let is_measured =
        |cell: &&Cell| cell.of == Of::Notes || lines.iter().any(|line| has(line, cell));
    let (columns, absent): (Vec<&Cell>, Vec<&Cell>) = table.columns.iter().partition(is_measured);
    let is_empty = columns.iter().all(|cell| cell.of == Of::Notes) && !absent.is_empty();
    notes.extend(absent.into_iter().map(|cell| table.without(cell)));
    if is_empty {
        return String::new();
    }
    let labels: Vec<[String; 4]> = lines.iter().map(Line::labels).collect();
    let differs = |at: usize| labels.iter().any(|label| label[at] != labels[0][at]);
    // Each scenario has its own folder, so the folder is informative only if a scenario
    // has several.
    let several = (1..lines.len()).any(|at| {
        let same = |before: usize| {
            labels[before][0] == labels[at][0] && labels[before][FOLDER] != labels[at][FOLDER]
        };
        (0..at).any(same)
    });
    let is_shown = |at: usize| match at {
        FOLDER => several,
        SYSTEM => true,
        at => differs(at),
    };
    let shown: Vec<usize> = (0..LABELS.len()).filter(|at| is_shown(*at)).collect();
    let titles = shown.iter().map(|at| LABELS[*at].to_owned());
    let titles: Vec<String> = titles
        .chain(columns.iter().map(|cell| markdown::title(cell)))
        .collect();
    let row = |(line, labels): (&Line<'_>, &[String; 4])| {
        let own = shown.iter().map(|at| labels[*at].clone());
        own.chain(columns.iter().map(|cell| text(line, cell)))
            .collect()
    };
    let rows: Vec<Vec<String>> = lines.iter().zip(&labels).map(row).collect();
    markdown::table(&titles, &rows)
}

fn text(line: &Line<'_>, cell: &Cell) -> String {
    if cell.of == Of::Notes {
        let (noted, all) = (line.summary.noted(line.system), line.summary.seeds.len());
        return if noted == 0 {
            "-".to_owned()
        } else {
            format!("{noted} of {all}")
        };
    }
    let row = |metric: &str| line.summary.row(line.system, metric);
    markdown::value(cell, row, row).map_or("-".to_owned(), |value| markdown::bounded(cell, value))
}

/// Groups the lines of a scenario by their varied values, in the order in which the
/// values first appear.
fn by_condition(lines: &mut [Line<'_>]) {
    let keys: Vec<(String, String)> = lines
        .iter()
        .map(|line| {
            (
                line.summary.scenario.clone(),
                parts(line.system).1.to_owned(),
            )
        })
        .collect();
    let place = |line: &Line<'_>| {
        let (scenario, case) = (&line.summary.scenario, parts(line.system).1);
        keys.iter()
            .position(|key| key.0 == *scenario && key.1 == case)
    };
    lines.sort_by_key(place);
}
