//! Servers of a cluster as processes, of which one is killed.

#[path = "../../../weft-server/src/tests/nats.rs"]
mod nats;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::net::{Shutdown, TcpListener};

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::*;
use nats::Nats;

/// Longest time from the death of a server until the pictures of its participants come from
/// another one, as the documentation says.
const BACK: Duration = Duration::from_secs(5);

/// Leads each connection to the first of these servers that accepts it, as load balancers do.
fn balance(servers: [SocketAddr; 2]) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("it has one");
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = servers.iter().find_map(|at| TcpStream::connect(at).ok());
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

fn join(state: &Path, server: SocketAddr, name: &str, options: &[&str]) -> Joined {
    let mut command = weft(state);
    command.args(["join", &format!("http://{server}"), "--room", "r"]);
    command.args(["--name", name]).args(options);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Joined(command.spawn().expect("it starts"))
}

/// Pictures and freezes by participant, in the last whole line of a statistics file.
fn seen(file: &Path) -> BTreeMap<String, (u64, u64)> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let last = text
        .rsplit_once('\n')
        .and_then(|(whole, _)| whole.lines().last());
    let last: Value = last
        .and_then(|line| serde_json::from_str(line).ok())
        .unwrap_or_default();
    let received = last["received"].as_object().cloned().unwrap_or_default();
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

/// Free port of loopback, which a server must know before it starts.
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
        let _bob = client(
            "join",
            "",
            &[&in_room[..], &["Bob", "--stats", stats]].concat(),
        );
        wait_for("Bob is inside", || has(&one, "weft_event_streams 1\n"));

        let id = one.child.id().to_string();
        let sent = Command::new("kill").arg(&id).status();
        assert!(sent.expect("kill").success());
        wait_for("it drains", || {
            one.get("/readyz").contains(" 503 ").then_some(())
        });
        let camera = ["--camera", "clip:320x180@15"];
        let join = [&in_room[..], &["Cyd", "--send-only"], &camera].concat();
        let _cyd = client("join", "", &join);
        let _obs = client("publish", "/whip/r?name=OBS", &camera);
        wait_for("Bob sees both", || (seen(&file).len() == 2).then_some(()));
        has(&one, "weft_cluster_pulls 2\n").expect("both are on the other server");
        has(&one, "weft_event_streams 1\n").expect("Bob stays");
        has(&two, "weft_event_streams 1\n").expect("Cyd is there");
    });
}

#[test]
fn participants_of_a_killed_server_are_back_on_another_and_the_others_notice_nothing() {
    where_the_machine_keeps_up(|| {
        let Some(nats) = Nats::start() else { return };
        let states = [(); 3].map(|()| TempDir::new().expect("a folder"));
        let serve = |place: usize, name: &str| {
            let mut command = weft(states[place].path());
            command.args(["serve", "--listen", "127.0.0.1:0", "--threads", "1"]);
            Server::start(command.args(["--cluster", &nats.url(), "--node", name]))
        };
        let (mut one, two) = (serve(0, "one"), serve(1, "two"));
        let known = |server: &Server| server.get("/metrics").contains("weft_cluster_servers 1\n");
        wait_for("the servers know each other", || {
            (known(&one) && known(&two)).then_some(())
        });
        let state = states[2].path();
        let file = state.join("bob.jsonl");
        let stats = file.to_str().expect("a name");
        let camera = ["--send-only", "--camera", "clip:320x180@15"];
        let anywhere = balance([one.address, two.address]);
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
        one.child.kill().expect("it runs");
        let is_new = |id: &String| !before.contains_key(id);
        let after = wait_for("Ada is back", || {
            Some(seen(&file)).filter(|s| s.keys().any(is_new))
        });
        let took = killed.elapsed();
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
    });
}
