//! `weft publish` against our own server, which it treats like any WHIP server.

use std::net::TcpListener;
use std::process::Command;

use weft_testing::where_the_machine_keeps_up;

use super::fixture::{Program, free_ports, server_at, weft};

#[test]
fn a_room_plays_what_is_published_until_it_is_ended_there() {
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = free_ports();
        let server = server_at(ports, &folder.path().join("none"));
        let url = format!("http://127.0.0.1:{}", ports.0);
        let eve = ["join", &url, "--room", "r", "--link", "127.0.0.1"];
        let eve = weft(&[&eve[..], &["--stats", "/dev/stdout"]].concat());
        let endpoint = format!("{url}/whip/r?name=van");
        let about = [
            "publish",
            &endpoint,
            "--link",
            "127.0.0.1",
            "--seconds",
            "6",
        ];
        let media = ["--camera", "clip:360p", "--mic", "tone"];
        let mut van = weft(&[&about[..], &media].concat());
        van.says("packets go over all links");
        eve.shows("frames and sound", |figures| {
            let from = figures["received"].as_object();
            from.into_iter().flatten().any(|(_, from)| {
                from["frames"].as_u64() > Some(30) && from["audio_packets"].as_u64() > Some(50)
            })
        });
        assert_eq!(van.status(), Some(0));
        server.says("left");
    });
}

#[test]
fn a_publication_is_made_again_when_the_server_comes_back() {
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let (ports, none) = (free_ports(), folder.path().join("none"));
        let mut server = server_at(ports, &none);
        let endpoint = format!("http://127.0.0.1:{}/whip/r", ports.0);
        let about = ["publish", &endpoint, "--link", "127.0.0.1", "--mic", "tone"];
        let van = weft(&about);
        van.says("connected, publishing to");
        server.kill();
        let _again = server_at(ports, &none);
        van.says("connected, publishing to");
    });
}

#[test]
fn an_address_that_is_wrong_ends_it_with_what_to_look_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let ports = free_ports();
    let _server = server_at(ports, &folder.path().join("none"));
    let publish = |url: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        Program::start(command.args(["publish", url, "--mic", "tone", "--link", "127.0.0.1"]))
    };
    let mut wrong = publish(&format!("http://127.0.0.1:{}/live/whip", ports.0));
    wrong.says("the server refuses to publish");
    assert_eq!(wrong.status(), Some(1));
    let mut no_http = publish("rtmp://127.0.0.1/live");
    no_http.says("write it like http://");
    assert_eq!(no_http.status(), Some(2));
}

#[test]
fn a_publication_that_never_connected_ends_with_the_reason_and_status_1() {
    let publish = |url: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        let about = ["publish", url, "--mic", "tone", "--link", "127.0.0.1"];
        Program::start(command.args(about).args(["--seconds", "2"]))
    };
    // The first address refuses connections; the second one accepts, but never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let port = silent.local_addr().expect("bound").port();
    let mut absent = publish(&format!("http://127.0.0.1:{}/whip/r", free_ports().0));
    let mut hung = publish(&format!("http://127.0.0.1:{port}/whip/r"));
    absent.says("check that the server is running there; trying again");
    assert_eq!(absent.status(), Some(1));
    hung.says("did not answer in this time");
    assert_eq!(hung.status(), Some(1));
    drop(silent);
}
