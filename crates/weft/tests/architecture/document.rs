//! The tables of ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::manifests;

pub struct Document {
    /// By name without `weft-`.
    pub crates: BTreeMap<String, CrateRow>,
    pub libraries: BTreeMap<String, LibraryRow>,
    /// Possible additions, each with the existing files that it changes.
    pub additions: BTreeMap<String, BTreeSet<String>>,
}

pub struct CrateRow {
    /// Whether the crate takes time and randomness as inputs.
    pub core: bool,
    pub arrows: BTreeSet<String>,
    pub test_arrows: BTreeSet<String>,
}

pub struct LibraryRow {
    pub licence: String,
    /// Crates that may use it; `None` for any crate.
    pub users: Option<BTreeSet<String>>,
}

impl Document {
    pub fn read() -> Document {
        let path = manifests::root().join("ARCHITECTURE.md");
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let crates = table(
            &text,
            "| crate | kind | owns | may depend on | in tests also |",
        )
        .map(|cells| {
            let row = CrateRow {
                core: cells[1] == "core",
                arrows: quoted(&cells[3]),
                test_arrows: quoted(&cells[4]),
            };
            let name = cells[0].trim_matches('`').to_owned();
            (name.strip_prefix("weft-").unwrap_or(&name).to_owned(), row)
        })
        .collect();
        let libraries = table(&text, "| library | licence | used by | for |")
            .map(|cells| {
                let row = LibraryRow {
                    licence: cells[1].clone(),
                    users: (cells[2] != "all").then(|| quoted(&cells[2])),
                };
                (cells[0].trim_matches('`').to_owned(), row)
            })
            .collect();
        let additions = table(&text, "| to add | new | existing files |")
            .map(|cells| (cells[0].clone(), quoted(&cells[2])))
            .collect();
        Document {
            crates,
            libraries,
            additions,
        }
    }
}

/// Rows below the line `header`, cell by cell.
fn table<'a>(text: &'a str, header: &str) -> impl Iterator<Item = Vec<String>> + 'a {
    let columns = header.matches('|').count() - 1;
    let mut lines = text.lines().skip_while({
        let header = header.to_owned();
        move |line| *line != header
    });
    assert!(lines.next().is_some(), "no table with the header {header}");
    lines
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(move |line| {
            let cells: Vec<_> = line
                .trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect();
            assert_eq!(cells.len(), columns, "cells in the row {line}");
            cells
        })
}

/// Texts in backquotes in a cell.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}
