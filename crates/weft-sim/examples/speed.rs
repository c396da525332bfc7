//! Simulated seconds per second on one core, by workload:
//! `cargo run --profile bench -p weft-sim --example speed [WORKLOAD...]`.

use std::ops::ControlFlow;
use std::time::Instant as Clock;

use weft_sim::{
    CallSetup, CameraSetup, CongestionKind, FlowKind, FlowSetup, LinkSetup, Observer, Route, Setup,
    SideSetup, TcpSetup, UdpSetup,
};
use weft_units::{Duration, Instant, Rate};

/// The name of a workload, the least that is good, and its setup.
type Workload = (&'static str, f64, fn(Duration) -> Setup);

const WORKLOADS: [Workload; 5] = [
    ("wired-2m", 4000.0, |d| wired(d, "2mbit")),
    ("wired-10m", 500.0, |d| wired(d, "10mbit")),
    ("wired-50m", 60.0, |d| wired(d, "50mbit")),
    ("call-1x", 500.0, |d| call(d, 1)),
    ("call-3x", 150.0, |d| call(d, 3)),
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

/// Cameras of at most 10 Mbps each over two links of 10 Mbps.
fn call(duration: Duration, cameras: usize) -> Setup {
    let mut setup = Setup::new(duration);
    for (name, delay) in [("one", "20ms"), ("two", "35ms")] {
        let link = format!("rate=10mbit,delay={delay},queue=300ms");
        let link = link.parse().expect("a link");
        setup.links.push(LinkSetup::symmetric(name, &link));
    }
    let cameras = vec![CameraSetup::synthetic(30.0, Rate::from_mbps(10)); cameras];
    let call = CallSetup::one_way(SideSetup::filming(cameras));
    let routes = vec![Route::forward(&[0]), Route::forward(&[1])];
    setup.flows.push(FlowSetup::call("call", routes, call));
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

/// Processor time of this process, which other processes do not lengthen;
/// `None` where the system does not tell.
fn processor_seconds() -> Option<f64> {
    // Linux, Documentation/scheduler/sched-stats.rst: nanoseconds on a
    // processor, of the only thread.
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanos: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanos as f64 / 1e9)
}

#[expect(clippy::disallowed_methods, reason = "this program measures time")]
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, goal, setup) in WORKLOADS {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let setup = setup(Duration::from_secs(200_000));
        let (began, processor) = (Clock::now(), processor_seconds());
        let record = weft_sim::run(&setup, 1, &mut Until(began)).expect("a good setup");
        let wall = began.elapsed().as_secs_f64();
        let since = |before| processor_seconds().map(|now| now - before);
        let took = processor.and_then(since).unwrap_or(wall);
        let simulated = record.ended_at.as_secs_f64();
        let (speed, nanos) = (simulated / took, took * 1e9 / record.events as f64);
        println!(
            "{name}: {speed:.0} simulated seconds per processor second (goal {goal}), \
             {nanos:.0} ns per event, {:.0} per second of wall time",
            simulated / wall
        );
    }
}
