//! A server in virtual time under bad networks, crashes and attacks.
//!
//! The seed determines the run ([`plan::Plan::of`]): members who publish and play over
//! their own links, joins and departures, cuts, crashes and attacks. The checks are made
//! from outside ([`watch`]). A seed always gives the same bytes.
//!
//! The media plane, the rooms and the peers are real, and so are ICE and SRTP. Only the
//! DTLS handshake has no security, so that it is reproducible.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

pub mod attacks;
pub mod day;
mod h264;
pub mod hostile;
pub mod member;
pub mod network;
pub mod peer_factory;
pub mod person;
pub mod plan;
pub mod processor;
pub mod screen;
pub mod server;
mod tape;
pub mod watch;
pub mod world;

use member::Part;
use plan::Plan;
use processor::Pace;
use screen::{Screen, Shown};
use watch::{Extremes, Meetings};
use world::{Counts, World};

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub seed: u64,
    pub violations: Vec<String>,
    /// Hash of every datagram and its time.
    pub digest: u64,
    pub counts: Counts,
    /// Distance to the bounds.
    pub extremes: Extremes,
    pub meetings: Meetings,
    /// Maximum share of a viewer's pictures that attacks cost.
    pub most_taken_away: f64,
    /// Maximum number of a viewer's pictures that attacks cost.
    pub most_pictures_taken: u64,
}

/// Runs a seed. Some runs with attacks are repeated without them, to measure their effect
/// on the others.
#[must_use]
pub fn run(seed: u64, tells: bool) -> Outcome {
    /// Chosen by us: a repetition doubles the time.
    const COMPARED: u64 = 4;
    let plan = Plan::of(seed);
    let mut world = World::new(&plan, Pace::Counted);
    world.tells = tells;
    world.run_to_end();
    let mut outcome = Outcome {
        seed,
        violations: std::mem::take(&mut world.watch.violations),
        digest: world.watch.digest(),
        counts: world.counts,
        extremes: world.watch.extremes,
        meetings: world.watch.meetings.clone(),
        most_taken_away: 0.0,
        most_pictures_taken: 0,
    };
    if seed.is_multiple_of(COMPARED) && !plan.attacks.is_empty() {
        let mut peace = World::new(&plan.in_peace(), Pace::Counted);
        if tells {
            println!("The same in peace:");
        }
        peace.tells = tells;
        peace.run_to_end();
        compare(&plan, &world, &peace, &mut outcome);
    }
    outcome
}

/// Maximum share and number of a viewer's pictures that attacks may cost: a player who
/// joins after others waits for the publisher's next keyframe, and checks are sent at
/// other times. Chosen by us: half a second of pictures.
const MOST_TAKEN_AWAY: f64 = 0.1;
const AND_SO_MANY: f64 = 15.0;
/// Minimum number of pictures for a comparison. Chosen by us: two seconds.
const FEWEST: usize = 60;

/// Compares only viewers with good links and publishers with good links: over bad links,
/// chance decides.
fn compare(plan: &Plan, attacked: &World, peace: &World, outcome: &mut Outcome) {
    let place_of = |name: &str| plan.members.iter().position(|member| member.name == name);
    let is_good = |place: usize| plan.members[place].links.iter().all(|link| link.good);
    let viewers = attacked.members.iter().zip(&peace.members).enumerate();
    for (place, (viewer, before)) in viewers {
        let Part::Plays(publisher) = &viewer.part else {
            continue;
        };
        let publisher = place_of(publisher).expect("a player plays somebody");
        // After a cut of the only link, the old pictures are displayed within a tenth of
        // a second, or a keyframe makes them unnecessary, whichever comes first. Nobody
        // misses those pictures.
        let count = |screen: &Screen| {
            let live = |shown: &&Shown| {
                !plan.is_cut_off(place, shown.captured)
                    && !plan.is_cut_off(publisher, shown.captured)
            };
            screen.shown.iter().filter(live).count()
        };
        let (shown, before) = (count(&viewer.screen), count(&before.screen));
        if before < FEWEST || !is_good(place) || !is_good(publisher) {
            continue;
        }
        let taken = before.saturating_sub(shown) as f64;
        let share = taken / before as f64;
        outcome.most_taken_away = outcome.most_taken_away.max(share);
        outcome.most_pictures_taken = outcome.most_pictures_taken.max(taken as u64);
        if taken > MOST_TAKEN_AWAY * before as f64 + AND_SO_MANY {
            let name = &viewer.name;
            let what = format!("{name} was shown {shown} pictures, {before} in peace");
            outcome.violations.push(what);
        }
    }
}
