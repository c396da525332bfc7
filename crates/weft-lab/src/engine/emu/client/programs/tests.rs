use std::collections::BTreeSet;

use super::*;

/// Lists the files in a folder and below, except those for which `is_left_out` is true.
fn files(folder: &Path, is_left_out: fn(&Path) -> bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if is_left_out(&path) {
                continue;
            }
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap();
                    found.insert(name.to_string_lossy().into_owned());
                }
            }
        }
    }
    found
}

#[test]
fn unpacked_files_equal_the_sources() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients");
    let cache = tempfile::tempdir().unwrap();
    let folder = unpack(cache.path()).unwrap();
    let made_there = |path: &Path| {
        // Some are servers of the interop tests, not clients of the lab.
        [
            "venv",
            "__pycache__",
            "pion/pion",
            "mediamtx",
            "galene",
            "srtla/build",
            "srtla/bin",
        ]
        .iter()
        .any(|name| path.ends_with(name))
    };
    let all = files(&sources, made_there);
    assert_eq!(files(&folder, |_| false), all);
    for name in all {
        let read = |folder: &Path| fs::read_to_string(folder.join(&name)).unwrap();
        assert_eq!(read(&folder), read(&sources), "{name}");
    }
}

#[test]
fn unpacked_files_stay_and_damaged_ones_are_unpacked_again() {
    let cache = tempfile::tempdir().unwrap();
    let folder = unpack(cache.path()).unwrap();
    fs::write(folder.join("pion/pion"), "built").unwrap();
    assert_eq!(unpack(cache.path()).unwrap(), folder);
    assert!(folder.join("pion/pion").exists(), "it is not built again");
    assert_eq!(fs::read_dir(cache.path().join("weft")).unwrap().count(), 1);

    fs::remove_file(folder.join("README.md")).unwrap();
    assert_eq!(unpack(cache.path()).unwrap(), folder);
    assert!(is_clients(&folder));
}

#[test]
fn programs_that_must_be_built_are_named_with_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let error = built(folder.path(), "pion", "go build -o pion ./lab").unwrap_err();
    let command = format!("(cd {} && go build -o pion ./lab)", folder.path().display());
    assert!(error.to_string().contains(&command), "{error}");
    fs::write(folder.path().join("pion"), "").unwrap();
    assert!(built(folder.path(), "pion", "").is_ok());
}
