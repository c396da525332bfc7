//! Client from `clients/`, whose README describes its protocol.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};
use weft_testing::skipped;

use super::fixture::PATIENCE;
use super::room::{FRAMES, FRAMES_TAKE, Room, SOUNDS};

/// Exit status of a client that lacks a requirement on this machine.
const LACKING: i32 = 3;

pub(crate) struct Client {
    child: Child,
    lines: Receiver<Value>,
}

impl Client {
    /// Starts the client as the caller. `None`, with a printed reason, if the machine
    /// lacks its program.
    pub(crate) fn start(room: &Room, command: &[&str]) -> Option<Client> {
        let mut program = room.command(command[0]);
        program.args(&command[1..]).args(["--role", "caller"]);
        program.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients"));
        let piped = program.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut client = Client { child, lines };
        let first = client.next("what it is", |line| {
            Some(line).filter(|l| l["about"].is_object() || l["error"].is_string())
        });
        println!("{first}");
        if first["error"].is_string() {
            let status = client.child.wait().expect("it is our child");
            assert_eq!(status.code(), Some(LACKING), "{first}");
            skipped(format!("{}: {}", first["error"], first["remedy"]));
            return None;
        }
        Some(client)
    }

    /// Waits for a line accepted by `of`.
    fn next<T>(&self, what: &str, of: impl Fn(Value) -> Option<T>) -> T {
        let began = Instant::now();
        let mut before = Vec::new();
        while began.elapsed() < PATIENCE {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                break;
            };
            before.push(line.clone());
            if let Some(found) = of(line) {
                return found;
            }
        }
        panic!("the client never tells {what}, but: {before:#?}");
    }

    /// Posts the client's offer to this path of the server, and returns the answer to the
    /// client.
    pub(crate) fn exchange(&mut self, room: &Room, path: &str) {
        let offer = self.next("its offer", |line| {
            line["signal"]["sdp"].as_str().map(str::to_owned)
        });
        let answer = room.post(path, &offer);
        assert_eq!(answer.status, 201, "{}\nto {offer}", answer.body);
        let signal = json!({ "signal": { "type": "answer", "sdp": answer.body } });
        let input = self.child.stdin.as_mut().expect("it is piped");
        writeln!(input, "{signal}").expect("it reads");
    }

    /// Waits until the client is connected.
    pub(crate) fn connects(&self) {
        self.next("that it is connected", |line| {
            (line["state"] == "connected").then_some(())
        });
    }

    /// Waits until the client has received enough sound.
    pub(crate) fn hears(&self) {
        self.next("sound", |line| {
            let count = line["sample"]["received"]["sound_packets"].as_u64();
            count.filter(|n| *n >= SOUNDS)
        });
    }

    /// Waits until the client has decoded enough.
    pub(crate) fn sees(&self, sound: bool) {
        let count = |line: &Value, name: &str| line["sample"]["received"][name].as_u64();
        self.next("a frame", |line| count(&line, "frames").filter(|n| *n > 0));
        let first = Instant::now();
        self.next("frames and sound", |line| {
            let frames = count(&line, "frames")? >= FRAMES;
            let sounds = !sound || count(&line, "sound_packets")? >= SOUNDS;
            (frames && sounds).then_some(())
        });
        assert!(first.elapsed() < FRAMES_TAKE, "{:?}", first.elapsed());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The client exits at the end of its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
