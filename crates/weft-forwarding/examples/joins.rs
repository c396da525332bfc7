//! Cost of joining for a server's media thread: the session description,
//! and the datagrams of the handshake, with real keys and signatures.
//!
//! `cargo run --profile campaign -p weft-forwarding --example joins [JOINS]`

use std::net::SocketAddr;

use weft_forwarding::{Output as PlaneOutput, Plane, Publisher, ResourceId, Settings};
use weft_ice::{IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_peer::{Entropy, Offer, Output, PeerConfig, Section, StreamDirection, TimeOrigin};
use weft_secure::{Certificate, Keying};
use weft_session::Delivery;
use weft_testing::processor_time;
use weft_units::{Duration, Ecn, FiveTuple, Instant, MediaKind, Rng, Transport};

fn main() {
    let asked = std::env::args().find_map(|arg| arg.parse().ok());
    let joins: u16 = asked.unwrap_or(300);
    let server = SocketAddr::from(([10, 0, 0, 1], 1));
    let certificate = || Certificate::generate().expect("the system has randomness");
    // Any value works here.
    #[allow(clippy::disallowed_methods)]
    let std = std::time::Instant::now();
    let mut house = House {
        now: Instant::ZERO,
        plane: Plane::new(Settings::new(
            TimeOrigin { std, ntp: 0 },
            certificate(),
            &[server],
        )),
        origin: TimeOrigin { std, ntp: 0 },
        server,
        certificate: certificate(),
    };
    let (mut descriptions, mut handshakes, mut datagrams) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..joins {
        let (description, handshake) = house.join(number);
        descriptions.push(description);
        handshakes.push(handshake.iter().copied().sum());
        datagrams.extend(handshake);
    }
    println!("microseconds of processor time, {joins} joins");
    println!("                        mean    p99    max");
    tell("description", descriptions);
    tell("handshake", handshakes);
    tell("a datagram of it", datagrams);
}

fn tell(what: &str, mut times: Vec<std::time::Duration>) {
    times.sort();
    let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
    let mean = times.iter().map(|t| micros(*t)).sum::<f64>() / times.len() as f64;
    let p99 = micros(times[(times.len() - 1) * 99 / 100]);
    let most = micros(times[times.len() - 1]);
    println!("{what:20} {mean:7.0} {p99:6.0} {most:6.0}");
}

struct House {
    now: Instant,
    plane: Plane,
    origin: TimeOrigin,
    server: SocketAddr,
    certificate: Certificate,
}

impl House {
    /// Lets a new publisher join: returns the time for the description, and for each
    /// datagram of ICE and DTLS until it is connected.
    fn join(&mut self, number: u16) -> (std::time::Duration, Vec<std::time::Duration>) {
        let addr = SocketAddr::from(([10, 0, 0, 9], 1_000 + number));
        let local = LocalAddress {
            transport: Transport::Udp,
            addr,
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        };
        let (role, certificate) = (IceRole::Controlling, self.certificate.clone());
        let entropy = entropy(2 * u64::from(number));
        let config = PeerConfig::new(role, self.origin, certificate, vec![local], &entropy);
        let kinds = [MediaKind::Video, MediaKind::Audio];
        let sections = kinds.map(|kind| Section::new(kind, StreamDirection::Send));
        let offer = Offer::new(self.now, config, &sections, Delivery::Frames);
        let publisher = Publisher {
            room: "r".to_owned(),
            participant: number.to_string(),
        };
        let (text, id) = (offer.sdp(), ResourceId(number.to_string()));
        let entropy = self::entropy(2 * u64::from(number) + 1);
        let begun = processor_time();
        let answer = self.plane.publish(self.now, id, publisher, &text, &entropy);
        self.drain(None);
        let description = processor_time() - begun;
        let mut client = offer.accept(self.now, &answer.expect("a good offer").sdp);
        let client = client.as_mut().expect("a good answer");
        let mut handshake = Vec::new();
        for _ in 0..1_000 {
            if client.is_connected() {
                return (description, handshake);
            }
            while let Some(output) = client.poll_output() {
                let Output::Transmit { datagram, .. } = output else {
                    continue;
                };
                let begun = processor_time();
                let (now, ecn) = (self.now, Ecn::NotEct);
                self.plane
                    .handle_datagram(now, FiveTuple::udp(self.server, addr), ecn, &datagram);
                let sent = self.drain(None);
                handshake.push(processor_time() - begun);
                for datagram in sent {
                    client.handle_datagram(
                        self.now,
                        FiveTuple::udp(addr, self.server),
                        ecn,
                        &datagram,
                    );
                }
            }
            self.now += Duration::from_millis(1);
            client.handle_timeout(self.now);
            self.plane.handle_timeout(self.now);
            for datagram in self.drain(Some(addr)) {
                client.handle_datagram(
                    self.now,
                    FiveTuple::udp(addr, self.server),
                    Ecn::NotEct,
                    &datagram,
                );
            }
        }
        panic!("the connection was not established");
    }

    /// Returns the datagrams that are sent to this address, or to any.
    fn drain(&mut self, to: Option<SocketAddr>) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        while let Some(output) = self.plane.poll_output() {
            if let PlaneOutput::Transmit {
                tuple, datagram, ..
            } = output
                && to.is_none_or(|to| to == tuple.remote)
            {
                sent.push(datagram);
            }
        }
        sent
    }
}

fn entropy(seed: u64) -> Entropy {
    Entropy {
        keying: Keying::Dtls { seed: None },
        ..Entropy::repeating(Rng::new(seed))
    }
}
