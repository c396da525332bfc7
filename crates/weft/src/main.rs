//! A video call over every link a machine has at once.

#[allow(dead_code, reason = "the command that uses it is still to come")]
mod demo;

fn main() {}
