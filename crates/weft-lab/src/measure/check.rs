//! The self-check: whether the links did what the scenario says. A result of
//! a simulator that lies about its own conditions is worth nothing.

use serde::Serialize;
use weft_experiment::{Direction, DirectionRecord, Setup};
use weft_links::{Aqm, Capacity, LinkSpec, QueueLimit};
use weft_units::{Bytes, Duration, Instant};

use super::run::Run;

/// What was configured, and what was measured of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// The link and its direction, the flow and the way it takes, or
    /// `emulator`.
    pub of: String,
    /// `rate_mbps`, `delay_ms`, `queue_ms` or `packets`; of the emulator
    /// `late_ms` and `unlogged`.
    pub what: &'static str,
    /// What the scenario says.
    pub configured: f64,
    /// What happened.
    pub measured: f64,
    /// Whether both fit. `rate_mbps` and `queue_ms` are upper bounds: less is
    /// right, too. `delay_ms` is the same within its tolerance, `packets` the
    /// same.
    pub ok: bool,
}

/// Propagation and transmission may differ by so much from what was
/// configured, milliseconds; jitter has its own.
const DELAY_SLACK_MS: f64 = 0.1;

/// All checks of a run: no second faster than configured; packets that did
/// not wait took the configured delay; none waited longer than the queue
/// allows; every packet ended once.
#[must_use]
pub fn checks(run: &Run<'_>) -> Vec<Check> {
    let mut found = Vec::new();
    for (index, (setup, record)) in run.setup.links.iter().zip(&run.record.links).enumerate() {
        for (way, direction, spec, record) in [
            ("", Direction::Forward, &setup.forward, &record.forward),
            (
                " back",
                Direction::Backward,
                &setup.backward,
                &record.backward,
            ),
        ] {
            if record.counters.sent.packets > 0 {
                let of = format!("{}{way}", setup.name);
                found.extend(link(
                    &of,
                    spec,
                    record,
                    busiest(run, index, direction, record),
                ));
            }
        }
    }
    for flow in 0..run.setup.flows.len() {
        found.extend(delays(run, flow));
    }
    found
}

fn link(
    of: &str,
    spec: &LinkSpec,
    record: &DirectionRecord,
    busiest: Option<(f64, f64)>,
) -> Vec<Check> {
    let check = |what, configured, measured, ok| {
        let of = of.to_owned();
        Check {
            of,
            what,
            configured,
            measured,
            ok,
        }
    };
    let counters = &record.counters;
    let ended = counters.delivered.packets + counters.dropped().packets + record.in_flight.packets;
    let (sent, ended) = (counters.sent.packets as f64, ended as f64);
    let mut found = vec![check("packets", sent, ended, sent == ended)];
    if let Some((configured, measured)) = busiest {
        found.push(check(
            "rate_mbps",
            configured,
            measured,
            measured <= configured,
        ));
    }
    let waits = record.series.iter().filter(|s| s.queue_delay.count > 0);
    let longest = waits.map(|s| s.queue_delay.max).max();
    if let (Some(limit), Some(longest)) = (longest_wait(spec), longest) {
        let (limit, longest) = (limit.as_millis_f64(), longest.as_millis_f64());
        found.push(check("queue_ms", limit, longest, longest <= limit));
    }
    found
}

/// Of the second in which the link came nearest to its capacity, or furthest
/// above it: what it could carry, with the edges counted in, and what it did.
fn busiest(
    run: &Run<'_>,
    link: usize,
    direction: Direction,
    record: &DirectionRecord,
) -> Option<(f64, f64)> {
    let period = run.record.sample_every;
    let rows = (1_000_000_000 / period.as_nanos().max(1)).max(1) as usize;
    let setup = &run.setup.links[link];
    let spec = if direction == Direction::Forward {
        &setup.forward
    } else {
        &setup.backward
    };
    // What arrives within a second was transmitted a delay earlier, give or
    // take jitter; one packet of it mostly before, and a bucket at once.
    let (early, late) = (
        spec.delay + spec.jitter * 3,
        spec.delay.saturating_sub(spec.jitter * 3),
    );
    let edge = (1500.0 + spec.burst.0 as f64) * 8.0;
    let seconds = record.series.chunks_exact(rows).filter_map(|chunk| {
        let end = chunk.last()?.at.saturating_since(Instant::ZERO);
        let length = period * rows as u64;
        let begin = end.saturating_sub(length);
        let window = (begin.saturating_sub(early), end.saturating_sub(late));
        let could = run.capacities.bits(link, direction, window) + edge;
        let bytes: u64 = chunk.iter().map(|s| s.delivered.0).sum();
        let seconds = length.as_secs_f64();
        Some((could / 1e6 / seconds, bytes as f64 * 8.0 / 1e6 / seconds))
    });
    seconds.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))
}

/// How long the last packet of a full queue waits; unknown while the rate
/// changes, and where flows wait in queues of their own.
fn longest_wait(spec: &LinkSpec) -> Option<Duration> {
    match spec.aqm {
        Aqm::DropTail | Aqm::CoDel(_) | Aqm::Pie(_) => {}
        Aqm::FqCodel(_) | Aqm::DualPi2 => return None,
    }
    let Capacity::Constant(rate) = &spec.capacity else {
        return None;
    };
    // The packet that is being transmitted is in no queue any more.
    let transmission = rate.time_for(Bytes(1500))?;
    let full = match spec.queue {
        QueueLimit::Bytes(bytes) => rate.time_for(bytes)?,
        QueueLimit::Time(time) => time,
        QueueLimit::Bdp(factor) => (spec.delay * 2).mul_f64(factor),
    };
    Some(full + transmission)
}

/// Mean time on the way less mean time in queues is what propagation and
/// transmission took.
fn delays(run: &Run<'_>, flow: usize) -> Vec<Check> {
    let setup = &run.setup.flows[flow];
    let routes = setup.routes.iter().zip(&run.record.flows[flow].routes);
    let checks = routes.filter_map(|(route, record)| {
        let leg = &record.there;
        // Delays are of what was measured, and sizes must be of the same.
        let measured = || leg.series.iter().filter(|s| run.measured(s.at) == 1.0);
        let packets: u32 = measured().map(|s| s.one_way_delay.count).sum();
        if packets == 0 {
            return None;
        }
        let bytes: u64 = measured().map(|s| s.delivered.0).sum();
        let size = bytes as f64 / f64::from(packets);
        let mut configured = route.access_delay.as_millis_f64();
        let mut slack = DELAY_SLACK_MS;
        let mut names = Vec::new();
        for hop in &route.hops {
            let (name, spec) = side(run.setup, hop);
            let Capacity::Constant(rate) = &spec.capacity else {
                return None;
            };
            configured += spec.delay.as_millis_f64() + size * 8.0 / rate.as_bps() as f64 * 1e3;
            // Kept in order, jittered packets wait for the ones before them.
            slack += 3.0 * spec.jitter.as_millis_f64();
            names.push(name);
        }
        let measured =
            leg.one_way_delay.mean().as_millis_f64() - leg.queue_delay.mean().as_millis_f64();
        let of = format!("{} over {}", setup.name, names.join(", "));
        let ok = (measured - configured).abs() <= slack;
        Some(Check {
            of,
            what: "delay_ms",
            configured,
            measured,
            ok,
        })
    });
    checks.collect()
}

fn side<'a>(setup: &'a Setup, hop: &weft_experiment::Hop) -> (&'a str, &'a LinkSpec) {
    let link = &setup.links[hop.link];
    let spec = match hop.direction {
        weft_experiment::Direction::Forward => &link.forward,
        weft_experiment::Direction::Backward => &link.backward,
    };
    (&link.name, spec)
}
