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

use plan::Plan;
use processor::Pace;
use world::{Counts, World};

/// How a run went.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub seed: u64,
    pub violations: Vec<String>,
    /// Of every datagram with its time.
    pub digest: u64,
    pub counts: Counts,
    /// Longest that a screen stood still that should not have.
    pub longest_still: weft_units::Duration,
    /// The largest share of a viewer's pictures that attacks took away.
    pub most_taken_away: f64,
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
        longest_still: world.watch.longest_still,
        most_taken_away: 0.0,
    };
    if seed.is_multiple_of(COMPARED) && !plan.attacks.is_empty() {
        let mut peace = World::new(&plan.in_peace(), Pace::Counted);
        peace.run_to_end();
        compare(&world, &peace, &mut outcome);
    }
    outcome
}

/// Most of the pictures that a viewer sees in peace which attacks may take from
/// them. Chosen by us: half a second of ten.
const MOST_TAKEN_AWAY: f64 = 0.05;
/// Of who sees less nothing can be said. Chosen by us: two seconds.
const FEWEST: usize = 60;

fn compare(attacked: &World, peace: &World, outcome: &mut Outcome) {
    for (viewer, before) in attacked.members.iter().zip(&peace.members) {
        let (shown, before) = (viewer.screen.shown.len(), before.screen.shown.len());
        if before < FEWEST {
            continue;
        }
        let taken = before.saturating_sub(shown) as f64 / before as f64;
        outcome.most_taken_away = outcome.most_taken_away.max(taken);
        if taken > MOST_TAKEN_AWAY {
            let name = &viewer.name;
            let what = format!("{name} was shown {shown} pictures, {before} in peace");
            outcome.violations.push(what);
        }
    }
}
