//! Import graph of a crate's modules, and its cycles. It works on text, so it sees `use`
//! and paths, but not method calls. Re-exporting a child module, or using it by name, is
//! not an import.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::source::{self, Import};

/// Module path from the crate's root.
pub type Name = Vec<String>;

/// Modules of a crate, without those for tests, and their imports.
pub struct Imports {
    /// Text of each module.
    files: BTreeMap<Name, String>,
    /// Imported names, by importing and imported module.
    edges: BTreeMap<(Name, Name), BTreeSet<String>>,
}

impl Imports {
    /// Returns the imports of the crate in this folder.
    pub fn of_crate(folder: &Path) -> Imports {
        let mut files = BTreeMap::new();
        let root = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file));
        let root = root.iter().find(|file| file.exists());
        read(root.expect("a crate has a root"), Vec::new(), &mut files);
        Imports::of(files)
    }

    /// Returns the imports of modules with these texts.
    pub fn of(files: BTreeMap<Name, String>) -> Imports {
        let imports: BTreeMap<&Name, Vec<Import>> = files
            .iter()
            .map(|(name, text)| (name, source::imports(text)))
            .collect();
        let mut edges: BTreeMap<(Name, Name), BTreeSet<String>> = BTreeMap::new();
        for (from, all) in &imports {
            for import in all.iter().filter(|import| !import.is_public) {
                let to = absolute(from, &import.path, &files).map(|path| home(path, &imports, 0));
                if let Some(to) = to.filter(|to| to != *from) {
                    let taken = import.path.last().cloned().unwrap_or_default();
                    edges
                        .entry(((*from).clone(), to))
                        .or_default()
                        .insert(taken);
                }
            }
        }
        Imports { files, edges }
    }

    /// Iterates over all modules with their texts.
    pub fn files(&self) -> impl Iterator<Item = (&Name, &String)> {
        self.files.iter()
    }

    /// Returns the module that declares the type that this file knows by a name, or the
    /// file itself if the type is from another crate.
    pub fn home_of(&self, file: &Name, name: &str) -> Name {
        let text = &self.files[file];
        let all = source::imports(text).into_iter();
        let import = all.filter(|i| i.name == name).find_map(|import| {
            let path = absolute(file, &import.path, &self.files)?;
            let module = |len: &usize| self.files.contains_key(&path[..*len]);
            let len = (0..path.len()).rev().find(module)?;
            Some(path[..len].to_vec())
        });
        import
            .filter(|_| !source::declares(text, name))
            .unwrap_or_else(|| file.clone())
    }

    /// Returns the imports between files that form a cycle.
    pub fn circles(&self) -> Vec<String> {
        let edges = self.edges.iter();
        let edges = edges.map(|((from, to), taken)| {
            let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
            (from.join("/"), to.join("/"), taken.join(", "))
        });
        in_circles(&edges.collect::<Vec<_>>())
    }

    /// Returns the imports between sibling modules, each with its children, that form a
    /// cycle.
    pub fn circles_of_folders(&self) -> Vec<String> {
        let mut levels: BTreeMap<&[String], Vec<(String, String, String)>> = BTreeMap::new();
        for (from, to) in self.edges.keys() {
            let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            if common < from.len().min(to.len()) {
                let by = format!("{} -> {}", from.join("/"), to.join("/"));
                let edge = (from[..=common].join("/"), to[..=common].join("/"), by);
                levels.entry(&from[..common]).or_default().push(edge);
            }
        }
        levels
            .values()
            .flat_map(|edges| in_circles(edges))
            .collect()
    }
}

/// Reads a module's file and those of its children.
fn read(file: &Path, name: Name, files: &mut BTreeMap<Name, String>) {
    let text =
        fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let text = source::for_use(&text);
    let is_root = ["lib.rs", "main.rs", "mod.rs"]
        .iter()
        .any(|f| file.ends_with(f));
    let folder = match is_root {
        true => file.with_file_name(""),
        false => file.with_extension(""),
    };
    for module in source::modules(&text) {
        let mut places = [format!("{module}.rs"), format!("{module}/mod.rs")]
            .into_iter()
            .map(|place| folder.join(place));
        if let Some(below) = places.find(|place| place.exists()) {
            let name = name.iter().cloned().chain([module]).collect();
            read(&below, name, files);
        }
    }
    files.insert(name, text);
}

/// Returns the path from the crate's root; `None` for another crate.
fn absolute(module: &Name, path: &[String], files: &BTreeMap<Name, String>) -> Option<Name> {
    let (first, rest) = path.split_first()?;
    let mut base = module.clone();
    match first.as_str() {
        "crate" => return Some(rest.to_vec()),
        "self" => {}
        "super" => {
            base.pop()?;
            let mut rest = rest;
            while let Some(("super", others)) = rest.split_first().map(|(a, b)| (a.as_str(), b)) {
                base.pop()?;
                rest = others;
            }
            base.extend_from_slice(rest);
            return Some(base);
        }
        child => {
            base.push(child.to_owned());
            if !files.contains_key(&base) {
                return None;
            }
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// Maximum depth of re-exports.
const DEEPEST: usize = 8;

/// Returns the module that defines the item of a path, past all re-exports.
fn home(path: Name, imports: &BTreeMap<&Name, Vec<Import>>, depth: usize) -> Name {
    let owner = (0..=path.len()).rev().map(|n| path[..n].to_vec());
    let owner = owner.into_iter().find(|name| imports.contains_key(name));
    let owner = owner.unwrap_or_default();
    let Some((named, rest)) = path[owner.len()..].split_first() else {
        return owner;
    };
    let files: BTreeMap<Name, String> = imports
        .keys()
        .map(|name| ((*name).clone(), String::new()))
        .collect();
    let passed = imports[&owner].iter().find(|i| i.name == *named);
    let passed = passed.filter(|_| depth < DEEPEST);
    match passed.and_then(|import| absolute(&owner, &import.path, &files)) {
        None => owner,
        Some(mut path) => {
            path.extend_from_slice(rest);
            home(path, imports, depth + 1)
        }
    }
}

/// Returns the edges that belong to a cycle.
pub fn in_circles(edges: &[(String, String, String)]) -> Vec<String> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to, _) in edges {
        next.entry(from).or_default().insert(to);
    }
    let leads = |from: &str, wanted: &str| {
        let mut seen = BTreeSet::from([from]);
        let mut waiting = vec![from];
        while let Some(one) = waiting.pop() {
            if one == wanted {
                return true;
            }
            let new = next.get(one).into_iter().flatten();
            waiting.extend(new.copied().filter(|name| seen.insert(name)));
        }
        false
    };
    let circular = edges.iter().filter(|(from, to, _)| leads(to, from));
    circular
        .map(|(from, to, by)| format!("{from} -> {to} ({by})"))
        .collect()
}
