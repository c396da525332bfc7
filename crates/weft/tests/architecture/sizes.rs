//! Lengths of files, and numbers of fields in structures.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifests::root;
use crate::source;

/// Maximum number of lines; split a longer file by topic.
const MOST_LINES: usize = 500;
/// Maximum number of fields; split a larger structure by owner, or state the
/// reason in its documentation.
const MOST_FIELDS: usize = 15;
const REASON: &str = "More than fifteen fields: ";

/// Folders with handwritten files, and their extensions.
const FOLDERS: [&str; 5] = ["clients", "crates", "fuzz", "scripts", "web"];
const ENDINGS: [&str; 10] = [
    "c", "css", "go", "js", "mjs", "mts", "py", "rs", "ts", "tsx",
];
/// Folders with generated or downloaded files.
const MADE: [&str; 4] = ["dist", "node_modules", "target", "venv"];

/// Files and structures above the limits.
pub fn too_large() -> Vec<String> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root().join(folder), &mut files);
    }
    assert!(files.len() > 1000, "{} files: look elsewhere", files.len());
    let all = files.iter().flat_map(|file| {
        let text = fs::read_to_string(file);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let found = of_file(&text, file.extension().is_some_and(|ending| ending == "rs"));
        let name = file.strip_prefix(root()).unwrap_or(file).display();
        found.into_iter().map(move |what| format!("{name}: {what}"))
    });
    all.collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let is = |names: &[&str], of: Option<&std::ffi::OsStr>| {
            of.is_some_and(|of| names.iter().any(|name| of == *name))
        };
        if path.is_dir() && !is(&MADE, path.file_name()) {
            collect(&path, files);
        } else if is(&ENDINGS, path.extension()) {
            files.push(path);
        }
    }
}

fn of_file(text: &str, is_rust: bool) -> Vec<String> {
    let lines = text.lines().count();
    let long = (lines > MOST_LINES).then(|| format!("{lines} lines"));
    let structs = match is_rust {
        true => source::structs(text),
        false => Vec::new(),
    };
    let wide = structs.into_iter().filter(|(name, fields)| {
        *fields > MOST_FIELDS && !head_of(text, name).any(|line| line.contains(REASON))
    });
    let wide = wide.map(|(name, fields)| format!("`{name}` has {fields} fields"));
    long.into_iter().chain(wide).collect()
}

/// Comments and attributes directly above a structure, from the bottom up.
fn head_of<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declares = |line: &&str| {
        let (_, rest) = line.split_once("struct ").unwrap_or_default();
        !line.starts_with("//")
            && rest
                .strip_prefix(name)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let at = lines.iter().position(declares).unwrap_or_default();
    let above = lines.into_iter().take(at).rev();
    above.take_while(|line| line.starts_with("//") || line.starts_with("#["))
}

#[test]
fn what_is_too_large_is_found() {
    let lines = "\n".repeat(MOST_LINES);
    assert_eq!(of_file(&lines, true), [""; 0]);
    assert_eq!(of_file(&(lines + "\n"), false), ["501 lines"]);
    let fields =
        |count: usize| (0..count).map(|n| format!("/// It: so.\nf{n}: &'a [(A, B); 2],\n"));
    let of = |head: &str, count: usize| {
        let fields: String = fields(count).collect();
        let text = format!(
            "struct Wider;\n{head}#[derive(Debug)]\nstruct Wide<'a> {{\n{fields}}}\nfn f(a: u8) {{}}"
        );
        of_file(&text, true)
    };
    assert_eq!(of("", MOST_FIELDS), [""; 0]);
    assert_eq!(of("", MOST_FIELDS + 1), ["`Wide` has 16 fields"]);
    assert_eq!(
        of("/// More than fifteen fields: it is one.\n", 40),
        [""; 0]
    );
}
