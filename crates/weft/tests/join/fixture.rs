//! Fixtures for the tests of links: the program itself, in network namespaces where links
//! can appear and disappear.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use weft_testing::skipped;

/// Limit for all waits, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Process with its output lines, killed at the end of the test.
pub(crate) struct Program {
    child: Child,
    pub(crate) said: Receiver<String>,
    pub(crate) told: Receiver<String>,
}

impl Program {
    pub(crate) fn start(command: &mut Command) -> Program {
        let command = command.stdin(Stdio::piped());
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program starts");
        let told = lines(child.stdout.take().expect("its output"));
        let said = lines(child.stderr.take().expect("its errors"));
        Program { child, said, told }
    }

    /// Kills the process without cleanup, like a crash.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Enters an empty line.
    pub(crate) fn press_enter(&mut self) {
        let input = self.child.stdin.as_mut().expect("its input");
        input.write_all(b"\n").expect("it reads");
    }

    /// Waits until the process exits by itself; returns its exit status.
    pub(crate) fn status(&mut self) -> Option<i32> {
        let began = Instant::now();
        loop {
            let ended = self.child.try_wait().expect("it is our child");
            if let Some(status) = ended {
                return status.code();
            }
            assert!(began.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the process prints these words.
    pub(crate) fn says(&self, words: &str) -> Duration {
        let began = Instant::now();
        let mut before = Vec::new();
        while began.elapsed() < PATIENCE {
            match self.said.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(words) => return began.elapsed(),
                Ok(line) => before.push(line),
                Err(_) => break,
            }
        }
        panic!("it never says `{words}`, but: {before:#?}");
    }

    /// Waits for statistics that satisfy the predicate.
    pub(crate) fn shows(&self, what: &str, satisfies: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let Ok(line) = self.told.recv_timeout(PATIENCE) else {
                break;
            };
            let figures: Value = serde_json::from_str(&line).expect("a line of JSON");
            if satisfies(&figures) {
                return figures;
            }
        }
        panic!("its statistics never show {what}");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Network namespace, kept open by a process.
pub(crate) struct Namespace(Program);

impl Namespace {
    /// Creates a namespace in a new user namespace, in which we are root, or another one
    /// beside `other`. Returns the reason if permission is missing.
    fn new(other: Option<&Namespace>) -> Result<Namespace, String> {
        let hold = [
            "sh",
            "-c",
            "ip link set lo up && echo ready; exec sleep 600",
        ];
        let mut command = match other {
            None => Command::new("unshare"),
            Some(other) => other.command("unshare"),
        };
        command
            .arg(if other.is_none() { "-rn" } else { "-n" })
            .args(hold);
        let held = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = held.map_err(|error| format!("unshare: {error}"))?;
        let told = lines(child.stdout.take().expect("its output"));
        let said = lines(child.stderr.take().expect("its errors"));
        let ready = told.recv_timeout(PATIENCE).is_ok();
        let program = Program { child, said, told };
        match ready {
            true => Ok(Namespace(program)),
            false => Err(program.said.recv().unwrap_or_default()),
        }
    }

    fn pid(&self) -> String {
        self.0.child.id().to_string()
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let pid = self.pid();
        command.args(["-t", &pid, "-U", "-n", "--preserve-credentials", program]);
        command
    }

    pub(crate) fn ip(&self, arguments: &str) {
        let status = self.command("ip").args(arguments.split(' ')).status();
        assert!(status.expect("ip runs").success(), "ip {arguments}");
    }
}

/// Connects two namespaces with a cable whose ends have these addresses.
pub(crate) fn cable(server: &Namespace, sender: &Namespace, name: &str, ends: [&str; 2]) {
    connect(server, sender, name, ends.map(|end| format!("{end}/24")));
}

/// Connects two namespaces with a cable. Its ends have these addresses, in the form of `ip
/// addr add`.
pub(crate) fn connect(server: &Namespace, sender: &Namespace, name: &str, ends: [String; 2]) {
    let far = format!("s{name}");
    let pid = sender.pid();
    server.ip(&format!(
        "link add {far} type veth peer name {name} netns {pid}"
    ));
    server.ip(&format!("addr add {} dev {far}", ends[0]));
    server.ip(&format!("link set dev {far} up"));
    sender.ip(&format!("addr add {} dev {name}", ends[1]));
    sender.ip(&format!("link set dev {name} up"));
}

/// Returns the packets sent over the live paths of a link.
pub(crate) fn sent(figures: &Value, link: &str) -> u64 {
    let peers = figures["peers"].as_array().expect("peers").iter();
    let paths = peers.flat_map(|p| p["paths"].as_array().expect("paths"));
    let live = paths.filter(|p| p["link"] == link && p["state"] == "up");
    live.filter_map(|p| p["sent_packets"].as_u64()).sum()
}

/// Returns the MB carried by a link, and its remaining budget.
pub(crate) fn carried(figures: &Value, link: &str) -> (f64, Option<f64>) {
    let peers = figures["peers"].as_array().expect("peers").iter();
    let mut links = peers.flat_map(|p| p["links"].as_array().expect("links"));
    let link = links.rfind(|l| l["name"] == link);
    let link = link.expect("the link");
    let carried = link["carried_mb"].as_f64().expect("a size");
    (carried, link["budget_left_mb"].as_f64())
}

/// Returns the sound packets received from all participants so far.
pub(crate) fn heard(figures: &Value) -> u64 {
    let all = figures["received"].as_object().expect("participants");
    let packets = all.values().filter_map(|r| r["audio_packets"].as_u64());
    packets.sum()
}

/// Returns the time of the line, in seconds since the program's start.
pub(crate) fn time(figures: &Value) -> f64 {
    figures["t"].as_f64().expect("a time")
}

/// Two namespaces, the second beside the first; `None`, with a printed reason, if that is
/// not permitted.
pub(crate) fn pair() -> Option<(Namespace, Namespace)> {
    let made = Namespace::new(None).and_then(|server| {
        let sender = Namespace::new(Some(&server))?;
        Ok((server, sender))
    });
    made.inspect_err(|reason| skipped(format!("no network namespaces here: {reason}")))
        .ok()
}

/// Starts a server that listens on all addresses of its namespace.
pub(crate) fn serve(namespace: &Namespace) -> Program {
    serve_with(namespace, &["--listen", "0.0.0.0:8080"])
}

/// Starts a server with these options.
pub(crate) fn serve_with(namespace: &Namespace, options: &[&str]) -> Program {
    let mut serve = namespace.command(env!("CARGO_BIN_EXE_weft"));
    let serve = serve.args(["serve", "--insecure-http"]).args(options);
    let server = Program::start(serve);
    let url = server.told.recv_timeout(PATIENCE);
    url.expect("it says where it is");
    server
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(arguments);
    command
}

pub(crate) fn weft(arguments: &[&str]) -> Program {
    Program::start(&mut program(arguments))
}

/// Starts a server on these ports, with its log, ready to accept connections. Its media
/// thread panics once the file exists.
pub(crate) fn server_at((http, media): (u16, u16), defect: &std::path::Path) -> Program {
    let (listen, media) = (format!("127.0.0.1:{http}"), media.to_string());
    let place = [
        "serve",
        "--threads",
        "1",
        "--listen",
        &listen,
        "--media-port",
        &media,
    ];
    let mut command = program(&[&place[..], &["--log", "debug"]].concat());
    let server = Program::start(command.env("WEFT_DEFECT_FILE", defect));
    let url = server.told.recv_timeout(PATIENCE);
    url.expect("it says where it is");
    server
}

pub(crate) fn free_ports() -> (u16, u16) {
    let http = TcpListener::bind("127.0.0.1:0").expect("a port");
    let media = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let http = http.local_addr().expect("an address").port();
    (http, media.local_addr().expect("an address").port())
}
