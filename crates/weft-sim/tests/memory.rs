//! Memory of a run, as the system reports it for this process. The only test in its file:
//! another test's memory would count.

mod world;

use weft_experiment::{CallSetup, CameraSetup, FlowSetup, LinkSetup, Route, Setup, SideSetup};
use weft_units::Rate;
use world::*;

/// Returns the largest resident size so far, in bytes; `None` if the system does not
/// report it (proc_pid_status(5), `VmHWM`).
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

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

/// Only frames and samples grow with the run, whatever the rate.
#[test]
fn an_hour_of_a_call_stays_below_200_mb() {
    let Some(_) = peak() else {
        return;
    };
    // Memory that does not grow is allocated after half a minute.
    run(&call(30), 1);
    let (before, short) = (peak().unwrap_or(0), 240);
    run(&call(short), 1);
    let grown = peak().unwrap_or(0) - before;
    let hour = before + grown * 3600 / short;
    assert!(
        hour < 200_000_000,
        "{before} bytes, and {grown} in {short} s"
    );
}
