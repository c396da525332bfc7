//! Server cost of forwarding a packet: one publisher, many players, over loopback. The
//! results are the processor time of the server's media threads, including the kernel,
//! per forwarded packet, and the busiest thread's share of it. Other programs disturb
//! this less than packets per second of wall time. On loopback, the sender also pays for
//! the kernel's receiving half, up to the player's socket.
//!
//! `cargo bench -p weft-server --bench forwarding [-- [THREADSx]PLAYERS...]`; Linux only.

#[path = "../src/tests/client.rs"]
#[allow(dead_code)]
mod client;

use client::{Answer, request};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::time::{Duration as StdDuration, Instant as StdInstant};
use weft_ice::{IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_net::{Application, Clock, Context, Driver};
use weft_peer::{Event as PeerEvent, Offer, PeerConfig, PeerKey, Section, StreamDirection};
use weft_secure::{Certificate, Event as AssociationEvent};
use weft_server::{Limits, Server, ServerConfig, ServerHandle};
use weft_session::{Delivery, Event as SessionEvent, Frame};
use weft_testing::pictures::FRAME_INTERVAL;
use weft_units::{Deadline, Instant, MediaKind, Rate, Transport};

/// Published rate: below the server's initial rate of a path, so that nothing
/// is thinned.
const RATE: Rate = Rate::from_mbps(2);
/// Frames of 2 Mbps in packets of at most 1,200 bytes.
const PACKETS_PER_FRAME: u32 = 8;
const WARM_UP: StdDuration = StdDuration::from_secs(3);
const MEASURED: StdDuration = StdDuration::from_secs(10);
/// Prefix of the names of the forwarding threads.
const MEDIA_THREAD: &str = "weft-media";

fn main() {
    let asked: Vec<(usize, usize)> = std::env::args().filter_map(|a| parse(&a)).collect();
    let rooms: &[(usize, usize)] = match &asked[..] {
        [] => &[(1, 10), (1, 50), (1, 150), (2, 150)],
        asked => asked,
    };
    println!(
        "threads  players  packets/s  of those due  ns/packet  packets per processor s  busiest"
    );
    for &(threads, players) in rooms {
        let room = Room::open(threads, players);
        std::thread::sleep(WARM_UP);
        let before = room.figures();
        std::thread::sleep(MEASURED);
        let after = room.figures();
        let packets = after.forwarded - before.forwarded;
        let wall = (after.at - before.at).as_secs_f64();
        let rate = packets as f64 / wall;
        // A machine that is too busy to send in time thins the stream.
        let due = f64::from(PACKETS_PER_FRAME) * players as f64 / FRAME_INTERVAL.as_secs_f64();
        let used = |(after, before): (&u64, &u64)| after - before;
        let used: Vec<u64> = after
            .processor
            .iter()
            .zip(&before.processor)
            .map(used)
            .collect();
        let all: u64 = used.iter().sum();
        let busiest = used.iter().max().copied().unwrap_or_default();
        let cost = all / packets.max(1);
        println!(
            "{threads:7}  {players:7}  {rate:9.0}  {:10.0} %  {cost:9}  {:23}  {:5.0} %",
            100.0 * rate / due,
            1_000_000_000 / cost.max(1),
            100.0 * busiest as f64 / all.max(1) as f64
        );
        room.shut();
    }
}

/// Threads and players, such as `2x100`; one thread if only players are named.
fn parse(text: &str) -> Option<(usize, usize)> {
    let (threads, players) = text.split_once('x').unwrap_or(("1", text));
    Some((threads.parse().ok()?, players.parse().ok()?))
}

struct Figures {
    at: StdInstant,
    forwarded: u64,
    /// Running time of each media thread in nanoseconds.
    processor: Vec<u64>,
}

struct Room {
    server: ServerHandle,
    clients: Driver<Order>,
}

impl Room {
    fn open(threads: usize, players: usize) -> Room {
        let config = ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            threads: threads.try_into().expect("at least one"),
            // A tenth of the places is reserved for moderators.
            limits: Limits {
                participants_per_room: 2 * (players + 1),
                participants_per_address: 2 * (players + 1),
                ..Limits::default()
            },
            ..ServerConfig::default()
        };
        let server = Server::start(config).expect("loopback can be used");
        let sockets = (0..=players)
            .map(|_| weft_net::open_address((Ipv4Addr::LOCALHOST, 0).into()).expect("a free port"))
            .collect::<Vec<_>>();
        let addresses = sockets.iter().map(|s| s.local_addr().expect("it is bound"));
        let addresses: Vec<SocketAddr> = addresses.collect();
        let clock = Clock::start();
        let node = Clients {
            clock,
            certificate: Certificate::generate().expect("the system has randomness"),
            offer: None,
            publisher: None,
            keyframe_wanted: true,
            frame: 0,
            next_frame: None,
        };
        let clients = Driver::start("clients", clock, sockets, node).expect("a thread");
        let room = Room { server, clients };
        room.connect(addresses[0], StreamDirection::Send, "/whip/r?name=ada");
        room.wait_for("weft_publications", 1);
        for address in &addresses[1..] {
            room.connect(*address, StreamDirection::Receive, "/whep/r/ada");
        }
        room.wait_for("weft_playbacks", players as u64);
        room
    }

    fn connect(&self, address: SocketAddr, direction: StreamDirection, place: &str) {
        let (reply, offer) = mpsc::channel();
        self.order(Order::Offer(address, direction, reply));
        let offer = offer.recv().expect("the driver runs");
        let answer = self.request(&format!("POST {place}"), &offer);
        assert_eq!(answer.status, 201, "{}", answer.body);
        self.order(Order::Accept(answer.body));
    }

    fn order(&self, order: Order) {
        assert!(self.clients.remote.send(order), "the driver runs");
    }

    fn request(&self, line: &str, body: &str) -> Answer {
        let headers = [("content-type", "application/sdp")];
        request(self.server.local_addr, line, &headers, body)
    }

    fn metric(&self, name: &str) -> u64 {
        let text = self.request("GET /metrics", "").body;
        let value = text.lines().find_map(|l| l.strip_prefix(name));
        value.and_then(|v| v.trim().parse().ok()).expect("a figure")
    }

    fn wait_for(&self, metric: &str, value: u64) {
        let start = StdInstant::now();
        while self.metric(metric) < value {
            assert!(start.elapsed().as_secs() < 60, "{metric} below {value}");
            std::thread::sleep(StdDuration::from_millis(20));
        }
    }

    fn figures(&self) -> Figures {
        Figures {
            at: StdInstant::now(),
            forwarded: self.metric("weft_packets_forwarded_total"),
            processor: processor_time(MEDIA_THREAD),
        }
    }

    fn shut(self) {
        self.order(Order::Stop);
        self.clients.join().expect("it does not panic");
        self.server.shutdown();
    }
}

/// Running times of our threads with this name prefix, in nanoseconds, from the scheduler
/// (proc(5), `/proc/pid/schedstat`).
fn processor_time(name: &str) -> Vec<u64> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux lists threads");
    let read = |task: std::fs::DirEntry| {
        let comm = std::fs::read_to_string(task.path().join("comm")).ok()?;
        let stat = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        let time = stat.split(' ').next()?.parse().ok()?;
        comm.starts_with(name).then_some((comm, time))
    };
    let mut times: Vec<(String, u64)> = tasks.filter_map(|task| read(task.ok()?)).collect();
    times.sort();
    times.into_iter().map(|(_, time)| time).collect()
}

enum Order {
    Offer(SocketAddr, StreamDirection, mpsc::Sender<String>),
    Accept(String),
    Stop,
}

/// Publisher and all players, on one driver.
struct Clients {
    clock: Clock,
    certificate: Certificate,
    offer: Option<Offer>,
    publisher: Option<PeerKey>,
    keyframe_wanted: bool,
    frame: u32,
    next_frame: Option<Instant>,
}

impl Clients {
    fn config(&self, address: SocketAddr) -> PeerConfig {
        let local = LocalAddress {
            transport: Transport::Udp,
            addr: address,
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        };
        let (role, certificate) = (IceRole::Controlling, self.certificate.clone());
        let mut config = weft_net::peer_config(role, self.clock, certificate, vec![local])
            .expect("the system has randomness");
        config.session.path_limits.start = RATE.mul_f64(2.0);
        config.session.max_rate = RATE.mul_f64(2.0);
        config
    }

    /// Start of a VP8 frame, which everything except a decoder can read (RFC 6386 section 9.1).
    fn send_frame(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        let Some(peer) = self.publisher.and_then(|key| context.peer(key)) else {
            return;
        };
        let keyframe = std::mem::take(&mut self.keyframe_wanted);
        let mut data = match keyframe {
            true => vec![0x10, 0, 0, 0x9d, 0x01, 0x2a, 64, 1, 180, 0],
            false => vec![0x11, 0, 0],
        };
        data.resize((RATE * FRAME_INTERVAL).0 as usize, 1);
        let stream = peer.streams()[0].stream;
        let frame = Frame {
            keyframe,
            ..Frame::new(&data, self.frame.wrapping_mul(3000), now)
        };
        peer.send_frame(now, stream, &frame).expect("it is sending");
        self.frame += 1;
    }
}

impl Application for Clients {
    type Command = Order;

    fn on_command(&mut self, context: &mut Context<'_>, order: Order) {
        match order {
            Order::Offer(address, direction, reply) => {
                let section = Section::new(MediaKind::Video, direction);
                let config = self.config(address);
                let offer = Offer::new(context.now, config, &[section], Delivery::Packets);
                let _ = reply.send(offer.sdp());
                self.offer = Some(offer);
            }
            Order::Accept(answer) => {
                let offer = self.offer.take().expect("an offer came first");
                let peer = offer.accept(context.now, &answer).expect("a good answer");
                let key = context.insert(peer);
                self.publisher.get_or_insert(key);
            }
            Order::Stop => context.stop(),
        }
    }

    fn on_event(&mut self, context: &mut Context<'_>, key: PeerKey, event: PeerEvent) {
        match event {
            PeerEvent::Association(AssociationEvent::Connected { .. })
                if self.publisher == Some(key) =>
            {
                self.next_frame = Some(context.now);
            }
            PeerEvent::Session(SessionEvent::KeyframeRequested { .. }) => {
                self.keyframe_wanted = true;
            }
            _ => {}
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let reason = "next frame";
        self.next_frame.map(|at| Deadline { at, reason })
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if let Some(at) = self.next_frame.filter(|at| *at <= context.now) {
            self.next_frame = Some(at + FRAME_INTERVAL);
            self.send_frame(context);
        }
    }
}
