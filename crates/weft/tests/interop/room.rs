use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::fixture::{self, Namespace, Program, cable};
use super::has;

const SERVER: &str = "10.77.0.1";
const GUEST: &str = "10.77.0.2";
/// Not "veth": libnice ignores interfaces with such names.
const LINK: &str = "lan";
const URL: &str = "http://10.77.0.1:8080";

/// A small picture, which needs little processor time on two cores.
const CAMERA: &str = "clip:320x180";

/// Required frames and sound packets, and the maximum time from the first frame to the last:
/// three seconds at 30 frames a second, on a busy machine. Statistics arrive once a second.
pub(crate) const FRAMES: u64 = 90;
pub(crate) const SOUNDS: u64 = 100;
pub(crate) const FRAMES_TAKE: Duration = Duration::from_secs(9);

/// Server with the room "matrix", and a namespace for its guests at the end of
/// a cable.
pub(crate) struct Room {
    // Programs end before the namespaces, so this field comes first.
    _server: Program,
    serving: Namespace,
    guests: Namespace,
    /// Whether the guests' network passes only TCP.
    only_tcp: bool,
}

/// HTTP response.
pub(crate) struct Response {
    pub status: u16,
    pub body: String,
}

impl Room {
    /// Opens the room; `None`, with a printed reason, without permission to create
    /// namespaces.
    pub(crate) fn open() -> Option<Room> {
        let (serving, guests) = fixture::pair()?;
        cable(&serving, &guests, LINK, [SERVER, GUEST]);
        // Firefox needs a default route to find its own address.
        guests.ip(&format!("route add default via {SERVER}"));
        Some(Room {
            _server: fixture::serve(&serving),
            serving,
            guests,
            only_tcp: false,
        })
    }

    /// Opens the room for guests whose network passes only TCP. `weft join` is beside the server.
    pub(crate) fn with_tcp_only() -> Option<Room> {
        if !has("nftables", &["sh", "-c", "command -v nft"]) {
            return None;
        }
        let room = Room::open()?;
        let rule = "chain out { type filter hook output priority 0; meta l4proto udp drop; }";
        let table = format!("table inet firewall {{ {rule}; }}");
        let status = room.command("nft").arg(table).status();
        assert!(status.expect("nft runs").success());
        Some(Room {
            only_tcp: true,
            ..room
        })
    }

    /// Program in the guests' namespace.
    pub(crate) fn command(&self, program: &str) -> Command {
        self.guests.command(program)
    }

    /// Returns the URL of a path of the server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{URL}{path}")
    }

    fn join(&self, arguments: &[&str]) -> Program {
        let (place, link) = match self.only_tcp {
            true => (&self.serving, SERVER),
            false => (&self.guests, LINK),
        };
        let mut join = place.command(env!("CARGO_BIN_EXE_weft"));
        join.args(["join", URL, "--room", "matrix", "--link", link]);
        join.args(["--stats", "/dev/stdout"]).args(arguments);
        Program::start(&mut join)
    }

    /// Relay of an encoder in the guests' namespace, at port 8080 of its loopback address.
    pub(crate) fn relay(&self) -> Program {
        let mut relay = self.command(env!("CARGO_BIN_EXE_weft"));
        relay.args(["relay", "--link", LINK, "--to"]);
        let relay = Program::start(relay.arg(self.url("/whip/matrix?name=Relay")));
        relay.says("the encoder publishes to this address");
        relay
    }

    /// Participant who watches and publishes nothing.
    pub(crate) fn watch(&self) -> Program {
        let watcher = self.join(&["--name", "Watcher"]);
        watcher.says("connected as `Watcher`");
        watcher
    }

    /// Participant "Rover", who publishes pictures and sound.
    pub(crate) fn publish(&self, codec: &str) -> Program {
        self.publish_media(&["--camera", CAMERA, "--codec", codec, "--mic", "tone"])
    }

    /// Participant "Rover", who publishes pictures without sound.
    pub(crate) fn publish_pictures(&self, codec: &str) -> Program {
        self.publish_media(&["--camera", CAMERA, "--codec", codec])
    }

    /// Participant "Rover", who publishes sound without pictures.
    pub(crate) fn publish_sound(&self) -> Program {
        self.publish_media(&["--mic", "tone"])
    }

    fn publish_media(&self, media: &[&str]) -> Program {
        let publisher = self.join(&[media, &["--send-only", "--name", "Rover"]].concat());
        publisher.says("connected");
        publisher
    }

    /// Posts a description from the guests' namespace, with Bash alone.
    pub(crate) fn post(&self, path: &str, sdp: &str) -> Response {
        let mut bash = self.command("bash");
        bash.args([
            "-c",
            &format!("exec 3<>/dev/tcp/{SERVER}/8080; cat >&3; cat <&3"),
        ]);
        let piped = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut bash = piped.expect("bash runs");
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {SERVER}\r\nconnection: close\r\n\
             content-type: application/sdp\r\ncontent-length: {}\r\n\r\n{sdp}",
            sdp.len()
        );
        let mut input = bash.stdin.take().expect("it is piped");
        input.write_all(request.as_bytes()).expect("it reads");
        drop(input);
        let output = bash.wait_with_output().expect("bash ends");
        let text = String::from_utf8(output.stdout).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a response");
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
        Response {
            status: status.expect("a status"),
            body: body.to_owned(),
        }
    }
}

/// Waits until the watcher has received enough from the publisher.
pub(crate) fn sees(watcher: &Program, sound: bool) {
    let count = |figures: &Value, name: &str| -> u64 {
        let all = figures["received"].as_object().expect("participants");
        all.values().filter_map(|r| r[name].as_u64()).sum()
    };
    watcher.shows("a frame", |figures| count(figures, "frames") > 0);
    let first = Instant::now();
    watcher.shows("frames and sound", |figures| {
        count(figures, "frames") >= FRAMES && (!sound || count(figures, "audio_packets") >= SOUNDS)
    });
    assert!(first.elapsed() < FRAMES_TAKE, "{:?}", first.elapsed());
}
