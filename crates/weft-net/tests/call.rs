//! The call of `weft-peer`'s tests over loopback sockets and real time.

#[path = "../../weft-peer/tests/common/mod.rs"]
mod common;
mod pion;

use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use common::{
    Allowance, FRAME_INTERVAL, Record, Side, Source, TestCall, config, frame, heed, local, source,
    survives_a_cut,
};
use weft_ice::IceRole;
use weft_net::{Application, Clock, Context, Driver, Remote};
use weft_peer::{AnswerPolicy, Event, Offer, Peer, PeerKey, Section, StreamDirection, answer};
use weft_session::{Delivery, EcnState, PathStats};
use weft_testing::where_the_machine_keeps_up;
use weft_units::{Deadline, Duration, FiveTuple, Instant, MediaKind, Rng, StreamId};

/// Command from the test.
enum Command {
    Insert(Box<Peer>),
    /// Removes the socket of an address: packets to and from it vanish.
    Close(SocketAddr),
    Open(UdpSocket),
    /// Requests the statistics of each path.
    TellPaths(Sender<Vec<PathStats>>),
    Stop,
}

type Report = (Instant, Side, Event);

/// End of the call: sends frames if asked to, and reports events.
struct End {
    side: Side,
    reports: Sender<Report>,
    peer: Option<PeerKey>,
    stream: Option<StreamId>,
    source: Source,
    next_frame: Option<Instant>,
}

impl End {
    fn new(side: Side, reports: Sender<Report>) -> End {
        End {
            side,
            reports,
            peer: None,
            stream: None,
            source: source(Rng::new(1)),
            next_frame: None,
        }
    }
}

impl Application for End {
    type Command = Command;

    fn on_command(&mut self, context: &mut Context<'_>, command: Command) {
        match command {
            Command::Insert(peer) => {
                self.stream = peer.streams().first().map(|s| s.stream);
                self.peer = Some(context.insert(*peer));
            }
            Command::Close(address) => context.remove_socket(address),
            Command::Open(socket) => {
                context
                    .add_socket(socket)
                    .expect("the socket was open before");
            }
            Command::TellPaths(asker) => {
                let peer = self.peer.and_then(|key| context.peers().get(key));
                let paths = peer.map(|p| p.session().stats().paths);
                asker
                    .send(paths.unwrap_or_default())
                    .expect("the test waits");
            }
            Command::Stop => context.stop(),
        }
    }

    fn on_event(&mut self, context: &mut Context<'_>, _peer: PeerKey, event: Event) {
        heed(&mut self.source, &event);
        let connected = matches!(
            event,
            Event::Association(weft_secure::Event::Connected { .. })
        );
        if connected && self.side == Side::Sender {
            self.next_frame = Some(context.now);
        }
        // The test may have failed and ended.
        let _ = self.reports.send((context.now, self.side, event));
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let reason = "frame";
        self.next_frame.map(|at| Deadline { at, reason })
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        let (Some(key), Some(stream)) = (self.peer, self.stream) else {
            return;
        };
        let Some(peer) = context.peer(key).filter(|_| self.next_frame <= Some(now)) else {
            return;
        };
        self.next_frame = self.next_frame.map(|at| at + FRAME_INTERVAL);
        let picture = self.source.capture(now);
        peer.send_frame(now, stream, &frame(&picture))
            .expect("the stream was negotiated");
    }
}

/// Call between two drivers; the sender has an address per link.
struct Loopback {
    clock: Clock,
    sender: Remote<Command>,
    addresses: Vec<SocketAddr>,
    reports: Receiver<Report>,
    record: Record,
    drivers: Vec<Driver<Command>>,
}

fn bind(address: &str) -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(address).expect("a loopback address");
    let address = socket.local_addr().expect("it is bound");
    (socket, address)
}

impl Loopback {
    fn new(server: &str, links: &[&str]) -> Loopback {
        Loopback::with_controller(server, links, "gcc")
    }

    fn with_controller(server: &str, links: &[&str], controller: &str) -> Loopback {
        let clock = Clock::start();
        let rng = Rng::new(1);
        let (sender_sockets, addresses): (Vec<_>, Vec<_>) =
            links.iter().map(|link| bind(link)).unzip();
        let (receiver_socket, at_receiver) = bind(server);
        let (reports, inbox) = channel();
        let start = |name, side, sockets| {
            Driver::start(name, clock, sockets, End::new(side, reports.clone())).expect("a thread")
        };
        let sender = start("sender", Side::Sender, sender_sockets);
        let receiver = start("receiver", Side::Receiver, vec![receiver_socket]);

        let mut offerer = config(
            IceRole::Controlling,
            clock.origin().std,
            &rng.stream("sender"),
        );
        offerer.session.controller = controller.parse().expect("a controller");
        offerer.locals = (0..).zip(&addresses).map(|(i, a)| local(*a, i)).collect();
        let mut answerer = config(
            IceRole::Controlled,
            clock.origin().std,
            &rng.stream("receiver"),
        );
        answerer.locals = vec![local(at_receiver, 0)];
        let section = Section::new(MediaKind::Video, StreamDirection::Send);
        let policy = AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        };
        let offer = Offer::new(clock.now(), offerer, &[section], Delivery::Frames);
        let (peer, text) =
            answer(clock.now(), answerer, &offer.sdp(), &policy).expect("the offer is good");
        receiver.remote.send(Command::Insert(Box::new(peer)));
        let peer = offer
            .accept(clock.now(), &text)
            .expect("the answer is good");
        sender.remote.send(Command::Insert(Box::new(peer)));
        Loopback {
            clock,
            sender: sender.remote.clone(),
            addresses,
            reports: inbox,
            record: Record::default(),
            drivers: vec![sender, receiver],
        }
    }

    /// Ends both drivers and waits for their threads.
    fn close(self) {
        drop(self.sender);
        for driver in self.drivers {
            assert!(driver.remote.send(Command::Stop));
            driver.join().expect("it does not panic");
        }
    }
}

impl TestCall for Loopback {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn run(&mut self, span: Duration) {
        let end = self.clock.now() + span;
        loop {
            let left = end.saturating_since(self.clock.now());
            match self.reports.recv_timeout(left.into()) {
                Ok((at, side, event)) => self.record.on_event(at, side, &event),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("a driver has ended"),
            }
        }
    }

    fn cut(&mut self, link: usize) {
        self.sender.send(Command::Close(self.addresses[link]));
    }

    fn restore(&mut self, link: usize) {
        let socket = UdpSocket::bind(self.addresses[link]).expect("the address is free again");
        self.sender.send(Command::Open(socket));
    }

    fn record(&self) -> &Record {
        &self.record
    }
}

/// Allowance for other tests and builds on this machine.
const BUSY: Allowance = Allowance {
    time: Duration::from_millis(300),
    frames: 0.8,
};

#[test]
fn a_call_over_loopback_survives_a_cut_of_either_link() {
    where_the_machine_keeps_up(|| {
        for cut in [0, 1] {
            let mut call = Loopback::new("127.0.0.1:0", &["127.0.0.2:0", "127.0.0.3:0"]);
            survives_a_cut(&mut call, cut, BUSY);
            let latency = call.record.latency(0.5);
            assert!(latency < Duration::from_millis(150), "median {latency:?}");
            call.close();
        }
    });
}

#[test]
fn a_call_over_ipv6_loopback_survives_a_cut() {
    where_the_machine_keeps_up(|| {
        let mut call = Loopback::new("[::1]:0", &["[::1]:0", "[::1]:0"]);
        survives_a_cut(&mut call, 0, BUSY);
        call.close();
    });
}

#[test]
fn the_ecn_field_passes_loopback_over_both_families() {
    where_the_machine_keeps_up(|| {
        for (server, client) in [("127.0.0.1:0", "127.0.0.2:0"), ("[::1]:0", "[::1]:0")] {
            let mut call = Loopback::with_controller(server, &[client], "scream");
            let mut states = Vec::new();
            for _ in 0..50 {
                call.run(Duration::from_millis(100));
                let (asker, answer) = channel();
                call.sender.send(Command::TellPaths(asker));
                let paths = answer.recv().expect("the driver runs");
                states = paths.iter().map(|p| p.ecn).collect();
                if states == [EcnState::On] {
                    break;
                }
            }
            assert_eq!(states, [EcnState::On], "{server}");
            call.close();
        }
    });
}

#[test]
fn a_driver_ends_when_nobody_can_reach_it_any_more() {
    let (reports, _inbox) = channel();
    let end = End::new(Side::Sender, reports);
    let driver = Driver::start("idle", Clock::start(), Vec::new(), end).expect("a thread");
    let other = driver.remote.clone();
    let (ended, has_ended) = channel();
    std::thread::spawn(move || {
        driver.join().expect("it does not panic");
        ended.send(()).expect("the test waits");
    });
    drop(other);
    let limit = std::time::Duration::from_secs(5);
    has_ended.recv_timeout(limit).expect("it ends by itself");
}

/// Node that can only count, or panic.
struct Fragile {
    handled: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    sent: Sender<usize>,
}

enum Blow {
    Light,
    Heavy,
}

impl weft_net::Node for Fragile {
    type Command = Blow;

    fn handle_datagram(&mut self, _: Instant, _: FiveTuple, _: weft_units::Ecn, _: &[u8]) {}

    fn handle_command(&mut self, _: &mut weft_net::Network<'_>, blow: Blow) {
        assert!(matches!(blow, Blow::Light), "as a defect would");
        self.handled
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    /// Called once per turn of the loop.
    fn handle_timeout(&mut self, _: &mut weft_net::Network<'_>) {
        let handled = self.handled.swap(0, std::sync::atomic::Ordering::SeqCst);
        let _ = self.sent.send(handled);
    }

    fn send(&mut self, _: &mut weft_net::Network<'_>) {}
}

#[test]
fn commands_wait_their_turn_and_none_is_lost() {
    let (sent, turns) = channel();
    let node = Fragile {
        handled: Default::default(),
        sent,
    };
    let driver = Driver::run("fragile", Clock::start(), Vec::new(), node).expect("a thread");
    const COMMANDS: usize = 1000;
    for _ in 0..COMMANDS {
        assert!(driver.remote.send(Blow::Light));
    }
    driver.join().expect("it does not panic");
    let turns: Vec<usize> = turns.iter().collect();
    assert_eq!(turns.iter().sum::<usize>(), COMMANDS);
    assert!(turns.iter().all(|handled| *handled <= 8), "{turns:?}");
}

#[test]
fn a_driver_that_panics_says_so_at_its_end() {
    let (sent, turns) = channel();
    let node = Fragile {
        handled: Default::default(),
        sent,
    };
    let driver = Driver::run("fragile", Clock::start(), Vec::new(), node).expect("a thread");
    assert!(driver.remote.send(Blow::Heavy));
    // The node's channel was dropped together with it.
    while turns.recv().is_ok() {}
    assert!(driver.join().is_err());
}
