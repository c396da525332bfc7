use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use weft_experiment::FlowDetail;

use super::*;
use crate::run;
use crate::scenario::Scenario;

const CALL: &str = r#"
title = "A call over two links, of which one loses packets"
duration = "4s"
seeds = 2
systems = ["weft"]

[links.wifi]
spec = "rate=4mbit,delay=15ms,queue=200ms,loss=5%"

[links.lte]
spec = "rate=2mbit,delay=40ms,queue=200ms"

[flows.call]
kind = "call"
max-rate = "3mbit"

[flows.tcp]
kind = "tcp"
via = ["lte"]
"#;

fn scenario() -> Scenario {
    Scenario::parse("t.toml", CALL, &[]).unwrap()
}

/// Runs the first seed and returns its output.
fn traced(folder: &Path) -> RunOutput {
    let tracing = Tracing::new(Some(folder), Some(folder)).unwrap();
    let setup = &scenario().variants[0].setup;
    tracing
        .run("weft.seed1", setup, 1, &|| false)
        .unwrap()
        .unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let file = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    };
    entries.map(file).collect()
}

#[test]
fn a_seed_gives_the_same_bytes_and_the_record_of_the_simulator() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let outputs = folders.each_ref().map(|folder| traced(folder.path()));
    let setup = &scenario().variants[0].setup;
    let plain = Simulator.run("weft.seed1", setup, 1, &|| false).unwrap();
    assert_eq!(outputs[0].record, plain.unwrap().record);
    let [first, second] = folders.each_ref().map(|folder| files(folder.path()));
    let names: Vec<&str> = first.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "weft.seed1.call.callee.pcapng",
            "weft.seed1.call.callee.sqlog",
            "weft.seed1.call.caller.pcapng",
            "weft.seed1.call.caller.sqlog"
        ]
    );
    assert!(first == second, "the bytes differ");
}

/// Events of a log, with the time of each.
fn events(text: &[u8]) -> Vec<(f64, String, Value)> {
    let text = std::str::from_utf8(text).unwrap();
    let texts = text.split('\u{1e}').skip(2);
    let event = |text: &str| {
        let event: Value = serde_json::from_str(text).unwrap();
        let name = event["name"].as_str().unwrap().to_owned();
        (event["time"].as_f64().unwrap(), name, event["data"].clone())
    };
    texts.map(event).collect()
}

#[test]
fn the_events_of_both_ends_agree_with_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let record = traced(folder.path()).record;
    let FlowDetail::Call(call) = &record.flows[0].detail else {
        panic!("the first flow is the call");
    };
    let files = files(folder.path());
    let [caller, callee] =
        ["caller", "callee"].map(|end| events(&files[&format!("weft.seed1.call.{end}.sqlog")]));
    for log in [&caller, &callee] {
        assert!(log.is_sorted_by_key(|(at, ..)| *at));
    }
    let count = |log: &[(f64, String, Value)], wanted: &str| {
        let named = log.iter().filter(|(_, name, _)| name == wanted);
        named.count()
    };
    let streams = &call.caller.streams;
    let encoded: usize = streams.iter().map(|stream| stream.frames.len()).sum();
    let frames = streams.iter().flat_map(|stream| stream.frames.iter());
    let shown = frames.filter(|frame| frame.shown.is_some()).count();
    assert!(shown > 100);
    assert_eq!(count(&caller, "call:frame_encoded"), encoded);
    assert_eq!(count(&callee, "call:frame_shown"), shown);
    assert_eq!(count(&caller, "call:path_assigned"), 2);
    let states = call.caller.path_changes.len();
    assert_eq!(count(&caller, "call:path_state_updated"), states);
    // The rate of the better path is that of the last sample.
    let last = &call.caller.series.last().unwrap().paths[0];
    let metrics = caller
        .iter()
        .rev()
        .find(|(_, name, data)| name == "call:path_metrics_updated" && data["path"] == 0);
    let rate = &metrics.unwrap().2["target_rate"];
    assert_eq!(rate.as_u64(), Some(last.target_rate.as_bps()));
}

#[test]
fn a_full_disk_ends_the_runs_and_keeps_the_finished_ones() {
    let folder = tempfile::tempdir().unwrap();
    let tracing = Tracing::new(Some(folder.path()), None).unwrap();
    let draft = folder.path().join("weft.seed2.call.callee.pcapng.part");
    symlink("/dev/full", &draft).unwrap();
    let mut results = Vec::new();
    let stop = AtomicBool::new(false);
    let ran = run::run(&scenario(), &tracing, 1, &stop, |ended| {
        results.push(ended);
        Ok::<(), Infallible>(())
    });
    ran.unwrap();
    let [Ok(_), Err(failed)] = &results[..] else {
        panic!("{results:?}");
    };
    let EngineError::Lacking(text) = &failed.error else {
        panic!("{:?}", failed.error);
    };
    assert!(
        text.contains("weft.seed2.call.callee.pcapng: No space left"),
        "{text}"
    );
    assert!(text.contains("make room there"), "{text}");
    let left = files(folder.path());
    assert!(
        left.keys().all(|name| name.starts_with("weft.seed1.")),
        "{:?}",
        left.keys()
    );
    assert_eq!(left.len(), 2);
}

#[test]
fn a_stopped_run_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let tracing = Tracing::new(Some(folder.path()), None).unwrap();
    let setup = &scenario().variants[0].setup;
    let output = tracing.run("weft.seed1", setup, 1, &|| true).unwrap();
    assert!(output.is_none() && files(folder.path()).is_empty());
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Tracing::new(None, Some(&file.join("folder")))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("file/folder: ") && error.ends_with("that you may write"),
        "{error}"
    );
}

/// Returns the values of `fields` for each packet selected by `filter`.
fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file);
    tshark.args(["-d", "udp.port==5004,rtp", "-Y", filter, "-T", "fields"]);
    tshark.args(fields.iter().flat_map(|field| ["-e", field]));
    let output = tshark.output().ok()?;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| line.split('\t').map(str::to_owned).collect();
    Some(text.lines().map(row).collect())
}

#[test]
fn tshark_reads_what_each_end_sent_and_received() {
    let folder = tempfile::tempdir().unwrap();
    let record = traced(folder.path()).record;
    let file = |end: &str| folder.path().join(format!("weft.seed1.call.{end}.pcapng"));
    let [caller, callee] = ["caller", "callee"].map(file);
    let wrong = "_ws.malformed || _ws.expert.severity >= 8388608";
    let Some(wrong) = tshark(&caller, wrong, &["frame.number"]) else {
        return weft_testing::skipped("no tshark here");
    };
    assert_eq!(wrong.len(), 0, "packets that Wireshark calls malformed");
    for (route, link) in ["wifi", "lte"].into_iter().enumerate() {
        let packets = |file: &Path, direction: u32| {
            let here = format!("frame.interface_name == {link}");
            let filter = format!("{here} && frame.packet_flags_direction == {direction}");
            tshark(file, &filter, &["rtp.ssrc", "rtp.seq", "rtcp.pt"]).unwrap()
        };
        let (inbound, outbound) = (1, 2);
        let (sent, arrived) = (packets(&caller, outbound), packets(&callee, inbound));
        let leg = &record.flows[0].routes[route].there;
        // The rest is the handshake, and a few ICE checks per second.
        let counted = |packets: &[Vec<String>], count: u64| {
            let rest = count - packets.len() as u64;
            assert!(rest < 60, "{link}: {rest} of {count} are not captured");
        };
        counted(&sent, leg.sent.packets);
        counted(&arrived, leg.delivered.packets);
        let rtp = |packets: &[Vec<String>]| -> BTreeSet<Vec<String>> {
            let rtp = packets.iter().filter(|packet| !packet[0].is_empty());
            rtp.cloned().collect()
        };
        let (sent, arrived) = (rtp(&sent), rtp(&arrived));
        assert!(
            sent.is_superset(&arrived),
            "a packet arrives that was not sent"
        );
        let lost = 1.0 - arrived.len() as f64 / sent.len() as f64;
        let possible = if link == "wifi" { 0.02..0.1 } else { 0.0..0.1 };
        assert!(
            possible.contains(&lost),
            "{link}: {lost} of the packets are absent"
        );
        let feedback = packets(&caller, inbound);
        assert!(
            feedback.iter().any(|packet| packet[2].contains("205")),
            "{link}: no feedback"
        );
    }
}
