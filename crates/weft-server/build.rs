//! Embeds the page that Vite has built in `web/dist`: writes a table of its
//! files for `src/page.rs`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

const PLACEHOLDER: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>weft</title>\
<p>This weft was built without its page (WEFT_PAGE=placeholder). \
Run <code>make web</code>, then build again without that variable.</p></html>\n";

fn main() {
    println!("cargo::rerun-if-env-changed=WEFT_PAGE");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let dist = root.join("../../web/dist");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));

    let mut files = Vec::new();
    if env::var("WEFT_PAGE").is_ok_and(|v| v == "placeholder") {
        let page = out.join("index.html");
        fs::write(&page, PLACEHOLDER).expect("OUT_DIR is writable");
        files.push(("index.html".to_owned(), page));
    } else {
        println!("cargo::rerun-if-changed={}", dist.display());
        if !dist.join("index.html").is_file() {
            println!(
                "cargo::error=the web page is not built (web/dist/index.html is missing). \
                 Run `make web` first, or set WEFT_PAGE=placeholder to build without it."
            );
            process::exit(1);
        }
        collect(&dist, "", &mut files);
    }
    files.sort();

    let mut table = String::from("&[\n");
    for (name, path) in files {
        let path = fs::canonicalize(path).expect("the file was just listed");
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),").expect("writes to a string");
    }
    table.push_str("]\n");
    fs::write(out.join("page.rs"), table).expect("OUT_DIR is writable");
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).expect("web/dist is readable") {
        let entry = entry.expect("web/dist is readable");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.push((name, entry.path()));
        }
    }
}
