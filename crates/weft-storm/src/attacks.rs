//! Effects of attacks on the calls of others: one attack after another, with everything
//! else equal.

use weft_testing::pictures::{FRAME_INTERVAL, Layers};
use weft_units::{Duration, Instant, Rate};

use crate::hostile::{Attack, Kind};
use crate::member::{Member, Part, Speech};
use crate::network::SERVER;
use crate::plan::{Incident, MemberPlan, Plan, link_of};
use crate::processor::{Load, Pace, Spent};
use crate::server::Budgets;
use crate::world::World;

/// Viewers of the publisher.
const VIEWERS: usize = 4;
/// Number of simultaneous attackers.
const INTRUDERS: usize = 3;
/// Players of the first attacker's publication, for attacks by media.
const ACCOMPLICES: usize = 4;
const FROM: Instant = Instant::from_nanos(5_000_000_000);
const UNTIL: Instant = Instant::from_nanos(15_000_000_000);

/// Effect of an attack.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Share of the pictures captured during the attack that were displayed.
    pub delivery: f64,
    /// Latency from capture to display, 99th percentile.
    pub p99: Duration,
    /// Number of freezes of all viewers, and their total duration.
    pub freezes: u32,
    pub frozen: Duration,
    /// Share of the server's processor used by the attackers' inputs.
    pub processor: f64,
    /// Longest time of one of their inputs.
    pub dearest: Duration,
    /// Number of datagrams or requests that they sent.
    pub inputs: u64,
    /// Maximum memory that the server held.
    pub held: i64,
    /// Number of connections at the end.
    pub connections: usize,
}

/// Runs a call under this attack, or under none.
#[must_use]
pub fn under(kind: Option<Kind>, budgets: Budgets, pace: Pace) -> Effect {
    let plan = Plan {
        budgets,
        ..plan(kind)
    };
    let mut world = World::new(&plan, pace);
    world.run_until(FROM);
    let before = frozen(&world);
    world.run_until(UNTIL);
    let after = frozen(&world);
    let captured = (UNTIL - FROM).as_secs_f64() / FRAME_INTERVAL.as_secs_f64();
    let viewers = || viewers(&world);
    let shown: usize = viewers().map(|v| v.screen.count(FROM, UNTIL)).sum();
    let latency = viewers().filter_map(|v| v.screen.latency(FROM, 0.99));
    let hostile = spent_by_attackers(&world);
    Effect {
        delivery: shown as f64 / captured / VIEWERS as f64,
        p99: latency.max().unwrap_or_default(),
        freezes: after.0 - before.0,
        frozen: after.1 - before.1,
        processor: hostile.time.as_secs_f64() / (UNTIL - FROM).as_secs_f64(),
        dearest: hostile.most_time,
        inputs: hostile.inputs,
        held: world.server.processor.most_held,
        connections: world.server.resources.len(),
    }
}

/// Runs a call without attacks, with pictures of this rate; returns the number of forwarded
/// packets.
#[must_use]
pub fn forward(length: Duration, rate: Rate, budgets: Budgets) -> u64 {
    let plan = Plan {
        budgets,
        ..plan(None)
    };
    let mut world = World::new(&plan, Pace::Counted);
    for member in &mut world.members {
        member.most = rate;
    }
    world.run_until(Instant::ZERO + length);
    let planes = world.server.planes.iter();
    planes.map(|plane| plane.stats().packets_forwarded).sum()
}

/// Members who play the publisher's media.
fn viewers(world: &World) -> impl Iterator<Item = &Member> + Clone {
    world.members.iter().skip(1).take(VIEWERS)
}

fn frozen(world: &World) -> (u32, Duration) {
    let freezes = viewers(world).map(|viewer| &viewer.screen.freezes);
    let count = freezes.clone().map(|f| f.count()).sum();
    (
        count,
        freezes.fold(Duration::ZERO, |all, f| all + f.total()),
    )
}

fn spent_by_attackers(world: &World) -> Spent {
    let mut all = Spent::default();
    for (load, spent) in &world.server.processor.spent {
        let by = match load {
            Load::Datagram(ip) | Load::Request(ip) => *ip,
            Load::Timeout => SERVER.ip(),
        };
        if world.attackers.iter().any(|attacker| attacker.ip == by) {
            all.inputs += spent.inputs;
            all.time += spent.time;
            all.most_time = all.most_time.max(spent.most_time);
        }
    }
    all
}

fn plan(kind: Option<Kind>) -> Plan {
    let member = |name: String, part| MemberPlan {
        name,
        part,
        speech: Speech::Native,
        layers: Layers::One,
        links: vec![link_of("rate=8mbit,delay=15ms", true)],
    };
    let whom = "publisher";
    let mut members = vec![member(whom.to_owned(), Part::Publishes)];
    for n in 0..VIEWERS {
        members.push(member(format!("viewer {n}"), Part::Plays(whom.to_owned())));
    }
    if kind.is_some_and(Kind::is_published) {
        for n in 0..ACCOMPLICES {
            let plays = Part::Plays(World::attacker(0));
            members.push(member(format!("accomplice {n}"), plays));
        }
    }
    let joins = (0..members.len()).map(|n| (Instant::ZERO, Incident::Joins(n)));
    let attack = |kind: Kind, n: usize| {
        let parts = kind.parts(whom);
        let rate = match kind {
            Kind::Floods => Rate::from_mbps(150),
            Kind::Crumbs => Rate::from_mbps(20),
            _ => Rate::from_mbps(5),
        };
        let attack = Attack {
            kind,
            part: parts.get(n % parts.len().max(1)).cloned(),
            speech: match n % 2 {
                0 => Speech::Native,
                _ => Speech::Browser,
            },
            rate,
            requests: match kind {
                Kind::Figures => 1_000.0,
                _ => 67.0 / INTRUDERS as f64,
            },
            from: Instant::from_nanos(3_000_000_000),
            until: UNTIL,
        };
        let link = match kind {
            Kind::Sips => "rate=100kbit,delay=30ms",
            _ => "rate=200mbit,delay=5ms",
        };
        (attack, link_of(link, true))
    };
    let attacks = kind.into_iter();
    Plan {
        seed: 1,
        calm: true,
        budgets: Budgets::Kept,
        planes: 1,
        people: Vec::new(),
        incidents: joins.collect(),
        members,
        attacks: attacks
            .flat_map(|kind| (0..INTRUDERS).map(move |n| attack(kind, n)))
            .collect(),
        length: UNTIL - Instant::ZERO,
    }
}
