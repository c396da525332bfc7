//! Bodies of the fuzz targets `plane` and `router`, which tests run, too.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Instant as StdInstant;

use weft_ice::{Credentials, IceRole, LinkId, LocalAddress, RemoteCandidate, RemoteFilter};
use weft_peer::{Entropy, Offer, PeerConfig, Section, StreamDirection, TimeOrigin};
use weft_secure::{Association, Certificate, DtlsRole, Output as LineOutput, Remote};
use weft_session::Delivery;
use weft_units::fuzz::records;
use weft_units::{Codec, Duration, Ecn, Instant, MediaKind, PathId, Rng, Ssrc};
use weft_wire::payload::Form;
use weft_wire::rtp::{ExtensionMap, Extensions, Header, PathExtension};
use weft_wire::sdp::{SessionDescription, Setup};

pub use crate::routing::fuzz::fuzz_calls as fuzz_router;
use crate::{Event, IceCondition, IceUpdate, Output, Plane, Publisher, ResourceId, Settings};

/// Most connections of one input.
const MOST: usize = 6;
/// Rounds of answers before time passes.
const MOST_ROUNDS: usize = 300;

/// Feeds the bytes to a plane: packets of a publisher and a player with valid keys,
/// datagrams of strangers, changed descriptions, and candidates, while connections
/// come and go and time passes. The plane's books must agree, and time must always
/// advance. Returns the number of inputs.
pub fn fuzz_plane(data: &[u8], certificate: &Certificate) -> usize {
    let origin = origin();
    let mut room = Room {
        now: Instant::ZERO,
        plane: Plane::new(Settings::new(origin, certificate.clone(), &[server()])),
        origin,
        certificate: certificate.clone(),
        lines: Vec::new(),
        connected: 0,
        inputs: 0,
    };
    room.enter(&[]);
    room.enter(&[]);
    for (how, content) in records(data) {
        room.step(how, content);
        room.settle();
        let census = room.plane.census();
        assert!(census.agrees(), "{census:?}");
    }
    room.inputs
}

/// Returns an epoch; any value will do where time is virtual.
#[allow(clippy::disallowed_methods)]
fn origin() -> TimeOrigin {
    static ORIGIN: OnceLock<StdInstant> = OnceLock::new();
    TimeOrigin {
        std: *ORIGIN.get_or_init(StdInstant::now),
        ntp: 0,
    }
}

fn server() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 1))
}

fn place(number: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 9], 1 + number as u16))
}

fn resource(number: usize) -> ResourceId {
    ResourceId(number.to_string())
}

struct Room {
    now: Instant,
    plane: Plane,
    origin: TimeOrigin,
    certificate: Certificate,
    lines: Vec<Line>,
    /// Connections that came up.
    connected: usize,
    inputs: usize,
}

/// Other end of a connection, which sends anything.
struct Line {
    association: Association,
    ours: Ssrc,
    theirs: Ssrc,
    extensions: ExtensionMap,
}

impl Room {
    fn entropy(number: usize) -> Entropy {
        Entropy::repeating(Rng::new(number as u64))
    }

    /// Asks for a connection, with some bytes of the description changed. The first,
    /// the third and the fifth publish, the others play.
    fn enter(&mut self, changes: &[u8]) {
        let number = self.lines.len();
        if number == MOST {
            return;
        }
        let local = LocalAddress {
            addr: place(number),
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        };
        let entropy = Room::entropy(2 * number);
        let certificate = self.certificate.clone();
        let (role, locals) = (IceRole::Controlling, vec![local.clone()]);
        let config = PeerConfig::new(role, self.origin, certificate, locals, &entropy);
        let publishes = number.is_multiple_of(2);
        let direction = match publishes {
            true => StreamDirection::Send,
            false => StreamDirection::Receive,
        };
        let section = Section {
            form: Some(Form::ours(Codec::Vp8)),
            ..Section::new(MediaKind::Video, direction)
        };
        let offer = Offer::new(self.now, config.clone(), &[section], Delivery::Packets);
        let offer = changed(offer.sdp(), changes);
        let publisher = Publisher {
            room: "r".to_owned(),
            participant: "p".to_owned(),
        };
        let (now, id, entropy) = (self.now, resource(number), Room::entropy(2 * number + 1));
        self.inputs += 1;
        let agreed = match publishes {
            true => self.plane.publish(now, id, publisher, &offer, &entropy),
            false => self.plane.play(now, id, publisher, Some(&offer), &entropy),
        };
        let Ok(agreed) = agreed else { return };
        let answer = SessionDescription::parse(&agreed.sdp).expect("we write SDP");
        let mut association = Association::new(now, config.association);
        association.add_local(now, local);
        if let Some(remote) = remote(&answer) {
            association.set_remote(now, remote);
        }
        let offer = SessionDescription::parse(&offer);
        let ssrc = |said: &SessionDescription| {
            let media = said.media.first();
            media.and_then(|media| media.primary_ssrcs().first().copied())
        };
        let extensions = answer.media.first().map(|media| &media.extensions[..]);
        self.lines.push(Line {
            association,
            ours: offer.ok().as_ref().and_then(ssrc).unwrap_or(Ssrc(1)),
            theirs: ssrc(&answer).unwrap_or(Ssrc(1)),
            extensions: ExtensionMap::from_negotiated(extensions.unwrap_or(&[])),
        });
        // Until it is up, or cannot come up any more.
        let before = self.connected;
        for _ in 0..5 {
            self.settle();
            if self.connected > before {
                break;
            }
            self.now += Duration::from_millis(20);
        }
    }

    fn step(&mut self, how: u8, content: &[u8]) {
        let byte = |at: usize| usize::from(content.get(at).copied().unwrap_or(0));
        let rest = content.get(1..).unwrap_or(&[]);
        let who = byte(0) % self.lines.len().max(1);
        self.now += Duration::from_millis(u64::from(how >> 3));
        match how & 7 {
            0 => self.arrive(place(byte(0) & 7), rest),
            1 | 2 => {
                let Some(line) = self.lines.get_mut(who) else {
                    return;
                };
                let mut packet = line.media(rest);
                if line.association.protect_rtp(&mut packet, &[]).is_ok() {
                    self.arrive(place(who), &packet);
                }
            }
            3 | 4 => {
                let Some(line) = self.lines.get_mut(who) else {
                    return;
                };
                let mut packet = line.rtcp(rest);
                if line.association.protect_rtcp(&mut packet).is_ok() {
                    self.arrive(place(who), &packet);
                }
            }
            5 => self.enter(rest),
            6 => self.ask(byte(0), rest),
            _ => self.now += Duration::from_millis(byte(0) as u64 * 20),
        }
    }

    fn ask(&mut self, what: usize, content: &[u8]) {
        self.inputs += 1;
        let (now, id) = (self.now, resource(what >> 3));
        let text = String::from_utf8_lossy(content);
        let publisher = Publisher {
            room: "r".to_owned(),
            participant: "p".to_owned(),
        };
        // Nobody has it yet.
        let number = MOST + self.inputs;
        // What cannot be done is refused, and changes nothing.
        match what & 7 {
            0 => self.plane.close(now, &id),
            1 => {
                let entropy = Room::entropy(2 * number);
                let condition = match content.first() {
                    Some(b'*') => IceCondition::Any,
                    _ => IceCondition::Unsaid,
                };
                let fragment = text.trim_start_matches('*').to_owned();
                let update = IceUpdate {
                    fragment,
                    condition,
                };
                drop(self.plane.update_ice(now, &id, &update, &entropy));
            }
            2 => drop(self.plane.accept(now, id, &text)),
            3 => {
                let entropy = Room::entropy(2 * number);
                let id = resource(number);
                drop(self.plane.play(now, id, publisher, None, &entropy));
            }
            4 => {
                let entropy = Room::entropy(2 * number);
                let id = resource(number);
                drop(self.plane.publish(now, id, publisher, &text, &entropy));
            }
            _ => drop(self.plane.stats()),
        }
    }

    fn arrive(&mut self, from: SocketAddr, datagram: &[u8]) {
        self.inputs += 1;
        self.plane
            .handle_datagram(self.now, server(), from, Ecn::NotEct, datagram);
    }

    /// Does what is due until nobody has anything to send.
    fn settle(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let mut moved = false;
            if self.plane.poll_timeout().is_some_and(|d| d.at <= self.now) {
                moved = true;
                self.inputs += 1;
                self.plane.handle_timeout(self.now);
            }
            while let Some(output) = self.plane.poll_output() {
                let came_up = matches!(output, Output::Event(Event::Connected { .. }));
                self.connected += usize::from(came_up);
                let Output::Transmit {
                    peer,
                    remote,
                    datagram,
                    ..
                } = output
                else {
                    continue;
                };
                let mut lines = (0..).zip(&mut self.lines);
                if let Some((_, line)) = lines.find(|(n, _)| place(*n) == remote) {
                    moved = true;
                    self.inputs += 1;
                    let _ = line
                        .association
                        .handle_datagram(self.now, remote, server(), &datagram);
                }
                self.plane.recycle(peer, datagram);
            }
            for number in 0..self.lines.len() {
                let line = &mut self.lines[number].association;
                if line.poll_timeout().is_some_and(|d| d.at <= self.now) {
                    moved = true;
                    self.inputs += 1;
                    line.handle_timeout(self.now);
                }
                while let Some(output) = self.lines[number].association.poll_output() {
                    if let LineOutput::Transmit { datagram, .. } = output {
                        moved = true;
                        self.arrive(place(number), &datagram);
                    }
                }
            }
            if !moved {
                return;
            }
        }
        panic!("spins: {:?}", self.plane.poll_timeout());
    }
}

impl Line {
    /// Writes a media packet whose numbers and payload are the content.
    fn media(&self, content: &[u8]) -> Vec<u8> {
        let (head, payload) = content.split_at(content.len().min(10));
        let byte = |place: usize| head.get(place).copied().unwrap_or(0);
        let word = |place: usize| u16::from_be_bytes([byte(place), byte(place + 1)]);
        let header = Header {
            marker: byte(0) & 1 == 1,
            payload_type: 96 + (byte(0) >> 1 & 3),
            sequence: word(1),
            timestamp: u32::from(word(3)) * 90,
            ssrc: Ssrc(self.ours.0.wrapping_add(u32::from(byte(0) >> 6))),
            extensions: Extensions {
                transport_sequence: Some(word(5)),
                path: Some(PathExtension {
                    path: PathId(byte(9)),
                    stream_sequence: word(7),
                    transport_sequence: word(5),
                }),
                ..Extensions::default()
            },
        };
        let mut packet = Vec::new();
        header.write(&self.extensions, &mut packet);
        packet.extend_from_slice(payload);
        packet
    }

    /// Writes an RTCP message of any type about the stream that it receives.
    fn rtcp(&self, content: &[u8]) -> Vec<u8> {
        let [packet_type, count, body @ ..] = content else {
            return vec![0x80, 201, 0, 1, 0, 0, 0, 1];
        };
        let mut message = vec![0x80 | count & 31, 200 | packet_type & 7, 0, 0];
        message.extend_from_slice(&self.ours.0.to_be_bytes());
        if count & 32 == 0 {
            message.extend_from_slice(&self.theirs.0.to_be_bytes());
        }
        message.extend_from_slice(body);
        message.resize(message.len().next_multiple_of(4), 0);
        let words = (message.len() / 4 - 1) as u16;
        message[2..4].copy_from_slice(&words.to_be_bytes());
        message
    }
}

/// Returns the text with a piece replaced: two bytes of offset, one of length.
fn changed(text: String, changes: &[u8]) -> String {
    let [high, low, length, new @ ..] = changes else {
        return text;
    };
    let mut bytes = text.into_bytes();
    let at = usize::from(u16::from_be_bytes([*high, *low])) % bytes.len();
    let end = bytes.len().min(at + usize::from(*length));
    bytes.splice(at..end, new.iter().copied());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads the server's values from its answer.
fn remote(answer: &SessionDescription) -> Option<Remote> {
    let media = answer.media.first()?;
    let fingerprint = media.fingerprint.as_ref()?.to_string();
    Some(Remote {
        credentials: Credentials {
            ufrag: media.ice_ufrag.clone()?,
            pwd: media.ice_pwd.clone()?,
        },
        fingerprint: fingerprint.parse().ok()?,
        dtls: match media.setup {
            Some(Setup::Passive) => DtlsRole::Client,
            _ => DtlsRole::Server,
        },
        candidates: vec![RemoteCandidate {
            addr: server(),
            priority: 1,
        }],
    })
}

#[cfg(test)]
mod tests;
