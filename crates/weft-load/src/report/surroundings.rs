//! Figures that viewers do not measure: the run, its failures, the server and the
//! generator.

use std::collections::BTreeMap;

use weft_units::Histogram;

use super::measured::Measured;
use super::{
    Failures, Generator, Quantiles, RunDescription, ServerUsage, ThreadUsage, milliseconds,
};
use crate::config::{LoadConfig, Sound};
use crate::machine::Usage;
use crate::node::NodeReport;

/// Busy share above which a network thread itself delays packets. Chosen by us: queues
/// grow above three quarters (M/D/1: the mean wait is then 1.5 times the service time).
const BUSY: f64 = 0.75;
/// Delay of pictures above which the latency is due to the generator. Chosen by us: the
/// figure is compared with latencies of some milliseconds.
const LATE_MS: f64 = 10.0;
/// Idle share below which server and generator compete for the processors. Chosen by us.
const IDLE: f64 = 0.05;

pub(super) fn description(measured: &Measured<'_>) -> RunDescription {
    let LoadConfig {
        rooms,
        people,
        video,
        sound,
        clients,
        ..
    } = measured.config;
    RunDescription {
        rooms: *rooms,
        publishers: people.publishers,
        viewers: people.viewers,
        everybody: people.everybody,
        codec: video.codec.name(),
        heights: measured.clip.encodings.iter().map(|e| e.height).collect(),
        fps: video.fps,
        kbps: measured.clip.rate().as_kbps(),
        sound: *sound == Sound::On,
        clients: clients.name(),
        measured_s: measured.seconds(),
    }
}

pub(super) fn failures(failed: &BTreeMap<u32, String>) -> Vec<Failures> {
    let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in failed.values() {
        *by_reason.entry(reason).or_default() += 1;
    }
    let failures = by_reason.into_iter().map(|(reason, count)| Failures {
        count,
        reason: reason.to_owned(),
    });
    let mut failures: Vec<Failures> = failures.collect();
    failures.sort_by_key(|failures| std::cmp::Reverse(failures.count));
    failures
}

pub(super) fn server(usage: [Usage; 3], measured: &Measured<'_>, rtp: u64) -> ServerUsage {
    let [before, begin, end] = usage;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let cpu_s = end.cpu_s - begin.cpu_s;
    let grown = end.memory.saturating_sub(before.memory) as f64 / 1e3;
    ServerUsage {
        joining_cpu_s: begin.cpu_s - before.cpu_s,
        cpu_s,
        cores: cpu_s / measured.seconds(),
        packets_per_cpu_s: match cpu_s > 0.0 {
            true => rtp as f64 / cpu_s,
            false => 0.0,
        },
        memory_before_mb: megabytes(before.memory),
        memory_mb: megabytes(end.memory),
        memory_per_participant_kb: grown / measured.joined.max(1) as f64,
    }
}

pub(super) fn generator(measured: &Measured<'_>) -> Generator {
    let mut late = Histogram::default();
    let mut unsent = 0;
    let thread = |node: &NodeReport| {
        let busy = &node.load.busy;
        let sum: f64 = busy.iter().sum();
        ThreadUsage {
            busy: sum / busy.len().max(1) as f64,
            busiest: busy.iter().copied().fold(0.0, f64::max),
            lag_ms: milliseconds(node.load.lag),
        }
    };
    for node in &measured.nodes {
        late.merge(&node.load.late);
        unsent += node.load.unsent;
    }
    let [begin, end] = measured.own;
    Generator {
        threads: measured.nodes.iter().map(thread).collect(),
        cpu_s: end.cpu_s - begin.cpu_s,
        memory_mb: end.memory as f64 / 1e6,
        late_ms: Quantiles::of(&late),
        unsent,
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        machine_idle: measured.machine_idle,
    }
}

pub(super) fn warnings(generator: &Generator, measured: &Measured<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let busiest = generator.threads.iter().map(|t| t.busy).fold(0.0, f64::max);
    let late = generator.late_ms.p99;
    if busiest > BUSY || late > LATE_MS {
        warnings.push(format!(
            "the load generator was a bottleneck: its busiest thread used {:.0} % of a processor, \
             and pictures left up to {late:.1} ms late (p99); latencies and lost pictures may be \
             its own: give it more --load-threads, another machine, or less to do",
            busiest * 100.0,
        ));
    }
    if generator.machine_idle < IDLE {
        warnings.push(format!(
            "this machine's processors were busy for {:.0} % of the time, so programs waited for \
             each other: processor times hold, latencies do not; run the generator on another \
             machine",
            (1.0 - generator.machine_idle) * 100.0
        ));
    }
    if generator.unsent > 0 {
        warnings.push(format!(
            "the system did not take {} datagrams of the load generator: raise \
             net.core.wmem_max, or spread the load over several machines",
            generator.unsent
        ));
    }
    if measured.server.is_none() {
        warnings.push(
            "the server's processor time and memory are unknown: name its process with \
             --server-pid, or its metrics with --metrics"
                .into(),
        );
    }
    warnings
}
