//! A server that ends and is started again: those in its rooms come back.

use std::net::{TcpListener, UdpSocket};
use std::process::Command;
use std::time::Duration;

use weft_testing::where_the_machine_keeps_up;

use super::fixture::{PATIENCE, Program};

/// What is promised, from the moment at which the server listens again.
const BACK: Duration = Duration::from_secs(3);

fn weft(arguments: &[&str]) -> Program {
    Program::start(Command::new(env!("CARGO_BIN_EXE_weft")).args(arguments))
}

/// A server on these ports that says what happens, once it listens.
fn serve(http: u16, media: u16) -> Program {
    let (listen, media) = (format!("127.0.0.1:{http}"), media.to_string());
    let place = ["serve", "--listen", &listen, "--media-port", &media];
    let server = weft(&[&place[..], &["--log", "debug"]].concat());
    let url = server.told.recv_timeout(PATIENCE);
    url.expect("it says where it is");
    server
}

fn free_ports() -> (u16, u16) {
    let http = TcpListener::bind("127.0.0.1:0").expect("a port");
    let media = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let http = http.local_addr().expect("an address").port();
    (http, media.local_addr().expect("an address").port())
}

#[test]
fn those_in_a_room_are_back_within_three_seconds_after_the_server_is() {
    where_the_machine_keeps_up(|| {
        let (http, media) = free_ports();
        let url = format!("http://127.0.0.1:{http}");
        let about = ["join", &url, "--room", "r", "--link", "127.0.0.1"];
        let server = serve(http, media);
        let _ada = weft(&[&about[..], &["--mic", "tone", "--send-only"]].concat());
        let _bob = weft(&about);
        server.says("began playing");
        // As a crash: nobody is told.
        drop(server);
        let again = serve(http, media);
        let took = again.says("began playing");
        assert!(took < BACK, "{took:?}");
    });
}
