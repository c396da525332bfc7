//! Tree of a scenario file before it is read, into which values can be merged: those of
//! `--set`, of a system's `set`, and of `vary`. Values keep their locations.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::place::{ScenarioError, Source, explained};
use super::scalar::Scalar;
use crate::measure::metrics::Owners;
use crate::names::unknown_name;

/// Table of the file.
pub type Tree<'a> = DeTable<'a>;
type Value<'a> = Spanned<DeValue<'a>>;

/// Tables with names chosen by the file, and the word for an entry.
const NAMED: [(&str, &str); 4] = [
    ("media", "medium"),
    ("links", "link"),
    ("flows", "flow"),
    ("system", "system"),
];
/// Fields of the scenario as a whole. All others define the runs, so they may differ
/// between the systems and varied values of one scenario.
pub(super) const OF_THE_WHOLE: [&str; 10] = [
    "title",
    "about",
    "measure-from",
    "seeds",
    "centre",
    "systems",
    "baseline",
    "metrics",
    "vary",
    "published",
];

/// Reads the file and merges the arguments of `--set` into it; of several values, the
/// first.
pub fn parse(source: &Source) -> Result<Tree<'_>, ScenarioError> {
    let mut tree = table(source, &source.text)?;
    normalise(&mut tree);
    for argument in &source.arguments {
        let over = match &argument.sweep {
            Some(sweep) => dotted(&sweep.key, sweep.place.clone(), &sweep.values[0]),
            None => table(source, &argument.toml)?,
        };
        change(source, &mut tree, over)?;
    }
    Ok(tree)
}

fn table<'a>(source: &Source, text: &'a str) -> Result<Tree<'a>, ScenarioError> {
    let parsed = DeTable::parse(text).map_err(|error| told(source, &error))?;
    Ok(parsed.into_inner())
}

/// Converts an error of the reader, with its location.
pub fn told(source: &Source, error: &Error) -> ScenarioError {
    let message = explained(error.message());
    match error.span() {
        Some(span) => source.error(span, message),
        None => ScenarioError::whole(&source.file, message),
    }
}

/// Returns `a.b.c = value` as a tree; `span` is the location of the key.
pub fn dotted<'a>(key: &'a str, span: Range<usize>, value: &'a Spanned<Scalar>) -> Tree<'a> {
    let leaf = match value.get_ref() {
        Scalar::Text(text) => DeValue::String(Cow::Borrowed(text)),
        // It was already read from TOML, so it can be read again.
        Scalar::Literal(text) => DeValue::parse(text).map_or_else(
            |_| DeValue::String(Cow::Borrowed(text)),
            |value| value.into_inner(),
        ),
    };
    let mut parts = key.rsplit('.');
    let mut tree = Tree::new();
    let name = |part: &'a str| Spanned::new(span.clone(), Cow::Borrowed(part.trim()));
    tree.insert(
        name(parts.next().unwrap_or_default()),
        Spanned::new(value.span(), leaf),
    );
    for part in parts {
        let inner = std::mem::replace(&mut tree, Tree::new());
        tree.insert(
            name(part),
            Spanned::new(span.clone(), DeValue::Table(inner)),
        );
    }
    tree
}

/// Returns the value at `a.b.c`, unless it is a table or list.
pub fn value(tree: &Tree<'_>, key: &str) -> Option<Spanned<Scalar>> {
    let mut parts = key.split('.').map(str::trim);
    let mut found = tree.get(parts.next()?)?;
    for part in parts {
        let DeValue::Table(table) = found.get_ref() else {
            return None;
        };
        found = table.get(part)?;
    }
    let read = Spanned::<Scalar>::deserialize(toml::de::ValueDeserializer::from(found.clone()));
    read.ok()
}

/// Returns the reason why the field of this dotted path must be the same in all runs.
pub fn fixed(key: &str) -> Option<String> {
    let parts: Vec<&str> = key.split('.').map(str::trim).collect();
    match parts[..] {
        [first, ..] if OF_THE_WHOLE.contains(&first) => Some(format!(
            "`{first}` is the same for everything that a scenario runs: give it once, at the top of \
             the file or with --set, a list as [\"a\", \"b\"] and a text with a comma in quotes"
        )),
        ["system", name, "set", ..] => Some(format!(
            "`set` of the system `{name}` cannot change from run to run: change the field \
             that it names"
        )),
        _ => None,
    }
}

/// Removes the `set` table from each `[system.NAME]`.
pub fn take_sets<'a>(
    source: &Source,
    tree: &mut Tree<'a>,
) -> Result<Vec<(String, Tree<'a>)>, ScenarioError> {
    let mut sets = Vec::new();
    let Some(systems) = tree.get_mut("system").and_then(table_of) else {
        return Ok(sets);
    };
    for (name, system) in systems.iter_mut() {
        let set = table_of(system).and_then(|system| {
            let is_table = matches!(system.get("set")?.get_ref(), DeValue::Table(_));
            if is_table { system.remove("set") } else { None }
        });
        let Some(DeValue::Table(set)) = set.map(Spanned::into_inner) else {
            continue;
        };
        for key in set.keys() {
            if let Some(message) = fixed(key.get_ref()) {
                return Err(source.error(key.span(), message));
            }
        }
        sets.push((name.get_ref().to_string(), set));
    }
    Ok(sets)
}

/// Returns the flows and links that are in any of these.
pub fn owners<'t, 'a: 't>(trees: impl Iterator<Item = &'t Tree<'a>>) -> Owners {
    let mut found = Owners::default();
    for tree in trees {
        add_names(tree, "flows", &mut found.flows);
        let mut media = Vec::new();
        add_names(tree, "media", &mut media);
        for name in media {
            found.links.push(format!("{name}-ap"));
            found.links.push(name);
        }
        add_names(tree, "links", &mut found.links);
    }
    found
}

/// Adds the names in this table of the tree that are not known yet.
fn add_names(tree: &Tree<'_>, table: &str, known: &mut Vec<String>) {
    let Some(DeValue::Table(things)) = tree.get(table).map(Spanned::get_ref) else {
        return;
    };
    for name in things.keys().map(|name| name.get_ref().as_ref()) {
        if !known.iter().any(|each| each == name) {
            known.push(name.to_owned());
        }
    }
}

/// Merges like [`merge`], for values written outside the table that they change; a name
/// that the file does not have is an error.
pub fn change<'a>(
    source: &Source,
    tree: &mut Tree<'a>,
    over: Tree<'a>,
) -> Result<(), ScenarioError> {
    for (table, what) in NAMED {
        let (Some(known), Some(DeValue::Table(wanted))) = (
            tree.get(table).map(Spanned::get_ref),
            over.get(table).map(Spanned::get_ref),
        ) else {
            continue;
        };
        let DeValue::Table(known) = known else {
            continue;
        };
        for name in wanted.keys() {
            if !known.contains_key(name.get_ref().as_ref()) {
                let names = known.keys().map(|name| name.get_ref().as_ref());
                let what = format!("there is no {what}");
                let message = unknown_name(&what, name.get_ref(), names);
                let remedy = format!(
                    "; a new one belongs into the file as [{table}.{}]",
                    name.get_ref()
                );
                return Err(source.error(name.span(), message + &remedy));
            }
        }
    }
    merge(tree, over);
    Ok(())
}

/// Merges tables, and replaces everything else.
pub fn merge<'a>(tree: &mut Tree<'a>, over: Tree<'a>) {
    for (key, value) in over {
        let Some(below) = tree.get_mut(key.get_ref().as_ref()) else {
            tree.insert(key, value);
            continue;
        };
        let span = value.span();
        match (table_of(below), value.into_inner()) {
            (Some(below), DeValue::Table(inner)) => merge(below, inner),
            (_, value) => *below = Spanned::new(span, value),
        }
    }
    normalise(tree);
}

/// Converts a link that is a text to a table with this `spec`.
fn normalise(tree: &mut Tree<'_>) {
    let Some(links) = tree.get_mut("links").and_then(table_of) else {
        return;
    };
    for (_, link) in links.iter_mut() {
        if !matches!(link.get_ref(), DeValue::String(_)) {
            continue;
        }
        let span = link.span();
        let empty = Spanned::new(span.clone(), DeValue::Table(Tree::new()));
        let text = std::mem::replace(link, empty);
        if let Some(table) = table_of(link) {
            table.insert(Spanned::new(span, Cow::Borrowed("spec")), text);
        }
    }
}

/// Returns the table in it, if it is one.
pub fn table_of<'t, 'a>(value: &'t mut Value<'a>) -> Option<&'t mut Tree<'a>> {
    match value.get_mut() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}
