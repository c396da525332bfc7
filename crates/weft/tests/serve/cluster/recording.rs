//! Recordings of rooms over two servers.

use super::nats::Nats;
use super::*;
use crate::recording::{Moderator, decoded, index, publish, tracks};

/// Two servers of a cluster, each recording into its own folder, with a common webhook
/// target.
struct Servers {
    _nats: Nats,
    states: [TempDir; 3],
    folders: [TempDir; 2],
    servers: Vec<Server>,
    told: Receiver<Value>,
}

/// Starts a webhook target; returns its URL and the events.
fn target() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("it has one");
    let (sender, events) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                let lower = line.to_lowercase();
                if let Some(given) = lower.strip_prefix("content-length:") {
                    length = given.trim().parse().expect("a number");
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = reader.into_inner().write_all(answer);
            let _ = sender.send(serde_json::from_slice(&body).expect("JSON"));
        }
    });
    (format!("http://{address}"), events)
}

impl Servers {
    fn start() -> Option<Servers> {
        let nats = Nats::start()?;
        let states = [(); 3].map(|()| TempDir::new().expect("a folder"));
        let folders = [(); 2].map(|()| TempDir::new().expect("a folder"));
        let (hook, told) = target();
        let secrets = states[2].path();
        let file = |name: &str, text: &str| {
            let path = secrets.join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let admin = file("admin", "an-admin-token-of-some-length");
        let secret = file("hook", "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0");
        let serve = |place: usize, name: &str| {
            let at = format!("127.0.0.1:{}", free_port());
            let mut command = weft(states[place].path());
            command.args(["serve", "--listen", &at, "--threads", "1", "--drain", "30"]);
            command.args(["--public-url", &format!("http://{at}"), "--log", "info"]);
            command.arg("--recordings").arg(folders[place].path());
            command.arg("--admin-token-file").arg(&admin);
            command
                .args(["--webhook", &hook, "--webhook-secret-file"])
                .arg(&secret);
            Server::start(command.args(["--cluster", &nats.url(), "--node", name]))
        };
        let servers = vec![serve(0, "one"), serve(1, "two")];
        meet(&servers[0], &servers[1]);
        Some(Servers {
            _nats: nats,
            states,
            folders,
            servers,
            told,
        })
    }

    fn publish(&self, place: usize, name: &str) -> crate::recording::Publisher {
        let camera = ["--camera", "clip:320x180@15"];
        publish(self.states[2].path(), &self.servers[place], name, &camera)
    }

    fn recordings(&self, place: usize) -> usize {
        let entries = std::fs::read_dir(self.folders[place].path());
        entries.expect("a folder").count()
    }

    /// Waits for the webhook of a complete recording.
    fn ready(&self) -> Value {
        let began = Instant::now();
        while let Ok(event) = self
            .told
            .recv_timeout(PATIENCE.saturating_sub(began.elapsed()))
        {
            if event["type"] == "recording.ready" {
                return event["data"].clone();
            }
        }
        panic!("no recording is ready");
    }
}

/// Returns the files of an index that belong to a participant with this name.
fn files<'a>(index: &'a Value, name: &str) -> Vec<&'a str> {
    let all = tracks(index).iter();
    let of_name = all.filter(|track| track["name"] == name);
    of_name.filter_map(|track| track["file"].as_str()).collect()
}

/// Asserts that each file of a recording has at least this many seconds.
fn play(folder: &Path, index: &Value, least: f64) {
    for track in tracks(index) {
        let file = track["file"].as_str().expect("a name");
        let Some(seconds) = decoded(&folder.join(file)) else {
            return;
        };
        assert!((least..60.0).contains(&seconds), "{file}: {seconds} s");
    }
}

#[test]
fn one_server_records_the_participants_of_both_and_any_moderator_ends_it() {
    let Some(place) = Servers::start() else {
        return;
    };
    let [one, two] = [&place.servers[0], &place.servers[1]];
    let mut here = Moderator::enter(one);
    let mut there = Moderator::enter(two);
    let _ada = place.publish(0, "Ada");
    let _bob = place.publish(1, "Bob");
    let started = there.ask("PUT");
    assert!(started.starts_with("HTTP/1.1 204"), "{started}");
    for moderator in [&mut here, &mut there] {
        assert_eq!(moderator.hears("settings")["recorded"], true);
    }
    // A second request changes nothing.
    assert!(here.ask("PUT").starts_with("HTTP/1.1 204"));
    let mut late = Moderator::enter(one);
    assert_eq!(late.welcome["settings"]["recorded"], true);
    index(place.folders[1].path(), |index| tracks(index).len() == 4);
    thread::sleep(Duration::from_secs(3));
    assert!(here.ask("DELETE").starts_with("HTTP/1.1 204"));
    for moderator in [&mut here, &mut there, &mut late] {
        assert_eq!(moderator.hears("settings")["recorded"], false);
    }
    let ended = |index: &Value| index["length_ms"].is_u64();
    let (folder, index) = index(place.folders[1].path(), ended);
    assert_eq!(files(&index, "Ada").len(), 2, "{index:#}");
    assert_eq!(files(&index, "Bob").len(), 2, "{index:#}");
    play(&folder, &index, 2.0);
    assert_eq!(place.recordings(0), 0, "one server writes");

    let ready = place.ready();
    assert_eq!(
        (&ready["room"], &ready["server"]),
        (&"r".into(), &"two".into())
    );
    assert_eq!(ready["tracks"].as_array().map(Vec::len), Some(4));
    let listed = one.get_with(
        "/api/admin/recordings?room=r",
        "an-admin-token-of-some-length",
    );
    let listed = listed.split_once("\r\n\r\n").expect("a body").1;
    let listed: Value = serde_json::from_str(listed).expect("JSON");
    let recording = &listed["recordings"][0];
    assert_eq!(recording["id"], ready["id"]);
    assert_eq!(recording["server"], "two");
    assert_eq!(recording["url"], format!("http://{}", two.address));
    assert_eq!(recording["index"], index);
    let more = place.told.try_iter();
    let more = more.filter(|event| event["type"] == "recording.ready");
    assert_eq!(more.count(), 0, "the webhook is told once");
}

#[test]
fn another_server_continues_the_recording_of_a_killed_one() {
    let Some(mut place) = Servers::start() else {
        return;
    };
    let mut here = Moderator::enter(&place.servers[0]);
    let there = Moderator::enter(&place.servers[1]);
    let _ada = place.publish(0, "Ada");
    assert!(there.ask("PUT").starts_with("HTTP/1.1 204"));
    assert_eq!(here.hears("settings")["recorded"], true);
    index(place.folders[1].path(), |index| tracks(index).len() == 2);
    thread::sleep(Duration::from_secs(4));
    place.servers[1].child.kill().expect("it runs");
    let killed = Instant::now();

    index(place.folders[0].path(), |index| tracks(index).len() == 2);
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
    eprintln!("the second part began {took:?} after the death");
    let (folder, first) = index(place.folders[1].path(), |_| true);
    assert_eq!(first["length_ms"], Value::Null, "its server was killed");
    // A crash costs at most two seconds.
    play(&folder, &first, 2.0);

    thread::sleep(Duration::from_secs(2));
    assert!(here.ask("DELETE").starts_with("HTTP/1.1 204"));
    // The room was recorded all the time.
    assert_eq!(here.hears("settings")["recorded"], false);
    let ended = |index: &Value| index["length_ms"].is_u64();
    let (folder, second) = index(place.folders[0].path(), ended);
    assert_eq!(files(&second, "Ada").len(), 2, "{second:#}");
    play(&folder, &second, 1.0);
    assert_eq!(place.ready()["server"], "one");
}

#[test]
fn a_server_that_drains_passes_its_recording_on_and_nothing_is_missing() {
    let Some(mut place) = Servers::start() else {
        return;
    };
    let here = Moderator::enter(&place.servers[0]);
    let mut there = Moderator::enter(&place.servers[1]);
    let _ada = place.publish(0, "Ada");
    let _bob = place.publish(1, "Bob");
    assert!(here.ask("PUT").starts_with("HTTP/1.1 204"));
    assert_eq!(there.hears("settings")["recorded"], true);
    index(place.folders[0].path(), |index| tracks(index).len() == 4);
    thread::sleep(Duration::from_secs(2));
    terminate(&place.servers[0]);
    // Her new connection, on the other server.
    index(place.folders[1].path(), |index| {
        files(index, "Ada").len() >= 2 && files(index, "Bob").len() == 2
    });
    drop(here);
    let one = &mut place.servers[0];
    let ended = wait_for("the server ends", || one.child.try_wait().expect("its end"));
    assert!(ended.success(), "{ended}");
    let (folder, first) = index(place.folders[0].path(), |_| true);
    assert!(first["length_ms"].is_u64(), "{first:#}");
    play(&folder, &first, 1.0);
    assert_eq!(place.ready()["server"], "one");

    thread::sleep(Duration::from_secs(1));
    assert!(there.ask("DELETE").starts_with("HTTP/1.1 204"));
    assert_eq!(there.hears("settings")["recorded"], false);
    let is_complete = |index: &Value| index["length_ms"].is_u64();
    let (folder, second) = index(place.folders[1].path(), is_complete);
    play(&folder, &second, 0.0);
    assert_eq!(place.ready()["server"], "two");
    let bob = |index: &Value| {
        let start = index["started"].as_str().and_then(moment).expect("a time");
        let of_bob = tracks(index).iter().filter(|track| track["name"] == "Bob");
        let span = |track: &Value| {
            let at = |key: &str| track[key].as_f64().expect("a number") / 1000.0;
            let begins = start + at("start_ms");
            (begins, begins + at("length_ms"))
        };
        of_bob.map(span).collect::<Vec<_>>()
    };
    assert_eq!((bob(&first).len(), bob(&second).len()), (2, 2));
    for ((_, end), (begin, _)) in bob(&first).into_iter().zip(bob(&second)) {
        assert!(begin < end, "a gap of {} s", begin - end);
    }
}

/// Returns the seconds of the day of an RFC 3339 time.
fn moment(time: &str) -> Option<f64> {
    let (_, clock) = time.trim_end_matches('Z').split_once('T')?;
    let mut parts = clock.split(':').map(|part| part.parse::<f64>().ok());
    Some(parts.next()?? * 3600.0 + parts.next()?? * 60.0 + parts.next()??)
}
