//! Checks the book in `docs/`: every chapter is listed, every link has a target, and no
//! link leaves the book, so that it works on paper, in the sources and on a site.

mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use page::{Link, Page};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Pages below `folder`, by relative path.
fn pages(folder: &Path) -> BTreeMap<String, Page> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(folder).expect("a path below the folder");
                let name = name.to_string_lossy().into_owned();
                let text = fs::read_to_string(&path).expect("a readable page");
                let is_conflict = |line: &str| line.starts_with("<<<<<<< ");
                assert!(
                    !text.lines().any(is_conflict),
                    "{name}: an unfinished merge"
                );
                found.insert(name, Page::read(&text));
            }
        }
    }
    found
}

/// Returns the path of `target` from the book's root, as seen from the page `from`;
/// `None` if it leaves the book.
fn resolved(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[test]
fn every_chapter_is_listed_once() {
    let folder = root().join("docs");
    let mut pages = pages(&folder);
    let summary = pages.remove("SUMMARY.md").expect("docs/SUMMARY.md");
    let listed: Vec<String> = summary.links.into_iter().map(|link| link.target).collect();
    let once: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), once.len(), "a chapter is listed twice");
    let present: BTreeSet<String> = pages.into_keys().collect();
    assert_eq!(once, present, "left: docs/SUMMARY.md, right: docs/");
}

#[test]
fn every_link_of_the_book_leads_to_a_heading_in_it() {
    let folder = root().join("docs");
    let pages = pages(&folder);
    let mut wrong = Vec::new();
    for (name, page) in &pages {
        for link in &page.links {
            if let Err(problem) = check(&folder, &pages, name, link) {
                wrong.push(format!("docs/{name}:{}: {problem}", link.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(
    folder: &Path,
    pages: &BTreeMap<String, Page>,
    name: &str,
    link: &Link,
) -> Result<(), String> {
    let (path, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
    let out = || {
        format!(
            "`{}` leaves the book: say in words where it is",
            link.target
        )
    };
    if path.contains(':') {
        return Err(out());
    }
    let target = match path {
        "" => name.to_owned(),
        path => resolved(name, path).ok_or_else(out)?,
    };
    let Some(page) = pages.get(&target) else {
        return match folder.join(&target).is_file() {
            true => Ok(()),
            false => Err(format!("there is no `{}`", link.target)),
        };
    };
    if anchor.is_empty() || page.anchors.contains(anchor) {
        return Ok(());
    }
    Err(format!("docs/{target} has no heading `#{anchor}`"))
}

#[test]
fn every_link_of_the_other_documents_leads_somewhere() {
    let book = pages(&root().join("docs"));
    let mut wrong = Vec::new();
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "BENCHMARKING.md",
        "CONTRIBUTING.md",
        "web/README.md",
        "clients/README.md",
    ] {
        let text = fs::read_to_string(root().join(name)).expect("a document");
        let own = Page::read(&text);
        for link in &own.links {
            let (path, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            if path.contains(':') {
                continue;
            }
            let target = match path {
                "" => name.to_owned(),
                path => resolved(name, path).unwrap_or_default(),
            };
            let anchors = match target.strip_prefix("docs/") {
                Some(page) => book.get(page).map(|page| &page.anchors),
                None => (target == name).then_some(&own.anchors),
            };
            let there = root().join(&target).exists()
                && (anchor.is_empty() || anchors.is_none_or(|all| all.contains(anchor)));
            if !there {
                wrong.push(format!(
                    "{name}:{}: nothing at `{}`",
                    link.line, link.target
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
