//! Types and functions shared by every weft crate: time, rates, sizes and their
//! text form, ids, addresses, codecs, seeded randomness, the freeze counter, a histogram of
//! durations and the fair division of a rate.
//!
//! This crate reads no clock and no global random generator: [`Instant`] is a
//! number that the caller injects, [`Rng`] is seeded at construction.

#![forbid(unsafe_code)]

mod audio_level;
mod codec;
mod ecn;
mod fair;
mod five_tuple;
mod freezes;
pub mod fuzz;
mod histogram;
mod id;
mod names;
mod printable;
pub mod quantity;
mod rate;
mod rng;
mod time;

pub use audio_level::AudioLevel;
pub use codec::{Codec, MediaKind, QuantizerBounds};
pub use ecn::Ecn;
pub use five_tuple::{FiveTuple, Transport};
pub use freezes::Freezes;
pub use histogram::Histogram;
pub use id::{PathId, Ssrc, StreamId};
pub use names::{UnknownName, is_same_name};
pub use printable::{is_printable, printable};
pub use rate::{Bytes, Rate};
pub use rng::Rng;
pub use time::{Deadline, Duration, Instant};

#[cfg(test)]
mod tests;
