//! Bodies of the fuzz targets `plane` and `router`, which tests also run.

mod line;

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Instant as StdInstant;

use weft_ice::{IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_peer::{Entropy, Offer, PeerConfig, Section, StreamDirection, TimeOrigin};
use weft_secure::{Association, Certificate, Output as LineOutput};
use weft_session::Delivery;
use weft_units::fuzz::records;
use weft_units::{Codec, Duration, Ecn, FiveTuple, Instant, MediaKind, Rng, Ssrc, Transport};
use weft_wire::payload::Form;
use weft_wire::rtp::ExtensionMap;
use weft_wire::sdp::SessionDescription;

pub use crate::routing::fuzz::fuzz_calls as fuzz_router;
use crate::{
    Event, IceCondition, IceUpdate, Output, Plane, PlaneId, Publisher, RecordedTrack, Relayed,
    ResourceId, Settings, Sound, View, ViewedCamera,
};
use line::{Line, answer_to, changed, remote};

/// Maximum number of connections in one input.
const MOST: usize = 6;
/// Maximum number of answer rounds before time passes.
const MOST_ROUNDS: usize = 300;

/// Feeds the bytes to a plane, or to two planes of one server if the first byte is odd:
/// packets of publishers, a player and receivers of the room with valid keys, datagrams
/// of strangers, changed descriptions, candidates, views, screens, mutes and recordings,
/// while connections come and go and time passes. The planes' counts must agree, and time
/// must always advance. Returns the number of inputs.
pub fn fuzz_plane(data: &[u8], certificate: &Certificate) -> usize {
    let (first, data) = data.split_first().unwrap_or((&0, &[]));
    let mut room = Room::new(1 + usize::from(first & 1), certificate);
    room.enter(&[]);
    room.enter(&[]);
    for (how, content) in records(data) {
        room.step(how, content);
        room.settle();
        for plane in &room.planes {
            let census = plane.census();
            assert!(census.agrees(), "{census:?}");
        }
    }
    room.inputs
}

/// Returns an epoch; any value works in virtual time.
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

/// Participant with this number, as a publisher.
fn participant(number: usize) -> Publisher {
    Publisher {
        room: "r".to_owned(),
        participant: format!("p{number}"),
    }
}

fn plane_id(number: usize) -> PlaneId {
    PlaneId::new(number).expect("there are two")
}

/// Role of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Publishes,
    Plays,
    Receives,
}

/// Connections of an input in order: participant and role. The last one replaces the first.
const PARTS: [(usize, Part); MOST] = [
    (0, Part::Publishes),
    (0, Part::Plays),
    (1, Part::Receives),
    (2, Part::Publishes),
    (3, Part::Receives),
    (0, Part::Publishes),
];

struct Room {
    now: Instant,
    planes: Vec<Plane>,
    origin: TimeOrigin,
    certificate: Certificate,
    lines: Vec<Line>,
    /// Number of connections that were established.
    connected: usize,
    inputs: usize,
}

impl Room {
    fn new(planes: usize, certificate: &Certificate) -> Room {
        let (origin, now) = (origin(), Instant::ZERO);
        let settings = || Settings::new(origin, certificate.clone(), &[server()]);
        let mut planes: Vec<Plane> = match planes {
            1 => vec![Plane::new(settings())],
            _ => (0..planes)
                .map(|number| Plane::new(settings().of_plane(plane_id(number))))
                .collect(),
        };
        if let [one, other] = &mut planes[..] {
            one.link(now, plane_id(1));
            other.link(now, plane_id(0));
        }
        Room {
            now,
            planes,
            origin,
            certificate: certificate.clone(),
            lines: Vec::new(),
            connected: 0,
            inputs: 0,
        }
    }

    fn entropy(number: usize) -> Entropy {
        Entropy::repeating(Rng::new(number as u64))
    }

    /// Returns the configuration of a connection's other end, always the same.
    fn config(&self, number: usize) -> PeerConfig {
        let local = LocalAddress {
            transport: Transport::Udp,
            addr: place(number),
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        };
        let (role, certificate) = (IceRole::Controlling, self.certificate.clone());
        let entropy = Room::entropy(2 * number);
        PeerConfig::new(role, self.origin, certificate, vec![local], &entropy)
    }

    /// Requests a connection, with some bytes of the description changed.
    fn enter(&mut self, changes: &[u8]) {
        let number = self.lines.len();
        let Some((who, part)) = PARTS.get(number).copied() else {
            return;
        };
        let config = self.config(number);
        let plane = number % self.planes.len();
        self.inputs += 1;
        let Some([ours, theirs]) = self.negotiate(number, (who, part), &config, changes) else {
            return;
        };
        let [said, answered] = [&ours, &theirs].map(|sdp| SessionDescription::parse(sdp).ok());
        let mut association = Association::new(self.now, config.association);
        config
            .locals
            .into_iter()
            .for_each(|local| association.add_local(self.now, local));
        if let Some(remote) = answered.as_ref().and_then(remote) {
            association.set_remote(self.now, remote);
        }
        let ssrc = |said: &SessionDescription| {
            let media = said.media.first();
            media.and_then(|media| media.primary_ssrcs().first().copied())
        };
        let extensions = answered.as_ref().and_then(|answer| answer.media.first());
        let extensions = extensions.map_or(&[][..], |media| &media.extensions[..]);
        self.lines.push(Line {
            association,
            plane,
            ours: said.as_ref().and_then(ssrc).unwrap_or(Ssrc(1)),
            theirs: answered.as_ref().and_then(ssrc).unwrap_or(Ssrc(1)),
            extensions: ExtensionMap::from_negotiated(extensions),
        });
        // Until it is established, or can no longer be established.
        let before = self.connected;
        for _ in 0..5 {
            self.settle();
            if self.connected > before {
                break;
            }
            self.now += Duration::from_millis(20);
        }
    }

    /// Returns the descriptions of the connection's other end and of its plane, if they agree.
    fn negotiate(
        &mut self,
        number: usize,
        (who, part): (usize, Part),
        config: &PeerConfig,
        changes: &[u8],
    ) -> Option<[String; 2]> {
        let (now, id) = (self.now, resource(number));
        let entropy = Room::entropy(2 * number + 1);
        let place = number % self.planes.len();
        let plane = &mut self.planes[place];
        if part == Part::Receives {
            let offer = plane
                .receive(now, id.clone(), participant(who), &entropy)
                .sdp;
            let answer = changed(answer_to(&offer, config), changes);
            return plane
                .accept(now, id, &answer)
                .ok()
                .map(|()| [answer, offer]);
        }
        let direction = match part {
            Part::Publishes => StreamDirection::Send,
            _ => StreamDirection::Receive,
        };
        let section = Section {
            form: Some(Form::ours(Codec::Vp8)),
            ..Section::new(MediaKind::Video, direction)
        };
        let offer = Offer::new(now, config.clone(), &[section], Delivery::Packets);
        let offer = changed(offer.sdp(), changes);
        let agreed = match part {
            Part::Publishes => plane.publish(now, id, participant(who), &offer, &entropy),
            _ => plane.play(now, id, participant(who), Some(&offer), &entropy),
        };
        agreed.ok().map(|agreed| [offer, agreed.sdp])
    }

    fn step(&mut self, how: u8, content: &[u8]) {
        let byte = |at: usize| usize::from(content.get(at).copied().unwrap_or(0));
        let rest = content.get(1..).unwrap_or(&[]);
        let who = byte(0) % self.lines.len().max(1);
        self.now += Duration::from_millis(u64::from(how >> 3));
        match how & 7 {
            0 => self.arrive(byte(0) >> 3, place(byte(0) & 7), rest),
            1 | 2 => {
                let Some(line) = self.lines.get_mut(who) else {
                    return;
                };
                let mut packet = line.media(rest);
                let plane = line.plane;
                if line.association.protect_rtp(&mut packet, &[]).is_ok() {
                    self.arrive(plane, place(who), &packet);
                }
            }
            3 | 4 => {
                let Some(line) = self.lines.get_mut(who) else {
                    return;
                };
                let mut packet = line.rtcp(rest);
                let plane = line.plane;
                if line.association.protect_rtcp(&mut packet).is_ok() {
                    self.arrive(plane, place(who), &packet);
                }
            }
            5 => self.enter(rest),
            6 => self.ask(byte(0), rest),
            _ => self.now += Duration::from_millis(byte(0) as u64 * 20),
        }
    }

    fn ask(&mut self, what: usize, content: &[u8]) {
        self.inputs += 1;
        let (now, number) = (self.now, what >> 4);
        let id = resource(number);
        let text = String::from_utf8_lossy(content);
        // No other connection has this number.
        let new = MOST + self.inputs;
        let entropy = Room::entropy(2 * new);
        let count = self.planes.len();
        let place = number % count;
        let plane = &mut self.planes[place];
        let is_odd = content.first().is_some_and(|byte| byte & 1 == 1);
        // A request that cannot be fulfilled is refused and changes nothing.
        match what & 15 {
            0 => plane.close(now, &id),
            1 => {
                let condition = match content.first() {
                    Some(b'*') => IceCondition::Any,
                    _ => IceCondition::Unsaid,
                };
                let fragment = text.trim_start_matches('*').to_owned();
                let update = IceUpdate {
                    fragment,
                    condition,
                };
                drop(plane.update_ice(now, &id, &update, &entropy));
            }
            2 => drop(plane.accept(now, id, &text)),
            3 => drop(plane.play(now, resource(new), participant(0), None, &entropy)),
            4 => drop(plane.publish(now, resource(new), participant(0), &text, &entropy)),
            5 => drop(plane.receive(now, resource(new), participant(number), &entropy)),
            6 | 7 => drop(plane.set_view(now, &id, view(content))),
            8 => plane.share_screen(now, &id, is_odd),
            9 => {
                let sound = match is_odd {
                    true => Sound::Muted,
                    false => Sound::Forwarded,
                };
                plane.set_sound(now, &participant(number), sound);
            }
            10 if count == 2 => self.relink(place, is_odd),
            11 => plane.set_recorded(now, "r", is_odd),
            12 => plane.request_recorded_keyframe(now, RecordedTrack(number as u64)),
            _ => drop(plane.stats()),
        }
    }

    /// Separates the two planes and joins them again, or tells one that messages from the
    /// other are lost.
    fn relink(&mut self, place: usize, loses: bool) {
        let (now, other) = (self.now, plane_id(1 - place));
        if loses {
            self.planes[place].handle_relayed(now, other, Relayed::interrupted());
            return;
        }
        for place in [place, 1 - place] {
            self.planes[place].unlink(now, plane_id(1 - place));
        }
        for place in [place, 1 - place] {
            self.planes[place].link(now, plane_id(1 - place));
        }
    }

    /// Delivers a datagram to the socket of a plane.
    fn arrive(&mut self, plane: usize, from: SocketAddr, datagram: &[u8]) {
        self.inputs += 1;
        let place = plane % self.planes.len();
        self.planes[place].handle_datagram(
            self.now,
            FiveTuple::udp(server(), from),
            Ecn::NotEct,
            datagram,
        );
    }

    /// Handles everything that is due until neither side has more to send.
    fn settle(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let mut moved = false;
            for place in 0..self.planes.len() {
                moved |= self.settle_plane(place);
            }
            for number in 0..self.lines.len() {
                moved |= self.settle_line(number);
            }
            if !moved {
                return;
            }
        }
        let due = self.planes.iter().map(Plane::poll_timeout);
        panic!("spins: {:?}", due.collect::<Vec<_>>());
    }

    /// Returns whether anything happened.
    fn settle_plane(&mut self, place: usize) -> bool {
        let (now, mut moved) = (self.now, false);
        if self.planes[place]
            .poll_timeout()
            .is_some_and(|d| d.at <= now)
        {
            moved = true;
            self.inputs += 1;
            self.planes[place].handle_timeout(now);
        }
        while let Some(output) = self.planes[place].poll_output() {
            match output {
                Output::Event(event) => self.on_event(place, event),
                Output::Record(_) | Output::Captured { .. } => {}
                Output::Relay { to, message } => {
                    moved = true;
                    self.inputs += 1;
                    self.planes[to.number()].handle_relayed(now, plane_id(place), message);
                }
                Output::Transmit {
                    peer,
                    tuple,
                    datagram,
                    ..
                } => {
                    let number = usize::from(tuple.remote.port()).wrapping_sub(1);
                    if let Some(line) = self.lines.get_mut(number) {
                        moved = true;
                        self.inputs += 1;
                        let line = &mut line.association;
                        let _ = line.handle_datagram(now, tuple.reversed(), &datagram);
                    }
                    self.planes[place].recycle(peer, datagram);
                }
            }
        }
        moved
    }

    fn on_event(&mut self, place: usize, event: Event) {
        match event {
            Event::Connected { .. } => self.connected += 1,
            // More lines: the other end accepts all of them.
            Event::Offered { resource, sdp } => {
                let number = resource.0.parse().unwrap_or(MOST);
                let answer = answer_to(&sdp, &self.config(number));
                drop(self.planes[place].accept(self.now, resource, &answer));
            }
            Event::Ended { .. } | Event::LinesChanged { .. } | Event::WantedChanged { .. } => {}
        }
    }

    /// Returns whether anything happened.
    fn settle_line(&mut self, number: usize) -> bool {
        let mut moved = false;
        let line = &mut self.lines[number];
        let plane = line.plane;
        if line
            .association
            .poll_timeout()
            .is_some_and(|d| d.at <= self.now)
        {
            moved = true;
            self.inputs += 1;
            line.association.handle_timeout(self.now);
        }
        while let Some(output) = self.lines[number].association.poll_output() {
            if let LineOutput::Transmit { datagram, .. } = output {
                moved = true;
                self.arrive(plane, place(number), &datagram);
            }
        }
        moved
    }
}

/// Reads a view: two bytes for each camera.
fn view(content: &[u8]) -> View {
    let cameras = content.chunks_exact(2).map(|bytes| ViewedCamera {
        participant: format!("p{}", bytes[0] & 3),
        camera: usize::from(bytes[0] >> 2 & 1),
        width: u32::from(bytes[1]) * 16,
        height: u32::from(bytes[1]) * 9,
    });
    View {
        cameras: cameras.collect(),
    }
}

#[cfg(test)]
mod tests;
