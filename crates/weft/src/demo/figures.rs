//! Measurements during the demo.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration as StdDuration;

use serde::Serialize;
use serde_json::{Value, json};
use weft_session::{PathState, PathStats};
use weft_units::{Bytes, Duration, Instant, Rate};

use super::calls::{Call, DemoRun, WEFT};
use super::ride::{LinkName, Override};
use super::settings::SettingTick;
use crate::statistics::round;
use weft_endpoint::watch::{Measurements, ShownPicture};

/// Message to the page, four times a second.
#[derive(Clone, Debug, Serialize)]
pub struct Tick {
    /// Seconds since the start or restart of the demo.
    pub t: f64,
    /// State of the links.
    pub phase: String,
    pub links: Vec<LinkTick>,
    pub calls: BTreeMap<&'static str, CallTick>,
    /// Settings of the weft call.
    pub settings: Vec<SettingTick>,
}

/// Link of the weft call.
#[derive(Clone, Debug, Serialize)]
pub struct LinkTick {
    pub name: &'static str,
    pub up: bool,
    pub forced: Option<&'static str>,
    pub capacity_mbps: f64,
    pub sent_mbps: f64,
    pub rtt_ms: Option<f64>,
    /// `None` while the call has no live path over the link.
    pub loss: Option<f64>,
    pub queue_ms: Option<f64>,
    pub state: &'static str,
}

/// Call from its viewer's point of view.
#[derive(Clone, Debug, Serialize)]
pub struct CallTick {
    pub fps: usize,
    pub frozen: bool,
    pub freeze_s: f64,
    pub freeze_count: u32,
    pub e2e_ms: Option<f64>,
    pub throughput_mbps: f64,
    /// Size of the newest picture in pixels.
    pub width: Option<usize>,
    pub height: Option<usize>,
}

/// Measurements since the start.
pub struct Figures {
    began: Instant,
    last_tick: Instant,
    /// Bytes sent into each link of each call at the last tick.
    last_sent: BTreeMap<(&'static str, LinkName), Bytes>,
    /// Totals of each link, for its mean capacity and its state.
    links: BTreeMap<LinkName, LinkTotals>,
    sent_at_begin: BTreeMap<(&'static str, LinkName), Bytes>,
    frames_at_begin: BTreeMap<&'static str, u64>,
    /// Length and number of each call's freezes before the start.
    freezes_at_begin: BTreeMap<&'static str, (Duration, u32)>,
}

#[derive(Default)]
struct LinkTotals {
    /// Mean capacity in Mbps, for each second of the run.
    capacity: Vec<Mean>,
    /// Whether the link was up during the whole second, for each second of the
    /// run.
    up: Vec<bool>,
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn value(self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum / f64::from(self.count)
        }
    }
}

impl Figures {
    pub fn begin(now: Instant, run: &DemoRun) -> Figures {
        let sent = sent_bytes(run);
        let frames = run.calls.iter().map(|c| (c.name, frames_sent(c))).collect();
        Figures {
            began: now,
            last_tick: now,
            last_sent: sent.clone(),
            links: BTreeMap::new(),
            sent_at_begin: sent,
            frames_at_begin: frames,
            freezes_at_begin: run
                .calls
                .iter()
                .map(|c| {
                    (
                        c.name,
                        c.watcher
                            .look(|measurements| freezes_before(measurements, now)),
                    )
                })
                .collect(),
        }
    }

    /// Measures the present state.
    pub fn tick(
        &mut self,
        now: Instant,
        elapsed: StdDuration,
        phase: String,
        run: &DemoRun,
    ) -> Tick {
        let sent = sent_bytes(run);
        let span = now
            .saturating_since(self.last_tick)
            .max(Duration::from_millis(1));
        let report = run.call(WEFT).and_then(Call::report);
        let mut links = Vec::new();
        for name in LinkName::ALL {
            let Some(relay) = run.call(WEFT).and_then(|c| c.relays.get(&name)) else {
                continue;
            };
            let way = relay.counters().up;
            let key = (WEFT, name);
            let before = self.last_sent.get(&key).copied().unwrap_or_default();
            let now_sent = sent.get(&key).copied().unwrap_or_default();
            let path = report.as_ref().and_then(|r| {
                let of_link =
                    |p: &&PathStats| r.links.get(&p.path).is_some_and(|l| l == name.as_str());
                r.stats
                    .paths
                    .iter()
                    .filter(of_link)
                    .min_by_key(|p| p.state == PathState::Down)
            });
            let capacity = if way.up { way.capacity.as_mbps() } else { 0.0 };
            self.links
                .entry(name)
                .or_default()
                .add(elapsed, capacity, way.up);
            links.push(LinkTick {
                name: name.as_str(),
                up: way.up,
                forced: match run.ride.forced(name) {
                    Override::Auto => None,
                    Override::Cut => Some("cut"),
                    Override::Up => Some("up"),
                },
                capacity_mbps: round(capacity),
                sent_mbps: round(((now_sent.saturating_sub(before)) / span).as_mbps()),
                rtt_ms: path.map(|p| round(p.rtt.as_millis_f64())),
                loss: path
                    .filter(|p| p.state != PathState::Down)
                    .map(|p| round(p.loss)),
                queue_ms: way.queue_delay.map(|d| round(d.as_millis_f64())),
                state: path.map_or("down", |p| p.state.name()),
            });
        }
        let calls = run
            .calls
            .iter()
            .map(|c| (c.name, self.call_tick(now, c)))
            .collect();
        self.last_tick = now;
        self.last_sent = sent;
        Tick {
            t: elapsed.as_secs_f64(),
            phase,
            links,
            calls,
            settings: run.call(WEFT).map(Call::settings).unwrap_or_default(),
        }
    }

    fn call_tick(&self, now: Instant, call: &Call) -> CallTick {
        const SECOND: Duration = Duration::from_secs(1);
        call.watcher.look(|measurements| {
            let since = now.saturating_sub(SECOND);
            let recent: Vec<&ShownPicture> = measurements
                .pictures
                .iter()
                .rev()
                .take_while(|s| s.at > since)
                .collect();
            let bytes: usize = recent.iter().map(|s| s.bytes).sum();
            let (freeze, count) = self.freezes(call.name, measurements, now);
            CallTick {
                fps: recent.len(),
                frozen: measurements.freezes.is_frozen(now),
                freeze_s: round(freeze.as_secs_f64()),
                freeze_count: count,
                e2e_ms: mean(recent.iter().filter_map(|s| s.latency)).map(round),
                throughput_mbps: round((Bytes(bytes as u64) / SECOND).as_mbps()),
                width: measurements.pictures.last().map(|s| s.width),
                height: measurements.pictures.last().map(|s| s.height),
            }
        })
    }

    /// Result of the whole run.
    pub fn result(&self, now: Instant, elapsed: StdDuration, run: &DemoRun) -> Value {
        let seconds = elapsed.as_secs_f64();
        let mut calls = serde_json::Map::new();
        for call in &run.calls {
            calls.insert(call.name.to_owned(), self.call_result(now, elapsed, call));
        }
        json!({
            "seconds": round(seconds),
            "scheduler": run.call(WEFT).map(|c| c.scheduler.name()),
            "protection": run.call(WEFT).map(|c| c.protection.name()),
            "controller": run.call(WEFT).map(|c| c.controller.to_string()),
            "version": weft_lab::VERSION,
            "calls": calls,
            "links": self.link_results(elapsed, run, WEFT),
        })
    }

    fn call_result(&self, now: Instant, elapsed: StdDuration, call: &Call) -> Value {
        let whole_seconds = elapsed.as_secs() as usize;
        let frames_sent =
            frames_sent(call) - self.frames_at_begin.get(call.name).copied().unwrap_or(0);
        call.watcher.look(|measurements| {
            let seen: Vec<&ShownPicture> = measurements
                .pictures
                .iter()
                .filter(|s| s.at >= self.began)
                .collect();
            let mut per_second = vec![0_u32; whole_seconds];
            let mut heights = vec![None; whole_seconds];
            for picture in &seen {
                let second = picture.at.saturating_since(self.began).as_secs_f64() as usize;
                if let Some(count) = per_second.get_mut(second) {
                    *count += 1;
                    heights[second] = Some(picture.height);
                }
            }
            let latency = Times::of(seen.iter().filter_map(|s| s.latency));
            let complete = Times::of(seen.iter().filter_map(|s| s.complete));
            let encoding = call.encoding.lock().expect("nobody panics with it");
            let encoding = Times::of(encoding.iter().copied());
            let bytes: usize = seen.iter().map(|s| s.bytes).sum();
            let span = Duration::from(elapsed).max(Duration::from_millis(1));
            let (freeze, count) = self.freezes(call.name, measurements, now);
            json!({
                "fps": round(seen.len() as f64 / elapsed.as_secs_f64().max(0.001)),
                "fps_per_second": per_second,
                "height_per_second": heights,
                "freeze_s": round(freeze.as_secs_f64()),
                "freeze_count": count,
                "e2e_ms_mean": latency.mean,
                "e2e_ms_p95": latency.p95,
                "encode_ms_mean": encoding.mean,
                "encode_ms_p95": encoding.p95,
                "complete_ms_mean": complete.mean,
                "complete_ms_p95": complete.p95,
                "throughput_mbps": round((Bytes(bytes as u64) / span).as_mbps()),
                "frames_sent": frames_sent,
                "frames_shown": distinct(&seen),
                "undecodable": measurements.undecodable,
                "links": self.links_of(elapsed, call),
            })
        })
    }

    /// Returns the freezes since the start, including the present one, as defined by the
    /// W3C.
    fn freezes(&self, call: &str, measurements: &Measurements, now: Instant) -> (Duration, u32) {
        let (total, count) = freezes(measurements, self.began, now);
        let before = self.freezes_at_begin.get(call).copied();
        let (total_before, count_before) = before.unwrap_or_default();
        (
            total.saturating_sub(total_before),
            count.saturating_sub(count_before),
        )
    }

    fn link_results(&self, elapsed: StdDuration, run: &DemoRun, call: &str) -> Value {
        run.call(call)
            .map_or(Value::Null, |c| self.links_of(elapsed, c))
    }

    fn links_of(&self, elapsed: StdDuration, call: &Call) -> Value {
        let span = Duration::from(elapsed).max(Duration::from_millis(1));
        let mut links = serde_json::Map::new();
        for (name, relay) in &call.relays {
            let counters = relay.counters();
            let begin = self
                .sent_at_begin
                .get(&(call.name, *name))
                .copied()
                .unwrap_or_default();
            let sent: Rate = counters.up.link.sent.bytes.saturating_sub(begin) / span;
            let Some(totals) = self.links.get(name) else {
                continue;
            };
            let capacity: Vec<f64> = totals.capacity.iter().map(|m| round(m.value())).collect();
            links.insert(
                name.as_str().to_owned(),
                json!({
                    "capacity_mbps": mean_of(&capacity).map(round),
                    "capacity_mbps_per_second": capacity,
                    "up_per_second": totals.up,
                    "sent_mbps": round(sent.as_mbps()),
                    "delay_ms": round(counters.up.delay.as_millis_f64()),
                    "late_packets": counters.late,
                    "lateness_max_ms": round(counters.lateness_max.as_millis_f64()),
                    "send_errors": counters.send_errors,
                }),
            );
        }
        Value::Object(links)
    }
}

impl LinkTotals {
    fn add(&mut self, elapsed: StdDuration, capacity: f64, up: bool) {
        let second = elapsed.as_secs() as usize;
        self.capacity
            .resize(self.capacity.len().max(second + 1), Mean::default());
        self.up.resize(self.up.len().max(second + 1), true);
        self.capacity[second].sum += capacity;
        self.capacity[second].count += 1;
        self.up[second] &= up;
    }
}

/// All freezes, including the present one.
fn freezes(measurements: &Measurements, began: Instant, now: Instant) -> (Duration, u32) {
    let mut total = measurements.freezes.total();
    let mut count = measurements.freezes.count();
    if measurements.freezes.is_frozen(now) {
        let last = measurements.pictures.last().map_or(began, |s| s.at);
        total += now.saturating_since(last);
        count += 1;
    }
    (total, count)
}

/// Freezes to subtract if measuring starts now: the present freeze loses its time so far,
/// but still counts.
fn freezes_before(measurements: &Measurements, now: Instant) -> (Duration, u32) {
    let (total, _) = freezes(measurements, now, now);
    (total, measurements.freezes.count())
}

/// Statistics of a set of durations, in milliseconds.
struct Times {
    mean: Option<f64>,
    p95: Option<f64>,
}

impl Times {
    fn of(all: impl Iterator<Item = Duration>) -> Times {
        let mut all: Vec<Duration> = all.collect();
        all.sort();
        let index = (all.len().saturating_sub(1) as f64 * 0.95).round() as usize;
        Times {
            mean: mean(all.iter().copied()).map(round),
            p95: all.get(index).map(|l| round(l.as_millis_f64())),
        }
    }
}

/// Number of distinct pictures, by their stamped numbers.
fn distinct(seen: &[&ShownPicture]) -> usize {
    seen.iter()
        .filter_map(|s| s.number)
        .collect::<BTreeSet<u32>>()
        .len()
}

fn sent_bytes(run: &DemoRun) -> BTreeMap<(&'static str, LinkName), Bytes> {
    let of_call = |call: &Call| {
        let name = call.name;
        let one = move |(link, relay): (&LinkName, &super::relay::RelayHandle)| {
            ((name, *link), relay.counters().up.link.sent.bytes)
        };
        call.relays.iter().map(one).collect::<Vec<_>>()
    };
    run.calls.iter().flat_map(of_call).collect()
}

fn frames_sent(call: &Call) -> u64 {
    call.report()
        .map_or(0, |r| r.stats.senders.iter().map(|s| s.frames).sum())
}

fn mean(values: impl Iterator<Item = Duration>) -> Option<f64> {
    mean_of(&values.map(Duration::as_millis_f64).collect::<Vec<f64>>())
}

fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
