//! Malicious servers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::super::{Room, Server, SignallingError, Trust};

/// Starts a server that reads the head of each request and then calls `answer`. Returns
/// its URL and the received requests.
pub(super) fn serving(
    answer: impl Fn(&mut TcpStream) + Send + Sync + 'static,
) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (asked, requests) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut head = vec![0; 4096];
            let length = stream.read(&mut head).unwrap_or(0);
            let _ = asked.send(String::from_utf8_lossy(&head[..length]).into_owned());
            answer(&mut stream);
        }
    });
    (url, requests)
}

/// Starts a server that sends `begin` once and then `more` until the client stops.
fn endless(begin: &'static str, more: &'static str, pause: Duration) -> String {
    let more = match pause {
        Duration::ZERO => more.repeat((64 << 10) / more.len()),
        _ => more.to_owned(),
    };
    let answer = move |stream: &mut TcpStream| {
        let mut sent = stream.write_all(begin.as_bytes());
        while sent.is_ok() {
            thread::sleep(pause);
            sent = stream.write_all(more.as_bytes());
        }
    };
    serving(answer).0
}

fn room_at(url: &str) -> Room {
    let server = Server {
        url: url.to_owned(),
        token: Some("token-of-ours".to_owned()),
        trust: Trust::Public,
    };
    Room::new(&server, Vec::new(), "r").expect("an address")
}

const CREATED: &str =
    "HTTP/1.1 201 Created\r\ncontent-type: application/sdp\r\nlocation: /whip/r/1\r\n";

/// Returns the time until an endless or slow answer is refused.
fn refused_after(url: &str, ask: impl Fn(&Room) -> Option<SignallingError>) -> Duration {
    let begun = Instant::now();
    let error = ask(&room_at(url)).expect("an error");
    assert!(error.is_passing() || matches!(error, SignallingError::Refused { .. }));
    assert!(error.to_string().chars().count() < 1_000, "{error}");
    begun.elapsed()
}

#[test]
fn an_answer_without_end_is_given_up_at_once() {
    let publish = |room: &Room| room.publish("", None, "v=0").err();
    let listen = |room: &Room| room.events("", None, |_| true).err();
    let most = Duration::from_secs(3);
    let begun = "HTTP/1.1 201 Created\r\ncontent-type: application/sdp\r\nlocation: /whip/r/1\r\n\r\nv=0\r\n";
    let chunked = "HTTP/1.1 201 Created\r\ncontent-type: application/sdp\r\nlocation: /1\r\ntransfer-encoding: chunked\r\n\r\n";
    for (begin, more) in [
        (begun, "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n"),
        (chunked, "400\r\nx"),
        (chunked, "1;x\r\nx\r\n"),
        (CREATED, "x: y\r\n"),
        (CREATED, "set-cookie: a=b\r\n"),
        (CREATED, "x"),
        ("", "x"),
        ("HTTP/1.1 500 No\r\n\r\n", "no "),
    ] {
        let took = refused_after(&endless(begin, more, Duration::ZERO), publish);
        assert!(took < most, "{begin}{more}: {took:?}");
    }
    let stream = "HTTP/1.1 200 OK\r\n\r\n";
    for (begin, more) in [
        (stream, "x"),
        (stream, "data: x\n"),
        ("HTTP/1.1 200 OK\r\n", "x: y\r\n"),
        ("HTTP/1.1 403 No\r\n\r\n", "no "),
    ] {
        let took = refused_after(&endless(begin, more, Duration::ZERO), listen);
        assert!(took < most, "{begin}{more}: {took:?}");
    }
}

#[test]
fn a_request_has_its_time_however_slowly_it_is_answered() {
    let drip = Duration::from_millis(300);
    let begun =
        "HTTP/1.1 201 Created\r\ncontent-type: application/sdp\r\nlocation: /whip/r/1\r\n\r\n";
    let continued = "HTTP/1.1 100 Continue\r\n\r\n";
    let slow = [
        ("", "HTTP/1.1", false),
        (CREATED, "x", false),
        (begun, "x", false),
        (continued, continued, false),
        ("HTTP/1.1 500 No\r\n\r\n", "x", false),
        ("HTTP/1.1 200 OK\r\n", "x", true),
    ];
    let all = slow.map(|(begin, more, listens)| {
        thread::spawn(move || {
            let took = refused_after(&endless(begin, more, drip), |room| match listens {
                true => room.events("", None, |_| true).err(),
                false => room.publish("", None, "v=0").err(),
            });
            (begin, took)
        })
    });
    for one in all {
        let (begin, took) = one.join().expect("an error in time");
        assert!(took < Duration::from_secs(12), "{begin}: {took:?}");
    }
}

#[test]
fn tls_that_never_is_there_takes_no_longer_than_a_request() {
    let (url, _asked) = serving(|stream| {
        let _ = stream.read(&mut [0; 64]);
        thread::sleep(Duration::from_secs(60));
    });
    let url = url.replace("http:", "https:");
    let took = refused_after(&url, |room| room.events("", None, |_| true).err());
    assert!(took < Duration::from_secs(12), "{took:?}");
}

#[test]
fn the_token_and_the_secret_go_to_no_other_server() {
    let (other, asked) = serving(|_| {});
    for answer in [
        format!(
            "HTTP/1.1 201 Created\r\ncontent-type: application/sdp\r\nlocation: {other}/x\r\ncontent-length: 0\r\n\r\n"
        ),
        format!("HTTP/1.1 302 Found\r\nlocation: {other}/x\r\ncontent-length: 0\r\n\r\n"),
        format!("HTTP/1.1 307 Go\r\nlocation: {other}/x\r\ncontent-length: 0\r\n\r\n"),
    ] {
        let (url, _) = serving(move |stream| {
            let _ = stream.write_all(answer.as_bytes());
        });
        let room = room_at(&url);
        let error = room.publish("", None, "v=0").err().expect("an error");
        assert!(!error.is_passing(), "{error}");
        assert!(error.to_string().contains(&other), "{error}");
        let _ = room.events("", None, |_| true);
        let location = format!("{other}/whip/r/1");
        assert!(room.delete(&location).is_err());
        assert!(room.put_links(&location, &[]).is_err());
    }
    assert!(asked.try_recv().is_err(), "nobody asks the other server");
}

#[test]
fn a_servers_words_are_few_and_tell_a_terminal_nothing() {
    let (url, _) = serving(|stream| {
        let words = "No.\\u001b[2J\\u202e\\nweft: ".to_owned() + &"x".repeat(10_000);
        let body = format!(r#"{{"error":"{words}","remedy":"{words}"}}"#);
        let head = format!("HTTP/1.1 400 No\r\ncontent-length: {}\r\n\r\n", body.len());
        let _ = stream.write_all((head + &body).as_bytes());
    });
    let error = room_at(&url).publish("", None, "v=0").err();
    let words = error.expect("a refusal").to_string();
    assert!(words.chars().count() < 800, "{words}");
    assert!(words.contains(r"No.\u{1b}[2J\u{202e}\nweft: "), "{words}");
    assert!(!words.contains(|c: char| c.is_control()), "{words:?}");
}
