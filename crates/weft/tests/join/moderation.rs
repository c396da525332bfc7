//! Waiting room and mute: output of `join`, its media, and the actions that it permits.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::thread;

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::fixture::{PATIENCE, free_ports, heard, server_at, weft};

/// Participant in the room `r` that moderates by HTTP.
struct Moderator {
    address: String,
    id: String,
    secret: String,
    events: Receiver<(String, Value)>,
}

impl Moderator {
    fn join(address: &str) -> Moderator {
        let mut stream = TcpStream::connect(address).expect("a server");
        let head = format!("GET /api/rooms/r/events?name=Mod HTTP/1.1\r\nhost: {address}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it reads");
        let (sender, events) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let mut name = String::new();
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let Some(named) = line.strip_prefix("event:") {
                    named.trim().clone_into(&mut name);
                } else if let Some(data) = line.strip_prefix("data:") {
                    let value: Value = serde_json::from_str(data).expect("JSON");
                    let _ = sender.send((name.clone(), value));
                }
            }
        });
        let (_, welcome) = events.recv_timeout(PATIENCE).expect("a welcome");
        let word = |name: &str| welcome[name].as_str().expect("a word").to_owned();
        Moderator {
            address: address.to_owned(),
            id: word("id"),
            secret: word("secret"),
            events,
        }
    }

    /// Waits for an event with this name that satisfies the predicate.
    fn hears(&self, name: &str, satisfies: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (heard, value) = self.events.recv_timeout(PATIENCE).expect(name);
            if heard == name && satisfies(&value) {
                return value;
            }
        }
    }

    fn put(&self, what: &str, body: &str) {
        let mut stream = TcpStream::connect(&self.address).expect("a server");
        let Moderator {
            address,
            id,
            secret,
            ..
        } = self;
        let length = body.len();
        let request = format!(
            "PUT /api/rooms/r/{what}?participant={id} HTTP/1.0\r\nhost: {address}\r\nweft-secret: {secret}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.contains(" 204 "), "{what}: {answer}");
    }
}

#[test]
fn a_newcomer_waits_is_admitted_is_muted_and_unmutes() {
    where_the_machine_keeps_up(|| {
        let ports = free_ports();
        let _server = server_at(ports, Path::new("/none"));
        let moderator = Moderator::join(&format!("127.0.0.1:{}", ports.0));
        let url = format!("http://127.0.0.1:{}", ports.0);
        let about = ["join", &url, "--room", "r", "--link", "127.0.0.1"];
        let listener = weft(&[&about[..], &["--stats", "/dev/stdout"]].concat());
        moderator.hears("joined", |_| true);
        moderator.put("settings", r#"{"waiting_room":true}"#);

        let mut ann = weft(&[&about[..], &["--mic", "tone", "--name", "Ann"]].concat());
        ann.says("in the waiting room, until a moderator lets you in");
        let queue = moderator.hears("queue", |q| q["waiting"][0]["name"] == "Ann");
        let id = queue["waiting"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        moderator.put(&format!("participants/{id}/admission"), "");
        ann.says("a moderator has let you in");
        ann.says("connected, publishing as `Ann`");
        listener.shows("sound", |figures| heard(figures) > 0);

        moderator.put(&format!("participants/{id}/mute"), "");
        ann.says("muted you: nobody hears you; write a line to standard input to unmute");
        // Only packets that were in flight.
        let quiet = || heard(&listener.shows("a second more", |_| true));
        let (mut before, mut now) = (quiet(), quiet());
        while before != now {
            (before, now) = (now, quiet());
        }
        ann.press_enter();
        ann.says("you are no longer muted");
        moderator.hears("changed", |p| p["id"] == *id && p["muted"] == true);
        moderator.hears("changed", |p| p["id"] == *id && p["muted"].is_null());
        listener.shows("sound again", |figures| heard(figures) > now + 20);
    });
}
