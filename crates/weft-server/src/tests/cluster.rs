//! Servers of a cluster, with their own NATS server.

use super::client::{Answer, Events, request};
use super::nats::Nats;
use super::stub::{Stub, config, wait_for};
use crate::clock::Clock;
use crate::ids::Ids;
use crate::media_plane::{EventSender, MediaPlane, events};
use crate::{
    ClusterConfig, ClusterError, Grant, May, Server, ServerConfig, ServerError, ServerHandle,
    TokenKey,
};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Server of a cluster, whose media side only answers.
pub(super) struct Node {
    pub(super) handle: ServerHandle,
    _events: EventSender,
}

pub(super) fn in_cluster(url: &str, name: &str) -> ServerConfig {
    ServerConfig {
        cluster: Some(ClusterConfig {
            address: url.parse().unwrap(),
            node: name.parse().unwrap(),
            public_url: None,
            region: None,
            origins: Vec::new(),
        }),
        ..config()
    }
}

pub(super) fn try_start(config: ServerConfig) -> Result<Node, ServerError> {
    let plane = Arc::new(Stub::default()) as Arc<dyn MediaPlane>;
    let (sender, receiver) = events();
    let sources = (Clock::machine(), Ids::random());
    let handle = Server::start_at(config, plane, receiver, sources)?;
    Ok(Node {
        handle,
        _events: sender,
    })
}

fn start(url: &str, name: &str) -> Node {
    try_start(in_cluster(url, name)).unwrap()
}

impl Node {
    pub(super) fn address(&self) -> SocketAddr {
        self.handle.local_addr
    }

    pub(super) fn join(&self, name: &str) -> Person {
        self.join_with(name, &[])
    }

    fn join_with(&self, name: &str, headers: &[(&str, &str)]) -> Person {
        let path = format!("/api/rooms/r/events?name={name}");
        let mut events = Events::open_with(self.address(), &path, headers);
        let welcome = events.expect("welcome");
        Person {
            id: welcome["id"].as_str().unwrap().to_owned(),
            secret: welcome["secret"].as_str().unwrap().to_owned(),
            token: headers.first().map(|(_, value)| (*value).to_owned()),
            welcome,
            server: self.address(),
            events,
        }
    }

    /// Names of the participants whom a newcomer sees.
    fn names(&self) -> Vec<String> {
        let all = self.handle.hub().report();
        let of_room = all.into_iter().filter(|report| report.room == "r");
        let who = of_room.flat_map(|report| report.participants);
        let mut names: Vec<String> = who.map(|who| who.name).collect();
        names.sort();
        names
    }

    pub(super) fn sees(&self, names: &[&str]) {
        wait_for(&format!("the room has {names:?}"), || self.names() == names);
    }
}

/// Participant with an open event stream.
pub(super) struct Person {
    pub(super) id: String,
    pub(super) secret: String,
    token: Option<String>,
    welcome: Value,
    server: SocketAddr,
    events: Events,
}

impl Person {
    fn send(&self, method: &str, what: &str, body: &Value) -> Answer {
        let line = format!("{method} /api/rooms/r/{what}?participant={}", self.id);
        let mut headers = vec![
            ("content-type", "application/json"),
            ("weft-secret", &*self.secret),
        ];
        headers.extend(self.token.iter().map(|token| ("authorization", &**token)));
        request(self.server, &line, &headers, &body.to_string())
    }

    /// Skips events until one of this name; returns its data.
    fn until(&mut self, name: &str) -> Value {
        self.events.until(name)
    }
}

#[test]
fn participants_of_two_servers_see_each_other_and_their_chat() {
    let Some(nats) = Nats::start() else { return };
    let (one, two) = (start(&nats.url(), "one"), start(&nats.url(), "two"));
    let mut ada = one.join("Ada");
    two.sees(&["Ada"]);
    let mut bob = two.join("Ada");
    assert_eq!(bob.welcome["participants"][0]["id"], json!(ada.id));
    let joined = ada.until("joined");
    assert_eq!(
        (&joined["id"], &joined["name"]),
        (&json!(bob.id), &json!("Ada 2"))
    );
    assert_eq!(
        bob.send("POST", "chat", &json!({"text": "hello"})).status,
        201
    );
    let heard = ada.until("chat");
    assert_eq!(heard, bob.until("chat"));
    assert_eq!(heard["text"], "hello");
    let changed = bob.send("PUT", "name", &json!({"name": "Bob"}));
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!(ada.until("changed")["name"], "Bob");
    assert_eq!(
        ada.send("POST", "reaction", &json!({"reaction": "clap"}))
            .status,
        204
    );
    assert_eq!(bob.until("reaction")["id"], json!(ada.id));
    // A server that starts later has the room, its settings and the chat.
    let locked = ada.send("PUT", "settings", &json!({"waiting_room": true}));
    assert_eq!(locked.status, 204, "{locked:?}");
    assert_eq!(bob.until("settings")["waiting_room"], true);
    let three = start(&nats.url(), "three");
    three.sees(&["Ada", "Bob"]);
    let path = "/api/rooms/r/events?name=Cyd";
    let mut cyd = Events::open(three.address(), path);
    cyd.expect("waiting");
    let waits = ada.until("queue")["waiting"][0]["id"].clone();
    let admit = format!("participants/{}/admission", waits.as_str().unwrap());
    let admitted = bob.send("PUT", &admit, &Value::Null);
    assert_eq!(admitted.status, 204, "{admitted:?}");
    let welcome = loop {
        let (event, data) = cyd.next().unwrap();
        if event == "welcome" {
            break data;
        }
    };
    assert_eq!(welcome["participants"].as_array().unwrap().len(), 3);
    assert_eq!(cyd.expect("history")["messages"][0], heard);
    assert_eq!(ada.until("joined")["name"], "Cyd");
    // The end of a server is noticed at once.
    let ends = Instant::now();
    three.handle.shutdown();
    assert_eq!(ada.until("left")["id"], waits);
    assert!(ends.elapsed() < Duration::from_secs(2));
    one.sees(&["Ada", "Bob"]);
}

#[test]
fn moderators_and_operators_act_on_every_server() {
    let Some(nats) = Nats::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let key = TokenKey::read_or_make(&folder.path().join("token.key")).unwrap();
    let node = |name| {
        let config = ServerConfig {
            token: Some("s3cret".to_owned()),
            token_key: Some(key.clone()),
            ..in_cluster(&nats.url(), name)
        };
        try_start(config).unwrap()
    };
    let (one, two) = (node("one"), node("two"));
    let until = SystemTime::now() + Duration::from_secs(600);
    let token = |may| {
        let grant = Grant::new("r", may, until).unwrap();
        (grant.id().clone(), format!("Bearer {}", key.sign(&grant)))
    };
    let bearer = |token: &str| [("authorization".to_owned(), token.to_owned())];
    let join = |node: &Node, name: &str, token: &str| {
        let headers = bearer(token);
        node.join_with(name, &[(&headers[0].0, &headers[0].1)])
    };
    let host = join(&one, "Host", &token(May::Moderate).1);
    let (_, of_guest) = token(May::TakePart);
    let mut guest = join(&two, "Guest", &of_guest);
    one.sees(&["Guest", "Host"]);
    let mute = format!("participants/{}/mute", guest.id);
    let muted = host.send("PUT", &mute, &Value::Null);
    assert_eq!(muted.status, 204, "{muted:?}");
    assert_eq!(guest.until("changed")["muted"], true);
    let removed = host.send(
        "DELETE",
        &format!("participants/{}", guest.id),
        &Value::Null,
    );
    assert_eq!(removed.status, 200, "{removed:?}");
    one.sees(&["Host"]);
    // Their token is revoked, on both servers.
    for node in [&one, &two] {
        wait_for("the token is refused", || {
            let line = "POST /whip/r?name=Guest";
            request(node.address(), line, &[("authorization", &of_guest)], "").status == 401
        });
    }
    // A server that starts later knows it, too.
    let three = node("three");
    let line = "POST /whip/r?name=Guest";
    wait_for("the third server has the list", || {
        request(three.address(), line, &[("authorization", &of_guest)], "").status == 401
    });
    // The operator of one server closes the room on all.
    let other = join(&two, "Other", &token(May::TakePart).1);
    one.sees(&["Host", "Other"]);
    one.handle
        .hub()
        .close_room("r", weft_units::Duration::from_secs(60));
    two.sees(&[]);
    let (_, fresh) = token(May::TakePart);
    let path = "GET /api/rooms/r/events?name=New";
    let refused = request(two.address(), path, &[("authorization", &fresh)], "");
    assert_eq!(refused.status, 403, "{refused:?}");
    drop(other);
}

#[test]
fn a_server_that_cannot_join_says_why() {
    let Some(nats) = Nats::start() else { return };
    let url = nats.url();
    let _one = start(&url, "one");
    let fault = |config| match try_start(config) {
        Err(error @ ServerError::Cluster(_)) => {
            assert!(!error.remedy().is_empty());
            let ServerError::Cluster(error) = error else {
                unreachable!()
            };
            error
        }
        other => panic!("{:?}", other.map(|node| node.address())),
    };
    let node = "one".to_owned();
    let taken = fault(in_cluster(&url, "one"));
    assert_eq!(taken, ClusterError::NameTaken { node: node.clone() });
    let other_token = ServerConfig {
        token: Some("other".to_owned()),
        ..in_cluster(&url, "two")
    };
    let expected = ClusterError::OtherKeys { node };
    assert_eq!(fault(other_token.clone()), expected);
    // Another cluster at the same NATS server.
    let elsewhere = ServerConfig {
        token: other_token.token,
        ..in_cluster(&format!("{url}/elsewhere"), "one")
    };
    drop(try_start(elsewhere).unwrap());
    let nobody = fault(in_cluster("nats://127.0.0.1:1", "two"));
    assert!(
        matches!(nobody, ClusterError::Unreachable { .. }),
        "{nobody}"
    );
    let plain = fault(in_cluster(&nats.url().replace("nats:", "tls:"), "two"));
    assert!(matches!(plain, ClusterError::WithoutTls { .. }), "{plain}");
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let options = ["--user", "ada", "--pass", "right"];
    let Some(guarded) = Nats::start_at(port, &options) else {
        return;
    };
    let with = |login: &str| guarded.url().replace("//", &format!("//{login}@"));
    for wrong in [guarded.url(), with("ada:wrong"), with("token")] {
        let denied = fault(in_cluster(&wrong, "two"));
        assert!(matches!(denied, ClusterError::Denied { .. }), "{denied}");
        assert!(!denied.to_string().contains("ada"), "{denied}");
    }
    drop(start(&with("ada:right"), "two"));
}

/// Proxy to NATS whose connection can be cut.
struct Proxy {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Proxy {
    fn start(nats: &Nats) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let (cut, to) = (Arc::clone(&is_cut), nats.port);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else {
                    continue;
                };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let cut = Arc::clone(&cut);
                    std::thread::spawn(move || pass(from, to, &cut));
                }
            }
        });
        Proxy { port, is_cut }
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

/// Copies one direction of a connection; data that arrives during a cut is lost with the
/// connection.
fn pass(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut buffer = [0; 65536];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if is_cut.load(Ordering::SeqCst) || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// One cut, seen from both sides: for the first server, the second one is dead; the
/// second one has lost NATS.
#[test]
fn a_dead_server_is_forgotten_and_lost_nats_is_not_noticed_by_calls() {
    let Some(nats) = Nats::start() else { return };
    let proxy = Proxy::start(&nats);
    let (one, two) = (start(&nats.url(), "one"), start(&proxy.url(), "two"));
    let mut ada = one.join("Ada");
    two.sees(&["Ada"]);
    let bob = two.join("Bob");
    assert_eq!(ada.until("joined")["name"], "Bob");
    let cut = Instant::now();
    proxy.is_cut.store(true, Ordering::SeqCst);
    assert_eq!(ada.until("left")["id"], json!(bob.id));
    let after = cut.elapsed();
    assert!(after < Duration::from_secs(3), "after {after:?}");
    assert_eq!(two.names(), ["Ada", "Bob"], "nobody leaves without NATS");
    // Newcomers without NATS are admitted and warned; the other server does not see them.
    let mut cyd = two.join("Cyd");
    assert_eq!(cyd.events.expect("cluster"), json!({"reachable": false}));
    let mut dan = one.join("Dan");
    proxy.is_cut.store(false, Ordering::SeqCst);
    assert_eq!(cyd.until("cluster"), json!({"reachable": true}));
    for node in [&one, &two] {
        node.sees(&["Ada", "Bob", "Cyd", "Dan"]);
    }
    assert_eq!(
        bob.send("POST", "chat", &json!({"text": "back"})).status,
        201
    );
    assert_eq!(dan.until("chat")["text"], "back");
}

#[test]
fn nats_that_starts_again_finds_the_same_rooms() {
    let Some(nats) = Nats::start() else { return };
    let url = nats.url();
    let (one, two) = (start(&url, "one"), start(&url, "two"));
    let mut ada = one.join("Ada");
    let _bob = two.join("Bob");
    assert_eq!(ada.until("joined")["name"], "Bob");
    let port = nats.port;
    drop(nats);
    std::thread::sleep(Duration::from_secs(4));
    let _cyd = two.join_with("Cyd", &[]);
    let Some(_nats) = Nats::start_at(port, &[]) else {
        return;
    };
    // Nobody left in the meantime.
    let news = std::iter::from_fn(|| ada.events.next());
    let mut news = news.filter(|(event, _)| event != "cluster");
    let (event, who) = news.next().unwrap();
    assert_eq!((&*event, &who["name"]), ("joined", &json!("Cyd")));
    two.sees(&["Ada", "Bob", "Cyd"]);
}
