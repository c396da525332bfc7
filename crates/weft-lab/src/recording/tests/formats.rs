//! Compares the metrics of a call with those of its files.

use std::fs;
use std::process::Command;

use super::*;

#[test]
fn a_capture_of_a_simulated_call_has_its_rates_and_losses() {
    let simulated = Simulated::new();
    let [caller, callee] = ["caller", "callee"].map(|end| read_one(&simulated.file(end, "pcapng")));
    assert_eq!(callee.format, Format::Capture);
    // The simulator counts 16 bytes of SRTP for each RTP packet, which the files lack.
    let packets = value(&callee, "packets_received");
    // The simulator also counts ICE checks.
    assert!(packets < simulated.values["packets_received"]);
    assert_near(packets, simulated.values["packets_received"], 0.03);
    let srtp = packets * 16.0 * 8.0 / 1e6 / callee.seconds;
    let rate = value(&callee, "throughput_mbps") + srtp;
    assert_near(rate, simulated.values["throughput_mbps"], 0.02);
    let sent = value(&caller, "sent_mbps");
    assert!(sent > value(&callee, "throughput_mbps"));
    // 30 pictures a second, minus those of which no packet arrived.
    assert!(
        (29.0..=30.5).contains(&value(&callee, "fps_received")),
        "{:?}",
        callee.values
    );
    // Loss of distinct packets; the simulator counts copies and losses on each link.
    let loss = value(&callee, "loss");
    assert!(loss > 0.001 && loss < 0.04, "{loss}");
    // Twice the delays of the links, and their queues.
    let rtt = value(&caller, "rtt_ms_mean");
    assert!((30.0..250.0).contains(&rtt), "{rtt}");
    for recording in [&caller, &callee] {
        assert!(!has(recording, "freeze_s") && recording.freezes.is_none());
        assert!(!has(recording, "fps") && !has(recording, "e2e_ms_p95"));
        let (flows, links) = recording.owners();
        assert_eq!((flows.len(), &links[..]), (0, &["lte", "wifi"][..]));
        assert!(
            recording
                .notes
                .iter()
                .any(|note| note.contains("no freezes"))
        );
    }
}

#[test]
fn links_have_the_bytes_of_the_call_together() {
    let simulated = Simulated::new();
    let callee = read_one(&simulated.file("callee", "pcapng"));
    let series = callee.series(1.0, "call");
    assert_eq!(series.t.len(), 12);
    let of = |name: &str, of: &str| {
        let mut columns = series.columns.iter();
        let column = columns.find(|c| c.name == name && c.of == of).unwrap();
        column.values.iter().flatten().sum::<f64>()
    };
    let links = of("link_mbps", "wifi-back") + of("link_mbps", "lte-back");
    assert_near(links, of("rate_mbps", "call"), 1e-6);
}

#[test]
fn the_older_format_has_no_directions_and_needs_the_address() {
    let simulated = Simulated::new();
    let original = simulated.file("callee", "pcapng");
    let path = simulated.folder.path().join("callee.pcap");
    let mut editcap = Command::new("editcap");
    let Ok(ended) = editcap
        .args(["-F", "pcap"])
        .arg(&original)
        .arg(&path)
        .status()
    else {
        return weft_testing::skipped("no editcap here");
    };
    assert!(ended.success());
    let error = read(&path, "x", &[]).unwrap_err().to_string();
    assert!(
        error.contains("callee.pcap: it does not say which end recorded it"),
        "{error}"
    );
    assert!(error.contains("--local 10.0.0.1"), "{error}");
    // Both links of the callee.
    let local = ["10.0.0.2", "10.0.1.2"].map(|address| address.parse().unwrap());
    let found = read(&path, "x", &local).unwrap();
    let original = read_one(&original);
    for name in ["throughput_mbps", "sent_mbps", "loss", "fps_received"] {
        assert_near(value(&found[0], name), value(&original, name), 1e-3);
    }
    let other = ["203.0.113.9".parse().unwrap()];
    let error = read(&path, "x", &other).unwrap_err().to_string();
    assert!(
        error.contains("no RTP of this capture comes from 203.0.113.9"),
        "{error}"
    );
}

#[test]
fn events_of_a_simulated_call_have_its_pictures() {
    let simulated = Simulated::new();
    let callee = read_one(&simulated.file("callee", "sqlog"));
    assert_eq!(callee.format, Format::Qlog);
    // Pictures shown in the last moments were captured after the measured time.
    assert_near(value(&callee, "fps"), simulated.values["fps"], 0.02);
    assert_near(
        value(&callee, "freeze_s") + 1.0,
        simulated.values["freeze_s"] + 1.0,
        0.1,
    );
    let frozen = callee.freezes.as_ref().unwrap();
    assert_near(frozen.seconds, value(&callee, "freeze_s"), 1e-9);
    for name in ["e2e_ms_mean", "e2e_ms_p95"] {
        assert_near(value(&callee, name), simulated.values[name], 0.02);
    }
    let caller = read_one(&simulated.file("caller", "sqlog"));
    assert!(!has(&caller, "fps") && !has(&caller, "freeze_s"));
    assert!(
        caller
            .tracks
            .iter()
            .any(|track| track.quantity == "target_mbps")
    );
    assert!((30.0..250.0).contains(&value(&caller, "rtt_ms_mean")));
}

/// Chromium 156 with its test pattern, both ends in one page; after 6 s all packets were
/// dropped for 1.5 s.
#[test]
fn a_dump_of_chromium_has_its_freeze() {
    let found = read(&fixture("webrtc-internals.gz"), "call", &[]).unwrap();
    assert_eq!(found.len(), 2);
    let [sender, receiver] = &found[..] else {
        panic!("two connections");
    };
    assert_eq!(
        (sender.name.as_str(), receiver.name.as_str()),
        ("call 9-1", "call 9-2")
    );
    assert_eq!(receiver.format, Format::WebrtcInternals);
    assert!(receiver.about.contains("Chrome/156") && receiver.about.contains("VP8"));
    assert_near(receiver.seconds, 13.0, 0.01);
    // `totalFreezesDuration` grew from 0 to 1.55 s, `framesDecoded` from 19 to 279.
    assert_near(value(receiver, "freeze_s"), 1.55, 1e-9);
    assert_near(value(receiver, "freeze_count"), 1.0, 1e-9);
    assert_near(value(receiver, "fps"), 20.0, 0.01);
    let [freeze] = receiver.freezes.as_ref().unwrap().cameras[0][..] else {
        panic!("one freeze");
    };
    assert!(
        (5.0..8.0).contains(&freeze.0) && freeze.1 - freeze.0 < 1.6,
        "{freeze:?}"
    );
    assert!(value(receiver, "throughput_mbps") > 0.1);
    assert!(value(receiver, "height_px") > 0.0 && value(receiver, "rtt_ms_mean") < 50.0);
    // The other connection only sends, so nothing is known about pictures.
    for name in ["fps", "freeze_s", "loss"] {
        assert!(!has(sender, name), "{name}");
    }
    assert!(
        sender
            .tracks
            .iter()
            .any(|track| track.quantity == "target_mbps")
    );
    assert!(
        sender
            .notes
            .iter()
            .any(|note| note.contains("received no video"))
    );
}

#[test]
fn a_dump_may_be_text_and_have_one_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.txt");
    let stat = |kind: &str, values: &str| {
        format!(
            r#"{{"startTime":"a","endTime":"b","statsType":"{kind}","values":"{}"}}"#,
            values.replace('"', "\\\"")
        )
    };
    let stats = [
        ("timestamp", "[1000,2000,3000]"),
        ("kind", r#"["video","video","video"]"#),
        ("bytesReceived", "[1000,126000,251000]"),
        ("headerBytesReceived", "[0,0,0]"),
        ("packetsReceived", "[10,100,190]"),
        ("packetsLost", "[0,5,10]"),
        ("framesDecoded", "[1,26,51]"),
        ("freezeCount", "[0,0,0]"),
        ("totalFreezesDuration", "[0,0,0]"),
    ];
    let stats =
        stats.map(|(name, values)| format!(r#""IN-{name}":{}"#, stat("inbound-rtp", values)));
    let text = format!(
        r#"{{"PeerConnections":{{"1-1":{{"url":"https://example.org/","stats":{{{}}}}}}}}}"#,
        stats.join(",")
    );
    fs::write(&path, text).unwrap();
    let one = read_one(&path);
    assert_eq!(
        (one.name.as_str(), one.about.as_str()),
        ("recorded", "https://example.org/")
    );
    // 250 kB in two seconds; 10 of 190 packets.
    assert_near(value(&one, "throughput_mbps"), 1.0, 1e-9);
    assert_near(value(&one, "goodput_mbps"), 1.0, 1e-2);
    assert_near(value(&one, "loss"), 10.0 / 190.0, 1e-9);
    assert_near(value(&one, "fps"), 25.0, 1e-9);
    assert_near(value(&one, "freeze_s"), 0.0, 1e-9);
    assert!(!has(&one, "rtt_ms_mean") && !has(&one, "sent_mbps"));
}

#[test]
fn a_file_of_flent_has_its_series_as_flows() {
    // Written by flent 2.1.1: `flent ping -l 5 -H 127.0.0.1`.
    let ping = read_one(&fixture("ping.flent.gz"));
    assert_eq!(ping.format, Format::Flent);
    let (flows, links) = ping.owners();
    assert_eq!(
        (&flows[..], links.len()),
        (&["Ping (ms) ICMP", "Ping (ms) UDP"][..], 0)
    );
    // `MEAN_VALUE` of its metadata is over the samples before their interpolation.
    assert_near(value(&ping, "rtt_ms_mean.Ping (ms) ICMP"), 0.044, 0.05);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tcp.flent");
    let text = r#"{"metadata":{"NAME":"tcp_upload","TITLE":"home","STEP_SIZE":0.5,
        "SERIES_META":{"TCP upload":{"UNITS":"Mbits/s"},"Ping (ms) ICMP":{"UNITS":"ms"},
        "qdisc":{"UNITS":"bytes"}}},"results":{"TCP upload":[8.0,12.0,null],
        "Ping (ms) ICMP":[20,30,40],"qdisc":[1,2,3]},"x_values":[0,0.5,1],"version":4}"#;
    fs::write(&path, text).unwrap();
    let tcp = read_one(&path);
    assert_near(value(&tcp, "throughput_mbps"), 10.0, 1e-9);
    assert_near(value(&tcp, "throughput_mbps.TCP upload"), 10.0, 1e-9);
    assert_near(value(&tcp, "rtt_ms_mean"), 30.0, 1e-9);
    assert_eq!((tcp.seconds, tcp.about.as_str()), (1.5, "tcp_upload, home"));
    assert!(
        tcp.notes.iter().any(|note| note.ends_with(": qdisc")),
        "{:?}",
        tcp.notes
    );
}
