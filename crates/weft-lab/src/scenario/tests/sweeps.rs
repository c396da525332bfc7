//! Several values in one argument of `--set`.

use super::*;

const TWO: &str = r#"
title = "A call"
duration = "10s"
systems = ["webrtc@line", "weft"]

[links.line]
spec = "rate=2mbit,delay=25ms"

[flows.call]
kind = "call"

[[vary]]
key = "flows.call.streams"
values = [1, 2]
label = "cameras"

[[published]]
system = "weft (cameras 1)"
metric = "fps"
value = 24.0
source = "a book"
"#;

fn names(set: &[&str]) -> Vec<String> {
    let scenario = parse(TWO, set).unwrap();
    scenario.variants.into_iter().map(|v| v.name).collect()
}

#[test]
fn every_system_runs_with_the_product_of_all_values() {
    let set = [
        "flows.call.streams=3",
        "links.line.delay=10ms,50ms,100ms",
        "links.line.loss=0%,2%",
    ];
    let scenario = parse(TWO, &set).unwrap();
    assert_eq!(scenario.variants.len(), 2 * 3 * 2);
    assert_eq!(
        scenario.variants[0].name,
        "webrtc@line (cameras 3, line.delay 10ms, line.loss 0%)"
    );
    let last = &scenario.variants[11];
    assert_eq!(
        last.name,
        "weft (cameras 3, line.delay 100ms, line.loss 2%)"
    );
    assert_eq!(
        forward(&last.setup.links[0]),
        "rate=2mbit,delay=100ms,loss=2%".parse().unwrap()
    );
    let keys: Vec<&str> = last.case.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(
        keys,
        ["flows.call.streams", "links.line.delay", "links.line.loss"]
    );
    let values: Vec<Vec<&str>> = scenario.axes.iter().map(|a| a.values().collect()).collect();
    assert_eq!(values[1], ["10ms", "50ms", "100ms"]);
}

#[test]
fn values_of_a_varied_field_replace_those_of_the_file() {
    let all = names(&["flows.call.streams=2,4"]);
    assert_eq!(all.len(), 4);
    assert_eq!(all[3], "weft (cameras 4)");
    let scenario = parse(TWO, &["flows.call.streams=2,4"]).unwrap();
    assert!(scenario.is_as_published);
}

#[test]
fn published_values_do_not_count_for_a_sweep() {
    let scenario = parse(TWO, &["links.line.delay=1ms,2ms"]).unwrap();
    let notes = scenario.notes();
    assert!(
        notes.iter().any(|note| note.contains("--set varies more")),
        "{notes:?}"
    );
    assert!(
        parse(TWO, &["links.line.delay=1ms"])
            .unwrap()
            .is_as_published
    );
}

#[test]
fn a_bad_sweep_names_the_argument_and_the_remedy() {
    for (set, parts) in [
        (
            &["links.line.dealy=10ms,20ms"][..],
            &[
                "--set links.line.dealy=10ms,20ms: ",
                "did you mean `delay`?",
            ][..],
        ),
        (
            &["links.lime.delay=10ms,20ms"],
            &["--set links.lime.delay=10ms,20ms: ", "did you mean `line`?"],
        ),
        (
            &["links.line.delay=10ms,2o0ms"],
            &["--set links.line.delay=10ms,2o0ms: ", "2o0ms", "25ms"],
        ),
        (
            &["links.line.delay=10ms,20ms,"],
            &["--set links.line.delay=10ms,20ms,: ", "a value is empty"],
        ),
        (
            &["links.line.delay=10ms,20ms,10ms"],
            &["\"10ms\" is repeated", "once"],
        ),
        (
            &["flows.call.via=[\"a\"],[\"b\"]"],
            &["cannot be lists or tables"],
        ),
        (
            &["seeds=1,2"],
            &["--set seeds=1,2: ", "`seeds` is the same"],
        ),
        (
            &["title=One, two"],
            &["--set title=One, two: ", "a text with a comma in quotes"],
        ),
        (
            &["links.line.delay=1ms,2ms", "links.line.delay=3ms"],
            &["`links.line.delay` is set twice", "one --set"],
        ),
        (
            &["links.line.delay=3ms", "links.line.delay=1ms,2ms"],
            &["`links.line.delay` is set twice"],
        ),
        (&["a b=1,2"], &["--set a b=1,2: ", "is not a dotted path"]),
    ] {
        let error = parse(TWO, set).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "{set:?}: wants {part}: {error}");
        }
    }
    let many: Vec<String> = (0..600).map(|n| format!("{n}ms")).collect();
    let many = format!("links.line.delay={}", many.join(","));
    let error = parse(TWO, &[&many]).unwrap_err();
    assert!(error.contains("at most 1000 combinations"), "{error}");
}
