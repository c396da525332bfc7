//! Links that come and go, in network namespaces of the test's own: a server
//! in one, a sender with two cables to it in the other.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// For whatever is waited for, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process, ended with the test, and the lines that it prints.
struct Program {
    child: Child,
    said: Receiver<String>,
    told: Receiver<String>,
}

impl Program {
    fn start(command: &mut Command) -> Program {
        let command = command.stdin(Stdio::null());
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program starts");
        let told = lines(child.stdout.take().expect("its output"));
        let said = lines(child.stderr.take().expect("its errors"));
        Program { child, said, told }
    }

    /// Waits until it says something on the terminal.
    fn says(&self, words: &str) -> Duration {
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

    /// Waits for statistics that satisfy.
    fn shows(&self, what: &str, satisfies: impl Fn(&Value) -> bool) -> Value {
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
        let _ = self.child.kill();
        let _ = self.child.wait();
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

/// A network namespace that a process holds.
struct Namespace(Program);

impl Namespace {
    /// One in a user namespace of its own, where we are root; or one more
    /// beside `other`. None, with the reason, without the right.
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

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let pid = self.pid();
        command.args(["-t", &pid, "-U", "-n", "--preserve-credentials", program]);
        command
    }

    fn ip(&self, arguments: &str) {
        let status = self.command("ip").args(arguments.split(' ')).status();
        assert!(status.expect("ip runs").success(), "ip {arguments}");
    }
}

/// A cable between the two, whose ends have these addresses.
fn cable(server: &Namespace, sender: &Namespace, name: &str, ends: [&str; 2]) {
    let far = format!("s{name}");
    let pid = sender.pid();
    server.ip(&format!(
        "link add {far} type veth peer name {name} netns {pid}"
    ));
    server.ip(&format!("addr add {}/24 dev {far}", ends[0]));
    server.ip(&format!("link set dev {far} up"));
    sender.ip(&format!("addr add {}/24 dev {name}", ends[1]));
    sender.ip(&format!("link set dev {name} up"));
}

/// Packets sent over the paths of a link that are up.
fn sent(figures: &Value, link: &str) -> u64 {
    let peers = figures["peers"].as_array().expect("peers").iter();
    let paths = peers.flat_map(|p| p["paths"].as_array().expect("paths"));
    let live = paths.filter(|p| p["link"] == link && p["state"] == "up");
    live.filter_map(|p| p["sent_packets"].as_u64()).sum()
}

#[test]
fn a_link_joins_the_call_leaves_it_and_comes_back_with_another_address() {
    let made = Namespace::new(None).and_then(|server| {
        let sender = Namespace::new(Some(&server))?;
        Ok((server, sender))
    });
    let (server_side, sender_side) = match made {
        Ok(both) => both,
        Err(reason) => {
            println!("skipped: no network namespaces here: {reason}");
            return;
        }
    };
    cable(&server_side, &sender_side, "a", ["10.1.0.1", "10.1.0.2"]);
    let weft = env!("CARGO_BIN_EXE_weft");
    let mut serve = server_side.command(weft);
    let serve = serve.args(["serve", "--listen", "0.0.0.0:8080", "--insecure-http"]);
    let server = Program::start(serve);
    server
        .told
        .recv_timeout(PATIENCE)
        .expect("it says where it is");

    let mut join = sender_side.command(weft);
    join.args(["join", "http://10.1.0.1:8080", "--room", "r"]);
    join.args(["--link", "a", "--link", "b", "--mic", "tone"]);
    join.args(["--scheduler", "duplicate", "--stats", "/dev/stdout"]);
    let sender = Program::start(&mut join);
    sender.says("link `b`: there is no such interface now");
    sender.says("link `a` is up");

    cable(&server_side, &sender_side, "b", ["10.2.0.1", "10.2.0.2"]);
    sender.says("link `b` is here: 10.2.0.2");
    sender.says("link `b` is up");
    sender.shows("packets over the new link", |f| sent(f, "b") > 50);

    sender_side.ip("link del dev b");
    let gone = sender.says("link `b` has gone");
    println!("told of the link's end after {gone:?}");
    let after = sender.shows("that the link is down", |f| sent(f, "b") == 0);
    let before = sent(&after, "a");
    assert!(before > 0, "the call goes on: {after}");
    sender.shows("that the call goes on", |f| sent(f, "a") > before + 50);

    cable(&server_side, &sender_side, "b", ["10.2.0.1", "10.2.0.3"]);
    sender.says("link `b` is here: 10.2.0.3");
    sender.says("link `b` is up again after");
    sender.shows("packets over it again", |f| sent(f, "b") > 50);
}
