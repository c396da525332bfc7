//! What flows carry, one folder for each kind.

pub mod call;
