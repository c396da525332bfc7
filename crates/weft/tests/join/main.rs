//! `weft join` as a program, against misbehaving servers.

mod fixture;
mod hostile;
mod links;
mod moderation;
mod nat64;
mod networks;
mod page;
mod play;
mod policies;
mod publish;
mod relay;
mod restart;
mod speaker;
mod traces;
mod turn;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use weft_testing::where_the_machine_keeps_up;

/// Beginning of a welcome's stream.
const WELCOME: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
    event: welcome\ndata: {\"id\":\"1\",\"secret\":\"s\",\"participants\":[]}\n\n";

/// Server that sends every client a welcome and answers no other request;
/// reports the requests.
fn silent_server(asked: Sender<String>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        // Open for the duration of the test.
        let mut all = Vec::new();
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.expect("a connection");
            let mut line = String::new();
            let read = BufReader::new(&stream).read_line(&mut line);
            if read.is_ok() && line.contains("/events") {
                stream.write_all(WELCOME.as_bytes()).expect("it listens");
            }
            let _ = asked.send(line);
            all.push(stream);
        }
    });
    port
}

fn join(port: u16) -> Child {
    let url = format!("http://127.0.0.1:{port}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["join", &url, "--room", "r", "--link", "127.0.0.1"]);
    command.args(["--mic", "tone"]);
    command.stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

#[test]
fn ctrl_c_ends_the_call_within_a_second_while_a_request_hangs() {
    where_the_machine_keeps_up(|| {
        let (asked, requests) = channel();
        let port = silent_server(asked);
        let mut child = join(port);
        let limit = Duration::from_secs(30);
        while !requests
            .recv_timeout(limit)
            .expect("it publishes")
            .starts_with("POST /whip/")
        {}
        let began = Instant::now();
        let interrupted = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(interrupted.expect("kill runs").success());
        let (over, ended) = channel();
        thread::spawn(move || over.send(child.wait().expect("a child")));
        let status = ended.recv_timeout(limit).expect("it ends");
        let took = began.elapsed();
        assert!(status.success(), "{status}");
        assert!(took < Duration::from_secs(1), "Ctrl-C took {took:?}");
    });
}

#[test]
fn a_caller_with_nothing_to_publish_says_so() {
    let (asked, _requests) = channel();
    let url = format!("http://127.0.0.1:{}", silent_server(asked));
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["join", &url, "--room", "r", "--link", "127.0.0.1"]);
    let mut listener = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut said = BufReader::new(listener.stderr.take().expect("its words"));
    let mut line = String::new();
    said.read_line(&mut line).expect("it says something");
    let _ = listener.kill();
    let _ = listener.wait();
    assert!(line.contains("receives only; --camera and --mic"), "{line}");

    let idle = command.arg("--send-only").output().expect("it runs");
    assert_eq!(idle.status.code(), Some(2));
    let said = String::from_utf8_lossy(&idle.stderr).into_owned();
    assert!(
        said.contains("--send-only: there is nothing to send"),
        "{said}"
    );
}
