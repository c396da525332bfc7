use super::*;
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};
use std::thread;

use race::STAGGER;
use socket2::{Domain, Socket, Type};

use super::super::Trust;

fn links(named: &[&str]) -> LinkConnector {
    let links = named.iter().map(|l| l.parse().expect("a link"));
    let tls = Trust::Anybody.config().expect("no file to read");
    LinkConnector::new(links.collect(), tls)
}

fn at(address: SocketAddr) -> Target {
    Target {
        host: address.ip().to_string(),
        port: address.port(),
        tls: None,
    }
}

/// Server on loopback, for connections with access to both ends.
struct Rig {
    listener: TcpListener,
    target: Target,
}

impl Rig {
    fn new() -> Rig {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let target = at(listener.local_addr().expect("bound"));
        Rig { listener, target }
    }

    /// Opens a connection; returns both ends, and its source address.
    fn open(&self, links: &LinkConnector) -> ([Arc<TcpStream>; 2], String) {
        let opened = links.open(&self.target, CONNECT).expect("a connection");
        let (other, from) = self.listener.accept().expect("its other end");
        ([opened.stream, Arc::new(other)], from.ip().to_string())
    }
}

#[test]
fn connections_leave_a_link_that_dies_and_may_come_back() {
    let links = links(&["a=127.0.0.2", "b=127.0.0.3"]);
    let rig = Rig::new();
    let ([first, _other], from) = rig.open(&links);
    assert_eq!(from, "127.0.0.2");

    // A reading thread, like that of the event stream.
    let reader = thread::spawn(move || (&*first).read(&mut [0]).expect("the end"));
    links.set_up("b", true);
    links.set_up("unknown", false);
    assert!(!reader.is_finished(), "its own link is well");
    links.set_up("a", false);
    assert_eq!(reader.join().expect("no panic"), 0);

    let (_second, from) = rig.open(&links);
    assert_eq!(from, "127.0.0.3");
    links.set_up("a", true);
    assert_eq!(rig.open(&links).1, "127.0.0.2");
}

#[test]
fn a_link_that_is_away_is_passed_over_and_the_routes_come_last() {
    let rig = Rig::new();
    // Documentation address, which no machine has (RFC 5737).
    let (_, from) = rig.open(&links(&["away=192.0.2.1", "b=127.0.0.3"]));
    assert_eq!(from, "127.0.0.3");
    assert_eq!(rig.open(&links(&["away=192.0.2.1"])).1, "127.0.0.1");
    assert_eq!(rig.open(&links(&[])).1, "127.0.0.1");
}

#[test]
fn a_link_that_failed_comes_last_for_a_while_and_first_again_after_an_answer() {
    let rig = Rig::new();
    let links = links(&["a=127.0.0.2", "b=127.0.0.3"]);
    links.fail(Some(0), LinkFault::Stalled);
    assert_eq!(rig.open(&links).1, "127.0.0.3");
    let faults = links.faults();
    assert_eq!(faults.get("a"), Some(&LinkFault::Stalled), "{faults:?}");
    links.succeed(Some(0), None);
    assert_eq!(rig.open(&links).1, "127.0.0.2");
    assert!(links.faults().is_empty());
    // If all links have failed, waiting is pointless.
    let began = Instant::now();
    links.fail(Some(0), LinkFault::Stalled);
    links.fail(Some(1), LinkFault::Stalled);
    assert_eq!(rig.open(&links).1, "127.0.0.2");
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_pause_grows_with_each_failure_up_to_a_minute() {
    let mut health = Health::default();
    let now = Instant::now();
    let avoided_for =
        |health: &Health, seconds| health.is_avoided(now + Duration::from_secs(seconds));
    health.fail(now, LinkFault::Stalled);
    assert!(avoided_for(&health, 9) && !avoided_for(&health, 10));
    health.fail(now, LinkFault::Stalled);
    assert!(avoided_for(&health, 19) && !avoided_for(&health, 20));
    for _ in 0..40 {
        health.fail(now, LinkFault::Stalled);
    }
    assert!(avoided_for(&health, 59) && !avoided_for(&health, 60));
    health.succeed();
    assert!(!health.is_avoided(now) && health.fault.is_none());
}

#[test]
fn one_that_does_not_answer_holds_the_next_up_for_a_moment_only() {
    // A listener with a full queue drops packets, like a dead link.
    let full = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    full.bind(&any.into()).expect("loopback");
    full.listen(0).expect("listening");
    let silent = full.local_addr().ok().and_then(|a| a.as_socket());
    let silent = silent.expect("an address");
    let _queued = TcpStream::connect(silent).expect("room for one");
    let good: SocketAddr = (IpAddr::from([127, 0, 0, 2]), silent.port()).into();
    let _listener = TcpListener::bind(good).expect("the same port of another address");

    let routes = [LinkRoute::by_routes()];
    let target = at(silent);
    let mut race = Race::new(&routes, &target, CONNECT);
    race.add(None, &[silent.ip(), good.ip()]);
    let begun = Instant::now();
    let (won, failures) = race.run(&Names::default());
    let stream = won.expect("the second answers").stream;
    assert_eq!(stream.peer_addr().ok(), Some(good));
    assert!(failures.is_empty(), "{failures:?}");
    let took = begun.elapsed();
    assert!(took >= STAGGER && took < CONNECT, "{took:?}");

    let short = Duration::from_millis(300);
    let (lost, _) = Race::new(&routes, &target, short).run(&Names::default());
    let Err(OpenError::Io(error)) = lost.map(drop) else {
        panic!("it answers");
    };
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[test]
fn an_unreachable_server_is_reported_as_such() {
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
    let target = at(nobody.expect("a free port"));
    let Err(OpenError::Io(error)) = links(&["127.0.0.1"]).open(&target, CONNECT).map(drop) else {
        panic!("there is somebody");
    };
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
}

#[test]
fn a_name_that_led_to_the_server_leads_there_when_nobody_knows_it_any_more() {
    let rig = Rig::new();
    let links = links(&["127.0.0.1"]);
    let named = Target {
        // No resolver resolves it (RFC 6761 section 6.4).
        host: "weft.invalid".to_owned(),
        ..rig.target.clone()
    };
    let Err(OpenError::UnknownHost(_)) = links.open(&named, CONNECT).map(drop) else {
        panic!("somebody knows weft.invalid");
    };
    let server = IpAddr::from([127, 0, 0, 1]);
    links.0.names.remember("weft.invalid", server);
    assert!(links.open(&named, CONNECT).is_ok());
}
