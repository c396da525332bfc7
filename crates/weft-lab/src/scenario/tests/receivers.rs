use weft_experiment::SideSetup;
use weft_session::{ReceiverProfile, Reordering};

use super::*;

const CALL: &str = r#"
title = "A call"
duration = "30s"
systems = ["then"]
[links]
line = "rate=2mbit"
[flows.call]
kind = "call"
repair-decoding = "1ms"
[system.then]
scheduler = "converge"
"#;

fn sides(entry: &str) -> [SideSetup; 2] {
    let scenario = parse(&format!("{CALL}{entry}"), &[]).unwrap();
    match &scenario.variants[0].setup.flows[0].kind {
        FlowKind::Call(call) => [call.caller.clone(), call.callee.clone()],
        _ => panic!("not a call"),
    }
}

fn error(entry: &str) -> String {
    parse(&format!("{CALL}{entry}"), &[]).unwrap_err()
}

#[test]
fn a_system_does_without_one_part_or_several() {
    let of = |entry: &str| sides(entry).map(|side| side.ablations);
    let none = Ablations::NONE;
    assert_eq!(of(""), [none; 2]);
    assert_eq!(of("without = \"nothing\""), [none; 2]);
    let both = none.with(Ablation::PathRepair).with(Ablation::PathDeath);
    assert_eq!(of("without = [\"path-death\", \"path-repair\"]"), [both; 2]);
    assert_eq!(
        of("without = [\"feedback\"]"),
        [Ablation::Feedback.into(); 2]
    );
    for (without, part) in [
        (
            "\"fec\"",
            "there is no part to leave out `fec`: write feedback, priorities",
        ),
        (
            "[\"in-flight\", \"fec\"]",
            "there is no part to leave out `fec`",
        ),
        ("[]", "`without` is empty: name at least one part"),
        (
            "[\"in-flight\", \"in-flight\"]",
            "`in-flight` is named twice: remove one",
        ),
        (
            "[\"nothing\", \"in-flight\"]",
            "`nothing` stands beside other parts",
        ),
        (
            "\"copies\"",
            "`copies` is a part of the scheduler weft, and this system has converge",
        ),
        ("3", "a text or a list of texts"),
    ] {
        let error = error(&format!("without = {without}"));
        assert!(error.starts_with("t.toml:12:"), "{error}");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_system_names_its_receiver_or_describes_it() {
    let of = |entry: &str| {
        let [caller, callee] = sides(entry);
        assert_eq!(caller.receiver, callee.receiver);
        callee.receiver
    };
    assert_eq!(of(""), ReceiverProfile::default());
    assert_eq!(of("receiver = \"weft\""), ReceiverProfile::default());
    let then = ReceiverProfile::LIBWEBRTC_2022;
    assert_eq!(of("receiver = \"libwebrtc-2022\""), then);
    // Each part of it alone, and all parts one by one.
    let parts = [
        "keyframe-patience = \"3s\"",
        "reordering = \"measured\"",
        "packet-buffer = 2048",
        "frame-buffer = 800",
    ];
    assert_eq!(of(&parts.join("\n")), then);
    for part in parts {
        assert_ne!(of(part), then, "{part}");
        assert_ne!(of(part), ReceiverProfile::default(), "{part}");
        let error = error(&format!("receiver = \"libwebrtc-2022\"\n{part}"));
        assert!(error.starts_with("t.toml:13:"), "{error}");
        assert!(error.contains("remove one of the two"), "{error}");
    }
    assert_eq!(of("reordering = \"fixed\"").reordering, Reordering::Fixed);
    for (entry, part) in [
        ("receiver = \"libwebrtc\"", "did you mean `libwebrtc-2022`?"),
        ("reordering = \"none\"", "there are fixed, measured"),
        (
            "keyframe-patience = \"1ms\"",
            "`keyframe-patience` is 50 to 60000 ms",
        ),
        (
            "packet-buffer = 4096",
            "`packet-buffer` is 64 to 2048 packets",
        ),
        ("frame-buffer = 0", "`frame-buffer` is 16 to 1000 frames"),
        (
            "repair-decoding = \"1s\"",
            "`repair-decoding` is 0 to 100 ms",
        ),
        ("keyframe-patienc = \"1s\"", "keyframe-patience"),
    ] {
        let error = error(entry);
        assert!(error.starts_with("t.toml:12:"), "{error}");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_system_decodes_repair_packets_in_a_time_of_its_own() {
    let of = |entry: &str| sides(entry).map(|side| side.repair_decoding);
    assert_eq!(of(""), [Duration::from_millis(1); 2]);
    assert_eq!(
        of("repair-decoding = \"5ms\""),
        [Duration::from_millis(5); 2]
    );
    assert_eq!(of("repair-decoding = \"0ms\""), [Duration::ZERO; 2]);
}
