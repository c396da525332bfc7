//! Recordings of rooms: killed servers, full disks, folders that are gone.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use weft_testing::skipped;

use super::{PATIENCE, Server, weft};

/// Python with a build of ffmpeg from PyPI, installed by `scripts/setup --tests`.
const PYTHON: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../.tools/ffmpeg/bin/python"
);

/// Participant of the room `r` over HTTP. Without tokens, everyone is a moderator.
pub(crate) struct Moderator {
    address: std::net::SocketAddr,
    events: BufReader<TcpStream>,
    id: String,
    secret: String,
    pub(crate) welcome: Value,
}

impl Moderator {
    pub(crate) fn enter(server: &Server) -> Moderator {
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
            .write_all(b"GET /api/rooms/r/events?name=Mod HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .expect("it reads");
        let mut moderator = Moderator {
            address: server.address,
            events: BufReader::new(stream),
            id: String::new(),
            secret: String::new(),
            welcome: Value::Null,
        };
        let welcome = moderator.hears("welcome");
        assert_eq!(welcome["recordable"], true);
        let text = |key: &str| welcome[key].as_str().expect("text").to_owned();
        (moderator.id, moderator.secret) = (text("id"), text("secret"));
        moderator.welcome = welcome;
        moderator
    }

    /// Waits for an event of this name.
    pub(crate) fn hears(&mut self, name: &str) -> Value {
        let (event, mut line) = (format!("event: {name}"), String::new());
        let mut is_next = false;
        while self.events.read_line(&mut line).is_ok_and(|n| n > 0) {
            if let Some(data) = line.strip_prefix("data: ").filter(|_| is_next) {
                return serde_json::from_str(data).expect("JSON");
            }
            is_next |= line.trim() == event;
            line.clear();
        }
        panic!("no event {name}");
    }

    /// Starts or ends the recording; returns the answer.
    pub(crate) fn ask(&self, method: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let Moderator { id, secret, .. } = self;
        let head = format!(
            "{method} /api/rooms/r/recording?participant={id} HTTP/1.1\r\nhost: localhost\r\n\
             weft-secret: {secret}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }
}

/// Publisher, killed at the end of the test.
pub(crate) struct Publisher(Child);

impl Drop for Publisher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn publish(state: &Path, server: &Server, name: &str, more: &[&str]) -> Publisher {
    let url = format!("http://{}", server.address);
    let mut command = weft(state);
    command.args(["join", &url, "--room", "r", "--name", name]);
    command.args(["--link", "127.0.0.1", "--send-only", "--mic", "tone"]);
    let command = command.args(more).stdin(Stdio::null());
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    Publisher(quiet.spawn().expect("it starts"))
}

/// Waits until the index of the only recording under a folder satisfies the predicate.
pub(crate) fn index(folder: &Path, satisfies: impl Fn(&Value) -> bool) -> (PathBuf, Value) {
    let began = Instant::now();
    let mut last = Value::Null;
    while began.elapsed() < PATIENCE {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut paths = entries.map(|entry| entry.expect("an entry").path());
        let read = paths.next().and_then(|path| {
            let text = std::fs::read_to_string(path.join("index.json")).ok()?;
            Some((path, serde_json::from_str::<Value>(&text).ok()?))
        });
        if let Some((path, index)) = read {
            if satisfies(&index) {
                return (path, index);
            }
            last = index;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the index never is as expected, but {last:#}");
}

pub(crate) fn tracks(index: &Value) -> &[Value] {
    index["tracks"].as_array().expect("a list")
}

/// Returns the recorded kinds of media, each with the name of its first file.
fn recorded(index: &Value) -> Vec<(&str, &str, &str)> {
    let mut kinds = BTreeMap::new();
    for track in tracks(index) {
        let text = |key: &str| track[key].as_str().expect("text");
        let of = (text("name"), text("kind"));
        kinds.entry(of).or_insert(text("file"));
    }
    let named = |((name, kind), file)| (name, kind, file);
    kinds.into_iter().map(named).collect()
}

/// Decodes a file with ffmpeg; returns the end of its last frame in seconds. `None`
/// without ffmpeg.
pub(crate) fn decoded(file: &Path) -> Option<f64> {
    let ask = "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())";
    let path = Command::new(PYTHON).args(["-c", ask]).output();
    let Some(path) = path.ok().filter(|found| found.status.success()) else {
        skipped("no ffmpeg: scripts/setup --tests installs it");
        return None;
    };
    let program = String::from_utf8(path.stdout).expect("text");
    let mut ffmpeg = Command::new(program.trim());
    ffmpeg.args(["-v", "error", "-stats", "-i"]).arg(file);
    let output = ffmpeg.args(["-f", "null", "-"]).output().expect("it ran");
    let said = String::from_utf8_lossy(&output.stderr);
    let time = said.rsplit("time=").next().and_then(|rest| rest.get(..11));
    let time = time.unwrap_or_else(|| panic!("{}: {said}", file.display()));
    let mut parts = time.split(':').map(|part| part.parse::<f64>());
    let mut next = || parts.next().and_then(Result::ok).expect("a number");
    Some(next() * 3600.0 + next() * 60.0 + next())
}

#[test]
fn a_killed_server_leaves_files_that_play() {
    let state = TempDir::new().expect("a folder");
    let folder = TempDir::new().expect("a folder");
    let mut command = weft(state.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--recordings"]);
    let mut server = Server::start(command.arg(folder.path()));
    let mut moderator = Moderator::enter(&server);
    let _ada = publish(state.path(), &server, "Ada", &["--camera", "clip:360p"]);
    let h264 = ["--camera", "clip:360p", "--codec", "h264"];
    let _bob = publish(state.path(), &server, "Bob", &h264);
    let started = moderator.ask("PUT");
    assert!(started.starts_with("HTTP/1.1 204"), "{started}");
    assert_eq!(moderator.hears("settings")["recorded"], true);
    index(folder.path(), |index| recorded(index).len() == 4);
    std::thread::sleep(Duration::from_secs(4));
    server.child.kill().expect("it runs");
    let began = Instant::now();
    server.child.wait().expect("it ends");

    let (path, index) = index(folder.path(), |_| true);
    assert_eq!(index["length_ms"], Value::Null, "it did not end");
    let expected = [
        ("Ada", "camera", "Ada-camera.webm"),
        ("Ada", "microphone", "Ada-microphone.webm"),
        ("Bob", "camera", "Bob-camera.mp4"),
        ("Bob", "microphone", "Bob-microphone.webm"),
    ];
    assert!(recorded(&index).into_iter().eq(expected), "{index:#}");
    // The last of the four started four seconds ago, and a crash costs at most two.
    let least = 2.0 - began.elapsed().as_secs_f64();
    for (name, kind, _) in expected {
        // More than one file if a busy machine made the encoder change its size.
        let files = tracks(&index)
            .iter()
            .filter(|t| t["name"] == name && t["kind"] == kind);
        let mut seconds = 0.0;
        for file in files.map(|track| track["file"].as_str().expect("a name")) {
            let Some(length) = decoded(&path.join(file)) else {
                return;
            };
            seconds += length;
        }
        assert!(
            (least..60.0).contains(&seconds),
            "{name}, {kind}: {seconds} s"
        );
    }

    // A film of the remaining files, in both codecs.
    let compose = || {
        let mut command = weft(state.path());
        let output = command.arg("compose").arg(&path).output().expect("it ran");
        let [said, complained] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        (output.status.code(), said, complained)
    };
    let (status, said, complained) = compose();
    assert_eq!((status, &*complained), (Some(0), ""), "{said}");
    assert!(said.contains("pictures, 2 sounds"), "{said}");
    let film = decoded(&path.join("film.webm")).expect("ffmpeg is here");
    assert!((least..60.0).contains(&film), "{film} s");
    let (_, index) = self::index(folder.path(), |_| true);
    assert_eq!(index["film"], "film.webm");
    let (status, _, complained) = compose();
    assert_eq!(status, Some(2));
    assert!(complained.contains("--output"), "{complained}");
}

/// A file system of a megabyte, in the server's own namespace.
#[test]
fn a_full_disk_is_reported_and_the_recording_so_far_is_kept() {
    let state = TempDir::new().expect("a folder");
    let folder = TempDir::new().expect("a folder");
    let possible = Command::new("unshare").args(["-rm", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        skipped("no user namespaces here for a user without rights");
        return;
    }
    let mut command = super::with_state(Command::new("unshare"), state.path());
    let mount = "mount -t tmpfs -o size=1m tmpfs \"$0\" && exec \"$@\"";
    command.args(["-rm", "sh", "-c", mount]).arg(folder.path());
    command.arg(env!("CARGO_BIN_EXE_weft"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--recordings"]);
    let server = Server::start(command.arg(folder.path()));
    let mut moderator = Moderator::enter(&server);
    let _ada = publish(state.path(), &server, "Ada", &["--camera", "clip:720p"]);
    assert!(moderator.ask("PUT").starts_with("HTTP/1.1 204"));
    assert_eq!(moderator.hears("settings")["recorded"], true);
    assert_eq!(moderator.hears("settings")["recorded"], false);
    let reported = moderator.hears("recording")["error"].to_string();
    assert!(reported.contains("No space left on device"), "{reported}");
    server.says("No space left on device");
    assert!(
        server.get("/metrics").contains("weft_publications 1\n"),
        "the call continues"
    );

    // The folder as the server sees it.
    let process = PathBuf::from(format!("/proc/{}/root", server.child.id()));
    let inside = process.join(folder.path().strip_prefix("/").expect("an absolute path"));
    let (path, index) = index(&inside, |index| !tracks(index).is_empty());
    let mut length = 0.0_f64;
    for track in tracks(&index) {
        let file = track["file"].as_str().expect("a name");
        let Some(seconds) = decoded(&path.join(file)) else {
            return;
        };
        length = length.max(seconds);
    }
    assert!(length > 1.0, "{length} s of a megabyte");
}

#[test]
fn a_missing_folder_is_reported_to_the_moderator_and_at_the_start() {
    let state = TempDir::new().expect("a folder");
    let folder = TempDir::new().expect("a folder");
    let mut command = weft(state.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--recordings"]);
    let server = Server::start(command.arg(folder.path()));
    let moderator = Moderator::enter(&server);
    let path = folder.path().to_owned();
    drop(folder);
    let answer = moderator.ask("PUT");
    assert!(answer.starts_with("HTTP/1.1 507"), "{answer}");
    assert!(answer.contains("No such file or directory"), "{answer}");
    assert!(!answer.contains(path.to_str().expect("text")), "{answer}");
    server.says("No such file or directory");

    let mut command = weft(state.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--recordings"]);
    let output = command.arg(&path).output().expect("it ran");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("rooms cannot be recorded"), "{said}");
    assert_eq!(said.matches("existing").count(), 1, "one remedy: {said}");
    assert!(said.contains("--recordings"), "{said}");
}
