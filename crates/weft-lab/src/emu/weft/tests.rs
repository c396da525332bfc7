use weft_sim::FlowKind;

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

/// What is said of a call from the source, whose ends wrote this.
fn said(source: &str, sink: &str) -> Result<Vec<Told>, Trouble> {
    let text = "title = \"t\"\nduration = \"10s\"\n[links.a]\nspec = \"rate=5mbit\"\n\
                [flows.call]\nkind = \"call\"";
    let systems = ["systems=[\"weft\"]".to_owned()];
    let scenario = Scenario::parse("t.toml", text, &systems).unwrap();
    let FlowKind::Call(call) = &scenario.variants[0].setup.flows[0].kind else {
        panic!("a call");
    };
    let scratch = tempfile::tempdir().unwrap();
    for (end, text) in [(End::Source, source), (End::Sink, sink)] {
        std::fs::write(file(scratch.path(), 0, end), text).unwrap();
    }
    told(scratch.path(), (0, "call"), call)
}

#[test]
fn a_call_that_never_was_is_no_call_without_traffic() {
    const ALONE: &str = "{\"unix_ms\":1000}\n{\"unix_ms\":2000}\n";
    const HEARD: &str = "{\"unix_ms\":3000,\"received\":{\"source\":{\"bytes\":9}}}\n";
    let all = said(ALONE, &format!("{ALONE}{HEARD}")).unwrap();
    let samples = all.iter().map(|told| (told.end, told.samples.len()));
    let samples: Vec<(End, usize)> = samples.collect();
    assert_eq!(samples, [(End::Source, 2), (End::Sink, 3)]);
    let never = |source, sink| match said(source, sink) {
        Err(Trouble::Run(text)) => text,
        other => panic!("{other:?}"),
    };
    let text = never("", HEARD);
    assert!(text.starts_with("weft at the source of flow `call` has told no"));
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
