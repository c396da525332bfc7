//! Time, rates, sizes, ids and seeded randomness shared by every weft crate.
//!
//! Nothing here reads a clock or a global random generator: [`Instant`] is a
//! number that the caller injects, [`Rng`] is seeded at construction.

mod id;
mod rate;
mod rng;
mod time;

pub use id::{PathId, Ssrc, StreamId};
pub use rate::{Bytes, Rate};
pub use rng::Rng;
pub use time::{Deadline, Duration, Instant};

#[cfg(test)]
mod tests;
