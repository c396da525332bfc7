//! Memory of an hour of a simulated call, one 2.5 Mbps camera over two links:
//! `cargo run --profile bench -p weft-sim --example memory`.

use weft_experiment::{CallSetup, CameraSetup, FlowSetup, LinkSetup, Route, Setup, SideSetup};
use weft_units::{Duration, Rate};

fn main() {
    let mut setup = Setup::new(Duration::from_secs(3600));
    for name in ["one", "two"] {
        let link = "rate=4mbit,delay=20ms".parse().expect("a link");
        setup.links.push(LinkSetup::symmetric(name, &link));
    }
    let camera = CameraSetup::synthetic(30.0, Rate::from_kbps(2500));
    let call = CallSetup::one_way(SideSetup::filming(vec![camera]));
    let routes = vec![Route::forward(&[0]), Route::forward(&[1])];
    setup.flows.push(FlowSetup::call("call", routes, call));
    let record = weft_sim::run(&setup, 1, &mut ()).expect("a good setup");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|l| l.starts_with("VmHWM:"));
    println!(
        "{} events, {}",
        record.events,
        peak.unwrap_or("no VmHWM here")
    );
}
