//! Simulated seconds per second on one core, by workload:
//! `cargo run --profile bench -p weft-sim --example speed [WORKLOAD...]`.

use std::ops::ControlFlow;
use std::time::Instant as Clock;

use weft_sim::{Observer, WORKLOADS};
use weft_units::{Duration, Instant};

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

/// Returns the processor time of this process, which other processes do not affect;
/// `None` if the system does not report it.
fn processor_seconds() -> Option<f64> {
    // Linux, Documentation/scheduler/sched-stats.rst: nanoseconds on a processor, for the
    // only thread.
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanos: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanos as f64 / 1e9)
}

#[expect(clippy::disallowed_methods, reason = "this program measures time")]
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for workload in WORKLOADS {
        let (name, goal) = (workload.name, workload.goal);
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let setup = workload.setup(Duration::from_secs(200_000));
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
