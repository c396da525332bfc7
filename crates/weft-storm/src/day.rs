//! A day of joins and leaves: the server holds as much memory in the evening as after the
//! first hour.

use weft_testing::allocation::tally;
use weft_testing::pictures::Layers;
use weft_units::{Duration, Instant};

use crate::member::{Part, Speech};
use crate::plan::{Incident, MemberPlan, Plan, link_of};
use crate::processor::Pace;
use crate::server::Budgets;
use crate::world::World;

/// Length of a call between a publisher and a viewer.
const CALL: Duration = Duration::from_secs(2);
/// Interval between the starts of two calls.
const CYCLE: Duration = Duration::from_secs(60);
/// Number of calls in an hour. In the remaining time, the server forgets everybody.
const CALLS: u64 = 55;
const HOUR: Duration = Duration::from_secs(3_600);

/// State at the end of an hour.
#[derive(Clone, Copy, Debug)]
pub struct HourState {
    pub hour: u64,
    /// Bytes that this thread holds: server, members and network, without the records of
    /// the hour.
    pub held: i64,
    /// Number of connections and participants.
    pub left: usize,
    /// Number of joins so far.
    pub joins: u64,
}

/// Runs for `hours` and reports each.
pub fn pass(hours: u64, mut tell: impl FnMut(&HourState)) -> Vec<HourState> {
    let plan = plan(hours);
    let mut world = World::new(&plan, Pace::Counted);
    let mut states = Vec::new();
    for hour in 1..=hours {
        world.run_until(Instant::ZERO + HOUR.mul_f64(hour as f64));
        let violations = std::mem::take(&mut world.watch.violations);
        assert!(violations.is_empty(), "in hour {hour}: {violations:?}");
        world.forget_records();
        let state = HourState {
            hour,
            held: tally().held(),
            left: world.server.resources.len() + world.server.rooms.count().1,
            joins: world.counts.joins,
        };
        tell(&state);
        states.push(state);
    }
    states
}

fn plan(hours: u64) -> Plan {
    let member = |name: &str, part| MemberPlan {
        name: name.to_owned(),
        part,
        speech: Speech::Native,
        layers: Layers::One,
        links: vec![link_of("rate=8mbit,delay=15ms", true)],
    };
    let mut incidents = Vec::new();
    for hour in 0..hours {
        for call in 0..CALLS {
            let at = Instant::ZERO + HOUR.mul_f64(hour as f64) + CYCLE.mul_f64(call as f64);
            // One in five crashes.
            let gone = match call % 5 {
                0 => Incident::Crashes,
                _ => Incident::Leaves,
            };
            for place in [0, 1] {
                incidents.push((at, Incident::Joins(place)));
                incidents.push((at + CALL, gone(place)));
            }
        }
    }
    incidents.sort_by_key(|(at, _)| *at);
    Plan {
        seed: 1,
        calm: true,
        budgets: Budgets::Kept,
        planes: 1,
        people: Vec::new(),
        members: vec![
            member("publisher", Part::Publishes),
            member("viewer", Part::Plays("publisher".to_owned())),
        ],
        attacks: Vec::new(),
        incidents,
        length: HOUR.mul_f64(hours as f64),
    }
}
