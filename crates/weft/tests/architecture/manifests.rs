//! Contents of the manifests, from `cargo metadata` and the page's lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub struct Manifests {
    /// By name without `weft-`.
    pub crates: BTreeMap<String, Manifest>,
}

pub struct Manifest {
    pub folder: PathBuf,
    /// Crates of the workspace, without `weft-`.
    pub arrows: BTreeSet<(String, DependencyKind)>,
    pub libraries: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependencyKind {
    Normal,
    Build,
    Dev,
}

impl Manifests {
    pub fn workspace() -> Manifests {
        let metadata = cargo_metadata(&["--no-deps"]);
        let crates = array(&metadata["packages"])
            .map(|package| (short(string(&package["name"])), Manifest::new(package)))
            .collect();
        Manifests { crates }
    }
}

impl Manifest {
    fn new(package: &Value) -> Manifest {
        let mut manifest = Manifest {
            folder: Path::new(string(&package["manifest_path"])).with_file_name(""),
            arrows: BTreeSet::new(),
            libraries: BTreeSet::new(),
        };
        for dependency in array(&package["dependencies"]) {
            let name = string(&dependency["name"]);
            let kind = match dependency["kind"].as_str() {
                None => DependencyKind::Normal,
                Some("build") => DependencyKind::Build,
                Some("dev") => DependencyKind::Dev,
                Some(other) => panic!("unknown kind of dependency: {other}"),
            };
            if dependency["path"].is_string() {
                manifest.arrows.insert((short(name), kind));
            } else {
                manifest.libraries.insert(name.to_owned());
            }
        }
        manifest
    }
}

/// Returns the direct dependencies of the page, including those of its build.
pub fn page_libraries() -> BTreeSet<String> {
    let package = json("web/package.json");
    ["dependencies", "devDependencies"]
        .iter()
        .filter_map(|list| package[list].as_object())
        .flat_map(|list| list.keys().cloned())
        .collect()
}

/// Returns the name and licence of every package that is built for this machine or for
/// the page. A name occurs once per version.
pub fn licences() -> Vec<(String, String)> {
    let host = host();
    let metadata = cargo_metadata(&["--locked", "--filter-platform", &host]);
    let needed: BTreeSet<_> = array(&metadata["resolve"]["nodes"])
        .map(|node| string(&node["id"]))
        .collect();
    let crates = array(&metadata["packages"])
        .filter(|package| needed.contains(string(&package["id"])))
        .map(|package| (string(&package["name"]).to_owned(), licence(package)));

    let lock = json("web/package-lock.json");
    let modules = lock["packages"].as_object().expect("a lock of version 3");
    let page = modules.iter().filter(|(path, _)| !path.is_empty());
    let page = page.map(|(path, package)| {
        let (_, name) = path.rsplit_once("node_modules/").expect("a module's path");
        (name.to_owned(), licence(package))
    });
    crates.chain(page).collect()
}

fn licence(package: &Value) -> String {
    package["license"]
        .as_str()
        .unwrap_or("none stated")
        .to_owned()
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn host() -> String {
    let version = run(Command::new(env!("CARGO")).arg("-vV"));
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("cargo names its host").to_owned()
}

fn cargo_metadata(arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["metadata", "--format-version", "1"])
        .args(arguments)
        .current_dir(root());
    serde_json::from_str(&run(&mut command)).expect("cargo prints JSON")
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("cargo starts");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

fn json(path: &str) -> Value {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("an array").iter()
}

fn string(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn short(name: &str) -> String {
    name.strip_prefix("weft-").unwrap_or(name).to_owned()
}
