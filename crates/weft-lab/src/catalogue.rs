//! Catalogue of scenarios: files, and sets of files in `scenarios/` or embedded in the
//! program.

use std::fs;
use std::path::{Path, PathBuf};

use weft_links::LinkSpec;

use crate::names::unknown_name;
use crate::scenario::{Custom, Scenario, ScenarioError};

/// Path within `scenarios/` and text of every embedded file, sorted.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));
/// Folder of the sets, relative to the working directory.
const FOLDER: &str = "scenarios";
/// File of a set that declares tables of its results; not a scenario.
const TABLES: &str = "tables.toml";

/// Scenario that can be selected by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// `SET/NAME`, or the path of a file.
    pub name: String,
    from: From,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum From {
    File(PathBuf),
    Program(&'static str),
}

impl Entry {
    /// Returns its set.
    #[must_use]
    pub fn set(&self) -> &str {
        self.name.split_once('/').map_or("", |(set, _)| set)
    }

    /// Reads it; `set` are the arguments of `--set`.
    ///
    /// # Errors
    /// The error in the scenario.
    pub fn scenario(&self, set: &[String]) -> Result<Scenario, ScenarioError> {
        self.scenario_with(set, &Custom::default())
    }

    /// Reads it like [`Entry::scenario`], for a program with its own controllers and
    /// schedulers.
    ///
    /// # Errors
    /// The error in the scenario.
    pub fn scenario_with(
        &self,
        set: &[String],
        custom: &Custom,
    ) -> Result<Scenario, ScenarioError> {
        match &self.from {
            From::File(path) => Scenario::read_with(path, set, custom),
            From::Program(text) => Scenario::parse_with(&self.name, text, set, custom),
        }
    }
}

/// Returns every scenario of every set: those in `scenarios/`, then those that are only
/// embedded.
#[must_use]
pub fn entries() -> Vec<Entry> {
    let mut found = Vec::new();
    for path in files(Path::new(FOLDER)) {
        let within = path
            .strip_prefix(FOLDER)
            .unwrap_or(&path)
            .with_extension("");
        let name = within.to_string_lossy().into_owned();
        found.push(Entry {
            name,
            from: From::File(path),
        });
    }
    for entry in embedded() {
        if !found.iter().any(|known| known.name == entry.name) {
            found.push(entry);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Returns every embedded scenario.
#[must_use]
pub fn embedded() -> Vec<Entry> {
    let entry = |(path, text): (&str, &'static str)| Entry {
        name: path.trim_end_matches(".toml").to_owned(),
        from: From::Program(text),
    };
    embedded_scenarios().map(entry).collect()
}

/// Finds one scenario by the path of its file, or an embedded one by `SET/NAME`,
/// regardless of the working directory.
///
/// # Errors
/// If there is none, or if `name` is a set.
pub fn find_one(name: &str) -> Result<Entry, String> {
    let path = Path::new(name);
    if path.is_file() {
        return Ok(Entry {
            name: name.to_owned(),
            from: From::File(path.to_owned()),
        });
    }
    let entries = embedded();
    let plain = name.trim_end_matches('/');
    let of_set = entries.iter().filter(|entry| entry.set() == plain);
    let of_set: Vec<&str> = of_set.map(|entry| entry.name.as_str()).collect();
    if !of_set.is_empty() {
        return Err(format!(
            "`{plain}` is a set: name one of its scenarios: {}",
            of_set.join(", ")
        ));
    }
    let found = entries.into_iter().find(|entry| entry.name == plain);
    found.ok_or_else(|| unknown(name))
}

/// Embedded scenarios: path within `scenarios/`, and text.
fn embedded_scenarios() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = EMBEDDED.iter().copied();
    all.filter(|(path, _)| !is_tables(Path::new(path)))
}

fn is_tables(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == TABLES)
}

/// Returns name and text of the file that declares the tables of a set; no text if
/// the set has none.
///
/// # Errors
/// If there is no such set.
pub fn tables(set: &str) -> Result<(String, Option<String>), String> {
    let set = set.trim_end_matches('/');
    if !entries().iter().any(|entry| entry.set() == set) {
        return Err(unknown_set(set));
    }
    let path = format!("{set}/{TABLES}");
    let file = format!("{FOLDER}/{path}");
    if let Ok(text) = fs::read_to_string(&file) {
        return Ok((file, Some(text)));
    }
    let embedded = EMBEDDED.iter().find(|(name, _)| *name == path);
    Ok((path, embedded.map(|(_, text)| (*text).to_owned())))
}

fn unknown_set(set: &str) -> String {
    let entries = entries();
    let mut sets: Vec<&str> = entries.iter().map(Entry::set).collect();
    sets.dedup();
    let named = set.split('/').next().unwrap_or(set);
    if sets.contains(&named) {
        return format!("`{set}` is not a set: write `{named}`, and choose tables with --only");
    }
    unknown_name("there is no set", set, sets.into_iter())
}

/// Finds scenarios by a file name, `SET/NAME`, the name of a set, or the first words of names
/// in a set: `converge/as-of-2022` finds `converge/as-of-2022-driving` and others.
///
/// # Errors
/// If there is none; the error lists the existing ones.
pub fn find(name: &str) -> Result<Vec<Entry>, String> {
    let path = Path::new(name);
    if path.is_file() {
        let from = From::File(path.to_owned());
        return Ok(vec![Entry {
            name: name.to_owned(),
            from,
        }]);
    }
    if path.is_dir() {
        let files = files(path).into_iter();
        let entry = |path: PathBuf| Entry {
            name: path.display().to_string(),
            from: From::File(path),
        };
        let found: Vec<Entry> = files.filter(|file| is_meant(file)).map(entry).collect();
        // An empty folder may have the name of a set.
        let is_set = entries().iter().any(|entry| entry.set() == name);
        if found.is_empty() && !is_set {
            return Err(format!(
                "{name}: there is no scenario in this folder or below it: a scenario is a .toml \
                 file with `links` and `flows`"
            ));
        }
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let plain = name.trim_end_matches('/');
    let of = |entry: &Entry| entry.name == plain || entry.set() == plain;
    let group = |entry: &Entry| plain.contains('/') && entry.name.starts_with(&format!("{plain}-"));
    let mut found: Vec<Entry> = entries().into_iter().filter(of).collect();
    if found.is_empty() {
        found = entries().into_iter().filter(group).collect();
    }
    if found.is_empty() {
        Err(unknown(name))
    } else {
        Ok(found)
    }
}

/// Returns the error for a missing file or set.
#[must_use]
pub fn unknown(name: &str) -> String {
    if name.ends_with(".toml") {
        return format!("there is no file `{name}`; `weft lab list` names what needs none");
    }
    let entries = entries();
    let mut names: Vec<&str> = Vec::new();
    for entry in &entries {
        if !names.contains(&entry.set()) {
            names.push(entry.set());
        }
        if name.contains('/') {
            names.push(&entry.name);
        }
    }
    unknown_name("there is no file or set", name, names.into_iter())
}

/// Number of seeds of a comparison; chosen by us: with fewer, chance hides relevant
/// differences; these take about ten seconds.
const SEEDS: u32 = 20;

/// Returns the scenario of `weft lab compare`: one call over these links, `NAME=SPEC`
/// each. A pattern of traces gives one seed for each trace instead of the default.
///
/// # Errors
/// If a link has no name, or the name of another link.
pub fn comparison(links: &[String], streams: u32) -> Result<String, String> {
    let mut names = Vec::new();
    let mut tables = String::new();
    for link in links {
        let named = link.split_once('=').filter(|(name, spec)| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            !name.is_empty() && name.chars().all(plain) && spec.contains('=')
        });
        let Some((name, spec)) = named else {
            return Err(format!(
                "--link {link}: write NAME=SPEC, such as wifi=rate=10mbit,delay=15ms"
            ));
        };
        let first = spec.split(',').next().unwrap_or_default();
        if LinkSpec::KEYS.contains(&name) && !first.contains('=') {
            return Err(format!(
                "--link {link}: the link has no name: write for example wifi={link}"
            ));
        }
        if names.contains(&name) {
            return Err(format!(
                "--link {link}: there is a link `{name}` already: give each a name of its own"
            ));
        }
        names.push(name);
        tables.push_str(&format!("\n[links.{name}]\nspec = {spec:?}\n"));
    }
    let title = match streams {
        1 => format!("A call over {}", names.join(" and ")),
        n => format!("A call of {n} cameras over {}", names.join(" and ")),
    };
    let seeds = match links.iter().any(|link| link.contains('*')) {
        true => String::new(),
        false => format!("seeds = {SEEDS}\n"),
    };
    Ok(format!(
        "title = {title:?}\nduration = \"60s\"\n{seeds}topology = \"parallel\"\n{tables}\n\
         [flows.call]\nkind = \"call\"\nstreams = {streams}\n"
    ))
}

/// Lists the scenario files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "toml") && !is_tables(&path) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whether a file among others is a scenario: it has links or flows, or is unreadable,
/// which must be reported. Folders of experiments may contain other TOML files.
fn is_meant(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else {
        return true;
    };
    match toml::de::DeTable::parse(&text) {
        Ok(table) => ["links", "flows"]
            .iter()
            .any(|key| table.get_ref().contains_key(*key)),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests;
