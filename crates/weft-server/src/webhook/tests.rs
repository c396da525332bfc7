use super::delivery::{Delivery, Pace};
use super::event::WebhookEvent;
use super::queue::{MOST, Queue};
use super::target::{WebhookSecret, WebhookTarget, WebhookUrl};
use super::{Counts, Webhooks};
use crate::log::Log;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use weft_rooms::{Change, ParticipantKind};

/// Secret of the specification's reference libraries, whose tests sign the
/// message below.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Received request: headers in lower case, and the body.
pub(crate) struct Received {
    headers: Vec<(String, String)>,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// HTTP server that answers each request with the next status; zero leaves it
/// open without an answer, and the last one repeats.
pub(crate) fn target(statuses: &'static [u16]) -> (SocketAddr, Receiver<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut open = Vec::new();
        for (n, stream) in listener.incoming().enumerate() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut lines = Vec::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                match line.trim_end() {
                    "" => break,
                    line => lines.push(line.to_owned()),
                }
            }
            let headers: Vec<(String, String)> = lines
                .iter()
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                .collect();
            let length = headers.iter().find(|(name, _)| name == "content-length");
            let mut body = vec![0; length.unwrap().1.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            let status = statuses[n.min(statuses.len() - 1)];
            let mut stream = reader.into_inner();
            if status == 0 {
                open.push(stream);
            } else {
                let answer = format!(
                    "HTTP/1.1 {status} x\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n"
                );
                let _ = stream.write_all(answer.as_bytes());
            }
            let body = String::from_utf8(body).unwrap();
            if sender.send(Received { headers, body }).is_err() {
                return;
            }
        }
    });
    (address, receiver)
}

/// Delivery to this address, much faster than usual, and its log.
fn deliver(address: SocketAddr) -> (Arc<Queue>, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let logged = Arc::clone(&lines);
    let log = Log::new(move |event| logged.lock().unwrap().push(event.to_string()));
    let queue = Arc::new(Queue::new(log));
    let pace = Pace {
        attempt: Duration::from_millis(200),
        first_delay: Duration::from_millis(10),
        longest_delay: Duration::from_millis(20),
        refusals: 3,
        oldest: Duration::from_millis(300),
    };
    let delivery = Delivery::with(to(address), Arc::clone(&queue), pace);
    thread::spawn(move || delivery.run());
    (queue, lines)
}

pub(crate) fn to(address: SocketAddr) -> WebhookTarget {
    WebhookTarget {
        url: format!("http://{address}/hook").parse().unwrap(),
        secret: SECRET.parse().unwrap(),
    }
}

fn opened(room: &str) -> WebhookEvent {
    WebhookEvent::RoomOpened {
        room: room.to_owned(),
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

fn wait_for(queue: &Queue, done: impl Fn(Counts) -> bool) -> Counts {
    let start = Instant::now();
    while !done(queue.counts()) {
        assert!(start.elapsed() < PATIENCE, "{:?}", queue.counts());
        thread::yield_now();
    }
    queue.counts()
}

#[test]
fn the_signature_is_that_of_the_specification() {
    let secret: WebhookSecret = SECRET.parse().unwrap();
    let signed = secret.sign(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        r#"{"test": 2432232314}"#,
    );
    assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    for wrong in [
        "",
        "whsec_",
        "whsec_AAAA",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_?",
    ] {
        let error = wrong.parse::<WebhookSecret>().unwrap_err().to_string();
        assert!(error.contains("openssl rand -base64 32"), "{error}");
    }
    for wrong in [
        "host.example",
        "ftp://h/",
        "http://",
        "https://u:p@h/",
        "/hook",
        "",
    ] {
        let error = wrong.parse::<WebhookUrl>().unwrap_err().to_string();
        assert!(error.contains("https://host.example/weft"), "{error}");
    }
    assert!("https://h.example:8443/a?b=c".parse::<WebhookUrl>().is_ok());
}

#[test]
fn an_event_arrives_once_signed_and_dated() {
    let (address, received) = target(&[204]);
    let (queue, log) = deliver(address);
    queue.push(
        opened("r"),
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000),
    );
    let first = received.recv_timeout(PATIENCE).unwrap();
    let expected = serde_json::json!({
        "type": "room.opened", "timestamp": "2001-09-09T01:46:40Z", "data": {"room": "r"}
    });
    assert_eq!(first.json(), expected);
    assert_eq!(first.header("content-type"), "application/json");
    let id = first.header("webhook-id");
    assert!(id.starts_with("msg_"));
    let timestamp: u64 = first.header("webhook-timestamp").parse().unwrap();
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    assert!(now.as_secs() - timestamp < 60, "of the attempt");
    let secret: WebhookSecret = SECRET.parse().unwrap();
    let signature = secret.sign(id, timestamp, &first.body);
    assert_eq!(first.header("webhook-signature"), signature);
    let counts = wait_for(&queue, |counts| counts.delivered == 1);
    assert_eq!((counts.failed, counts.dropped, counts.waiting), (0, 0, 0));
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn two_errors_are_followed_by_a_success_in_order_with_the_same_id() {
    let (address, received) = target(&[500, 301, 200]);
    let (queue, log) = deliver(address);
    queue.push(opened("a"), SystemTime::now());
    queue.push(opened("b"), SystemTime::now());
    let all: Vec<Received> = (0..4)
        .map(|_| received.recv_timeout(PATIENCE).unwrap())
        .collect();
    let rooms: Vec<_> = all
        .iter()
        .map(|r| r.json()["data"]["room"].clone())
        .collect();
    assert_eq!(rooms, ["a", "a", "a", "b"]);
    let ids: Vec<&str> = all.iter().map(|r| r.header("webhook-id")).collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2] && ids[2] != ids[3]);
    let counts = wait_for(&queue, |counts| counts.delivered == 2);
    assert_eq!((counts.failed, counts.dropped), (2, 0));
    let log = log.lock().unwrap();
    assert_eq!(
        log[..],
        ["the webhook fails and is tried again: the target answers with status 500"]
    );
}

#[test]
fn an_event_that_the_target_refuses_does_not_hold_the_others_for_ever() {
    let (address, received) = target(&[400, 400, 400, 200]);
    let (queue, log) = deliver(address);
    queue.push(opened("a"), SystemTime::now());
    queue.push(opened("b"), SystemTime::now());
    let rooms =
        (0..4).map(|_| received.recv_timeout(PATIENCE).unwrap().json()["data"]["room"].clone());
    assert_eq!(rooms.collect::<Vec<_>>(), ["a", "a", "a", "b"]);
    let counts = wait_for(&queue, |counts| counts.delivered == 1);
    assert_eq!((counts.failed, counts.dropped), (3, 1));
    assert_eq!(
        log.lock().unwrap()[1],
        "the webhook loses events: the target answers with status 400"
    );
}

#[test]
fn a_target_that_hangs_is_cut_off_and_slows_nobody() {
    let (address, _received) = target(&[0]);
    let (queue, log) = deliver(address);
    let start = Instant::now();
    let (mut longest, many) = (Duration::ZERO, 2 * MOST);
    for _ in 0..many {
        let pushed = Instant::now();
        queue.push(opened("r"), SystemTime::now());
        longest = longest.max(pushed.elapsed());
    }
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{longest:?} at most"
    );
    let counts = queue.counts();
    assert!(
        counts.waiting <= MOST && counts.dropped >= (many - MOST - 1) as u64,
        "{counts:?}"
    );
    wait_for(&queue, |counts| counts.failed >= 2);
    let log = log.lock().unwrap();
    let losses = log.iter().filter(|line| line.contains("loses events"));
    assert_eq!(losses.count(), 1, "{log:?}");
    drop(log);
    let closed = Instant::now();
    queue.close();
    assert!(closed.elapsed() < Duration::from_secs(1));
}

#[test]
fn an_event_is_given_up_when_it_is_old_and_nobody_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (queue, log) = deliver(address);
    queue.push(opened("r"), SystemTime::now());
    let counts = wait_for(&queue, |counts| counts.dropped == 1);
    assert!(
        counts.failed > 3,
        "more often than after refusals: {counts:?}"
    );
    let log = log.lock().unwrap();
    assert!(
        log[0].to_lowercase().contains("connection refused"),
        "{log:?}"
    );
}

#[test]
fn the_end_of_the_server_sends_what_waits_and_does_not_hang() {
    let (address, received) = target(&[200]);
    let webhooks = Webhooks::start(to(address), Log::default()).unwrap();
    webhooks.send(opened("last"));
    drop(webhooks);
    let bodies: Vec<_> = received
        .try_iter()
        .map(|r| r.json()["type"].clone())
        .collect();
    assert_eq!(bodies, ["server.started", "room.opened"]);
    let (address, _received) = target(&[0]);
    let webhooks = Webhooks::start(to(address), Log::default()).unwrap();
    let start = Instant::now();
    drop(webhooks);
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "{:?}",
        start.elapsed()
    );
}

/// Types of the events of changes, with the participants' ids.
fn told(changes: Vec<Change>) -> Vec<String> {
    let mut watch = super::watch::RoomWatch::default();
    let events = changes.iter().flat_map(|change| watch.events("r", change));
    let line = |event: WebhookEvent| {
        let json = serde_json::to_value(event).unwrap();
        let id = json["data"]["id"].as_str().unwrap_or_default();
        format!("{} {id}", json["type"].as_str().unwrap())
            .trim()
            .to_owned()
    };
    events.map(line).collect()
}

#[test]
fn changes_of_rooms_become_events() {
    use weft_rooms::{Join, Proof, Publishing, Registry, RegistryLimits, Standing, Upload};
    let mut registry = Registry::new(RegistryLimits::default());
    let join = |registry: &mut Registry, name: &str| {
        let join = Join {
            room: "r",
            name,
            kind: ParticipantKind::Browser,
            standing: Standing::Equal,
            id: None,
            proof: None,
            fresh: Proof([0; 32]),
            fresh_id: name,
        };
        registry.join(join).unwrap();
    };
    let upload = |registry: &mut Registry, id: &str, upload| {
        registry
            .set_upload("r", id, Publishing::default(), upload)
            .unwrap();
    };
    join(&mut registry, "ada");
    join(&mut registry, "bob");
    upload(&mut registry, "ada", Upload::Connected);
    upload(&mut registry, "ada", Upload::Lost);
    upload(&mut registry, "ada", Upload::Connected);
    registry.leave("r", "ada");
    registry.leave("r", "bob");
    let mut changes = Vec::new();
    while let Some(event) = registry.poll_output() {
        changes.push(event.change);
    }
    let expected = [
        "room.opened",
        "participant.joined ada",
        "participant.joined bob",
        "participant.published ada",
        "participant.unpublished ada",
        "participant.published ada",
        "participant.unpublished ada",
        "participant.left ada",
        "participant.left bob",
        "room.closed",
    ];
    assert_eq!(told(changes), expected);
}
