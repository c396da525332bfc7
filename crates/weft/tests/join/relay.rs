//! `weft relay` between an encoder and our own server, which it treats like any WHIP server.
//! The encoder is `weft publish`; `interop/ffmpeg.rs` uses an external one.

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::fixture::{Namespace, Program, cable, free_ports, pair, serve, server_at, time, weft};

/// Returns the number of participants and the frames received from all of them.
fn frames(figures: &Value) -> (usize, u64) {
    let all = figures["received"].as_object().expect("participants");
    let frames = all.values().filter_map(|from| from["frames"].as_u64());
    (all.len(), frames.sum())
}

fn sees_more_than(watcher: &Program, count: u64) -> Value {
    watcher.shows("frames", |figures| frames(figures).1 > count)
}

#[test]
fn a_room_sees_the_encoder_and_its_return_as_one_publication() {
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let (ports, none) = (free_ports(), folder.path().join("none"));
        let _server = server_at(ports, &none);
        let url = format!("http://127.0.0.1:{}", ports.0);
        let eve = ["join", &url, "--room", "r", "--link", "127.0.0.1"];
        let eve = weft(&[&eve[..], &["--stats", "/dev/stdout"]].concat());
        let listen = format!("127.0.0.1:{}", free_ports().0);
        let to = format!("{url}/whip/r?name=obs");
        let about = ["--to", &to, "--listen", &listen, "--link", "127.0.0.1"];
        let mut relay = weft(&[&["relay"], &about[..], &["--seconds", "25"]].concat());
        relay.says("the encoder publishes to this address");
        let encoder = || {
            let at = format!("http://{listen}/whip/live");
            let media = ["--camera", "clip:360p", "--mic", "tone"];
            weft(&[&["publish", &at, "--link", "127.0.0.1"], &media[..]].concat())
        };
        let mut first = encoder();
        relay.says("packets go over all links");
        sees_more_than(&eve, 60);

        // One encoder at a time; the second one retries until the first has crashed.
        let second = encoder();
        second.says("another encoder is publishing through this relay");
        first.kill();
        second.says("connected, publishing");
        let (_, before) = frames(&sees_more_than(&eve, 0));
        let after = sees_more_than(&eve, before + 90);
        assert_eq!(frames(&after).0, 1, "one participant: {after}");
        assert_eq!(relay.status(), Some(0));
    });
}

#[test]
fn an_encoder_that_follows_keeps_to_what_the_links_may_carry() {
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = free_ports();
        let _server = server_at(ports, &folder.path().join("none"));
        let listen = format!("127.0.0.1:{}", free_ports().0);
        let to = format!("http://127.0.0.1:{}/whip/r", ports.0);
        let about = ["--to", &to, "--listen", &listen, "--link", "127.0.0.1"];
        let relay = weft(&[&["relay"], &about[..], &["--max-rate", "500kbit"]].concat());
        relay.says("the encoder publishes to this address");
        let at = format!("http://{listen}/whip/live");
        let about = [
            "publish",
            &at,
            "--link",
            "127.0.0.1",
            "--camera",
            "clip:720p",
        ];
        let encoder = weft(&[&about[..], &["--stats", "/dev/stdout"]].concat());
        let carried = |figures: &Value| {
            let link = &figures["peers"][0]["links"][0];
            link["carried_mb"].as_f64().unwrap_or_default()
        };
        let start = encoder.shows("a connection", |figures| carried(figures) > 0.2);
        let end = encoder.shows("ten seconds", |figures| time(figures) > time(&start) + 10.0);
        let rate = (carried(&end) - carried(&start)) * 8.0 / (time(&end) - time(&start));
        assert!((0.1..0.7).contains(&rate), "{rate} Mbit/s");
    });
}

#[test]
fn a_stream_survives_the_loss_of_a_link_without_a_freeze() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side)) = pair() else {
            return;
        };
        cable(&server_side, &sender_side, "a", ["10.1.0.1", "10.1.0.2"]);
        cable(&server_side, &sender_side, "b", ["10.2.0.1", "10.2.0.2"]);
        let _server = serve(&server_side);
        let run = |namespace: &Namespace, arguments: &[&str]| {
            let mut command = namespace.command(env!("CARGO_BIN_EXE_weft"));
            Program::start(command.args(arguments))
        };
        let room = ["join", "http://127.0.0.1:8080", "--room", "r"];
        let eve = ["--link", "127.0.0.1", "--stats", "/dev/stdout"];
        let eve = run(&server_side, &[&room[..], &eve].concat());
        let to = ["relay", "--to", "http://10.1.0.1:8080/whip/r?name=obs"];
        let relay = run(
            &sender_side,
            &[&to[..], &["--link", "a", "--link", "b"]].concat(),
        );
        relay.says("the encoder publishes to this address");
        let at = [
            "publish",
            "http://127.0.0.1:8080/whip/live",
            "--mic",
            "tone",
        ];
        let camera = ["--camera", "clip:360p"];
        let _encoder = run(&sender_side, &[&at[..], &camera].concat());
        for _ in ["a", "b"] {
            relay.says("` is up");
        }
        sees_more_than(&eve, 90);

        server_side.ip("link set dev sa down");
        relay.says("link `a` is down");
        let (_, before) = frames(&sees_more_than(&eve, 0));
        let after = sees_more_than(&eve, before + 90);
        let all = after["received"].as_object().expect("participants");
        let frozen: f64 = all
            .values()
            .filter_map(|from| from["freeze_s"].as_f64())
            .sum();
        assert!(frozen < 0.5, "{frozen} s: {after}");
    });
}

#[test]
fn a_wrong_address_ends_it_when_the_encoder_comes() {
    let ports = free_ports();
    let folder = tempfile::tempdir().expect("a folder");
    let _server = server_at(ports, &folder.path().join("none"));
    let listen = format!("127.0.0.1:{}", free_ports().0);
    let to = format!("http://127.0.0.1:{}/live/whip", ports.0);
    let about = ["--to", &to, "--listen", &listen, "--link", "127.0.0.1"];
    let mut relay = weft(&[&["relay"], &about[..]].concat());
    relay.says("the encoder publishes to this address");
    let at = format!("http://{listen}/whip/live");
    let _encoder = weft(&["publish", &at, "--link", "127.0.0.1", "--mic", "tone"]);
    relay.says("the server refuses to publish");
    assert_eq!(relay.status(), Some(1));

    let mut everywhere = weft(&["relay", "--to", &to, "--listen", "0.0.0.0:0"]);
    everywhere.says("name one address of this machine");
    assert_eq!(everywhere.status(), Some(2));
}
