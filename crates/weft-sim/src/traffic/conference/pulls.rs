//! Media between servers: a server with people who receive the room plays every
//! publication of the other servers once, and publishes it to its own people, as servers
//! of a cluster do (`weft-server/src/cluster/pulls.rs`). Its requests take no time.

use std::collections::{BTreeMap, BTreeSet};

use weft_forwarding::{Plane, Publisher, ResourceId};
use weft_peer::Entropy;
use weft_units::{Instant, Rng};

use super::addresses;

/// Name of the room.
const ROOM: &str = "conference";
/// First port of pulls; each pull has its own port.
const FIRST_PORT: u16 = 20_000;

/// Links from one server to another: their routes, and the server's end of them.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    pub routes: Vec<usize>,
    pub end: usize,
}

/// Publications that servers fetch from each other.
pub(super) struct Pulls {
    rng: Rng,
    /// Links from the first to the second of these two servers.
    joined: BTreeMap<(usize, usize), Joined>,
    /// Server of each person whose publication has arrived.
    published: BTreeMap<String, usize>,
    /// Pulls by person and fetching server.
    running: BTreeMap<(String, usize), Pull>,
    /// Number of pulls so far.
    opened: u64,
    /// Whether people have joined or left.
    pub is_due: bool,
}

/// Pull, by its names at both servers.
struct Pull {
    from: usize,
    shared: ResourceId,
    pulled: ResourceId,
}

impl Pulls {
    pub fn new(rng: Rng, joined: BTreeMap<(usize, usize), Joined>) -> Pulls {
        Pulls {
            rng,
            joined,
            published: BTreeMap::new(),
            running: BTreeMap::new(),
            opened: 0,
            is_due: false,
        }
    }

    /// Records that the publication of this person has arrived at its server.
    pub fn on_published(&mut self, person: &str, server: usize) {
        self.published.insert(person.to_owned(), server);
        self.is_due = true;
    }

    /// Records that the publication of this person has ended.
    pub fn on_unpublished(&mut self, person: &str) {
        self.published.remove(person);
    }

    /// Records that a connection of a server has ended. A connection between servers is
    /// replaced.
    pub fn on_ended(&mut self, resource: &ResourceId) {
        let is = |pull: &Pull| pull.shared == *resource || pull.pulled == *resource;
        self.is_due |= self.running.values().any(is);
    }

    /// Starts and ends pulls, so that there is one for each publication and each other
    /// server whose people receive.
    pub fn look(&mut self, now: Instant, servers: &mut [&mut Plane], receiving: &BTreeSet<usize>) {
        self.is_due = false;
        let mut wanted = BTreeMap::new();
        for (person, from) in &self.published {
            for to in receiving.iter().filter(|to| *to != from) {
                wanted.insert((person.clone(), *to), *from);
            }
        }
        self.running.retain(|place, pull| {
            let ends = [(pull.from, &pull.shared), (place.1, &pull.pulled)];
            let has_both = ends.iter().all(|(s, resource)| servers[*s].has(resource));
            let goes_on = has_both && wanted.get(place) == Some(&pull.from);
            if !goes_on {
                for (server, resource) in ends {
                    servers[server].close(now, resource);
                }
            }
            goes_on
        });
        for ((person, to), from) in wanted {
            if !self.running.contains_key(&(person.clone(), to))
                && let Some(pull) = self.start(now, servers, &person, (from, to))
            {
                self.running.insert((person, to), pull);
            }
        }
    }

    fn start(
        &mut self,
        now: Instant,
        servers: &mut [&mut Plane],
        person: &str,
        (from, to): (usize, usize),
    ) -> Option<Pull> {
        self.opened += 1;
        let Joined { routes, end } = self.joined.get(&(to, from))?;
        let port = FIRST_PORT + (self.opened % 40_000) as u16;
        let locals = routes.iter();
        let locals: Vec<_> = locals
            .map(|route| addresses::of_end(*route, *end, Some(port)))
            .collect();
        let name = |what: &str| format!("{person} {what} {}", self.opened);
        let [shared, pulled] = ["shared", "pulled"].map(|what| ResourceId(name(what)));
        let entropy = |of: &ResourceId| Entropy::simulated(self.rng.stream(&of.0));
        let (ours, theirs) = (entropy(&shared), entropy(&pulled));
        let source = &mut *servers[from];
        let offered = source.share(now, shared.clone(), named(person), &ours);
        let offer = offered.ok()?.sdp;
        let sink = &mut *servers[to];
        let parts = (&*offer, &*locals);
        let agreed = sink.pull(now, pulled.clone(), named(person), parts, &theirs);
        let answer = agreed.ok()?.sdp;
        let source = &mut *servers[from];
        source.accept(now, shared.clone(), &answer).ok()?;
        Some(Pull {
            from,
            shared,
            pulled,
        })
    }
}

/// Returns the publisher for a participant of the room.
pub(super) fn named(participant: &str) -> Publisher {
    Publisher {
        room: ROOM.to_owned(),
        participant: participant.to_owned(),
    }
}
