//! `weft serve --pcap`: the packets of every connection in one file.

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
    let mut command = weft(state);
    command.args(["serve", "--listen", "127.0.0.1:0", "--insecure-http"]);
    let server = Server::start(command.arg("--pcap").arg(state));
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
    let mut command = weft(state);
    command.args(["serve", "--listen", "127.0.0.1:0", "--insecure-http"]);
    std::fs::write(state.join("taken"), "kept").expect("written");
    let refused = command.arg("--pcap").arg(state.join("taken")).output();
    let refused = refused.expect("it runs");
    assert_eq!(refused.status.code(), Some(2));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("taken"), "{text}");
    let kept = std::fs::read_to_string(state.join("taken"));
    assert_eq!(kept.expect("it is there"), "kept");
}
