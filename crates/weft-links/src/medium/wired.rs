mod link;

pub use link::{Departure, Link};
