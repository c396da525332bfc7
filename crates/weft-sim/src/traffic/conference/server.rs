//! The server: its media plane, and the numbers of its connections.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use weft_forwarding::{Negotiated, Plane, Publisher, ResourceId, Settings, View};
use weft_ice::IceRole;
use weft_peer::{Entropy, Offer, Peer, TimeOrigin, answer};
use weft_secure::Certificate;
use weft_session::{Delivery, Level};
use weft_units::{Instant, Rng};

use super::person::{Connection, Person};

/// Address of the server.
pub(super) const SERVER: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1)), 5000);

/// Name of the room.
const ROOM: &str = "conference";

/// Media plane of the product, with what signalling does around it. Requests and events
/// of signalling take no time.
pub(super) struct Server {
    pub plane: Plane,
    rng: Rng,
    /// Number of connections so far.
    opened: u64,
}

impl Server {
    pub fn new(rng: Rng) -> Server {
        let (origin, certificate) = (TimeOrigin::simulated(), Certificate::unused());
        Server {
            plane: Plane::new(Settings::new(origin, certificate, &[SERVER])),
            rng,
            opened: 0,
        }
    }

    /// Connects a person who publishes.
    pub fn publish(&mut self, now: Instant, person: &Person) -> Option<(ResourceId, Peer)> {
        let (resource, ours, theirs) = self.open(person, "publishes");
        let config = person.config(Connection::Publication, IceRole::Controlling, &theirs);
        let offer = Offer::new(now, config, &person.sections(), Delivery::Frames);
        let text = as_known(person.setup.level, offer.sdp());
        let publisher = named(&person.name);
        let agreed = self
            .plane
            .publish(now, resource.clone(), publisher, &text, &ours);
        let Negotiated { sdp, .. } = agreed.ok()?;
        Some((resource, offer.accept(now, &sdp).ok()?))
    }

    /// Connects a person who receives the room.
    pub fn receive(&mut self, now: Instant, person: &Person) -> Option<(ResourceId, Peer)> {
        let (resource, ours, theirs) = self.open(person, "receives");
        let config = person.config(Connection::Reception, IceRole::Controlled, &theirs);
        let publisher = named(&person.name);
        let offered = self.plane.receive(now, resource.clone(), publisher, &ours);
        let text = as_known(person.setup.level, offered.sdp);
        let (peer, sdp) = answer(now, config, &text, &Person::receiving()).ok()?;
        self.plane.accept(now, resource.clone(), &sdp).ok()?;
        Some((resource, peer))
    }

    /// Takes word of the tiles on a person's screen. Connections that have ended have none.
    pub fn set_view(&mut self, now: Instant, resource: &ResourceId, view: View) {
        let _ = self.plane.set_view(now, resource, view);
    }

    /// Returns the name of a new connection, and the randomness of its two ends.
    fn open(&mut self, person: &Person, purpose: &str) -> (ResourceId, Entropy, Entropy) {
        self.opened += 1;
        let name = format!("{} {purpose} {}", person.name, self.opened);
        let entropy = |end: &str| Entropy::simulated(self.rng.stream(&format!("{end} of {name}")));
        let ends = (entropy("server"), entropy("client"));
        (ResourceId(name), ends.0, ends.1)
    }
}

fn named(participant: &str) -> Publisher {
    Publisher {
        room: ROOM.to_owned(),
        participant: participant.to_owned(),
    }
}

/// Returns an offer as a client of this level knows it: browsers have no extensions of
/// ours, and report by transport-wide numbers.
pub(super) fn as_known(level: Level, offer: String) -> String {
    match level {
        Level::Full => offer,
        Level::SenderSide | Level::Single => {
            let known = |line: &&str| !line.contains("urn:weft:") && !line.contains("ack ccfb");
            let lines: Vec<&str> = offer.lines().filter(known).collect();
            lines.join("\r\n") + "\r\n"
        }
    }
}
