//! Links that pass only TCP: through our own TURN server, and through coturn.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use weft_testing::{skipped, where_the_machine_keeps_up};

use super::fixture::{Namespace, PATIENCE, Program, sent};
use super::networks::{SERVER, allow_drops, behind_with, drop_at, join};

/// Maximum time from the start until a link falls back to a relay, and until it carries
/// packets.
const FALLEN_BACK: Duration = Duration::from_secs(3);
const CONNECTED: Duration = Duration::from_secs(4);

fn url() -> String {
    format!("http://{SERVER}:8080")
}

/// Drops UDP to the server on these links.
fn block_udp(server: &Namespace, links: &[&str]) {
    allow_drops(server);
    for link in links {
        drop_at(server, &format!("iif s{link} ipproto udp"));
    }
}

/// Waits until the program has printed all of these; returns the time of each.
fn said(program: &Program, wanted: &[&str]) -> Vec<Duration> {
    let began = Instant::now();
    let mut times = vec![None; wanted.len()];
    let mut lines = Vec::new();
    while times.contains(&None) {
        let left = PATIENCE.saturating_sub(began.elapsed());
        let Ok(line) = program.said.recv_timeout(left) else {
            panic!("not all of {wanted:#?}, but {lines:#?}");
        };
        for (time, words) in times.iter_mut().zip(wanted) {
            if time.is_none() && line.contains(words) {
                *time = Some(began.elapsed());
            }
        }
        lines.push(line);
    }
    times.into_iter().flatten().collect()
}

fn is_up(figures: &Value, link: &str) -> bool {
    let peers = figures["peers"].as_array().expect("peers").iter();
    let mut paths = peers.flat_map(|peer| peer["paths"].as_array().expect("paths"));
    paths.any(|path| path["link"] == link && path["state"] == "up")
}

#[test]
fn a_link_without_udp_is_up_within_4_s_through_the_servers_own_turn() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side, _server)) = behind_with(&["a"], &["--turn"]) else {
            return;
        };
        block_udp(&server_side, &["a"]);
        let sender = Program::start(&mut join(&sender_side, &url(), &["a"]));
        let turn = format!(
            "link `a`: nothing comes back over UDP; using the TURN server {SERVER}:8080 over TCP"
        );
        let times = said(&sender, &[&turn, "link `a` is up", "connected, publishing"]);
        println!("{times:?}");
        assert!(times[0] < FALLEN_BACK && times[2] < CONNECTED, "{times:?}");
        sender.shows("sound", |figures| sent(figures, "a") > 100);
        // Opens the firewall.
        server_side.ip("rule del pref 1 iif sa ipproto udp");
        sender.says("link `a`: UDP comes back");
        sender.shows("sound", |figures| {
            is_up(figures, "a") && sent(figures, "a") > 50
        });
    });
}

#[test]
fn a_link_without_udp_is_one_of_several_and_carries_the_call_alone() {
    where_the_machine_keeps_up(|| {
        let links = ["a", "b"];
        let Some((server_side, sender_side, _server)) = behind_with(&links, &["--turn"]) else {
            return;
        };
        block_udp(&server_side, &["a"]);
        let sender = Program::start(&mut join(&sender_side, &url(), &links));
        said(
            &sender,
            &[
                "link `b` is up",
                "link `a`: nothing comes back",
                "link `a` is up",
            ],
        );
        sender.shows("two links", |f| is_up(f, "a") && is_up(f, "b"));
        server_side.ip("link set dev sb down");
        sender.says("link `b` is down");
        let before = sent(&sender.shows("figures", |_| true), "a");
        sender.shows("sound", |figures| sent(figures, "a") > before + 100);
    });
}

/// Starts coturn at [`SERVER`], with these options besides its ports and one user.
fn coturn(side: &Namespace, folder: &Path, options: &[&str]) -> Program {
    let [certificate, key] = ["turn.pem", "turn.key"].map(|name| folder.join(name));
    let subject = format!("/CN={SERVER}");
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
    ]);
    openssl.args(["-subj", &subject, "-out"]).arg(&certificate);
    let made = openssl.arg("-keyout").arg(&key).output();
    assert!(made.expect("openssl runs").status.success());
    let mut command = side.command("turnserver");
    command.args(["-n", "--no-cli", "--simple-log", "--log-file", "stdout"]);
    command.args([
        "--listening-ip",
        SERVER,
        "--relay-ip",
        SERVER,
        "--realm",
        "test",
    ]);
    command.args(["--lt-cred-mech", "--user", "kim:secret", "--pidfile"]);
    command
        .arg(folder.join("turn.pid"))
        .arg("--cert")
        .arg(&certificate);
    command.arg("--pkey").arg(&key).args(options);
    let coturn = Program::start(&mut command);
    loop {
        let line = coturn.told.recv_timeout(PATIENCE).expect("it starts");
        // The last line before it serves.
        if line.contains("admin thread") {
            return coturn;
        }
    }
}

fn has_coturn() -> bool {
    let found = Command::new("turnserver").arg("--version").output().is_ok();
    if !found {
        skipped("no turnserver (coturn)");
    }
    found
}

#[test]
fn coturn_relays_over_udp_tcp_and_tls_for_publish_and_play() {
    if !has_coturn() {
        return;
    }
    where_the_machine_keeps_up(|| {
        let port = ["--media-port", "9000"];
        let Some((server_side, sender_side, _server)) = behind_with(&["a"], &port) else {
            return;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let _coturn = coturn(&server_side, folder.path(), &[]);
        // Only UDP to the media port is blocked, so that UDP to coturn passes.
        allow_drops(&server_side);
        drop_at(&server_side, "iif sa ipproto udp dport 9000");
        let weft = |words: &[&str], server: &str| {
            let mut command = sender_side.command(env!("CARGO_BIN_EXE_weft"));
            command.args(words).args(["--link", "a", "--insecure"]);
            Program::start(command.args(["--ice-server", server]))
        };
        let publish = format!("{}/whip/r?name=van", url());
        let tcp = format!("turn:kim:secret@{SERVER}:3478?transport=tcp");
        let van = weft(&["publish", &publish, "--mic", "tone"], &tcp);
        let times = said(
            &van,
            &[
                "the TURN server 10.9.0.1:3478 over TCP",
                "connected, publishing",
            ],
        );
        assert!(times[1] < CONNECTED, "{times:?}");
        let play = format!("{}/whep/r/van", url());
        for (server, words) in [
            (format!("turns:kim:secret@{SERVER}"), "over TLS"),
            (format!("turn:kim:secret@{SERVER}"), "over UDP"),
        ] {
            let eve = weft(&["play", &play, "--stats", "/dev/stdout"], &server);
            let times = said(&eve, &[words, "connected, playing"]);
            assert!(times[1] < CONNECTED, "{words}: {times:?}");
            eve.shows("sound", |figures| {
                figures["received"]["stream"]["audio_packets"].as_u64() > Some(50)
            });
        }
    });
}

#[test]
fn a_turn_server_that_is_full_wrong_or_silent_is_reported_and_tried_again() {
    if !has_coturn() {
        return;
    }
    where_the_machine_keeps_up(|| {
        let links = ["a", "b"];
        let Some((server_side, sender_side, _server)) = behind_with(&links, &[]) else {
            return;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let _coturn = coturn(&server_side, folder.path(), &["--user-quota=1"]);
        block_udp(&server_side, &links);
        let sender = |links: &[&str], login: &str| {
            let mut command = join(&sender_side, &url(), links);
            let server = format!("turn:{login}@{SERVER}:3478?transport=tcp");
            Program::start(command.args(["--ice-server", &server]))
        };
        let stranger = sender(&["a"], "kim:guess");
        stranger.says("refuses the user name or the password (401); ask its operator");
        drop(stranger);
        let two = sender(&links, "kim:secret");
        said(
            &two,
            &[
                "is full (486",
                "raise its limits, or name another one; trying again",
                "is up",
            ],
        );
        drop(two);
        // A firewall drops packets to coturn until it is opened.
        drop_at(&server_side, "iif sa ipproto tcp dport 3478");
        let silent = sender(&["a"], "kim:secret");
        silent.says("cannot be reached");
        server_side.ip("rule del pref 1 iif sa ipproto tcp dport 3478");
        silent.says("link `a` is up");
    });
}
