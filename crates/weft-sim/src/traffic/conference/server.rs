//! Servers: their media planes, and the numbers of their connections.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use weft_forwarding::{AllocatorKind, Negotiated, Output, Plane, ResourceId, Settings, View};
use weft_ice::IceRole;
use weft_peer::{Entropy, Offer, Peer, TimeOrigin, answer};
use weft_secure::Certificate;
use weft_session::{Delivery, Level};
use weft_units::{Instant, Rng};

use super::addresses::{self, Place};
use super::parts::{Group, Interconnect};
use super::person::{Connection, Person};
use super::pulls::{Joined, Pulls, named};

/// Servers of the conference.
pub(super) struct Servers {
    pub all: Vec<Server>,
    /// Server of each person.
    homes: Vec<usize>,
    /// Servers at both ends of the routes between servers.
    ends: BTreeMap<usize, [usize; 2]>,
    pub pulls: Pulls,
}

impl Servers {
    /// Creates the servers that these groups name, with the links between them. Routes of
    /// interconnects start at `next_route`.
    pub fn new(
        groups: &[Group<'_>],
        interconnects: &[Interconnect<'_>],
        mut next_route: usize,
        rng: &Rng,
    ) -> Servers {
        let (mut names, mut homes) = (Vec::new(), Vec::new());
        for group in groups {
            let name = &group.setup.server;
            let known = names.iter().position(|known| *known == name);
            let home = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(name);
            }
            homes.extend(std::iter::repeat_n(home, group.setup.people));
        }
        let of_people = |server| vec![addresses::of_server(server)];
        let mut locals: Vec<Vec<SocketAddr>> = (0..names.len()).map(of_people).collect();
        let (mut ends, mut joined) = (BTreeMap::new(), BTreeMap::new());
        for interconnect in interconnects {
            let routes: Vec<usize> = (next_route..).take(interconnect.legs.len()).collect();
            next_route += routes.len();
            let place = |name: &String| names.iter().position(|known| *known == name);
            let both = interconnect.setup.servers.each_ref().map(place);
            let [Some(first), Some(second)] = both else {
                unreachable!("the setup was checked");
            };
            for (end, server) in [first, second].into_iter().enumerate() {
                let at = routes
                    .iter()
                    .map(|route| addresses::of_end(*route, end, None));
                locals[server].extend(at);
            }
            ends.extend(routes.iter().map(|route| (*route, [first, second])));
            for (end, between) in [(first, second), (second, first)].into_iter().enumerate() {
                let routes = routes.clone();
                joined.insert(between, Joined { routes, end });
            }
        }
        let allocator = |name: &String| {
            let own = groups.iter().filter(|group| group.setup.server == *name);
            let named = own.filter_map(|group| group.setup.allocator).next();
            named.unwrap_or_default()
        };
        let server = |(place, name): (usize, &&String)| {
            // The first server has this stream regardless of its name.
            let rng = match place {
                0 => rng.stream("server"),
                _ => rng.stream(&format!("server {name}")),
            };
            Server::new(rng, &locals[place], allocator(name))
        };
        Servers {
            all: names.iter().enumerate().map(server).collect(),
            homes,
            ends,
            pulls: Pulls::new(rng.stream("pulls"), joined),
        }
    }

    /// Returns the server of a person in order to pass an input.
    pub fn of(&mut self, person: usize) -> &mut Server {
        self.touch(self.homes[person])
    }

    /// Returns a server in order to pass an input.
    pub fn touch(&mut self, place: usize) -> &mut Server {
        let server = &mut self.all[place];
        server.is_touched = true;
        server
    }

    /// Returns the server with this address.
    pub fn at(&self, address: SocketAddr) -> Option<usize> {
        match addresses::place_of(address) {
            Place::Server(server) => Some(server),
            Place::Between(route, end) => Some(self.ends.get(&route)?[end]),
            Place::Person(_) | Place::Nowhere => None,
        }
    }

    /// Returns the next output of any server.
    pub fn poll_output(&mut self) -> Option<(usize, Output)> {
        let all = self.all.iter_mut().enumerate();
        let mut touched = all.filter(|(_, server)| server.is_touched);
        touched.find_map(|(place, server)| Some((place, server.plane.poll_output()?)))
    }

    /// Records that the publication of a person has arrived at its server.
    pub fn on_published(&mut self, number: usize, person: &Person) {
        self.pulls.on_published(&person.name, self.homes[number]);
    }

    /// Lets each server fetch the streams that its people receive.
    pub fn look(&mut self, now: Instant, people: &[Person]) {
        let people = self.homes.iter().zip(people);
        let receive = people.filter(|(_, p)| p.connection(Connection::Reception).is_some());
        let receiving: BTreeSet<usize> = receive.map(|(home, _)| *home).collect();
        let planes = self.all.iter_mut().map(|server| {
            server.is_touched = true;
            &mut server.plane
        });
        let mut planes: Vec<&mut Plane> = planes.collect();
        self.pulls.look(now, &mut planes, &receiving);
    }
}

/// Media plane of the product, with the work of signalling. Requests and events of
/// signalling take no time.
pub(super) struct Server {
    pub plane: Plane,
    /// Whether the plane may have output, and its deadline may have changed.
    pub is_touched: bool,
    rng: Rng,
    /// Number of connections so far.
    opened: u64,
}

impl Server {
    fn new(rng: Rng, locals: &[SocketAddr], allocator: AllocatorKind) -> Server {
        let (origin, certificate) = (TimeOrigin::simulated(), Certificate::unused());
        let settings = Settings::new(origin, certificate, locals);
        Server {
            plane: Plane::new(settings.allocating(allocator)),
            is_touched: true,
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

    /// Sets the tiles on a person's screen. Does nothing for connections that have ended.
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

/// Returns an offer as a client of this level understands it: browsers do not support our
/// extensions, and report by transport-wide numbers.
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
