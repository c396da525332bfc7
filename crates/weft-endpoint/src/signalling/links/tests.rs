use super::*;
use std::net::TcpListener;

fn links(named: &[&str]) -> LinkConnector {
    LinkConnector::new(named.iter().map(|l| l.parse().expect("a link")).collect())
}

/// A server on loopback, and a connection to it with its other end.
struct Rig {
    listener: TcpListener,
    servers: [SocketAddr; 1],
}

impl Rig {
    fn new() -> Rig {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let servers = [listener.local_addr().expect("bound")];
        Rig { listener, servers }
    }

    /// The connection and its other end, and the address that it comes from.
    fn open(&self, links: &LinkConnector) -> ([Arc<TcpStream>; 2], String) {
        let stream = links.open(&self.servers, CONNECT).expect("a connection");
        let (other, from) = self.listener.accept().expect("its other end");
        ([stream, Arc::new(other)], from.ip().to_string())
    }
}

#[test]
fn connections_leave_a_link_that_dies_and_may_come_back() {
    let links = links(&["a=127.0.0.2", "b=127.0.0.3"]);
    let rig = Rig::new();
    let ([first, _other], from) = rig.open(&links);
    assert_eq!(from, "127.0.0.2");

    // A thread that reads, as that of the event stream does.
    let reader = thread::spawn(move || (&*first).read(&mut [0]).expect("the end"));
    links.tell("b", true);
    links.tell("unknown", false);
    assert!(!reader.is_finished(), "its own link is well");
    links.tell("a", false);
    assert_eq!(reader.join().expect("no panic"), 0);

    let (_second, from) = rig.open(&links);
    assert_eq!(from, "127.0.0.3");
    links.tell("a", true);
    assert_eq!(rig.open(&links).1, "127.0.0.2");
}

#[test]
fn a_link_that_is_away_is_passed_over_and_the_routes_come_last() {
    let rig = Rig::new();
    // RFC 5737: no address of any machine.
    let (_, from) = rig.open(&links(&["away=192.0.2.1", "b=127.0.0.3"]));
    assert_eq!(from, "127.0.0.3");
    assert_eq!(rig.open(&links(&["away=192.0.2.1"])).1, "127.0.0.1");
    assert_eq!(rig.open(&links(&[])).1, "127.0.0.1");
}

#[test]
fn one_that_does_not_answer_holds_the_next_up_for_a_moment_only() {
    // A listener whose queue is full drops what comes: so does a dead link.
    let full = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    full.bind(&any.into()).expect("loopback");
    full.listen(0).expect("listening");
    let silent = full.local_addr().ok().and_then(|a| a.as_socket());
    let silent = silent.expect("an address");
    let _queued = TcpStream::connect(silent).expect("room for one");

    let rig = Rig::new();
    let attempt = |server| Attempt {
        link: None,
        source: None,
        server,
    };
    let begun = Instant::now();
    let won = race(vec![attempt(silent), attempt(rig.servers[0])], CONNECT);
    let (_, stream) = won.expect("the second answers");
    assert_eq!(stream.peer_addr().ok(), Some(rig.servers[0]));
    let took = begun.elapsed();
    assert!(took >= STAGGER && took < CONNECT, "{took:?}");

    let short = Duration::from_millis(300);
    let failed = race(vec![attempt(silent)], short).err();
    assert_eq!(failed.map(|e| e.kind()), Some(io::ErrorKind::TimedOut));
}

#[test]
fn nobody_there_is_told_as_such() {
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
    let nobody = [nobody.expect("a free port")];
    let error = links(&["127.0.0.1"]).open(&nobody, CONNECT).err();
    let kind = error.map(|e| e.kind());
    assert_eq!(kind, Some(io::ErrorKind::ConnectionRefused));
}
