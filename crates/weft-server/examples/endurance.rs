//! Endurance test: a publisher and two viewers join and leave a server process
//! on loopback again and again; some of them vanish without closing. The server
//! must hold the same memory at the end as in the middle, and no descriptor
//! after the last participant.
//!
//! `make endurance`; Linux only.

#[path = "../src/tests/client.rs"]
#[allow(dead_code)]
mod client;
#[path = "../tests/forwarding/endpoint.rs"]
#[allow(dead_code)]
mod endpoint;

use client::{Answer, Events, request};
use endpoint::{Endpoint, Source};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Time after which a vanished client is forgotten (30 s of consent, 180 s of
/// `weft_peer::RECONNECT_GRACE`, and the room's grace of 10 s); before that their number
/// grows each minute.
const SETTLED: Duration = Duration::from_secs(240);
/// Allowed growth in KiB, for memory that the allocator keeps.
const GROWTH: u64 = 4 << 10;
/// Number of rooms that the calls use in turn.
const ROOMS: u64 = 20;
/// Pictures that a viewer sees in each call.
const PICTURES: u64 = 15;

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).map_or(Ok(1_200), |s| s.parse());
    let length = Duration::from_secs(seconds.expect("seconds"));
    assert!(length >= SETTLED + Duration::from_secs(60), "too short");
    let server = Server::start();
    server.figure("weft_rooms");
    let (at_first, begun) = (server.descriptors(), Instant::now());
    let mut held = Vec::new();
    let mut calls = 0;
    while begun.elapsed() < length {
        call(&server, calls);
        calls += 1;
        if begun.elapsed() >= SETTLED {
            held.push(server.resident());
        }
        if calls % 50 == 0 {
            let (elapsed, open) = (begun.elapsed().as_secs(), server.descriptors());
            println!(
                "{elapsed} s: {calls} calls, {} KiB, {open} descriptors",
                server.resident()
            );
        }
    }
    let third = held.len() / 3;
    let [before, after] = [&held[..third], &held[held.len() - third..]].map(median);
    println!("{calls} calls; {before} KiB in the middle, {after} KiB at the end");
    let gone = room::waited(SETTLED, || server.figure("weft_participants") == 0);
    let gone = gone && room::waited(SETTLED, || server.figure("weft_playbacks") == 0);
    // HTTP connections time out by themselves.
    let closed = room::waited(Duration::from_secs(60), || server.descriptors() <= at_first);
    let left = server.descriptors();
    println!("{at_first} descriptors at first, {left} when all are gone");
    match gone && closed && after <= before + GROWTH {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Runs a call of a publisher and two viewers; one call in five vanishes
/// without closing.
fn call(server: &Server, number: u64) {
    // Vanished participants still occupy their places.
    let (room, name) = (number % ROOMS, format!("ada{number}"));
    let events = Events::open(
        server.address,
        &format!("/api/rooms/r{room}/events?name=eve{number}"),
    );
    let publisher = Endpoint::start(&["127.0.0.1"], Source::new(0));
    let place = format!("POST /whip/r{room}?name={name}");
    let answer = server.request(&place, &publisher.offer_to_send());
    assert_eq!(answer.status, 201, "{}", answer.body);
    publisher.accept(&answer.body, answer.header("location"));
    let place = format!("POST /whep/r{room}/{name}?name=eve");
    let viewers = [(); 2].map(|()| {
        let viewer = Endpoint::start(&["127.0.0.1"], Source::cameras(&[None]).silent());
        // Only a connected publication can be played.
        let played = room::waited(Duration::from_secs(10), || {
            let answer = server.request(&place, &viewer.offer_to_receive());
            let is_there = answer.status == 201;
            if is_there {
                viewer.accept(&answer.body, answer.header("location"));
            }
            is_there
        });
        assert!(played, "{name} is not connected");
        viewer
    });
    for viewer in &viewers {
        viewer.wait_for_frames(PICTURES);
    }
    drop(events);
    if number % 5 == 4 {
        return;
    }
    for endpoint in viewers.iter().chain([&publisher]) {
        let answer = server.request(&format!("DELETE {}", endpoint.location()), "");
        assert_eq!(answer.status, 200);
        endpoint.close();
    }
}

fn median(held: &[u64]) -> u64 {
    let mut held = held.to_vec();
    held.sort_unstable();
    held[held.len() / 2]
}

/// Process of the program `serve` in the same folder.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start() -> Server {
        let own = std::env::current_exe().expect("a program has a place");
        let mut child = Command::new(own.with_file_name("serve"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("cargo build -p weft-server --examples");
        let mut url = String::new();
        let output = child.stdout.as_mut().expect("it is piped");
        BufReader::new(output)
            .read_line(&mut url)
            .expect("it says where it is");
        let address = url.trim().trim_start_matches("http://");
        let address = address.trim_end_matches('/').parse();
        Server {
            child,
            address: address.expect("an address"),
        }
    }

    fn request(&self, line: &str, body: &str) -> Answer {
        let headers = [("content-type", "application/sdp"), ("connection", "close")];
        request(self.address, line, &headers, body)
    }

    fn figure(&self, name: &str) -> u64 {
        let text = self.request("GET /metrics", "").body;
        let found = text.lines().find_map(|line| line.strip_prefix(name));
        found
            .and_then(|value| value.trim().parse().ok())
            .expect("a figure")
    }

    fn descriptors(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.child.id());
        std::fs::read_dir(folder).expect("the server runs").count()
    }

    /// Resident memory of the server in KiB.
    fn resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).expect("the server runs");
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let value = line.and_then(|line| line.trim().strip_suffix(" kB"));
        value.and_then(|value| value.parse().ok()).expect("a size")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server exits at the end of its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Waits in the same way as the endpoint in tests.
mod room {
    use std::time::{Duration, Instant};

    pub(crate) fn wait_for(what: &str, done: impl FnMut() -> bool) {
        assert!(
            waited(Duration::from_secs(30), done),
            "never happened: {what}"
        );
    }

    pub(crate) fn waited(most: Duration, mut done: impl FnMut() -> bool) -> bool {
        let begun = Instant::now();
        while !done() {
            if begun.elapsed() > most {
                return false;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }
}
