//! Servers of a cluster as processes, one of which is killed.

#[path = "../../../weft-server/src/tests/nats.rs"]
mod nats;
mod recording;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::net::{Shutdown, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::*;
use nats::Nats;

/// Maximum time from the death of a server until its participants' pictures arrive from
/// another one, as the documentation says.
const BACK: Duration = Duration::from_secs(3);

/// Directs each connection to the first of these servers that accepts it, like a load
/// balancer, or to the second one once the first is taken for dead.
fn balance(is_dead: Arc<AtomicBool>, servers: [SocketAddr; 2]) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("it has one");
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let skipped = usize::from(is_dead.load(Ordering::Relaxed));
            let mut live = servers.iter().skip(skipped);
            let server = live.find_map(|at| TcpStream::connect(at).ok());
            if let Some(server) = server {
                pass(&client, &server);
                pass(&server, &client);
            }
        }
    });
    address
}

fn pass(from: &TcpStream, to: &TcpStream) {
    let copy = |stream: &TcpStream| stream.try_clone().expect("a handle");
    let (mut from, mut to) = (copy(from), copy(to));
    thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}

/// `weft join` until the end of the test.
struct Joined(Child);

impl Drop for Joined {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn join_with(state: &Path, server: SocketAddr, options: &[&str]) -> Joined {
    let mut command = weft(state);
    command.args(["join", &format!("http://{server}"), "--room", "r"]);
    command.args(options).env("WEFT_TOKEN", "s3cret");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Joined(command.spawn().expect("it starts"))
}

/// Opens an event stream, like a client that does not support moves.
fn stay(server: &Server, path: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).expect("it listens");
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut byte = [0];
    stream.read_exact(&mut byte).expect("it answers");
    stream
}

/// Waits until two servers have discovered each other.
fn meet(one: &Server, two: &Server) {
    let known = |server: &Server| server.get("/metrics").contains("weft_cluster_servers 1\n");
    wait_for("the servers know each other", || {
        (known(one) && known(two)).then_some(())
    });
}

/// Asks a server to end.
fn terminate(server: &Server) {
    send("TERM", server);
}

fn send(signal: &str, server: &Server) {
    let id = server.child.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.expect("kill").success());
}

fn join(state: &Path, server: SocketAddr, name: &str, options: &[&str]) -> Joined {
    let mut command = weft(state);
    command.args(["join", &format!("http://{server}"), "--room", "r"]);
    command.args(["--name", name]).args(options);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Joined(command.spawn().expect("it starts"))
}

/// Returns pictures and freezes by participant, from the last complete line of a
/// statistics file.
fn seen(file: &Path) -> BTreeMap<String, (u64, u64)> {
    history(file).pop().unwrap_or_default()
}

/// Returns pictures and freezes by participant, for each complete line of a statistics
/// file, which has one each second.
fn history(file: &Path) -> Vec<BTreeMap<String, (u64, u64)>> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines.map(received).collect()
}

fn received(line: Value) -> BTreeMap<String, (u64, u64)> {
    let received = line["received"].as_object().cloned().unwrap_or_default();
    let count = |value: &Value, key: &str| value[key].as_u64().unwrap_or(0);
    let of =
        |(id, value): (String, Value)| (id, (count(&value, "frames"), count(&value, "freezes")));
    received
        .into_iter()
        .map(of)
        .filter(|(_, (frames, _))| *frames > 0)
        .collect()
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns a free loopback port, for a server that must know it before it starts.
fn free_port() -> u16 {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    free.local_addr().expect("it has one").port()
}

#[test]
fn newcomers_to_a_draining_server_are_sent_to_another_with_their_token() {
    where_the_machine_keeps_up(|| {
        let Some(nats) = Nats::start() else { return };
        let states = [(); 3].map(|()| TempDir::new().expect("a folder"));
        let key = states[2].path().join("token.key");
        let serve = |place: usize, name: &str| {
            let at = format!("127.0.0.1:{}", free_port());
            let mut command = weft(states[place].path());
            command.env("WEFT_TOKEN", "s3cret");
            command.arg("serve").arg("--token-key").arg(&key);
            command.args(["--listen", &at, "--threads", "1", "--drain", "50"]);
            command.args(["--public-url", &format!("http://{at}")]);
            Server::start(command.args(["--cluster", &nats.url(), "--node", name]))
        };
        let (one, two) = (serve(0, "one"), serve(1, "two"));
        let figures = |server: &Server| server.get_with("/metrics", "s3cret");
        let has = |server: &Server, line: &str| figures(server).contains(line).then_some(());
        wait_for("the servers know each other", || {
            has(&one, "weft_cluster_servers 1\n")?;
            has(&two, "weft_cluster_servers 1\n")
        });
        let state = states[2].path();
        let file = state.join("bob.jsonl");
        let stats = file.to_str().expect("a name");
        let client = |command: &str, path: &str, options: &[&str]| {
            let mut weft = weft(state);
            weft.args([command, &format!("http://{}{path}", one.address)]);
            weft.args(options).env("WEFT_TOKEN", "s3cret");
            weft.stdout(Stdio::null()).stderr(Stdio::null());
            Joined(weft.spawn().expect("it starts"))
        };
        let in_room = ["--room", "r", "--name"];
        let _bob = join_with(state, two.address, &["--name", "Bob", "--stats", stats]);
        let _old = stay(&one, "/api/rooms/r/events?name=Old&kind=native", "s3cret");

        terminate(&one);
        wait_for("it drains", || {
            one.get("/readyz").contains(" 503 ").then_some(())
        });
        let camera = ["--camera", "clip:320x180@15"];
        let join = [&in_room[..], &["Cyd", "--send-only"], &camera].concat();
        let _cyd = client("join", "", &join);
        let _obs = client("publish", "/whip/r?name=OBS", &camera);
        wait_for("Bob sees both", || (seen(&file).len() == 2).then_some(()));
        has(&two, "weft_participants 3\n").expect("both are on the other server");
        has(&one, "weft_event_streams 1\n").expect("who does not move may stay");
        has(&two, "weft_event_streams 2\n").expect("Cyd is there");
    });
}

/// Starts a server of the cluster with a public URL and this many seconds to drain.
fn draining(nats: &Nats, state: &Path, name: &str, seconds: &str) -> Server {
    let at = format!("127.0.0.1:{}", free_port());
    let mut command = weft(state);
    command.args([
        "serve",
        "--listen",
        &at,
        "--threads",
        "1",
        "--drain",
        seconds,
    ]);
    command.args(["--public-url", &format!("http://{at}"), "--log", "info"]);
    Server::start(command.args(["--cluster", &nats.url(), "--node", name]))
}

#[test]
fn participants_of_a_draining_server_move_to_another_without_a_gap() {
    where_the_machine_keeps_up(|| {
        let Some(nats) = Nats::start() else { return };
        let states = [(); 3].map(|()| TempDir::new().expect("a folder"));
        let serve = |place: usize, name| draining(&nats, states[place].path(), name, "50");
        let (mut one, two) = (serve(0, "one"), serve(1, "two"));
        meet(&one, &two);
        let state = states[2].path();
        let files = ["ada", "bob"].map(|name| state.join(format!("{name}.jsonl")));
        let stats = files.each_ref().map(|file| file.to_str().expect("a name"));
        let camera = ["--camera", "clip:320x180@15"];
        let call = |server: &Server, name: &str, stats: &str| {
            let options = [&camera[..], &["--name", name, "--stats", stats]].concat();
            join_with(state, server.address, &options)
        };
        let _ada = call(&one, "Ada", stats[0]);
        let _bob = call(&two, "Bob", stats[1]);
        let sees_one = |file| Some(seen(file)).filter(|seen| seen.len() == 1);
        let before = wait_for("Bob sees Ada", || sees_one(&files[1]));
        wait_for("Ada sees Bob", || sees_one(&files[0]));

        terminate(&one);
        let began = Instant::now();
        one.says("r: asked 1 participant to move to server two");
        let ended = wait_for("the server ends", || one.child.try_wait().expect("its end"));
        let took = began.elapsed();
        assert!(ended.success(), "{ended}");
        assert!(
            took < Duration::from_secs(20),
            "it waits for nobody: {took:?}"
        );
        // A second of pictures after the move.
        let last = history(&files[1]).len();
        wait_for("Bob continues", || {
            (history(&files[1]).len() > last + 1).then_some(())
        });

        let lines = history(&files[1]);
        let new = lines
            .last()
            .and_then(|line| line.keys().find(|id| !before.contains_key(*id)));
        let (new, old) = (
            new.expect("Ada is there again"),
            before.keys().next().expect("Ada"),
        );
        let grows = |id: &str| {
            let frames = |line: &BTreeMap<String, (u64, u64)>| line.get(id).map_or(0, |at| at.0);
            let steps = lines.windows(2).enumerate();
            let grown = steps.filter(|(_, pair)| frames(&pair[1]) > frames(&pair[0]));
            grown.map(|(step, _)| step).collect::<Vec<_>>()
        };
        let (of_old, of_new) = (grows(old), grows(new));
        let first = of_new.first().expect("she sends pictures");
        assert!(of_old.contains(first), "both send for a while: {lines:#?}");
        for file in &files {
            let last = history(file).pop().expect("a line");
            assert!(last.values().all(|(_, freezes)| *freezes == 0), "{last:?}");
        }
        let seen_by_ada = history(&files[0]);
        let herself = seen_by_ada.iter().find(|line| line.len() > 1);
        assert_eq!(herself, None, "{seen_by_ada:#?}");
        let counts = seen_by_ada
            .iter()
            .filter_map(|line| Some(line.values().next()?.0));
        let counts: Vec<u64> = counts.collect();
        let shown = counts.last().expect("Bob's pictures") - counts[0];
        let seconds = counts.len() as u64 - 1;
        assert!(
            seconds > 1 && shown >= 12 * seconds,
            "Bob's pictures continue: {counts:?}"
        );
    });
}

#[test]
fn programs_of_a_draining_server_are_sent_to_another_before_it_ends() {
    where_the_machine_keeps_up(|| {
        let Some(nats) = Nats::start() else { return };
        let states = [(); 3].map(|()| TempDir::new().expect("a folder"));
        let serve = |place: usize, name| draining(&nats, states[place].path(), name, "16");
        let (mut one, two) = (serve(0, "one"), serve(1, "two"));
        meet(&one, &two);
        let state = states[2].path();
        let file = state.join("bob.jsonl");
        let stats = file.to_str().expect("a name");
        let _bob = join_with(state, two.address, &["--name", "Bob", "--stats", stats]);
        let program = |command: &str, path: &str, options: &[&str]| {
            let mut weft = weft(state);
            weft.args([command, &format!("http://{}{path}", one.address)]);
            weft.args(options);
            weft.stdout(Stdio::null()).stderr(Stdio::null());
            Joined(weft.spawn().expect("it starts"))
        };
        let camera = ["--camera", "clip:320x180@15"];
        let _obs = program("publish", "/whip/r?name=OBS", &camera);
        let before = wait_for("Bob sees OBS", || {
            Some(seen(&file)).filter(|s| s.len() == 1)
        });
        let played = state.join("eve.jsonl");
        let played_to = played.to_str().expect("a name");
        let _eve = program("play", "/whep/r/OBS?name=Eve", &["--stats", played_to]);
        wait_for("Eve sees OBS", || (seen(&played).len() == 1).then_some(()));

        terminate(&one);
        let asked = Instant::now();
        let is_new = |id: &String| !before.contains_key(id);
        wait_for("OBS is on the other server", || {
            seen(&file).keys().any(is_new).then_some(())
        });
        // After half of the drain time; the file has a line each second.
        let moved = asked.elapsed();
        let range = Duration::from_secs(8)..Duration::from_secs(12);
        assert!(range.contains(&moved), "{moved:?}");
        let frames = || {
            seen(&played)
                .values()
                .map(|(frames, _)| *frames)
                .sum::<u64>()
        };
        let then = frames();
        wait_for("Eve sees OBS again", || {
            (frames() > then + 15).then_some(())
        });
        let ended = wait_for("the server ends", || one.child.try_wait().expect("its end"));
        assert!(ended.success(), "{ended}");
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(20), "{took:?}");
    });
}

#[test]
fn participants_of_a_killed_server_are_back_on_another_and_the_others_notice_nothing() {
    where_the_machine_keeps_up(|| lose("KILL"));
}

/// As a host that loses its power or its network: its connections stay, and nothing answers.
#[test]
fn participants_of_a_silent_server_are_back_on_another_and_the_others_notice_nothing() {
    where_the_machine_keeps_up(|| lose("STOP"));
}

/// Stops a server with this signal and looks at the participants.
fn lose(signal: &str) {
    let Some(nats) = Nats::start() else { return };
    let states = [(); 3].map(|()| TempDir::new().expect("a folder"));
    let serve = |place: usize, name: &str| {
        let mut command = weft(states[place].path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--threads", "1"]);
        Server::start(command.args(["--cluster", &nats.url(), "--node", name]))
    };
    let (one, two) = (serve(0, "one"), serve(1, "two"));
    meet(&one, &two);
    let state = states[2].path();
    let file = state.join("bob.jsonl");
    let stats = file.to_str().expect("a name");
    let camera = ["--send-only", "--camera", "clip:320x180@15"];
    let is_dead = Arc::<AtomicBool>::default();
    let anywhere = balance(Arc::clone(&is_dead), [one.address, two.address]);
    let _bob = join(state, two.address, "Bob", &["--stats", stats]);
    let _cyd = join(state, two.address, "Cyd", &camera);
    let cyd = wait_for("Bob sees Cyd", || seen(&file).into_keys().next());
    let _ada = join(state, anywhere, "Ada", &camera);
    let before = wait_for("Bob sees Ada", || {
        Some(seen(&file)).filter(|s| s.len() == 2)
    });
    assert!(
        two.get("/metrics").contains("weft_cluster_pulls 1\n"),
        "Ada is elsewhere"
    );

    let killed = Instant::now();
    send(signal, &one);
    is_dead.store(true, Ordering::Relaxed);
    let is_new = |id: &String| !before.contains_key(id);
    let after = wait_for("Ada is back", || {
        Some(seen(&file)).filter(|s| s.keys().any(is_new))
    });
    let took = killed.elapsed();
    eprintln!("back {took:?} after the death");
    // The file has a line each second.
    assert!(took < BACK + Duration::from_secs(1), "{took:?}");
    let ((frames, freezes), (more, frozen)) = (before[&cyd], after[&cyd]);
    assert_eq!(frozen, freezes, "Cyd's picture did not freeze");
    let seconds = took.as_secs_f64();
    assert!(
        (more - frames) as f64 > (seconds - 2.0) * 15.0 * 0.8,
        "{before:?} {after:?}"
    );
    wait_for("the other server is gone", || {
        let figures = two.get("/metrics");
        let alone = figures.contains("weft_cluster_servers 0\n");
        (alone && figures.contains("weft_cluster_pulls 0\n")).then_some(())
    });
}
