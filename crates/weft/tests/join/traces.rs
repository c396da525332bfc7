//! `--pcap` and `--qlog` of real calls, read by tshark and as JSON.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use weft_testing::{skipped, where_the_machine_keeps_up};

use super::fixture::{free_ports, pair, server_at, weft};

/// Returns the path as text.
fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}

/// Returns the values of `fields` for each packet selected by `filter`, where `port`
/// carries RTP.
fn tshark(file: &Path, port: u16, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file);
    tshark.args(["-d", &format!("udp.port=={port},rtp")]);
    tshark.args(["-Y", filter, "-T", "fields"]);
    tshark.args(fields.iter().flat_map(|field| ["-e", field]));
    let output = tshark.output().ok()?;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let row = |line: &str| line.split('\t').map(str::to_owned).collect();
    Some(text.lines().map(row).collect())
}

/// Returns the events of a log.
fn events(path: &Path) -> Vec<Value> {
    let log = std::fs::read_to_string(path).expect("a log");
    let events = log.split('\u{1e}').skip(2);
    let event = |text| serde_json::from_str(text).expect("an event");
    events.map(event).collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    let named = events.iter().filter(|event| event["name"] == name);
    named.map(|event| &event["data"]).collect()
}

/// Runs a call for some seconds over two links; returns the port of the server's media.
fn call(folder: &Path) -> u16 {
    let (http, media) = free_ports();
    let _server = server_at((http, media), &folder.join("none"));
    let url = format!("http://127.0.0.1:{http}");
    let here = ["join", &url, "--room", "r"];
    let (packets, log) = (folder.join("eve.pcapng"), folder.join("eve.sqlog"));
    let eve = ["--link", "127.0.0.1", "--seconds", "9"];
    let traces = ["--pcap", text(&packets), "--qlog", text(&log)];
    let mut eve = weft(&[&here[..], &eve, &traces].concat());
    let links = ["--link", "wifi=127.0.0.1", "--link", "lte=127.0.0.2"];
    let media_args = ["--camera", "clip:360p", "--mic", "tone", "--seconds", "6"];
    let traces = ["--pcap", text(folder), "--qlog", text(folder)];
    let mut van = weft(&[&here[..], &links, &media_args, &traces].concat());
    van.says("writing");
    assert_eq!(van.status(), Some(0));
    assert_eq!(eve.status(), Some(0));
    media
}

#[test]
fn tshark_and_a_reader_of_qlog_find_both_links_of_a_call() {
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let port = call(folder.path());
        let file = |name: &str| folder.path().join(name);
        let (packets, log) = (file("join-1.pcapng"), file("join-1.sqlog"));
        for file in [&packets, &log] {
            let mode = file.metadata().expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", file.display());
        }
        let events = events(&log);
        let links: BTreeSet<&str> = named(&events, "call:path_assigned")
            .iter()
            .filter_map(|path| path["links"].as_str())
            .collect();
        assert_eq!(links, BTreeSet::from(["lte", "wifi"]));
        let up = named(&events, "call:path_state_updated");
        assert!(up.iter().filter(|path| path["new"] == "up").count() >= 2);
        assert!(named(&events, "call:frame_encoded").len() > 100);
        let metrics = named(&events, "call:path_metrics_updated");
        let has_values = |path: &&&Value| {
            path["controller"]
                .as_object()
                .is_some_and(|c| !c.is_empty())
        };
        assert!(metrics.iter().filter(has_values).count() > 20);
        let times = events.iter().map(|event| event["time"].as_f64());
        assert!(times.is_sorted());

        let theirs = self::events(&file("eve.sqlog"));
        assert!(named(&theirs, "call:frame_shown").len() > 100);

        let wrong = "_ws.malformed || _ws.expert.severity >= 8388608";
        let Some(wrong) = tshark(&packets, port, wrong, &["frame.number"]) else {
            return skipped("no tshark here");
        };
        assert_eq!(wrong.len(), 0, "packets that Wireshark calls malformed");
        let (mut all, mut feedback) = (0, 0);
        for link in ["wifi", "lte"] {
            let of = |kind: &str, direction: u32| {
                let filter = format!(
                    "frame.interface_name == {link} && {kind} && \
                     frame.packet_flags_direction == {direction}"
                );
                let fields = ["rtp.ssrc", "rtp.seq", "rtcp.pt", "udp.checksum.status"];
                tshark(&packets, port, &filter, &fields).expect("tshark is here")
            };
            let (inbound, outbound) = (1, 2);
            let sent = of("rtp", outbound);
            assert!(sent.len() > 20, "{link}: {} packets of media", sent.len());
            all += sent.len();
            feedback += of("rtcp", inbound).len();
        }
        // Feedback arrives over both links, and SRTP drops the second copy.
        assert!(feedback > 40, "{feedback} packets of feedback");
        assert_eq!(named(&events, "call:packet_sent").len(), all);

        // The other participant receives VP8 and Opus, without malformed packets.
        let other = file("eve.pcapng");
        let shown = tshark(&other, port, "rtp", &["rtp.ssrc"]).expect("tshark is here");
        assert!(shown.len() > 300, "{}", shown.len());
        let wrong = "_ws.malformed || _ws.expert.severity >= 8388608";
        let wrong = tshark(&other, port, wrong, &["frame.number"]).expect("tshark is here");
        assert_eq!(wrong.len(), 0, "packets that Wireshark calls malformed");
    });
}

#[test]
fn a_full_disk_ends_the_trace_and_not_the_call() {
    // The permission for network namespaces includes the permission to mount.
    let Some(_namespaces) = pair() else { return };
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = free_ports();
        let _media = server_at(ports, &folder.path().join("none"));
        let url = format!("http://127.0.0.1:{}", ports.0);
        let small = folder.path().join("small");
        std::fs::create_dir(&small).expect("a folder");
        // A file system of 256 kB in a separate mount namespace.
        let script = "mount -t tmpfs -o size=256k none \"$1\" && shift && \"$@\"; status=$?; \
                      stat -c %s \"$0\"/* >&2; exit $status";
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, text(&small), text(&small)]);
        command.args([env!("CARGO_BIN_EXE_weft"), "join", &url, "--room", "r"]);
        command.args([
            "--link",
            "127.0.0.1",
            "--camera",
            "clip:360p",
            "--seconds",
            "8",
        ]);
        command.args(["--pcap", text(&small), "--stats", "/dev/stdout"]);
        let mut van = super::fixture::Program::start(&mut command);
        van.says(
            "No space left on device (os error 28); the trace ends here; media is not affected",
        );
        van.shows("a call that continues", |figures| {
            figures["t"].as_f64() > Some(5.0)
                && figures["peers"][0]["target_mbps"].as_f64() > Some(0.3)
        });
        van.says("a trace is incomplete");
        assert_eq!(van.status(), Some(1));
    });
}

#[test]
fn a_file_that_exists_is_kept_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("call.pcapng");
    std::fs::write(&file, "mine").expect("a file");
    for command in ["join", "publish"] {
        let about = [command, "http://127.0.0.1:9/whip/r", "--mic", "tone"];
        let room = ["--room", "r"];
        let room = if command == "join" { &room[..] } else { &[] };
        let mut weft = weft(&[&about[..], room, &["--pcap", text(&file)]].concat());
        weft.says("exists already: remove it, name another file, or name a folder");
        assert_eq!(weft.status(), Some(2));
    }
    assert_eq!(std::fs::read(&file).expect("a file"), b"mine");
}
