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
pub mod pictures;
pub mod plan;
pub mod processor;
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
}

/// Makes the run of a seed.
#[must_use]
pub fn run(seed: u64, tells: bool) -> Outcome {
    let plan = Plan::of(seed);
    let mut world = World::new(&plan, Pace::Counted);
    world.tells = tells;
    world.run_to_end();
    Outcome {
        seed,
        violations: std::mem::take(&mut world.watch.violations),
        digest: world.watch.digest(),
        counts: world.counts,
        longest_still: world.watch.longest_still,
    }
}
