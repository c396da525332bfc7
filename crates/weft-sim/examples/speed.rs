//! Simulated seconds per second on one core, by workload:
//! `cargo run --profile bench -p weft-sim --example speed [WORKLOAD...]`.

use std::ops::ControlFlow;
use std::time::Instant as Clock;

use weft_sim::{CongestionKind, FlowKind, FlowSetup, LinkSetup, Observer, Route, Setup};
use weft_sim::{TcpSetup, UdpSetup};
use weft_units::{Duration, Instant, Rate};

/// The name of a workload, the least that is good, and its setup.
type Workload = (&'static str, f64, fn(Duration) -> Setup);

const WORKLOADS: [Workload; 3] = [
    ("wired-2m", 4000.0, |d| wired(d, "2mbit")),
    ("wired-10m", 500.0, |d| wired(d, "10mbit")),
    ("wired-50m", 60.0, |d| wired(d, "50mbit")),
];

/// One TCP CUBIC upload beside 1 Mbps of UDP.
fn wired(duration: Duration, rate: &str) -> Setup {
    let mut setup = Setup::new(duration);
    let link = format!("rate={rate},delay=25ms,queue=2bdp");
    let link = link.parse().expect("a link");
    setup.links.push(LinkSetup::symmetric("bottleneck", &link));
    let tcp = FlowKind::Tcp(TcpSetup::long_lived(CongestionKind::Cubic));
    let udp = FlowKind::Udp(UdpSetup::new(Rate::from_mbps(1)));
    for (name, kind) in [("tcp", tcp), ("udp", udp)] {
        let flow = FlowSetup::new(name, Route::forward(&[0]), kind);
        setup.flows.push(flow);
    }
    setup
}

/// Stops a run when it has taken long enough to be timed.
struct Until(Clock);

const LONG_ENOUGH: std::time::Duration = std::time::Duration::from_secs(3);

impl Observer for Until {
    fn on_sample(&mut self, _at: Instant) -> ControlFlow<()> {
        if self.0.elapsed() > LONG_ENOUGH {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[expect(clippy::disallowed_methods, reason = "this program measures time")]
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, goal, setup) in WORKLOADS {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let setup = setup(Duration::from_secs(1_000_000));
        let began = Clock::now();
        let record = weft_sim::run(&setup, 1, &mut Until(began)).expect("a good setup");
        let took = began.elapsed().as_secs_f64();
        let simulated = record.ended_at.as_secs_f64();
        let speed = simulated / took;
        let nanos = took * 1e9 / record.events as f64;
        println!("{name}: {speed:.0} s/s (goal {goal}), {nanos:.0} ns per event");
    }
}
