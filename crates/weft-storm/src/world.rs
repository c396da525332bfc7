//! Run in virtual time: the server, members, attackers, and the network between them.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant as StdInstant;

use weft_peer::TimeOrigin;
use weft_secure::testing;
use weft_units::{Duration, Instant, Rng};

use crate::hostile::Attacker;
use crate::member::Member;
use crate::network::{Impairments, Network, SERVER};
use crate::peer_factory::PeerFactory;
use crate::person::Person;
use crate::plan::{LinkPlan, MemberPlan, Plan};
use crate::processor::Pace;
use crate::screen::Screen;
use crate::server::Server;
use crate::watch::Watch;
use meeting::Meeting;

mod incidents;
mod look;
mod look_at_meeting;
mod meeting;
mod people;
mod tell;

/// Interval of the checks.
const LOOK: Duration = Duration::from_millis(100);
/// Time after everybody has left: by then, consent (30 s), [`weft_peer::RECONNECT_GRACE`]
/// (180 s) and the room's grace (10 s) have expired.
const AFTERMATH: Duration = Duration::from_secs(240);

/// Owner of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Member(usize),
    Person(usize),
    Attacker(usize),
}

struct LinkState {
    owner: Owner,
    good: bool,
    /// Whether it loses nothing and keeps the order.
    is_clean: bool,
    up_since: Option<Instant>,
}

/// Next incident, and next check of the invariants.
struct Schedule {
    incidents_done: usize,
    next_look: Instant,
}

/// State of a run.
pub struct World {
    pub now: Instant,
    pub server: Server,
    pub members: Vec<Member>,
    pub meeting: Meeting,
    pub attackers: Vec<Attacker>,
    pub watch: Watch,
    pub counts: Counts,
    plan: Plan,
    pace: Pace,
    factory: PeerFactory,
    network: Network,
    links: Vec<LinkState>,
    schedule: Schedule,
    /// Start time of the server.
    server_since: Instant,
    /// Whether to print what happens.
    pub tells: bool,
}

/// Number of events of each kind.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counts {
    pub joins: u64,
    pub departures: u64,
    pub crashes: u64,
    pub server_crashes: u64,
    pub plane_failures: u64,
    pub defects: u64,
    /// Acts of people and orders of moderators.
    pub acts: u64,
    pub cuts: u64,
    pub takeovers: u64,
    pub attacks: u64,
    pub pictures: u64,
    pub datagrams: u64,
}

impl World {
    /// Creates the state at the start of a run.
    pub fn new(plan: &Plan, pace: Pace) -> World {
        testing::repeat();
        let rng = Rng::new(plan.seed);
        let factory = PeerFactory {
            origin: TimeOrigin {
                std: any_epoch(),
                ntp: 0,
            },
            certificate: testing::certificate(),
            rng: rng.stream("secrets"),
        };
        let mut world = World {
            now: Instant::ZERO,
            server: incidents::server(&factory, plan, pace),
            members: Vec::new(),
            meeting: Meeting::default(),
            attackers: Vec::new(),
            watch: Watch::default(),
            counts: Counts {
                attacks: plan.attacks.len() as u64,
                ..Counts::default()
            },
            plan: plan.clone(),
            pace,
            factory,
            network: Network::new(&rng),
            links: Vec::new(),
            schedule: Schedule {
                incidents_done: 0,
                next_look: Instant::ZERO + LOOK,
            },
            server_since: Instant::ZERO,
            tells: false,
        };
        for (place, member) in plan.members.iter().enumerate() {
            let links = member.links.iter();
            let links = links.map(|link| world.add_link(Owner::Member(place), link).0);
            let links = links.collect();
            let MemberPlan {
                name,
                part,
                speech,
                layers,
                ..
            } = member;
            let member = Member::new(name, part.clone(), *speech, *layers, links, &rng);
            world.members.push(member);
        }
        for (place, person) in plan.people.iter().enumerate() {
            let links = person.links.iter();
            let links = links.map(|link| world.add_link(Owner::Person(place), link));
            let (links, ips) = links.unzip();
            let person = Person::new(place, &person.profile, links, ips, &rng);
            world.meeting.add(person);
        }
        for (place, (attack, link)) in plan.attacks.iter().enumerate() {
            let (link, ip) = world.add_link(Owner::Attacker(place), link);
            let name = World::attacker(place);
            let attacker = Attacker::new(&name, attack.clone(), link, ip, &rng);
            world.attackers.push(attacker);
        }
        world
    }

    /// Returns the name of the attacker with this index in the plan.
    pub fn attacker(place: usize) -> String {
        format!("attacker {place}")
    }

    fn add_link(&mut self, owner: Owner, link: &LinkPlan) -> (usize, IpAddr) {
        self.links.push(LinkState {
            owner,
            good: link.good,
            is_clean: link.good
                && link.spec.loss == 0.0
                && link.impairments == Impairments::default(),
            up_since: Some(Instant::ZERO),
        });
        self.network.add(&link.spec, link.impairments)
    }

    /// Forgets the records of pictures and datagrams, which grow with time.
    pub fn forget_records(&mut self) {
        self.watch = Watch::default();
        for member in &mut self.members {
            member.screen = Screen::default();
        }
    }

    /// Runs the plan, then waits until the server has forgotten everybody.
    pub fn run_to_end(&mut self) {
        let end = Instant::ZERO + self.plan.length;
        self.run_until(end);
        self.tell(World::state);
        self.look_for_gaps();
        for place in 0..self.members.len() {
            // Every other member leaves regularly.
            match place % 2 {
                0 => self.leave(place),
                _ => self.crash(place),
            }
        }
        self.end_meeting();
        self.drain();
        self.run_until(end + AFTERMATH);
        self.end_server();
        for plane in self.server.planes.iter() {
            let census = plane.census();
            if census != Default::default() {
                let left = format!("left behind: {census:?}");
                self.watch.complain(self.now, left);
            }
        }
        let (rooms, there) = self.server.rooms.count();
        if (rooms, there) != (0, 0) {
            let left = format!("{there} in {rooms} rooms when all are gone");
            self.watch.complain(self.now, left);
        }
        for attacker in &self.attackers {
            self.watch.forged.extend(&attacker.forged);
        }
        self.watch.on_end(self.now);
        for person in &self.meeting.people {
            self.counts.pictures += person.viewer.pictures;
        }
        for member in &self.members {
            self.counts.pictures += member.screen.shown.len() as u64;
            if let Some(wrong) = &member.screen.wrong {
                let what = format!("{} was shown {wrong}", member.name);
                self.watch.complain(self.now, what);
            }
        }
        self.counts.datagrams = self.watch.datagrams;
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Instant) {
        const MOST_STEPS: u32 = 5_000;
        let mut steps = 0;
        while let Some(next) = self.next_event().filter(|at| *at <= end) {
            steps = if next > self.now { 0 } else { steps + 1 };
            if steps > MOST_STEPS {
                let who = self.due_names();
                self.watch
                    .complain(self.now, format!("time does not advance: {who}"));
                return;
            }
            self.now = self.now.max(next);
            self.step();
        }
        self.now = end;
    }

    fn next_event(&self) -> Option<Instant> {
        let members = self.members.iter().filter_map(Member::poll_timeout);
        let attackers = self.attackers.iter().filter_map(Attacker::poll_timeout);
        let incident = self
            .plan
            .incidents
            .get(self.schedule.incidents_done)
            .map(|(at, _)| *at);
        let others = [
            incident,
            self.meeting.poll_timeout(),
            self.network.poll_timeout(),
            self.server.poll_timeout(),
            Some(self.schedule.next_look),
        ];
        members
            .chain(attackers)
            .chain(others.into_iter().flatten())
            .min()
    }

    fn due_names(&self) -> String {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= self.now);
        let members = self.members.iter().filter(|m| due(m.poll_timeout()));
        let members = members.map(|m| (m.name.as_str(), m.reason()));
        let planes = self.server.planes.iter().map(|p| p.poll_timeout());
        let planes: Vec<_> = planes.collect();
        let network = due(self.network.poll_timeout());
        let members: Vec<_> = members.collect();
        format!("members {members:?}, planes {planes:?}, network {network}")
    }

    fn step(&mut self) {
        let now = self.now;
        while let Some((at, incident)) = self
            .plan
            .incidents
            .get(self.schedule.incidents_done)
            .copied()
            && at <= now
        {
            self.schedule.incidents_done += 1;
            self.commit(incident);
        }
        while let Some(datagram) = self.network.poll(now) {
            if datagram.to == SERVER {
                self.watch.on_received(now, &datagram);
                self.server.receive(datagram);
                continue;
            }
            let owner = self.network.link_of(datagram.to.ip());
            match owner.map(|link| self.links[link].owner) {
                Some(Owner::Member(place)) => self.members[place].handle_datagram(now, &datagram),
                Some(Owner::Person(place)) => {
                    self.meeting.people[place].handle_datagram(now, &datagram);
                }
                Some(Owner::Attacker(place)) => {
                    self.attackers[place].handle_datagram(now, &datagram);
                }
                None => {}
            }
        }
        self.server.run(now);
        for place in 0..self.members.len() {
            if self.members[place].due.is_some_and(|at| at <= now) {
                self.go_on(place);
            }
            self.members[place].handle_timeout(now);
        }
        self.run_people();
        self.attack();
        self.drain();
        self.drain_people();
        if self.schedule.next_look <= now {
            self.schedule.next_look = now + LOOK;
            self.tell(World::state);
            self.look();
            self.look_at_meeting();
        }
    }

    fn attack(&mut self) {
        let now = self.now;
        if self
            .attackers
            .iter()
            .all(|i| i.poll_timeout().is_none_or(|at| at > now))
        {
            return;
        }
        let others = self.ports();
        let mut out = Vec::new();
        for attacker in &mut self.attackers {
            let (server, factory) = (&mut self.server, &self.factory);
            attacker.handle_timeout(now, server, factory, &others, &mut out);
            for datagram in out.drain(..) {
                self.network.send_by(now, attacker.link, datagram);
            }
        }
    }

    fn drain(&mut self) {
        let now = self.now;
        let mut out = Vec::new();
        for (place, member) in self.members.iter_mut().enumerate() {
            member.drain(now, &mut out);
            for (number, datagram) in out.drain(..) {
                let context = (place as u64) << 32 | number;
                self.watch.on_sent_by_member(now, context, &datagram);
                self.network.send(now, datagram);
            }
        }
        while let Some(sent) = self.server.outbox.pop_front() {
            self.watch.on_sent(now, self.counts.server_crashes, &sent);
            self.network.send(now, sent.datagram);
        }
        for (resource, _) in std::mem::take(&mut self.server.ended) {
            for member in &mut self.members {
                if member.call().is_some_and(|call| call.resource == resource) {
                    member.lose_call(now);
                }
            }
            for attacker in &mut self.attackers {
                if attacker.resource() == Some(&resource) {
                    attacker.lose_line();
                }
            }
            for person in &mut self.meeting.people {
                person.lose(now, &resource);
            }
        }
    }

    /// Returns the addresses that members send from.
    fn ports(&self) -> Vec<SocketAddr> {
        let calls = self.members.iter().flat_map(Member::calls);
        let calls = calls.map(|call| &call.ports);
        let people = self.meeting.people.iter().flat_map(Person::connections);
        let all = calls.chain(people.map(|connection| &connection.ports));
        all.flatten().copied().collect()
    }
}

/// Returns an epoch; any value works in virtual time.
fn any_epoch() -> StdInstant {
    StdInstant::now()
}
