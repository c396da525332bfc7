//! Interoperation with str0m, a WebRTC endpoint by other authors, in virtual time: it has
//! its own ICE agent with one nominated pair, its own STUN codec and its own SRTP. (The
//! DTLS and the ciphers are the same libraries.)

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant as StdInstant;
use str0m::media::MediaKind;
use str0m::net::{DatagramRecv, Protocol, Receive};
use str0m::rtp::RtpWrite;
use str0m::{Candidate, Rtc, RtcConfig};
use weft_ice::{
    Credentials, IceRole, LinkId, LocalAddress, PathState, RemoteCandidate, RemoteFilter,
};
use weft_secure::{
    Association, Certificate, Config, DtlsRole, Event, Fingerprint, Keying, Output, Received,
    Remote,
};
use weft_units::{Duration, FiveTuple, Instant, Rng, Transport};

const STEP: Duration = Duration::from_millis(5);
const OURS: u32 = 1111;
const THEIRS: u32 = 2222;

fn weft(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, host, 1], 1000))
}

fn str0m() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 9], 2000))
}

struct Call {
    now: Instant,
    epoch: StdInstant,
    weft: Association,
    str0m: Rtc,
    events: Vec<Event>,
    /// Packets of ours that str0m released, in order.
    arrived: Vec<u64>,
    /// Packets from str0m that we released, by our address.
    received: BTreeMap<SocketAddr, usize>,
    connected: usize,
}

impl Call {
    fn new(role: IceRole, dtls: DtlsRole) -> Call {
        #[allow(clippy::disallowed_methods)]
        let epoch = StdInstant::now();
        let provider = Arc::new(str0m_aws_lc_rs::default_provider());
        let mut str0m_rtc = RtcConfig::new()
            .set_crypto_provider(provider)
            .set_rtp_mode(true)
            .build(epoch);
        let host = |addr| Candidate::host(addr, "udp").expect("candidate");
        str0m_rtc.add_local_candidate(host(str0m()));
        let mut rng = Rng::new(5);
        let mut entropy = [0; 32];
        rng.fill(&mut entropy);
        let mut weft_side = Association::new(
            Instant::ZERO,
            Config {
                ice: weft_ice::Config {
                    role,
                    credentials: Credentials::from_entropy(&entropy),
                    tie_breaker: 1,
                    checks: weft_ice::Checks::All,
                    rng,
                },
                certificate: Certificate::generate().expect("certificate"),
                epoch,
                keying: Keying::Dtls { seed: None },
            },
        );
        for link in [1, 2] {
            let address = LocalAddress {
                transport: Transport::Udp,
                addr: weft(link),
                link: LinkId(link),
                cost: 0,
                remotes: RemoteFilter::Any,
            };
            weft_side.add_local(Instant::ZERO, address);
        }
        let mut api = str0m_rtc.direct_api();
        let credentials = api.local_ice_credentials();
        let fingerprint = api.local_dtls_fingerprint().clone();
        weft_side.set_remote(
            Instant::ZERO,
            Remote {
                credentials: Credentials {
                    ufrag: credentials.ufrag,
                    pwd: credentials.pass,
                },
                fingerprint: Fingerprint::new(&fingerprint.hash_func, &fingerprint.bytes)
                    .expect("sha-256"),
                dtls,
                candidates: vec![RemoteCandidate {
                    addr: str0m(),
                    priority: 1,
                }],
            },
        );
        api.set_ice_controlling(role == IceRole::Controlled);
        api.set_remote_ice_credentials(str0m::ice::IceCreds {
            ufrag: weft_side.credentials().ufrag.clone(),
            pass: weft_side.credentials().pwd.clone(),
        });
        api.set_remote_fingerprint(str0m::config::Fingerprint {
            hash_func: "sha-256".to_owned(),
            bytes: weft_side.fingerprint().as_bytes().to_vec(),
        });
        api.start_dtls(dtls == DtlsRole::Server).expect("starts");
        let mid = "vid".into();
        api.declare_media(mid, MediaKind::Video);
        api.expect_stream_rx(OURS.into(), None, mid, None);
        api.declare_stream_tx(THEIRS.into(), None, mid, None);
        Call {
            now: Instant::ZERO,
            epoch,
            weft: weft_side,
            str0m: str0m_rtc,
            events: Vec::new(),
            arrived: Vec::new(),
            received: BTreeMap::new(),
            connected: 0,
        }
    }

    fn clock(&self) -> StdInstant {
        self.epoch + std::time::Duration::from(self.now.saturating_since(Instant::ZERO))
    }

    fn run_for(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        while self.now < end {
            self.weft.handle_timeout(self.now);
            self.input(str0m::Input::Timeout(self.clock()));
            while self.pass_ours() + self.pass_theirs() > 0 {}
            self.now += STEP;
        }
    }

    fn input(&mut self, input: str0m::Input<'_>) {
        self.str0m.handle_input(input).expect("str0m takes it");
    }

    fn deliver(&mut self, source: SocketAddr, datagram: &[u8]) {
        let Ok(contents) = DatagramRecv::try_from(datagram) else {
            panic!("str0m does not know this kind of datagram");
        };
        let receive = Receive {
            proto: Protocol::Udp,
            source,
            destination: str0m(),
            contents,
        };
        self.input(str0m::Input::Receive(self.clock(), receive));
    }

    fn pass_ours(&mut self) -> usize {
        let mut passed = 0;
        while let Some(output) = self.weft.poll_output() {
            match output {
                Output::Transmit { tuple, datagram } => {
                    self.deliver(tuple.local, &datagram);
                    while self.pass_theirs() > 0 {}
                    passed += 1;
                }
                Output::Event(event) => self.events.push(event),
            }
        }
        passed
    }

    fn pass_theirs(&mut self) -> usize {
        let mut passed = 0;
        loop {
            match self.str0m.poll_output().expect("str0m works") {
                str0m::Output::Timeout(_) => return passed,
                str0m::Output::Transmit(transmit) => {
                    passed += 1;
                    let to = transmit.destination;
                    let bytes: &[u8] = &transmit.contents;
                    let received =
                        self.weft
                            .handle_datagram(self.now, FiveTuple::udp(to, str0m()), bytes);
                    if let Received::Rtp { .. } = received {
                        *self.received.entry(to).or_default() += 1;
                    }
                }
                str0m::Output::Event(str0m::Event::Connected) => self.connected += 1,
                str0m::Output::Event(str0m::Event::RtpPacket(packet)) => {
                    self.arrived.push(*packet.seq_no);
                }
                str0m::Output::Event(_) => {}
            }
        }
    }

    fn connect(&mut self) {
        self.run_for(3000);
        let connected = |e: &&Event| matches!(e, Event::Connected { .. });
        assert_eq!(self.events.iter().filter(connected).count(), 1);
        assert_eq!(self.connected, 1);
        let up = self.weft.paths().filter(|p| p.state == PathState::Up);
        assert_eq!(up.count(), 2);
    }

    /// Sends our packets from alternating addresses.
    fn send_ours(&mut self, sequences: std::ops::Range<u32>) {
        for sequence in sequences {
            let mut packet = vec![0x80, 96];
            packet.extend_from_slice(&(sequence as u16).to_be_bytes());
            packet.extend_from_slice(&(sequence * 90).to_be_bytes());
            packet.extend_from_slice(&OURS.to_be_bytes());
            packet.extend_from_slice(b"\x10\x02\x00payload");
            self.weft.protect_rtp(&mut packet, &[]).expect("protects");
            self.deliver(weft(1 + (sequence % 2) as u8), &packet);
            while self.pass_theirs() > 0 {}
            if sequence % 50 == 0 {
                self.run_for(10);
            }
        }
        self.run_for(500);
    }

    fn send_theirs(&mut self, sequences: std::ops::Range<u64>) {
        for sequence in sequences {
            let clock = self.clock();
            let mut api = self.str0m.direct_api();
            let stream = api.stream_tx(&THEIRS.into()).expect("declared");
            let time = sequence as u32 * 90;
            let payload: &[u8] = b"\x10\x02\x00payload";
            stream.write_rtp(RtpWrite::new(
                96.into(),
                sequence.into(),
                time,
                clock,
                payload,
            ));
            self.run_for(5);
        }
        self.run_for(500);
    }
}

#[test]
fn we_control_and_are_the_server() {
    let mut call = Call::new(IceRole::Controlling, DtlsRole::Server);
    call.connect();
    call.send_ours(1..2001);
    assert_eq!(call.arrived, (1..2001).collect::<Vec<u64>>());
    call.send_theirs(1..101);
    assert_eq!(call.received.values().sum::<usize>(), 100);
}

#[test]
fn str0m_controls_and_is_the_server() {
    let mut call = Call::new(IceRole::Controlled, DtlsRole::Client);
    call.connect();
    call.send_ours(65_000..66_000);
    let expected: Vec<u64> = (65_000..66_000).collect();
    assert_eq!(call.arrived, expected);
    call.send_theirs(1..101);
    assert_eq!(call.received.values().sum::<usize>(), 100);
    // We follow its nomination: its packets arrive on the selected path.
    let selected = call.weft.selected().and_then(|id| call.weft.path(id));
    let selected = selected.expect("selected").tuple.local;
    assert_eq!(call.received.keys().collect::<Vec<_>>(), [&selected]);
}

#[test]
fn the_selected_path_dies_and_str0m_moves_on() {
    let mut call = Call::new(IceRole::Controlling, DtlsRole::Server);
    call.connect();
    let selected = call.weft.selected().and_then(|id| call.weft.path(id));
    let dead = selected.expect("selected").tuple.local;
    call.weft.remove_local(call.now, dead);
    // It does not follow a later nomination, but it detects by itself after some 21.5 s
    // that its pair has failed.
    call.run_for(30_000);
    call.received.clear();
    call.send_theirs(1..101);
    let alive = if dead == weft(1) { weft(2) } else { weft(1) };
    assert_eq!(call.received.get(&alive), Some(&100));
}
