use super::{comparison, embedded_scenarios, find, find_one};
use crate::scenario::Scenario;

#[test]
fn every_embedded_scenario_can_be_run() {
    assert!(embedded_scenarios().count() > 0);
    for (path, text) in embedded_scenarios() {
        let name = path.trim_end_matches(".toml");
        let scenario = Scenario::parse(name, text, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.name, name);
        assert!(
            !scenario.about.is_empty(),
            "{name} does not say what it shows"
        );
    }
}

#[test]
fn sets_and_names_are_found() {
    let all = find("demo").unwrap();
    assert!(all.len() > 1 && all.iter().all(|entry| entry.set() == "demo"));
    assert_eq!(find(&all[0].name).unwrap().len(), 1);
    let group = find("converge/as-of-2022").unwrap();
    let begins = |name: &str| name.starts_with("converge/as-of-2022-");
    assert!(group.len() > 3 && group.iter().all(|entry| begins(&entry.name)));
    // A complete name matches only itself.
    assert_eq!(find("converge/driving").unwrap().len(), 1);
    let error = find("demmo").unwrap_err();
    assert!(error.contains("did you mean `demo`?"), "{error}");
}

#[test]
fn one_scenario_is_a_file_or_an_embedded_name() {
    assert_eq!(find_one("demo/aqm").unwrap().name, "demo/aqm");
    let error = find_one("demo").unwrap_err();
    assert!(
        error.contains("is a set") && error.contains("demo/aqm"),
        "{error}"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    let name = file.path().to_string_lossy().into_owned();
    assert_eq!(find_one(&name).unwrap().name, name);
    assert!(
        find_one("nowhere.toml")
            .unwrap_err()
            .contains("there is no file")
    );
}

#[test]
fn files_with_links_or_flows_of_a_folder_run() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_string_lossy().into_owned();
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    write("Cargo.toml", "[package]\nname = \"x\"\n");
    let error = find(&name).unwrap_err();
    assert!(
        error.starts_with(&name) && error.contains("`links` and `flows`"),
        "{error}"
    );
    write("a.toml", "[flows.call]\nkind = \"call\"\n");
    write("b.toml", "[links");
    let found = find(&name).unwrap();
    let names: Vec<&str> = found
        .iter()
        .filter_map(|e| e.name.rsplit('/').next())
        .collect();
    assert_eq!(
        names,
        ["a.toml", "b.toml"],
        "what is half right has to be told"
    );
}

#[test]
fn a_comparison_plays_each_trace_of_a_pattern_once() {
    let folder = tempfile::tempdir().unwrap();
    for walk in 1..=3 {
        std::fs::write(folder.path().join(format!("{walk}.csv")), "0,1000\n").unwrap();
    }
    let link = format!("wifi=trace={}/*.csv", folder.path().display());
    let text = comparison(&[link], 1).unwrap();
    assert_eq!(Scenario::parse("compare", &text, &[]).unwrap().seeds, 3);
}

#[test]
fn links_of_the_command_line_are_a_scenario() {
    let links = [
        "wifi=rate=10mbit,delay=15ms".to_owned(),
        "lte=rate=5mbit,delay=40ms,loss=1%".to_owned(),
    ];
    let text = comparison(&links, 2).unwrap();
    let scenario = Scenario::parse("compare", &text, &[]).unwrap();
    let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["webrtc@wifi", "webrtc@lte", "weft"]);
    assert_eq!(scenario.seeds, 20);
    assert_eq!(scenario.variants[2].setup.flows[0].routes.len(), 2);
    assert_eq!(scenario.variants[1].setup.flows[0].routes.len(), 1);
    let error = comparison(&["rate=10mbit".to_owned()], 1).unwrap_err();
    assert!(error.contains("NAME=SPEC"), "{error}");
    let error = comparison(&["rate=10mbit,delay=15ms".to_owned()], 1).unwrap_err();
    assert!(error.contains("wifi=rate=10mbit,delay=15ms"), "{error}");
    comparison(&["burst=rate=5mbit".to_owned()], 1).expect("a link may be called like a key");
    let twice = [links[0].clone(), "wifi=rate=5mbit".to_owned()];
    let error = comparison(&twice, 1).unwrap_err();
    assert!(error.contains("wifi=rate=5mbit") && error.contains("name of its own"));
}
