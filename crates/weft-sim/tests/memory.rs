//! Memory of a run.

mod world;

use weft_experiment::{CallSetup, CameraSetup, FlowSetup, LinkSetup, Route, Setup, SideSetup};
use weft_testing::allocation::{Counting, measure};
use weft_units::Rate;
use world::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes by which each further minute may raise the peak. Measured: 492 kB, nearly all of
/// it samples of paths and links. A vector of records of frames would add 140 kB.
const A_MINUTE: i64 = 550_000;

fn call(duration: u64) -> Setup {
    let mut setup = Setup::new(seconds(duration));
    for name in ["one", "two"] {
        let spec = link("rate=1mbit,delay=20ms");
        setup.links.push(LinkSetup::symmetric(name, &spec));
    }
    let camera = CameraSetup::synthetic(30.0, Rate::from_kbps(800));
    let call = CallSetup::one_way(SideSetup::filming(vec![camera]));
    let routes = vec![Route::forward(&[0]), Route::forward(&[1])];
    setup.flows.push(FlowSetup::call("call", routes, call));
    setup
}

/// Only frames and samples grow with the run, at any rate.
#[test]
fn a_minute_more_of_a_call_takes_little_memory() {
    let peak = |seconds| measure(|| run(&call(seconds), 1)).1.peak as i64;
    let grown = (peak(300) - peak(60)) / 4;
    println!("{grown} bytes a minute");
    assert!(grown < A_MINUTE, "{grown} bytes a minute");
}
