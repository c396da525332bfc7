//! A whole call on one core: frames become packets, which are scheduled over two paths,
//! paced, protected, carried over ten milliseconds, read, reported and reassembled to
//! frames. One element is one RTP packet sent and received.
//! `valgrind --tool=callgrind --toggle-collect=session::Call::run` with
//! `--bench --test NAME` counts the instructions, which a busy machine does not change: a
//! run of 20,001 packets. The `clean` and `lossy` names show the cost of scheduling and
//! repair packets, without loss and with one packet in a hundred lost.

use std::collections::VecDeque;
use std::net::SocketAddr;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use weft_ice::{Credentials, IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_peer::{
    AnswerPolicy, Event, Offer, Output, Peer, PeerConfig, Section, StreamDirection, answer,
};
use weft_secure::{Certificate, Config as AssociationConfig, Keying};
use weft_session::{Config as SessionConfig, Delivery, Frame, ProtectionKind, SchedulerKind};
use weft_testing::pictures::FRAME_INTERVAL;
use weft_units::{
    Codec, Duration, Ecn, FiveTuple, Instant, MediaKind, Rate, Rng, Ssrc, StreamId, Transport,
};
use weft_wire::rtp::ExtensionMap;

const DELAY: Duration = Duration::from_millis(10);

struct Datagram {
    at: Instant,
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// Measured case.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    rate: Rate,
    scheduler: SchedulerKind,
    protection: ProtectionKind,
    /// Loss rate of the sender's packets, from 0 to 1.
    loss: f64,
}

impl Case {
    const fn new(name: &'static str, mbps: u64) -> Case {
        Case {
            name,
            rate: Rate::from_mbps(mbps),
            scheduler: SchedulerKind::Weft,
            protection: ProtectionKind::Weft,
            loss: 0.0,
        }
    }

    const fn with(self, scheduler: SchedulerKind, protection: ProtectionKind) -> Case {
        Case {
            scheduler,
            protection,
            ..self
        }
    }

    const fn lossy(self) -> Case {
        Case { loss: 0.01, ..self }
    }

    /// Whether the command line selects it.
    fn is_wanted(&self) -> bool {
        let words = std::env::args()
            .skip(1)
            .filter(|word| !word.starts_with('-'));
        let words: Vec<String> = words.collect();
        words.is_empty() || words.iter().any(|word| self.name.contains(word.as_str()))
    }
}

const CASES: [Case; 9] = [
    Case::new("5 Mbps over two paths", 5),
    Case::new("40 Mbps over two paths", 40),
    Case::new("clean-single-none", 40).with(SchedulerKind::Single, ProtectionKind::None),
    Case::new("clean-weft-none", 40).with(SchedulerKind::Weft, ProtectionKind::None),
    Case::new("clean-weft-table", 40).with(SchedulerKind::Weft, ProtectionKind::WebrtcTable),
    Case::new("lossy-single-none", 40)
        .with(SchedulerKind::Single, ProtectionKind::None)
        .lossy(),
    Case::new("lossy-weft-none", 40)
        .with(SchedulerKind::Weft, ProtectionKind::None)
        .lossy(),
    Case::new("lossy-weft-table", 40)
        .with(SchedulerKind::Weft, ProtectionKind::WebrtcTable)
        .lossy(),
    Case::new("lossy-weft-path", 40).lossy(),
];

struct Call {
    now: Instant,
    sender: Peer,
    receiver: Peer,
    stream: StreamId,
    flights: VecDeque<Datagram>,
    next_frame: Instant,
    frame_number: u32,
    keyframe_wanted: bool,
    data: Vec<u8>,
    case: Case,
    losses: Rng,
    received: u64,
    frames: u64,
}

fn hub() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 9], 1))
}

fn config(role: IceRole, addresses: &[SocketAddr], case: &Case, seed: u64) -> PeerConfig {
    let rng = Rng::new(seed);
    let mut entropy = [0; 32];
    rng.stream("credentials").fill(&mut entropy);
    let mut session = SessionConfig::new(ExtensionMap::default(), Ssrc(1));
    session.scheduler = case.scheduler;
    session.protection = case.protection;
    session.max_rate = case.rate;
    session.path_limits.start = case.rate;
    session.path_limits.max = case.rate;
    #[allow(clippy::disallowed_methods)]
    let epoch = std::time::Instant::now();
    let local = |(link, addr): (u8, &SocketAddr)| LocalAddress {
        transport: Transport::Udp,
        addr: *addr,
        link: LinkId(link),
        cost: 10,
        remotes: RemoteFilter::Any,
    };
    PeerConfig {
        association: AssociationConfig {
            ice: weft_ice::Config {
                role,
                credentials: Credentials::from_entropy(&entropy),
                tie_breaker: seed,
                checks: weft_ice::Checks::All,
                rng: rng.stream("association"),
            },
            certificate: Certificate::generate().expect("the system has randomness"),
            epoch,
            keying: Keying::Dtls { seed: None },
        },
        session,
        locals: (0..).zip(addresses).map(local).collect(),
        public: Vec::new(),
        tcp: Vec::new(),
        codecs: Codec::CODED.to_vec(),
        data_channels: false,
        rng: rng.stream("session"),
    }
}

impl Call {
    fn new(case: Case) -> Call {
        let clients = [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 1)));
        let sender = config(IceRole::Controlling, &clients, &case, 1);
        let receiver = config(IceRole::Controlled, &[hub()], &case, 2);
        let section = Section::new(MediaKind::Video, StreamDirection::Send);
        let policy = AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        };
        let offer = Offer::new(Instant::ZERO, sender, &[section], Delivery::Frames);
        let (receiver, text) =
            answer(Instant::ZERO, receiver, &offer.sdp(), &policy).expect("it is good");
        let sender = offer.accept(Instant::ZERO, &text).expect("it is good");
        Call {
            now: Instant::ZERO,
            stream: sender.streams()[0].stream,
            sender,
            receiver,
            flights: VecDeque::new(),
            next_frame: Instant::ZERO + Duration::from_secs(1),
            frame_number: 0,
            keyframe_wanted: true,
            data: vec![1; 1 << 20],
            case,
            losses: Rng::new(3),
            received: 0,
            frames: 0,
        }
    }

    /// Runs until this many more packets have arrived.
    fn run(&mut self, packets: u64) {
        let end = self.received + packets;
        while self.received < end {
            self.drain();
            let peers = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let peers = peers.into_iter().flatten().map(|d| d.at);
            let arrival = self.flights.front().map(|d| d.at);
            let next = peers.chain(arrival).chain([self.next_frame]).min();
            self.now = self.now.max(next.expect("there is always a next frame"));
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        while self.flights.front().is_some_and(|d| d.at <= now) {
            let datagram = self.flights.pop_front().expect("it is there");
            let upwards = datagram.to == hub();
            let (peer, origin) = if upwards {
                (&mut self.receiver, &mut self.sender)
            } else {
                (&mut self.sender, &mut self.receiver)
            };
            peer.handle_datagram(
                now,
                FiveTuple::udp(datagram.to, datagram.from),
                Ecn::NotEct,
                &datagram.bytes,
            );
            // RFC 7983: media.
            self.received += u64::from(upwards && datagram.bytes[0] >= 128);
            origin.recycle(datagram.bytes);
        }
        for peer in [&mut self.sender, &mut self.receiver] {
            if peer.poll_timeout().is_some_and(|d| d.at <= now) {
                peer.handle_timeout(now);
            }
        }
        if self.next_frame <= now {
            self.send_frame();
        }
    }

    fn send_frame(&mut self) {
        let keyframe = std::mem::take(&mut self.keyframe_wanted);
        self.data[0] = u8::from(!keyframe);
        let size = (self.case.rate * FRAME_INTERVAL).0 as usize;
        let frame = Frame {
            keyframe,
            ..Frame::new(
                &self.data[..size],
                self.frame_number.wrapping_mul(3000),
                self.now,
            )
        };
        self.sender
            .send_frame(self.now, self.stream, &frame)
            .expect("the stream was negotiated");
        self.frame_number += 1;
        self.next_frame += FRAME_INTERVAL;
    }

    fn drain(&mut self) {
        for (peer, sends) in [(&mut self.sender, true), (&mut self.receiver, false)] {
            while let Some(output) = peer.poll_output() {
                match output {
                    Output::Transmit { datagram, .. }
                        if sends && self.losses.unit() < self.case.loss =>
                    {
                        peer.recycle(datagram);
                    }
                    Output::Transmit {
                        tuple, datagram, ..
                    } => self.flights.push_back(Datagram {
                        at: self.now + DELAY,
                        from: tuple.local,
                        to: tuple.remote,
                        bytes: datagram,
                    }),
                    Output::Event(Event::Session(event)) => match event {
                        weft_session::Event::KeyframeRequested { .. } if sends => {
                            self.keyframe_wanted = true;
                        }
                        weft_session::Event::FrameReceived { .. } => self.frames += 1,
                        _ => {}
                    },
                    Output::Event(_) => {}
                }
            }
        }
    }
}

fn whole_call(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call");
    group.throughput(Throughput::Elements(1));
    for case in CASES.into_iter().filter(Case::is_wanted) {
        let mut call = Call::new(case);
        call.run(20_000);
        group.bench_function(case.name, |bencher| {
            #[allow(clippy::disallowed_methods)]
            bencher.iter_custom(|packets| {
                let start = std::time::Instant::now();
                call.run(packets);
                start.elapsed()
            });
        });
        let sent = u64::from(call.frame_number);
        assert!(
            call.frames + 60 >= sent,
            "{} frames of {sent} came out",
            call.frames
        );
        let paths = call.sender.session().stats().paths;
        let both = paths.iter().all(|p| p.sent_packets > call.received / 5);
        let several = case.scheduler != SchedulerKind::Single;
        assert!(both == several, "both paths carry packets: {paths:?}");
    }
    group.finish();
}

criterion_group!(benches, whole_call);
criterion_main!(benches);
