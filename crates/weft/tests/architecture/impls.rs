//! Calls between `impl` blocks of one type in several files. A call is `self.method(..)`,
//! `Self::method(..)` or `Type::method(..)`.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{Imports, Name, in_circles};
use crate::source;

/// One `impl` block.
#[derive(PartialEq, Eq, Debug)]
pub struct Block {
    /// Name of the type.
    pub of: String,
    /// Methods that it defines.
    pub methods: BTreeSet<String>,
    /// Methods of the type that it calls.
    pub calls: BTreeSet<String>,
}

/// Returns the `impl` blocks of a file's text.
pub fn blocks(text: &str) -> Vec<Block> {
    let words = source::words(text);
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if words[at] != "impl" {
            at += 1;
            continue;
        }
        let open = (at..words.len()).find(|i| ["{", ";"].contains(&words[*i]));
        let Some(open) = open.filter(|open| words[*open] == "{") else {
            break;
        };
        let close = open + length(&words[open..]);
        if let Some(of) = type_of(&words[at + 1..open]) {
            blocks.push(block(of, &words[open..close]));
        }
        at = close;
    }
    blocks
}

/// Returns the number of words up to the brace that closes the first one.
fn length(words: &[&str]) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate() {
        match *word {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    words.len()
}

/// Returns the type's name, from the words between `impl` and the brace.
fn type_of<'a>(head: &[&'a str]) -> Option<&'a str> {
    let end = head.iter().position(|w| *w == "where");
    let head = &head[..end.unwrap_or(head.len())];
    let mut depth = 0;
    let mut name = None;
    for word in head {
        match *word {
            "<" => depth += 1,
            ">" => depth -= 1,
            // The trait precedes it.
            "for" if depth == 0 => name = None,
            word if depth == 0 && word.starts_with(char::is_alphabetic) => name = Some(word),
            _ => {}
        }
    }
    name
}

fn block(of: &str, body: &[&str]) -> Block {
    let mut depth = 0;
    let (mut methods, mut calls) = (BTreeSet::new(), BTreeSet::new());
    for (at, word) in body.iter().enumerate() {
        match (*word, body.get(at + 1), body.get(at + 2), body.get(at + 3)) {
            ("{", ..) => depth += 1,
            ("}", ..) => depth -= 1,
            ("fn", Some(name), ..) if depth == 1 => {
                methods.insert((*name).to_owned());
            }
            ("self", Some(&"."), Some(name), Some(&("(" | "::"))) => {
                calls.insert((*name).to_owned());
            }
            (first, Some(&"::"), Some(name), _) if first == "Self" || first == of => {
                calls.insert((*name).to_owned());
            }
            _ => {}
        }
    }
    Block {
        of: of.to_owned(),
        methods,
        calls,
    }
}

/// Returns, by type, the files whose `impl` blocks call each other in a circle.
pub fn circles(imports: &Imports) -> BTreeMap<String, BTreeSet<String>> {
    // By the module where the type is declared, and its name.
    let mut types: BTreeMap<(Name, String), Vec<(Name, Block)>> = BTreeMap::new();
    for (file, text) in imports.files() {
        for block in blocks(text) {
            let home = imports.home_of(file, &block.of);
            let key = (home, block.of.clone());
            types.entry(key).or_default().push((file.clone(), block));
        }
    }
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for ((home, name), blocks) in types {
        let mut edges = Vec::new();
        for (from, caller) in &blocks {
            for (to, owner) in blocks.iter().filter(|(to, _)| to != from) {
                let called = caller.calls.intersection(&owner.methods);
                let called: Vec<&str> = called.map(String::as_str).collect();
                if !called.is_empty() {
                    edges.push((from.join("/"), to.join("/"), called.join(", ")));
                }
            }
        }
        let circular = in_circles(&edges);
        if !circular.is_empty() {
            let files = circular.iter().flat_map(|edge| {
                let (files, _) = edge.split_once(" (").unwrap_or((edge, ""));
                files.split(" -> ").map(str::to_owned).collect::<Vec<_>>()
            });
            let name = [home, vec![name]].concat().join("/");
            found.entry(name).or_default().extend(files);
        }
    }
    found
}
