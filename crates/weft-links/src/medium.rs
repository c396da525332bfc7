//! What carries packets between stations.

mod wired;

pub use wired::{Departure, Link};
