use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Side, data};
use crate::output::tests::written;
use crate::output::{compare_folders, read_data};

fn side(name: &str, folder: &Path) -> Side {
    Side {
        name: name.to_owned(),
        folder: folder.to_owned(),
    }
}

/// Writes a folder with results, changed by `change`.
fn results(folder: &Path, change: impl Fn(&mut Value)) -> String {
    written(folder);
    let mut value: Value = serde_json::from_str(&read_data(folder).unwrap()).unwrap();
    change(&mut value);
    let text = value.to_string();
    std::fs::write(folder.join("report.json"), &text).unwrap();
    text
}

#[test]
fn a_folder_may_be_given_a_name() {
    let of = |text: &str| Side::of(text);
    assert_eq!(of("before=out/old"), side("before", Path::new("out/old")));
    assert_eq!(of("out/old/"), side("old", Path::new("out/old/")));
    assert_eq!(of("out/a=b"), side("a=b", Path::new("out/a=b")));
    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("a=b");
    std::fs::create_dir(&named).unwrap();
    assert_eq!(of(named.to_str().unwrap()), side("a=b", &named));
}

#[test]
fn changes_by_the_second_are_reported_seed_by_seed() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let values = |of: [Value; 2]| {
        move |data: &mut Value| data["values"]["all"]["throughput_mbps"] = json!(of)
    };
    let texts = [
        results(folders[0].path(), values([json!(1.0), json!(2.0)])),
        results(folders[1].path(), values([json!(1.5), json!(2.75)])),
    ];
    let sides = [
        side("old", folders[0].path()),
        side("new", folders[1].path()),
    ];
    let both: Value = serde_json::from_str(&data(&sides, &texts).unwrap()).unwrap();
    let names = |key: &str| -> Vec<String> {
        let rows = both[key].as_array().unwrap().iter();
        let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
        rows.map(name).collect()
    };
    assert_eq!(names("systems"), ["all · old", "all · new"]);
    assert_eq!(names("sides"), ["old", "new"]);
    let find = |row: &&Value| row["metric"] == "throughput_mbps";
    let found = both["differences"].as_array().unwrap().iter().find(find);
    let found = found.unwrap();
    assert_eq!(found["system"], "all · new");
    assert_eq!(found["baseline"], "all · old");
    // (0.5 + 0.75) / 2, and both seeds.
    assert_eq!(
        (found["mean"].as_f64(), found["n"].as_u64()),
        (Some(0.625), Some(2))
    );
    for key in ["values", "series"] {
        let of = both[key].as_object().unwrap();
        assert_eq!(
            of.keys().collect::<Vec<_>>(),
            ["all · new", "all · old"],
            "{key}"
        );
    }
    let more = both["more_series"]["2"].as_object().unwrap();
    assert_eq!(more.len(), 2, "the second seed of both");
    assert_eq!(both["finished"], 4);
    assert_eq!(both["seeds"], json!([1, 2]));
    let page = compare_folders(&sides).unwrap();
    assert!(page.contains("all · old"));
}

#[test]
fn results_with_nothing_in_common_are_refused_with_a_list() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    results(folders[0].path(), |_| {});
    results(folders[1].path(), |data| {
        data["systems"][0]["name"] = json!("weft");
        data["systems"][0]["system"] = json!("weft");
    });
    let refused = |sides: [Side; 2]| compare_folders(&sides).unwrap_err().to_string();
    let [old, new] = [
        side("old", folders[0].path()),
        side("new", folders[1].path()),
    ];
    let error = refused([old.clone(), new]);
    for told in ["old has the systems all, new has weft", "the same scenario"] {
        assert!(error.contains(told), "{error}");
    }
    let error = refused([old.clone(), old.clone()]);
    assert!(
        error.contains("both are called `old`") && error.contains("before=DIR"),
        "{error}"
    );
    let error = refused([old, side("gone", &PathBuf::from("/nowhere"))]);
    assert!(
        error.contains("/nowhere/report.json") && error.contains("weft lab run --out"),
        "{error}"
    );
}
