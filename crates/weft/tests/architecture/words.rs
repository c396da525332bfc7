//! Openings of doc comments and names, and phrases that have a plainer form.

use crate::files;

/// A doc comment opens with a noun phrase or a verb in the third person.
const OPENINGS: [&str; 6] = ["What", "Whose", "Who", "Which", "Of", "The same"];

/// Prefixes that no function name has, tests included.
const PREFIXES: [&str; 4] = ["what_", "who_", "whose_", "which_"];

/// Phrases with their plainer form.
const PHRASES: [(&str, &str); 8] = [
    ("came about", "happened"),
    ("stands still", "freezes"),
    ("stood still", "froze"),
    ("is believed", "is trusted"),
    ("goes on", "continues"),
    ("whoever", "anyone who"),
    ("anew", "again"),
    ("no shame", "fine"),
];

/// Returns place and remedy of every opening and phrase that has a plainer form.
pub fn not_plain() -> Vec<String> {
    let files = files::sources().into_iter().chain(files::pages());
    // This file contains every phrase.
    let files = files.filter(|file| !file.name.ends_with("architecture/words.rs"));
    let all = files.flat_map(|file| {
        let found: Vec<_> = in_text(&file.text, file.is_rust()).collect();
        let name = file.name;
        found
            .into_iter()
            .map(move |found| format!("{name}:{found}"))
    });
    all.collect()
}

fn in_text(text: &str, is_rust: bool) -> impl Iterator<Item = String> {
    let openings = is_rust.then(|| openings(text)).into_iter().flatten();
    let functions = is_rust.then(|| functions(text)).into_iter().flatten();
    openings.chain(functions).chain(phrases(text))
}

/// Returns functions with one of the `PREFIXES`.
fn functions(text: &str) -> impl Iterator<Item = String> {
    text.lines().enumerate().filter_map(|(line, text)| {
        let (_, name) = text.split_once("fn ")?;
        let prefix = PREFIXES.iter().find(|prefix| name.starts_with(**prefix))?;
        Some(format!(
            "{}: a function's name opens with `{prefix}`",
            line + 1
        ))
    })
}

/// Returns doc comments with one of the `OPENINGS`.
fn openings(text: &str) -> impl Iterator<Item = String> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(line, text)| {
        let text = text.trim_start();
        let comment = text.strip_prefix("///").or(text.strip_prefix("//!"));
        let first = comment.filter(|_| !inside);
        inside = comment.is_some();
        let words = first?.trim_start();
        let opens = |opening: &&&str| {
            let rest = words.strip_prefix(**opening);
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        let opening = OPENINGS.iter().find(opens)?;
        Some(format!(
            "{}: a doc comment opens with `{opening}`",
            line + 1
        ))
    })
}

fn phrases(text: &str) -> impl Iterator<Item = String> {
    text.lines().enumerate().flat_map(|(line, text)| {
        let text = text.to_lowercase();
        let here = PHRASES.iter().filter(move |(phrase, _)| {
            let mut behind = text.split(phrase).skip(1);
            behind.any(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        here.map(move |(phrase, plain)| format!("{}: `{phrase}`: {plain}", line + 1))
    })
}

#[test]
fn openings_and_phrases_are_found() {
    let text = "/// What it is.\n/// Of this, no more.\nfn f() {}\n    //! The same again\n\n/// Whatever: it goes on. It goes only.\n// What\nfn what_it_is() {}\n";
    let found: Vec<_> = in_text(text, true).collect();
    assert_eq!(
        found,
        [
            "1: a doc comment opens with `What`",
            "4: a doc comment opens with `The same`",
            "8: a function's name opens with `what_`",
            "6: `goes on`: continues"
        ]
    );
    assert_eq!(in_text(text, false).count(), 1);
}
