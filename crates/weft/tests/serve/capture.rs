//! `weft serve --pcap` and `--qlog`: packets and events of every connection in one file each.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{PATIENCE, Server, weft};

/// Arguments of a participant in the room `r` on this machine.
fn join(state: &Path, server: &Server, more: &[&str]) -> Command {
    let url = format!("http://{}", server.address);
    let mut command = weft(state);
    command.args(["join", &url, "--room", "r", "--link", "127.0.0.1"]);
    command
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// `weft serve`, to be given options and a place for its files.
fn serve(state: &Path) -> Command {
    let mut command = weft(state);
    command.args(["serve", "--listen", "127.0.0.1:0", "--insecure-http"]);
    command
}

/// Stops the server like a service manager, and waits until it exits.
fn stop(mut server: Server) -> i32 {
    let id = server.child.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &id]).status();
    assert!(sent.expect("kill").success());
    let began = std::time::Instant::now();
    loop {
        if let Some(status) = server.child.try_wait().expect("it is our child") {
            return status.code().unwrap_or(-1);
        }
        assert!(began.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn the_packets_of_a_room_are_in_a_file_for_its_operator() {
    let folder = TempDir::new().expect("a folder");
    let state = folder.path();
    let server = Server::start(serve(state).arg("--pcap").arg(state));
    let file = state.join("serve-1.pcapng");
    server.says("serve-1.pcapng");
    // The thread that writes does not receive the signal.
    server.hang_up();
    let mode = file.metadata().expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut viewer = join(state, &server, &["--seconds", "8"]);
    let mut viewer = viewer.spawn().expect("it starts");
    let media = [
        "--send-only",
        "--camera",
        "clip:320x180@15",
        "--mic",
        "tone",
        "--seconds",
        "6",
    ];
    let sent = join(state, &server, &media).status().expect("it starts");
    assert!(sent.success());
    assert!(viewer.wait().expect("it ends").success());
    assert_eq!(stop(server), 0);

    let mut import = weft(state);
    import.args(["lab", "import", "--json"]).arg(&file);
    let output = import.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let values = &found[0]["values"];
    let number = |name: &str| {
        values[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name} in {found}"))
    };
    // Sound alone has 50 packets a second, in from the sender and out to the viewer.
    assert!(
        number("packets_received") > 250.0 && number("packets_sent") > 200.0,
        "{found}"
    );
    // RTCP is readable, so it is not encrypted.
    assert!(number("rtt_ms_mean") < 1_000.0);
    let notes = found[0]["notes"].to_string();
    assert!(
        notes.contains(" publish") && notes.contains(" receive"),
        "{notes}"
    );
}

#[test]
fn an_existing_file_is_not_replaced() {
    let folder = TempDir::new().expect("a folder");
    let state = folder.path();
    std::fs::write(state.join("taken"), "kept").expect("written");
    let refused = serve(state).arg("--pcap").arg(state.join("taken")).output();
    let refused = refused.expect("it runs");
    assert_eq!(refused.status.code(), Some(2));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("taken"), "{text}");
    let kept = std::fs::read_to_string(state.join("taken"));
    assert_eq!(kept.expect("it is there"), "kept");
}

#[test]
fn the_events_of_a_room_are_in_a_file_for_its_operator() {
    let folder = TempDir::new().expect("a folder");
    let state = folder.path();
    let server = Server::start(serve(state).arg("--qlog").arg(state));
    let file = state.join("serve-1.sqlog");
    server.says("serve-1.sqlog");
    let media = [
        "--send-only",
        "--camera",
        "clip:320x180@15",
        "--seconds",
        "4",
    ];
    let sent = join(state, &server, &media).status().expect("it starts");
    assert!(sent.success());
    assert_eq!(stop(server), 0);

    let text = std::fs::read_to_string(&file).expect("a file");
    let events: Vec<Value> = text
        .split('\u{1e}')
        .skip(2)
        .map(|text| serde_json::from_str(text).expect("JSON"))
        .collect();
    let of = |name: &str| {
        let named = events.iter().filter(|event| event["name"] == name);
        named.collect::<Vec<&Value>>()
    };
    let [begun] = of("call:connection_started")[..] else {
        panic!("one connection: {:?}", of("call:connection_started"));
    };
    assert_eq!(
        (&begun["data"]["room"], &begun["data"]["purpose"]),
        (&"r".into(), &"publish".into())
    );
    let up = of("call:path_state_updated");
    assert_eq!(up[0]["data"]["new"], "up");
    let assigned = of("call:path_assigned");
    assert!(
        assigned[0]["data"]["remote"]
            .as_str()
            .is_some_and(|a| a.starts_with("127.0.0.1:"))
    );
    assert!(!of("call:path_metrics_updated").is_empty());
    // 15 pictures a second for some seconds.
    assert!(of("call:packet_received").len() >= 30);
    assert!(
        events
            .iter()
            .all(|event| event["group_id"] == begun["group_id"])
    );
    assert!(!text.contains("keyframe"), "no frames are here");
}

#[test]
fn a_folder_that_cannot_have_events_is_an_error_at_the_start() {
    let folder = TempDir::new().expect("a folder");
    let mut command = serve(folder.path());
    let output = command
        .args(["--qlog", "/proc/no/such/folder/"])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("/proc/no/such/folder/"), "{text}");
    assert!(text.contains("choose a folder"), "{text}");
}
