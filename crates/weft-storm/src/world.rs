//! A run in virtual time: the server, members, attackers, and the network between them.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant as StdInstant;

use weft_forwarding::Settings;
use weft_peer::TimeOrigin;
use weft_secure::testing;
use weft_units::{Duration, Instant, Rate, Rng};

use crate::hostile::Intruder;
use crate::member::{Kit, Member, Speech};
use crate::network::{Mangling, Network, SERVER};
use crate::plan::{Budgets, Deed, LinkPlan, MemberPlan, Plan};
use crate::processor::{Pace, Processor};
use crate::screen::Screen;
use crate::server::Server;
use crate::watch::Watch;

mod look;

/// Interval of the checks.
const LOOK: Duration = Duration::from_millis(100);
/// Time after everybody has left: consent (30 s), [`weft_peer::RECONNECT_GRACE`] (180 s) and the
/// room's grace (10 s) are over by then.
const AFTERMATH: Duration = Duration::from_secs(240);

/// Owner of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Member(usize),
    Intruder(usize),
}

struct LinkState {
    owner: Owner,
    good: bool,
    /// Whether it loses nothing and keeps the order.
    is_clean: bool,
    up_since: Option<Instant>,
}

/// State of a run.
pub struct World {
    pub now: Instant,
    pub server: Server,
    pub members: Vec<Member>,
    pub intruders: Vec<Intruder>,
    pub watch: Watch,
    pub counts: Counts,
    plan: Plan,
    pace: Pace,
    kit: Kit,
    network: Network,
    links: Vec<LinkState>,
    deeds_done: usize,
    next_look: Instant,
    /// Start of the server.
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
    pub defects: u64,
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
        let kit = Kit {
            origin: TimeOrigin {
                std: any_epoch(),
                ntp: 0,
            },
            certificate: testing::certificate(),
            rng: rng.stream("secrets"),
        };
        let mut world = World {
            now: Instant::ZERO,
            server: server(&kit, plan.budgets, pace),
            members: Vec::new(),
            intruders: Vec::new(),
            watch: Watch::default(),
            counts: Counts {
                attacks: plan.attacks.len() as u64,
                ..Counts::default()
            },
            plan: plan.clone(),
            pace,
            kit,
            network: Network::new(&rng),
            links: Vec::new(),
            deeds_done: 0,
            next_look: Instant::ZERO + LOOK,
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
        for (place, (attack, link)) in plan.attacks.iter().enumerate() {
            let (link, ip) = world.add_link(Owner::Intruder(place), link);
            let name = World::intruder(place);
            let intruder = Intruder::new(&name, attack.clone(), link, ip, &rng);
            world.intruders.push(intruder);
        }
        world
    }

    /// Returns the name of the attacker at this place of the plan.
    pub fn intruder(place: usize) -> String {
        format!("intruder {place}")
    }

    fn add_link(&mut self, owner: Owner, link: &LinkPlan) -> (usize, IpAddr) {
        self.links.push(LinkState {
            owner,
            good: link.good,
            is_clean: link.good && link.spec.loss == 0.0 && link.mangling == Mangling::default(),
            up_since: Some(Instant::ZERO),
        });
        self.network.add(&link.spec, link.mangling)
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
            // Every other one leaves as one should.
            match place % 2 {
                0 => self.leave(place),
                _ => self.crash(place),
            }
        }
        self.run_until(end + AFTERMATH);
        self.end_server();
        let census = self.server.plane.census();
        if census != Default::default() {
            self.watch
                .complain(self.now, format!("left behind: {census:?}"));
        }
        let (rooms, there) = self.server.rooms.count();
        if (rooms, there) != (0, 0) {
            let left = format!("{there} in {rooms} rooms when all are gone");
            self.watch.complain(self.now, left);
        }
        for intruder in &self.intruders {
            self.watch.forged.extend(&intruder.forged);
        }
        self.watch.on_end(self.now);
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
                let who = self.who_is_due();
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
        let intruders = self.intruders.iter().filter_map(Intruder::poll_timeout);
        let deed = self.plan.deeds.get(self.deeds_done).map(|(at, _)| *at);
        let others = [
            deed,
            self.network.poll_timeout(),
            self.server.poll_timeout(),
            Some(self.next_look),
        ];
        members
            .chain(intruders)
            .chain(others.into_iter().flatten())
            .min()
    }

    fn who_is_due(&self) -> String {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= self.now);
        let members = self.members.iter().filter(|m| due(m.poll_timeout()));
        let members = members.map(|m| (m.name.as_str(), m.reason()));
        let plane = self.server.plane.poll_timeout();
        let network = due(self.network.poll_timeout());
        let members: Vec<_> = members.collect();
        format!("members {members:?}, plane {plane:?}, network {network}")
    }

    fn step(&mut self) {
        let now = self.now;
        while let Some((at, deed)) = self.plan.deeds.get(self.deeds_done).copied()
            && at <= now
        {
            self.deeds_done += 1;
            self.commit(deed);
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
                Some(Owner::Intruder(place)) => {
                    self.intruders[place].handle_datagram(now, &datagram);
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
        self.attack();
        self.drain();
        if self.next_look <= now {
            self.next_look = now + LOOK;
            self.tell(World::state);
            self.look();
        }
    }

    fn attack(&mut self) {
        let now = self.now;
        if self
            .intruders
            .iter()
            .all(|i| i.poll_timeout().is_none_or(|at| at > now))
        {
            return;
        }
        let others = self.ports();
        let mut out = Vec::new();
        for intruder in &mut self.intruders {
            let (server, kit) = (&mut self.server, &self.kit);
            intruder.handle_timeout(now, server, kit, &others, &mut out);
            for datagram in out.drain(..) {
                self.network.send_by(now, intruder.link, datagram);
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
            for intruder in &mut self.intruders {
                if intruder.resource() == Some(&resource) {
                    intruder.lose_line();
                }
            }
        }
    }

    /// Returns the addresses that members send from.
    fn ports(&self) -> Vec<SocketAddr> {
        let calls = self.members.iter().flat_map(Member::calls);
        calls.flat_map(|call| call.ports.iter().copied()).collect()
    }

    fn commit(&mut self, deed: Deed) {
        let now = self.now;
        self.tell(|world| format!("{deed:?}: {}", world.state()));
        match deed {
            Deed::Joins(place) => {
                if self.members[place].stay.is_none() {
                    self.counts.joins += 1;
                    self.go_on(place);
                }
            }
            Deed::TakesOver(place) | Deed::ChangesCodec(place) => {
                self.counts.takeovers += 1;
                if matches!(deed, Deed::ChangesCodec(_)) {
                    self.members[place].change_codec();
                }
                let ports = self.new_ports(place);
                let member = &mut self.members[place];
                member.take_over(now, &mut self.server, &self.kit, ports);
            }
            Deed::Leaves(place) => self.leave(place),
            Deed::Crashes(place) => self.crash(place),
            Deed::Cut(place, link) => {
                let link = self.members[place].links[link];
                self.counts.cuts += 1;
                self.network.cut(now, link);
                self.links[link].up_since = None;
            }
            Deed::Restored(place, link) => {
                let link = self.members[place].links[link];
                self.network.restore(now, link);
                self.links[link].up_since = Some(now);
            }
            Deed::SpeedsUp(place, link) => {
                let link = self.members[place].links[link];
                self.network.set_capacity(now, link, Rate::from_mbps(5));
            }
            Deed::Defect(place) => {
                if let Some(call) = self.members[place].call() {
                    let resource = call.resource.clone();
                    self.counts.defects += 1;
                    self.server.fail(now, &resource);
                }
            }
            Deed::ServerCrashes => {
                self.counts.server_crashes += 1;
                self.end_server();
                self.server = server(&self.kit, self.plan.budgets, self.pace);
                self.server.processor.free_at = now;
                self.server_since = now;
                self.watch.on_server_crash();
                let mut rng = self.kit.rng.stream("server crash");
                for member in &mut self.members {
                    // They are told by their event streams, which break.
                    let later = Duration::from_secs_f64(0.2 + rng.unit());
                    member.forget_server(now + later);
                }
                self.intruders.iter_mut().for_each(Intruder::forget_server);
            }
        }
    }

    fn end_server(&mut self) {
        self.watch.on_spent(self.now, &self.server.processor.spent);
    }

    /// Returns the addresses of a new socket on each link.
    fn new_ports(&mut self, place: usize) -> Vec<SocketAddr> {
        let member = &self.members[place];
        let port = 4_000 + (member.connections % 1_000) as u16;
        let ips = member.links.iter().map(|link| self.network.ip(*link));
        let ports: Vec<SocketAddr> = ips.map(|ip| SocketAddr::new(ip, port)).collect();
        self.watch.ports.extend(&ports);
        ports
    }

    fn go_on(&mut self, place: usize) {
        let ports = self.new_ports(place);
        let member = &mut self.members[place];
        member.go_on(self.now, &mut self.server, &self.kit, ports);
    }

    fn leave(&mut self, place: usize) {
        let member = &mut self.members[place];
        self.counts.departures += u64::from(member.stay.is_some());
        for datagram in member.leave(self.now, &mut self.server) {
            self.network.send(self.now, datagram);
        }
    }

    fn crash(&mut self, place: usize) {
        let member = &mut self.members[place];
        self.counts.crashes += u64::from(member.stay.is_some());
        if let (Speech::Browser, Some(call)) = (member.speech, member.call())
            && call.up.is_some()
        {
            self.watch.on_gone(self.now, &call.resource);
        }
        member.crash(self.now, &mut self.server);
    }

    /// Prints what happens, for a replay of the run.
    fn tell(&self, what: impl FnOnce(&World) -> String) {
        if self.tells {
            println!("{:9.3} {}", self.now.as_secs_f64(), what(self));
        }
    }

    /// Describes each member's picture and connection.
    fn state(&self) -> String {
        let of = |member: &Member| {
            let up = |link: &usize| {
                if self.links[*link].up_since.is_some() {
                    '+'
                } else {
                    '-'
                }
            };
            let links: String = member.links.iter().map(up).collect();
            let shown = member.screen.shown.len();
            let call = match member.call() {
                None => "out".to_owned(),
                Some(call) => {
                    let session = call.peer.session();
                    let paths = call.peer.association().paths();
                    let paths: Vec<_> = paths.map(|p| (p.id.0, p.state)).collect();
                    let since = call.up.map(Instant::as_secs_f64);
                    format!("up {since:?} {paths:?} queue {:?}", session.queue_time())
                }
            };
            format!(
                "\n            {} {links} {shown} shown, {call}",
                member.name
            )
        };
        self.members.iter().map(of).collect()
    }
}

fn server(kit: &Kit, budgets: Budgets, pace: Pace) -> Server {
    let settings = Settings::new(kit.origin, kit.certificate.clone(), &[SERVER]);
    let settings = match budgets {
        Budgets::Kept => settings,
        Budgets::LeftOut => settings.without_budgets(),
    };
    Server::new(settings, Processor::new(pace))
}

/// Returns an epoch; any value will do where time is virtual.
fn any_epoch() -> StdInstant {
    StdInstant::now()
}
