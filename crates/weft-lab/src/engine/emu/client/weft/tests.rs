use weft_experiment::FlowKind;

use super::*;
use crate::scenario::Scenario;

fn line(second: u32, encoded: u32, skipped: u32) -> Line {
    let text = format!(
        r#"{{"t":{second},"unix_ms":{second}000,"peers":[{{"paths":[],"cameras":[
            {{"width":640,"height":360,"fps":30,"encoded":{encoded},"dropped":0,"skipped":{skipped}}}
        ]}}],"received":{{}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn shortage(lines: &[Line]) -> Vec<f64> {
    let mut samples: Vec<Sample> = lines.iter().map(sample).collect();
    add_shortage(&mut samples, lines, 30);
    let sent = samples.iter().filter_map(|sample| sample.sent.as_ref());
    sent.filter_map(|sent| sent.cpu_limited_s).collect()
}

fn scenario(set: &[&str]) -> Scenario {
    let text = "title = \"t\"\nduration = \"10s\"\nsystems = [\"weft\"]\n[links.a]\n\
                spec = \"rate=5mbit\"\n[flows.call]\nkind = \"call\"";
    let set: Vec<String> = set.iter().map(|&set| set.to_owned()).collect();
    Scenario::parse("t.toml", text, &set).unwrap()
}

fn call(scenario: &Scenario) -> &CallSetup {
    match &scenario.variants[0].setup.flows[0].kind {
        FlowKind::Call(call) => call,
        other => panic!("{other:?} is no call"),
    }
}

/// Evaluates a call from the source; its ends wrote these lines until 4 s.
fn said(source: &str, sink: &str) -> Result<Vec<ClientLog>, EngineError> {
    let scenario = scenario(&[]);
    let scratch = tempfile::tempdir().unwrap();
    for (end, text) in [(End::Source, source), (End::Sink, sink)] {
        std::fs::write(file(scratch.path(), 0, end), text).unwrap();
    }
    logs(scratch.path(), (0, "call"), call(&scenario), 4e3)
}

#[test]
fn cameras_are_reported_as_in_the_scenario() {
    let arguments = |set: &[&str]| {
        let scenario = scenario(set);
        sending(&call(&scenario).caller, &["10.0.0.1".to_owned()]).join(" ")
    };
    let text = arguments(&["flows.call.system=min-rtt/nada"]);
    assert!(
        text.contains("--scheduler min_rtt --prefer balanced --protection path_specific"),
        "{text}"
    );
    let text = arguments(&[
        "flows.call.streams=2",
        "flows.call.resolution=540p",
        "flows.call.encoder=h264",
        "flows.call.degradation=balanced",
    ]);
    let cameras =
        "--camera clip:960x540@30 --camera clip:960x540@30 --degradation balanced --codec h264";
    assert!(text.contains(cameras), "{text}");
    assert!(arguments(&[]).contains("--camera clip:1280x720@30 "));
}

#[test]
fn an_end_that_falls_silent_hangs() {
    let line = |ms: u32| format!(r#"{{"unix_ms":{ms},"received":{{"s":{{"bytes":9}}}}}}"#);
    let silent = |first: u32, last: u32, ended: f64| {
        let text = format!("{}\n{}", line(first), line(last));
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Line>(line).unwrap());
        let lines: Vec<Line> = lines.collect();
        check(&lines, &call(&scenario(&[])).caller, ended)
            .is_err_and(|text| text.starts_with("hangs"))
    };
    assert!(!silent(1_000, 2_000, 11_000.0));
    assert!(silent(1_000, 2_000, 12_500.0), "until the end");
    assert!(silent(1_000, 12_000, 12_500.0), "for a time");
    assert!(!silent(1_000, 2_000, 1_500.0), "it outlives its flow");
}

#[test]
fn a_receiver_without_keyframe_requests_says_so() {
    let of = |received: &str| {
        let text = format!(r#"{{"unix_ms":1000,"peers":[{{"received":{received}}}]}}"#);
        sample(&serde_json::from_str(&text).unwrap())
            .sent
            .map(|sent| sent.plis)
    };
    assert_eq!(
        of(r#"[{"playout_ms":1,"keyframe_requests":0}]"#),
        Some(Some(0.0))
    );
    assert_eq!(of("[]"), None);
}

#[test]
fn a_call_without_traffic_differs_from_none() {
    const ALONE: &str = "{\"unix_ms\":1000}\n{\"unix_ms\":2000}\n";
    const HEARD: &str = "{\"unix_ms\":3000,\"received\":{\"source\":{\"bytes\":9}}}\n";
    let all = said(ALONE, &format!("{ALONE}{HEARD}")).unwrap();
    let samples = all.iter().map(|told| (told.end, told.samples.len()));
    let samples: Vec<(End, usize)> = samples.collect();
    assert_eq!(samples, [(End::Source, 2), (End::Sink, 3)]);
    let never = |source, sink| match said(source, sink) {
        Err(EngineError::Run(text)) => text,
        other => panic!("{other:?}"),
    };
    let text = never("", HEARD);
    assert!(text.starts_with("weft at the source of flow `call` has reported no"));
    let text = never(ALONE, ALONE);
    assert!(text.starts_with("weft at the sink of flow `call` has received no media"));
}

#[test]
fn the_round_trip_is_the_sources_alone() {
    let line = |rtt: f64| {
        format!(
            r#"{{"unix_ms":1000,"peers":[{{"paths":[{{"rtt_ms":{rtt},"sent_bytes":1}}]}}],"received":{{"s":{{"bytes":9}}}}}}"#
        )
    };
    let all = said(&line(120.0), &line(0.2)).unwrap();
    let trips = all.iter().map(|told| (told.end, told.samples[0].rtt_ms));
    let trips: Vec<(End, Option<f64>)> = trips.collect();
    assert_eq!(trips, [(End::Source, Some(120.0)), (End::Sink, None)]);
}

#[test]
fn pictures_that_nobody_had_time_for_are_a_shortage_of_processor() {
    // 30 a second at first, then 15 and 0.
    let lines = [
        line(1, 7, 0),
        line(2, 37, 0),
        line(3, 52, 0),
        line(4, 52, 0),
    ];
    assert_eq!(shortage(&lines), [0.0, 0.0, 0.5, 1.5]);
}

#[test]
fn pictures_that_the_network_has_no_room_for_are_none() {
    let lines = [line(1, 7, 0), line(2, 20, 17), line(3, 20, 47)];
    assert_eq!(shortage(&lines), [0.0, 0.0, 0.0]);
}
