//! `weft serve` for its operator: signals, system limits, and `weft rooms`.

mod capture;
mod cluster;
mod load;
mod packaging;
mod recording;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Limit for all waits, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Server with its output lines, killed at the end of the test.
struct Server {
    child: Child,
    address: SocketAddr,
    said: Receiver<String>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the program, with its state in this folder.
fn weft(state: &Path) -> Command {
    with_state(Command::new(env!("CARGO_BIN_EXE_weft")), state)
}

fn with_state(mut command: Command, state: &Path) -> Command {
    command.env("XDG_STATE_HOME", state);
    command
        .env_remove("STATE_DIRECTORY")
        .env_remove("WEFT_TOKEN");
    command
}

impl Server {
    fn start(command: &mut Command) -> Server {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = piped.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        out.read_line(&mut url).expect("a line");
        let address = url.trim().trim_end_matches('/').rsplit('/').next();
        let address = address.and_then(|address| address.parse().ok());
        let (sender, said) = channel();
        let errors = BufReader::new(child.stderr.take().expect("its errors"));
        thread::spawn(move || {
            errors
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        let Some(address) = address else {
            let _ = child.kill();
            panic!("no address in {url:?}: {:?}", said.recv_timeout(PATIENCE));
        };
        Server {
            child,
            address,
            said,
        }
    }

    /// Waits for a line with these words.
    fn says(&self, words: &str) -> String {
        let (began, mut before) = (Instant::now(), Vec::new());
        while let Ok(line) = self
            .said
            .recv_timeout(PATIENCE.saturating_sub(began.elapsed()))
        {
            if line.contains(words) {
                return line;
            }
            before.push(line);
        }
        panic!("it never says `{words}`, but {before:#?}");
    }

    fn hang_up(&self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-HUP", &id]).status();
        assert!(sent.expect("kill").success());
    }

    fn get(&self, path: &str) -> String {
        self.get_with(path, "none")
    }

    fn get_with(&self, path: &str, token: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
             connection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }
}

/// Returns a self-signed certificate of a server, and its key.
fn certificate() -> (TempDir, [PathBuf; 2]) {
    let state = TempDir::new().expect("a folder");
    let mut command = weft(state.path());
    drop(Server::start(command.args([
        "serve",
        "--listen",
        "0.0.0.0:0",
    ])));
    let file = |name: &str| state.path().join("weft").join(name);
    let files = [file("certificate.pem"), file("key.pem")];
    (state, files)
}

#[test]
fn a_hang_up_has_the_certificate_read_again_and_ends_nothing() {
    let ((_one, first), (_other, second)) = (certificate(), certificate());
    let folder = TempDir::new().expect("a folder");
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| folder.path().join(name));
    let put = |files: &[PathBuf; 2]| {
        for (from, to) in files.iter().zip([&chain, &key]) {
            std::fs::copy(from, to).expect("copied");
        }
    };
    put(&first);
    let mut command = weft(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "info"]);
    command
        .arg("--certificate")
        .arg(&chain)
        .arg("--key")
        .arg(&key);
    let mut server = Server::start(&mut command);
    put(&second);
    server.hang_up();
    let line = server.says("reloaded the certificate");
    std::fs::write(&chain, "broken").expect("written");
    server.hang_up();
    server.says("the new certificate cannot be used");
    assert!(line.contains("SHA-256"), "{line}");
    assert!(server.child.try_wait().expect("ours").is_none(), "it runs");
}

#[test]
fn a_hang_up_has_the_configuration_read_again() {
    let folder = TempDir::new().expect("a folder");
    let [file, token] = ["serve.toml", "token"].map(|name| folder.path().join(name));
    let write = |secret: &str, more: &str| {
        std::fs::write(&token, secret).expect("written");
        let listen = "listen = \"127.0.0.1:0\"\nlog = \"info\"";
        let text = format!("{listen}\ntoken-file = {token:?}\n{more}");
        std::fs::write(&file, text).expect("written");
    };
    write("first", "threads = 1");
    let mut command = weft(folder.path());
    let server = Server::start(command.arg("serve").arg("--config").arg(&file));
    let status = |secret| server.get_with("/metrics", secret)[9..12].to_owned();
    assert_eq!([status("first"), status("second")], ["200", "401"]);
    write("second", "threads = 2\nmax-rooms = 1");
    server.hang_up();
    server.says(
        "reloaded the configuration; changed: max-rooms, token; restart the server for: threads",
    );
    assert_eq!([status("first"), status("second")], ["401", "200"]);
    write("third", "max-rooms = 1\nmax-room = 1");
    server.hang_up();
    let line = server.says("the old one stays in effect");
    assert!(line.contains("serve.toml:5:1: "), "{line}");
    assert_eq!([status("third"), status("second")], ["401", "200"]);
    write("third", "max-rooms = 1\nlog-format = \"json\"");
    server.hang_up();
    let line = server.says("\"configuration_read\"");
    let changed = "\"changed\":[\"log-format\",\"token\"],\"restart\":[\"threads\"]";
    assert!(
        line.contains(changed),
        "the number of threads differs still: {line}"
    );
}

#[test]
fn a_server_shows_its_effective_configuration_without_starting() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("serve.toml");
    let check = |text: &str| {
        std::fs::write(&file, text).expect("written");
        let mut command = weft(folder.path());
        command
            .env("WEFT_TOKEN", "s3cret")
            .args(["serve", "--check", "--drain", "5"]);
        command
            .arg("--config")
            .arg(&file)
            .output()
            .expect("it runs")
    };
    let shown = check("drain = 60\nmax-egress = \"800mbit\"");
    let shown = text(&shown.stdout);
    for line in [
        "drain = 5 # command line\n",
        "max-egress = \"800mbit\" # file\n",
        "# token is set and not shown (environment)\n",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let refused = check("drian = 60");
    assert_eq!(refused.status.code(), Some(2));
    let words = text(&refused.stderr);
    assert!(words.contains("serve.toml:1:1: ") && words.contains("did you mean `drain`?"));
}

#[test]
fn a_server_without_a_descriptor_left_says_so() {
    let state = TempDir::new().expect("a folder");
    let mut command = with_state(Command::new("sh"), state.path());
    let script = "ulimit -n 64; exec \"$0\" serve --listen 127.0.0.1:0";
    command.args(["-c", script, env!("CARGO_BIN_EXE_weft")]);
    let server = Server::start(&mut command);
    let idle: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(server.address).expect("it listens"))
        .collect();
    server.says("no file descriptor left");
    drop(idle);
    let metrics = server.get("/metrics");
    let row = "weft_http_connections_refused_total{reason=\"descriptors\"}";
    assert!(metrics.contains(row), "{metrics}");
}

fn rooms(state: &Path, args: &[&str]) -> Output {
    let mut command = weft(state);
    command.arg("rooms").args(args).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn an_operator_lists_rooms_and_removes_somebody() {
    let state = TempDir::new().expect("a folder");
    let nobody = rooms(state.path(), &["list"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(text(&nobody.stderr).contains("--state"));
    let serve = || Server::start(weft(state.path()).args(["serve", "--listen", "127.0.0.1:0"]));
    let (server, other) = (serve(), serve());
    let at = |server: &Server| server.address.to_string();
    let mut ada = TcpStream::connect(server.address).expect("it listens");
    let get = "GET /api/rooms/r/events?name=Ada HTTP/1.1\r\nhost: localhost\r\n\
               connection: close\r\n\r\n";
    ada.write_all(get.as_bytes()).expect("it reads");
    let mut stream = BufReader::new(ada.try_clone().expect("a handle"));
    let mut line = String::new();
    while !line.contains("welcome") {
        line.clear();
        assert_ne!(stream.read_line(&mut line).expect("a line"), 0);
    }
    let both = text(&rooms(state.path(), &["list"]).stdout);
    assert!(
        both.contains(&at(&server)) && both.contains(&at(&other)),
        "{both}"
    );
    assert!(both.contains("Ada") && both.contains("no participants in any room"));
    let remove = ["remove", "r", "ada", "--minutes", "1"];
    let which = rooms(state.path(), &remove);
    assert_eq!(which.status.code(), Some(2), "of two servers");
    let removed = rooms(
        state.path(),
        &[&remove[..], &["--server", &at(&server)]].concat(),
    );
    assert!(
        text(&removed.stdout).starts_with("removed Ada (p"),
        "{removed:?}"
    );
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("it ends");
    assert!(!server.get("/api/rooms/r/access").is_empty(), "it runs on");
}
