//! `weft lab bench`: speed of the simulator on this machine.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::Serialize;
use weft_sim::{Observer, WORKLOADS, run};

use super::args::BenchArgs;
use crate::exit::{Failure, say, say_json};

/// Real time per workload; chosen by us: longer runs change the result by less than 2 %.
const LONG_ENOUGH: Duration = Duration::from_secs(3);
/// More virtual time than any machine simulates in that real time.
const ENDLESS: weft_units::Duration = weft_units::Duration::from_secs(200_000);

#[derive(Serialize)]
struct Speed {
    /// Simulated seconds per second of one core.
    sim_s_per_s: f64,
    /// Minimum on the development machine.
    goal: f64,
    /// Events per second.
    events_per_s: f64,
}

pub fn bench(args: &BenchArgs) -> Result<(), Failure> {
    let mut speeds = BTreeMap::new();
    if !args.json && cfg!(debug_assertions) {
        say("this program was built for debugging: the figures of a release build are higher")?;
    }
    for workload in WORKLOADS {
        let (begun, processor) = (Instant::now(), processor_time());
        let record = run(&workload.setup(ENDLESS), 1, &mut Until(begun)).map_err(Failure::run)?;
        let since = |before: Duration| Some(processor_time()?.saturating_sub(before));
        let took = processor.and_then(since).unwrap_or_else(|| begun.elapsed());
        let took = took.as_secs_f64().max(f64::EPSILON);
        let speed = Speed {
            sim_s_per_s: record.ended_at.as_secs_f64() / took,
            goal: workload.goal,
            events_per_s: record.events as f64 / took,
        };
        if !args.json {
            say(format_args!(
                "{:12} {:7.0} simulated seconds per second (goal {}), {:.2} million events per second",
                workload.name,
                speed.sim_s_per_s,
                speed.goal,
                speed.events_per_s / 1e6
            ))?;
        }
        speeds.insert(workload.name, speed);
    }
    if args.json {
        say_json(serde_json::to_string_pretty(&speeds).map_err(Failure::run)?)?;
    }
    Ok(())
}

/// Processor time of this thread, which other programs do not affect; `None` if
/// the system does not report it.
fn processor_time() -> Option<Duration> {
    // Linux, Documentation/scheduler/sched-stats.rst: the first value is in
    // nanoseconds.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

struct Until(Instant);

impl Observer for Until {
    fn on_sample(&mut self, _: weft_units::Instant) -> ControlFlow<()> {
        if self.0.elapsed() > LONG_ENOUGH {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
