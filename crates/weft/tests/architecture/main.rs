//! Compares ARCHITECTURE.md with the manifests: its crate table lists the permitted
//! dependencies between crates, its library table the permitted libraries. A change that
//! adds a dependency must add it there.

mod document;
mod files;
mod impls;
mod imports;
mod licence;
mod manifests;
mod sizes;
mod source;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use document::Document;
use imports::Imports;
use manifests::{DependencyKind, Manifests};

/// Permissive licences, and MPL-2.0, whose obligations cover only its own
/// files.
const PERMITTED_LICENCES: [&str; 16] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "IJG",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

#[test]
fn crate_table_lists_exactly_the_workspace() {
    let listed: BTreeSet<_> = Document::read().crates.into_keys().collect();
    let present: BTreeSet<_> = Manifests::workspace().crates.into_keys().collect();
    assert_eq!(
        listed, present,
        "left: crate table of ARCHITECTURE.md, right: crates/"
    );
}

#[test]
fn every_arrow_is_in_the_crate_table() {
    let document = Document::read();
    let mut strangers = Vec::new();
    for (name, manifest) in Manifests::workspace().crates {
        let row = &document.crates[&name];
        for (dependency, kind) in &manifest.arrows {
            let permitted = row.arrows.contains(dependency)
                || (*kind == DependencyKind::Dev && row.test_arrows.contains(dependency));
            if !permitted {
                strangers.push(format!("{name} -> {dependency} ({kind:?})"));
            }
        }
    }
    assert!(
        strangers.is_empty(),
        "arrows that the crate table of ARCHITECTURE.md does not permit: {strangers:#?}"
    );
}

#[test]
fn crate_table_has_no_cycle() {
    let rows = Document::read().crates;
    let mut placed = BTreeSet::new();
    while placed.len() < rows.len() {
        let ready: Vec<_> = rows
            .iter()
            .filter(|(name, row)| !placed.contains(*name) && row.arrows.is_subset(&placed))
            .map(|(name, _)| name.clone())
            .collect();
        assert!(
            !ready.is_empty(),
            "a cycle, or an arrow to a crate without a row, below {placed:?}"
        );
        placed.extend(ready);
    }
}

#[test]
fn core_crates_know_only_core_crates() {
    let rows = Document::read().crates;
    for (name, row) in rows.iter().filter(|(_, row)| row.core) {
        for arrow in &row.arrows {
            assert!(rows[arrow].core, "core crate {name} -> {arrow}");
        }
    }
}

/// An addition should consist of new files; if it changes many existing ones, a boundary
/// is in the wrong place.
#[test]
fn little_is_touched_to_add_something() {
    const MOST: usize = 4;
    for (what, files) in Document::read().additions {
        assert!((1..=MOST).contains(&files.len()), "{what}: {files:?}");
        for file in files {
            let path = manifests::root().join(&file);
            assert!(path.is_file(), "{what}: there is no {file}");
        }
    }
}

#[test]
fn files_and_structures_are_small() {
    let wrong = sizes::too_large();
    assert!(wrong.is_empty(), "to be split: {wrong:#?}");
}

#[test]
fn words_are_plain_english() {
    let wrong = words::not_plain();
    assert!(
        wrong.is_empty(),
        "\"Plain English\" in CONTRIBUTING.md says how to write these: {wrong:#?}"
    );
}

/// Modules that import each other in a cycle cannot be understood separately.
#[test]
fn modules_import_each_other_in_one_direction() {
    let mut wrong = Vec::new();
    for (name, manifest) in Manifests::workspace().crates {
        let imports = Imports::of_crate(&manifest.folder);
        let both = [imports.circles(), imports.circles_of_folders()].concat();
        wrong.extend(both.iter().map(|edge| format!("{name}: {edge}")));
    }
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "imports that lead back to where they come from; move what both sides need to a place of \
         its own: {wrong:#?}"
    );
}

/// A type spread over several files is still one large file if these call each other in a
/// circle.
#[test]
fn impl_blocks_call_each_other_in_one_direction() {
    let mut wrong = Vec::new();
    for (name, manifest) in Manifests::workspace().crates {
        let circles = impls::circles(&Imports::of_crate(&manifest.folder));
        wrong.extend(
            circles
                .iter()
                .map(|(of, files)| format!("{name}: {of}: {files:?}")),
        );
    }
    assert!(
        wrong.is_empty(),
        "files whose `impl` blocks of one type call each other in a circle; give a part a type of \
         its own that returns what is to be done: {wrong:#?}"
    );
}

#[test]
fn circles_are_found() {
    let crate_of = |files: &[(&[&str], &str)]| {
        let files = files.iter().map(|(name, text)| {
            let name = name.iter().map(|part| (*part).to_owned()).collect();
            (name, source::for_use(text))
        });
        Imports::of(files.collect())
    };
    // Through re-exports of the root, ignoring strings, tests and comments.
    let circle = crate_of(&[
        (&[], "mod a; mod b; pub use b::{Thing, other};"),
        (
            &["a"],
            "use crate::Thing as Other; fn f() { super::b::other(); }",
        ),
        (
            &["b"],
            "//! use crate::c;\n#[cfg(test)]\nuse super::c::{A, B};\nfn g() { crate::a::f() }",
        ),
    ]);
    assert_eq!(circle.circles(), ["a -> b (Thing, other)", "b -> a (f)"]);
    // The files form a hierarchy, but the folders do not.
    let folders = crate_of(&[
        (&[], "mod a; mod b;"),
        (&["a"], "mod x; mod y;"),
        (
            &["a", "x"],
            "use crate::b::x::X; const WORDS: &str = \"crate::a::y\";",
        ),
        (&["a", "y"], "pub struct Y<'a>(&'a str);"),
        (&["b"], "mod x; mod y;"),
        (&["b", "x"], "pub struct X;"),
        (&["b", "y"], "use crate::a::y::Y;"),
    ]);
    assert_eq!(folders.circles(), [""; 0]);
    assert_eq!(
        folders.circles_of_folders(),
        ["a -> b (a/x -> b/x)", "b -> a (b/y -> a/y)"]
    );
}

#[test]
fn impl_blocks_are_read() {
    let crate_of = |files: &[(&[&str], &str)]| {
        let files = files.iter().map(|(name, text)| {
            let name = name.iter().map(|part| (*part).to_owned()).collect();
            (name, source::for_use(text))
        });
        impls::circles(&Imports::of(files.collect()))
    };
    let root = "mod a; mod b; pub struct One<T>(T); impl<T: Fn(u8)> One<T> where T: Copy { \
                fn top(&self) { self.above() } }";
    let a = "use crate::One; impl<T> One<T> { fn above(&self) { Self::below(1) } }";
    let down = "use super::One; impl<T> One<T> { fn below(n: u8) { n.top(); self.0.above() } }";
    assert!(crate_of(&[(&[], root), (&["a"], a), (&["b"], down)]).is_empty());
    // Methods of a trait count; those of another type with the same name do not.
    let back =
        "use super::One; impl<T> Drop for One<T> { fn below(n: u8) { if n > 0 { self.above() } } }";
    let found = crate_of(&[(&[], root), (&["a"], a), (&["b"], back)]);
    assert_eq!(found["One"].iter().collect::<Vec<_>>(), ["a", "b"]);
    let other = "struct One; impl One { fn below(n: u8) { self.above() } }";
    assert!(crate_of(&[(&[], root), (&["a"], a), (&["b"], other)]).is_empty());
}

/// The lints against clocks and global randomness are in one file per crate, because
/// clippy reads no other place, so they must stay identical.
#[test]
fn core_crates_share_their_lints() {
    let manifests = Manifests::workspace();
    let lints = |name: &str| {
        let path = manifests.crates[name].folder.join("clippy.toml");
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let first = lints("units");
    for clock in ["std::time::Instant::now", "std::time::SystemTime::now"] {
        assert!(
            first.contains(clock),
            "clippy.toml of units permits {clock}"
        );
    }
    for (name, row) in Document::read().crates {
        if row.core {
            assert!(
                lints(&name) == first,
                "crates/weft-{name}/clippy.toml differs from crates/weft-units/clippy.toml"
            );
        }
    }
}

#[test]
fn library_table_is_what_the_manifests_use() {
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, manifest) in Manifests::workspace().crates {
        for library in manifest.libraries {
            used.entry(library).or_default().insert(name.clone());
        }
    }
    for library in manifests::page_libraries() {
        used.entry(library).or_default().insert("web".to_owned());
    }
    let rows = Document::read().libraries;
    let mut wrong = Vec::new();
    for (library, users) in &used {
        match rows.get(library) {
            None => wrong.push(format!("no row: `{library}`, used by {users:?}")),
            Some(row) => match &row.users {
                Some(listed) if listed != users => wrong.push(format!(
                    "`{library}`: used by {users:?}, the row says {listed:?}"
                )),
                _ => {}
            },
        }
    }
    for library in rows.keys().filter(|name| !used.contains_key(*name)) {
        wrong.push(format!("`{library}`: nobody uses it"));
    }
    assert!(
        wrong.is_empty(),
        "the library table of ARCHITECTURE.md drifted: {wrong:#?}"
    );
}

#[test]
fn library_table_states_the_licences() {
    let licences = manifests::licences();
    let mut wrong = Vec::new();
    for (library, row) in Document::read().libraries {
        let found: BTreeSet<_> = licences
            .iter()
            .filter(|(name, _)| *name == library)
            .map(|(_, licence)| licence.replace('/', " OR "))
            .collect();
        if !found.contains(&row.licence) {
            wrong.push(format!(
                "`{library}`: {found:?}, the row says {}",
                row.licence
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "the library table of ARCHITECTURE.md drifted: {wrong:#?}"
    );
}

/// Checks everything that is linked or bundled, including indirect
/// dependencies.
#[test]
fn every_licence_is_permitted() {
    let refused: Vec<_> = manifests::licences()
        .into_iter()
        .filter(|(_, licence)| !licence::permits(licence, &PERMITTED_LICENCES))
        .collect();
    assert!(
        refused.is_empty(),
        "not among the permitted licences: {refused:#?}"
    );
}
