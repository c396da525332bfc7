//! Handwritten files of the repository.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::manifests::root;

/// Folders with handwritten files, and their extensions.
const FOLDERS: [&str; 5] = ["clients", "crates", "fuzz", "scripts", "web"];
const ENDINGS: [&str; 10] = [
    "c", "css", "go", "js", "mjs", "mts", "py", "rs", "ts", "tsx",
];
/// Folders with generated or downloaded files.
const MADE: [&str; 4] = ["dist", "node_modules", "target", "venv"];

/// One file, by its path from the root.
pub struct File {
    pub name: String,
    pub text: String,
}

impl File {
    pub fn is_rust(&self) -> bool {
        self.name.ends_with(".rs")
    }
}

/// Every source file.
pub fn sources() -> Vec<File> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root().join(folder), true, &ENDINGS, &mut files);
    }
    assert!(files.len() > 1000, "{} files: look elsewhere", files.len());
    files
}

/// Every page of the book, and those at the root.
pub fn pages() -> Vec<File> {
    let mut files = Vec::new();
    collect(&root(), false, &["md"], &mut files);
    collect(&root().join("docs"), true, &["md"], &mut files);
    assert!(files.len() > 40, "{} pages: look elsewhere", files.len());
    files
}

fn collect(folder: &Path, with_folders: bool, endings: &[&str], files: &mut Vec<File>) {
    let entries = fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let is = |names: &[&str], part: Option<&OsStr>| {
            part.is_some_and(|part| names.iter().any(|name| part == *name))
        };
        if path.is_dir() {
            if with_folders && !is(&MADE, path.file_name()) {
                collect(&path, true, endings, files);
            }
        } else if is(endings, path.extension()) {
            let text = fs::read_to_string(&path);
            let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let name = path.strip_prefix(root()).unwrap_or(&path);
            let name = name.display().to_string();
            files.push(File { name, text });
        }
    }
}
