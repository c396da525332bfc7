//! A server in virtual time under bad networks, crashes and attacks.
//!
//! A run is drawn from its seed ([`plan::Plan::of`]): who publishes and plays
//! over which links, who comes and goes, which links are cut, when processes
//! crash, and who means harm. What must hold all the same is looked at from
//! outside ([`watch`]). The same seed gives the same bytes.
//!
//! The media plane, the rooms and the peers are the real ones, protected by real
//! ICE and SRTP; only the DTLS handshake proves nothing, so that it repeats.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

pub mod attacks;
pub mod day;
pub mod hostile;
pub mod member;
pub mod network;
pub mod plan;
pub mod processor;
pub mod screen;
pub mod server;
pub mod watch;
pub mod world;

use member::Part;
use plan::Plan;
use processor::Pace;
use screen::{Screen, Shown};
use watch::Extremes;
use world::{Counts, World};

/// How a run went.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub seed: u64,
    pub violations: Vec<String>,
    /// Of every datagram with its time.
    pub digest: u64,
    pub counts: Counts,
    /// How close it came to its bounds.
    pub extremes: Extremes,
    /// The largest share of a viewer's pictures that attacks took away.
    pub most_taken_away: f64,
    /// The most pictures of one viewer that they took away.
    pub most_pictures_taken: u64,
}

/// Makes the run of a seed. Where somebody attacks, in one of so many it is made
/// again without, to see what that takes from the others.
#[must_use]
pub fn run(seed: u64, tells: bool) -> Outcome {
    /// Chosen by us: it takes as long again.
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

/// Of the pictures that a viewer sees in peace attacks may take this share, and
/// so many: a player who joins behind others waits until the publisher may make
/// the next keyframe, and a check goes out at another time. Chosen by us: half a
/// second of them.
const MOST_TAKEN_AWAY: f64 = 0.1;
const AND_SO_MANY: f64 = 15.0;
/// Of who sees less nothing can be said. Chosen by us: two seconds.
const FEWEST: usize = 60;

/// Over bad links chance decides more than anybody's doing: what is compared is
/// who has good ones only, as their publisher has.
fn compare(plan: &Plan, attacked: &World, peace: &World, outcome: &mut Outcome) {
    let place_of = |name: &str| plan.members.iter().position(|member| member.name == name);
    let is_good = |place: usize| plan.members[place].links.iter().all(|link| link.good);
    let viewers = attacked.members.iter().zip(&peace.members).enumerate();
    for (place, (viewer, before)) in viewers {
        let Part::Plays(publisher) = &viewer.part else {
            continue;
        };
        let publisher = place_of(publisher).expect("whoever plays plays somebody");
        // After a cut of the only link the old pictures rush past within a
        // tenth of a second, or a keyframe makes them needless, whichever comes
        // first: nobody misses those.
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
