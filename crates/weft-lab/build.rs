//! Embeds the report page (built by Vite in `web/report/dist`), the scenarios and the
//! clients under test. Writes tables of their files for `src/catalogue.rs` and
//! `src/engine/emu/client/programs.rs`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

const PLACEHOLDER: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>weft lab</title>\
<p>This weft was built without its report page (WEFT_PAGE=placeholder). \
Run <code>make web</code>, then build again without that variable; the results are in summary.json.</p>\
<script type=\"application/json\" id=\"data\"><!--data--></script></html>\n";

fn main() {
    println!("cargo::rerun-if-env-changed=WEFT_PAGE");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let scenarios = root.join("../../scenarios");
    println!("cargo::rerun-if-changed={}", scenarios.display());
    embed(&scenarios, &["toml"], &out.join("scenarios.rs"));
    // Build output and installed packages have other extensions, or their own folder.
    let sources = ["md", "mjs", "js", "py", "txt", "go", "mod", "sum"];
    embed(
        &root.join("../../clients"),
        &sources,
        &out.join("clients.rs"),
    );
    embed_page(&root, &out.join("report.html"));
    println!("cargo::rustc-env=WEFT_VERSION={}", version());
}

/// Returns the package's version and, in a repository, the commit, so that a report can
/// be traced to the program that made it.
fn version() -> String {
    let package = env::var("CARGO_PKG_VERSION").expect("set by cargo");
    let git = |arguments: &[&str]| {
        let output = process::Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
    };
    // Every commit and checkout adds a line to this log.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    match git(&["rev-parse", "--short=10", "HEAD"]) {
        Some(commit) => format!("{package} ({commit})"),
        None => package,
    }
}

fn embed_page(root: &Path, out: &Path) {
    let built = root.join("../../web/report/dist/index.html");
    if env::var("WEFT_PAGE").is_ok_and(|v| v == "placeholder") {
        fs::write(out, PLACEHOLDER).expect("OUT_DIR is writable");
        return;
    }
    println!("cargo::rerun-if-changed={}", built.display());
    if let Err(error) = fs::copy(&built, out) {
        println!(
            "cargo::error=the report page is not built ({}: {error}). \
             Run `make web` first, or set WEFT_PAGE=placeholder to build without it.",
            built.display()
        );
        process::exit(1);
    }
}

/// Writes a table of the files below `folder` with these extensions: path within it, and
/// text.
fn embed(folder: &Path, extensions: &[&str], out: &Path) {
    let mut files = Vec::new();
    collect(folder, "", extensions, &mut files);
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let path = fs::canonicalize(path).expect("the file was just listed");
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writes to a string");
    }
    table.push_str("]\n");
    fs::write(out, table).expect("OUT_DIR is writable");
}

fn collect(folder: &Path, prefix: &str, extensions: &[&str], files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.expect("a folder of the sources is readable");
        let (path, name) = (entry.path(), entry.file_name());
        let name = format!("{prefix}{}", name.to_string_lossy());
        let is_wanted = |e: &std::ffi::OsStr| extensions.iter().any(|wanted| e == *wanted);
        // Skips a virtual environment with Python's libraries.
        if path.is_dir() && !path.join("pyvenv.cfg").exists() {
            collect(&path, &format!("{name}/"), extensions, files);
        } else if path.extension().is_some_and(is_wanted) {
            files.push((name, path));
        }
    }
}
