//! Self-check: whether the links behaved as in the scenario. A simulator with wrong
//! conditions gives worthless results.

use serde::Serialize;
use weft_experiment::{LinkRecord, StationRecord};
use weft_links::{Aqm, Capacity, LinkSpec, StationId, WiredDirection};
use weft_units::{Bytes, Duration, Instant};

use super::run::Run;

/// Configured value with its measurement.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// The link and its direction, the flow and its route, or `emulator`.
    pub of: String,
    /// `rate_mbps`, `delay_ms`, `queue_ms` or `packets`; for a medium that stations share
    /// `service_s`, and for a cell `airtime_s`; for the emulator `late_ms` and
    /// `unlogged`.
    pub what: &'static str,
    /// Value from the scenario.
    pub configured: f64,
    /// Value from the record of the run, in the same unit.
    pub measured: f64,
    /// Whether both agree. `rate_mbps` and `queue_ms` are upper bounds, so less is
    /// correct too. `delay_ms` must be equal within its tolerance, and all others must be
    /// equal.
    pub ok: bool,
}

/// Maximum deviation of propagation and transmission from the configured delay, in
/// milliseconds; jitter has its own tolerance.
const DELAY_SLACK_MS: f64 = 0.1;

/// Runs all checks of a run: no second was faster than configured; packets that did not
/// wait took the configured delay; none waited longer than the queue allows; every packet
/// ended once; a shared medium was always used, idle or busy with other stations.
#[must_use]
pub fn checks(run: &Run<'_>) -> Vec<Check> {
    let mut found = Vec::new();
    for (index, (setup, record)) in run.setup.links.iter().zip(&run.record.links).enumerate() {
        for (station, record) in record.by_station() {
            if record.counters.sent.packets == 0 {
                continue;
            }
            let of = match WiredDirection::of(station) {
                Some(WiredDirection::Backward) if setup.medium.link(station).is_some() => {
                    format!("{} back", setup.name)
                }
                _ => setup.station(station).to_owned(),
            };
            found.push(packets(&of, record));
            match setup.medium.link(station) {
                Some(spec) => {
                    let busiest = busiest(run, (index, station), spec, record);
                    found.extend(busiest.map(|(could, did)| at_most(&of, "rate_mbps", could, did)));
                    found.extend(queue(&of, spec, record));
                }
                None => found.extend(service(run, &of, record)),
            }
        }
    }
    for (setup, record) in run.setup.links.iter().zip(&run.record.links) {
        found.extend(airtime(run, &setup.name, record));
    }
    for flow in 0..run.setup.flows.len() {
        found.extend(delays(run, flow));
    }
    found
}

fn at_most(of: &str, what: &'static str, configured: f64, measured: f64) -> Check {
    Check {
        of: of.to_owned(),
        what,
        configured,
        measured,
        ok: measured <= configured,
    }
}

fn packets(of: &str, record: &StationRecord) -> Check {
    let counters = &record.counters;
    let ended = counters.delivered.packets + counters.dropped().packets + record.in_flight.packets;
    let (sent, ended) = (counters.sent.packets as f64, ended as f64);
    Check {
        of: of.to_owned(),
        what: "packets",
        configured: sent,
        measured: ended,
        ok: sent == ended,
    }
}

fn queue(of: &str, spec: &LinkSpec, record: &StationRecord) -> Option<Check> {
    let waits = record.series.iter().filter(|s| s.queue_delay.count > 0);
    let longest = waits.map(|s| s.queue_delay.max).max()?.as_millis_f64();
    let limit = longest_wait(spec)?.as_millis_f64();
    Some(at_most(of, "queue_ms", limit, longest))
}

/// Checks that the times in which a station used a shared medium, left it idle and found
/// it busy add up to the measured time.
fn service(run: &Run<'_>, of: &str, record: &StationRecord) -> Option<Check> {
    let elapsed = record.service?.elapsed();
    let measured = measured_time(run);
    Some(Check {
        of: of.to_owned(),
        what: "service_s",
        configured: measured.as_secs_f64(),
        measured: elapsed.as_secs_f64(),
        ok: elapsed == measured,
    })
}

/// Checks that exchanges or resource blocks of a cell, collisions, foreign traffic and
/// idle time add up to the measured time on each of its channels, and that its stations
/// account for the used time.
fn airtime(run: &Run<'_>, of: &str, record: &LinkRecord) -> Option<Check> {
    let channels = &record.channels;
    let measured = measured_time(run);
    let sum = |times: &mut dyn Iterator<Item = Duration>| {
        times.fold(Duration::ZERO, |all, one| all + one)
    };
    let used = record.stations.iter().filter_map(|s| s.service);
    let used = sum(&mut used.map(|service| service.used));
    let rest = sum(&mut channels.iter().map(|c| c.blocked + c.idle));
    let is_whole = channels.iter().all(|c| c.elapsed() == measured);
    (!channels.is_empty()).then(|| Check {
        of: of.to_owned(),
        what: "airtime_s",
        configured: (measured * channels.len() as u64).as_secs_f64(),
        measured: (used + rest).as_secs_f64(),
        ok: is_whole && used == sum(&mut channels.iter().map(|c| c.used)),
    })
}

/// Returns the time from the end of the last partly measured period.
fn measured_time(run: &Run<'_>) -> Duration {
    run.end().saturating_sub(run.setup.first_measured_period())
}

/// Returns the second in which the link came nearest to its capacity, or exceeded it
/// most: the capacity, including both edges, and the traffic.
fn busiest(
    run: &Run<'_>,
    (link, station): (usize, StationId),
    spec: &LinkSpec,
    record: &StationRecord,
) -> Option<(f64, f64)> {
    let period = run.record.sample_every;
    let rows = (1_000_000_000 / period.as_nanos().max(1)).max(1) as usize;
    // Packets that arrive within a second were transmitted a delay earlier, plus or minus
    // jitter; one packet may be mostly sent before, and a bucket at once.
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
        let could = run.capacities.bits(link, station, window)? + edge;
        let bytes: u64 = chunk.iter().map(|s| s.delivered.0).sum();
        let seconds = length.as_secs_f64();
        Some((could / 1e6 / seconds, bytes as f64 * 8.0 / 1e6 / seconds))
    });
    seconds.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))
}

/// Returns the longest possible wait in a full queue; unknown if the rate changes or
/// flows have separate queues.
fn longest_wait(spec: &LinkSpec) -> Option<Duration> {
    match spec.aqm {
        Aqm::DropTail | Aqm::CoDel(_) | Aqm::Pie(_) => {}
        Aqm::FqCodel(_) | Aqm::DualPi2 => return None,
    }
    let Capacity::Constant(rate) = &spec.capacity else {
        return None;
    };
    // The packet in transmission has left the queue.
    Some(spec.longest_wait()? + rate.time_for(Bytes(1500))?)
}

/// Checks that the mean delay minus the mean time in queues equals propagation and
/// transmission.
fn delays(run: &Run<'_>, flow: usize) -> Vec<Check> {
    let setup = &run.setup.flows[flow];
    let routes = setup.routes.iter().zip(&run.record.flows[flow].routes);
    let checks = routes.filter_map(|(route, record)| {
        let leg = &record.there;
        // Delays cover measured packets, so sizes must too.
        let measured = || leg.series.iter().filter(|s| run.measured(s.at) == 1.0);
        let packets: u32 = measured().map(|s| s.one_way_delay.count).sum();
        if packets == 0 {
            return None;
        }
        let bytes: u64 = measured().map(|s| s.delivered.0).sum();
        let size = bytes as f64 / f64::from(packets);
        let mut configured = route.access_delay.as_millis_f64();
        // Packets stay in order, so jittered packets wait for the ones before them.
        let mut slack = DELAY_SLACK_MS + 3.0 * route.access_jitter.as_millis_f64();
        let mut names = Vec::new();
        for hop in &route.hops {
            let link = &run.setup.links[hop.link];
            let spec = link.medium.link(hop.from)?;
            let Capacity::Constant(rate) = &spec.capacity else {
                return None;
            };
            configured += spec.delay.as_millis_f64() + size * 8.0 / rate.as_bps() as f64 * 1e3;
            slack += 3.0 * spec.jitter.as_millis_f64();
            names.push(link.name.as_str());
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
