//! The self-check: whether the links did what the scenario says. A result of
//! a simulator that lies about its own conditions is worth nothing.

use serde::Serialize;
use weft_experiment::{LinkRecord, StationRecord};
use weft_links::{Aqm, Capacity, LinkSpec, StationId, WiredDirection};
use weft_units::{Bytes, Duration, Instant};

use super::run::Run;

/// What was configured, and what was measured of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// The link and its direction, the flow and the way it takes, or
    /// `emulator`.
    pub of: String,
    /// `rate_mbps`, `delay_ms`, `queue_ms` or `packets`; of a medium that
    /// stations share `service_s`, and of a cell `airtime_s`; of the emulator `late_ms` and `unlogged`.
    pub what: &'static str,
    /// What the scenario says.
    pub configured: f64,
    /// What the record of the run says, in the same unit.
    pub measured: f64,
    /// Whether both fit. `rate_mbps` and `queue_ms` are upper bounds: less is
    /// right, too. `delay_ms` is the same within its tolerance, and all others
    /// are the same.
    pub ok: bool,
}

/// Propagation and transmission may differ by so much from what was
/// configured, milliseconds; jitter has its own.
const DELAY_SLACK_MS: f64 = 0.1;

/// All checks of a run: no second faster than configured; packets that did
/// not wait took the configured delay; none waited longer than the queue
/// allows; every packet ended once; a medium that stations share was used,
/// idle or somebody else's all the time.
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

/// The times in which a shared medium was used by the station, idle and not to
/// be had make up the time that was measured.
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

/// Exchanges of a cell or its resource blocks, collisions, strangers and the time in
/// which nobody sent make up the time that was measured, on each of its channels, and
/// what was used was so by its stations.
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

/// From the end of the last period on that is not measured as a whole.
fn measured_time(run: &Run<'_>) -> Duration {
    run.end().saturating_sub(run.setup.first_measured_period())
}

/// Of the second in which the link came nearest to its capacity, or furthest
/// above it: what it could carry, with the edges counted in, and what it did.
fn busiest(
    run: &Run<'_>,
    (link, station): (usize, StationId),
    spec: &LinkSpec,
    record: &StationRecord,
) -> Option<(f64, f64)> {
    let period = run.record.sample_every;
    let rows = (1_000_000_000 / period.as_nanos().max(1)).max(1) as usize;
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
        let could = run.capacities.bits(link, station, window)? + edge;
        let bytes: u64 = chunk.iter().map(|s| s.delivered.0).sum();
        let seconds = length.as_secs_f64();
        Some((could / 1e6 / seconds, bytes as f64 * 8.0 / 1e6 / seconds))
    });
    seconds.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))
}

/// The longest that a packet is seen to wait in a full queue; unknown while the rate
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
    Some(spec.longest_wait()? + rate.time_for(Bytes(1500))?)
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
        // Kept in order, jittered packets wait for the ones before them.
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
