//! What tests say of the machine they run on, what work costs there
//! ([`allocation`]), and what their cameras film ([`pictures`]).
//!
//! Some cannot be made on every machine: they need a right, a program, data
//! ([`skipped`]). Others measure rates and times of the real world
//! ([`where_the_machine_keeps_up`]): a virtual machine whose host is busy
//! stands still for tens of milliseconds, and two cores that run other tests
//! too have not always one to spare. To a call both look like a link whose
//! queue grows, so it lowers its rate, leaves pictures out or takes another
//! path, as it should; such a test then says nothing of the program.

#![deny(unsafe_code)]

pub mod allocation;
pub mod fuzz;
mod machine;
pub mod pictures;

pub use machine::{processor_time, where_the_machine_keeps_up};

use std::fmt::Display;
use std::io::Write;

/// Says that the test that calls it was not made, and why: on the standard
/// error of the test program, which shows it of tests that pass, too.
pub fn skipped(reason: impl Display) {
    say(format_args!("skipped: {reason}"));
}

fn say(what: impl Display) {
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    // Nobody may be listening.
    let _ = writeln!(std::io::stderr(), "{what} ({test})");
}
