//! Metrics and series of what clients say of themselves. They mean what those
//! of `metrics` mean; their sources are counts that clients take, so values
//! are differences between the ends of the measured time.

use weft_experiment::Setup;
use weft_units::Duration;

use super::latency::latencies;
use super::testbed::ClientLog;
use super::testbed::line::{Received, Sample, Sent};
use crate::measure::metrics;
use crate::measure::run::Value;
use crate::measure::series::Series;
use crate::statistics::{mean, quantile};

/// What clients wrote in a run, and how its clock stands to that of the clients.
pub struct ClientLogs<'a> {
    /// What was run.
    pub setup: &'a Setup,
    /// The flows under test.
    pub focus: &'a [usize],
    /// What comes before does not count.
    pub from: Duration,
    /// What the clients said.
    pub logs: &'a [ClientLog],
    /// When the run began, milliseconds since 1970.
    pub began_ms: f64,
}

type Of = fn(&Stretch<'_>) -> Option<f64>;
type Quantity = fn(&Sample) -> Option<f64>;

/// The samples of one end within the measured time.
struct Stretch<'a> {
    /// The last one before, if there is any.
    before: Option<&'a Sample>,
    within: Vec<&'a Sample>,
    seconds: f64,
    /// When it begins, milliseconds since 1970.
    start_ms: f64,
}

const METRICS: &[(&str, Of)] = &[
    ("fps", |s| Some(s.received(|r| r.frames)? / s.seconds)),
    ("freeze_s", |s| Some(s.freezes()?.1)),
    ("freeze_count", |s| Some(s.freezes()?.0)),
    ("freeze_ms_mean", |s| {
        let (count, seconds) = s.freezes()?;
        (count > 0.0).then(|| seconds * 1e3 / count)
    }),
    ("frames_dropped", |s| s.received(|r| r.dropped)),
    ("keyframe_requests", |s| s.sent(|r| r.plis)),
    ("height_px", |s| {
        let heights = s.within.iter();
        mean(heights.filter_map(|s| s.received.as_ref()?.height))
    }),
    ("qp", |s| {
        let frames = s.sent(|r| r.frames).filter(|frames| *frames > 0.0)?;
        Some(s.sent(|r| r.quantizer_sum)? / frames)
    }),
    ("rtt_ms_mean", |s| {
        mean(s.within.iter().filter_map(|s| s.rtt_ms))
    }),
    ("jitter_buffer_ms", |s| {
        let samples = s.within.iter();
        mean(samples.filter_map(|s| s.received.as_ref()?.jitter_buffer_ms))
    }),
    ("cpu_limited_s", |s| s.sent(|r| r.cpu_limited_s)),
];

impl Stretch<'_> {
    fn received(&self, of: fn(&Received) -> Option<f64>) -> Option<f64> {
        self.grown(|sample| of(sample.received.as_ref()?))
    }

    fn sent(&self, of: fn(&Sent) -> Option<f64>) -> Option<f64> {
        self.grown(|sample| of(sample.sent.as_ref()?))
    }

    /// How much a count has grown.
    fn grown(&self, of: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
        let last = self.within.iter().rev().find_map(|sample| of(sample))?;
        Some(last - self.before.and_then(&of).unwrap_or(0.0))
    }

    /// How many there were and how long they were together, seconds. Clients
    /// count a freeze when it ends; that which stands at the end is added.
    fn freezes(&self) -> Option<(f64, f64)> {
        /// Clients tell each 500 ms or each second: so long at least no
        /// picture came. Chosen by us.
        const STANDING_MS: f64 = 400.0;
        let frames = |sample: &Sample| sample.received.as_ref()?.frames;
        let samples = self.within.iter().rev();
        let (last_ms, all) = samples
            .filter_map(|s| Some((s.unix_ms, frames(s)?)))
            .next()?;
        let ended = (
            self.received(|r| r.freezes)?,
            self.received(|r| r.freeze_s)?,
        );
        let has_all = |sample: &&&Sample| frames(sample) == Some(all);
        let is_before = self.before.is_some_and(|before| has_all(&&before));
        let newest = self.within.iter().find(has_all);
        let newest = newest.filter(|_| all > 0.0 && !is_before);
        let since = newest.map_or(self.start_ms, |newest| newest.unix_ms);
        // Few pictures a second are no freeze.
        let shown = self.received(|r| r.frames)?;
        let usual = newest.map_or(0.0, |_| 3e3 * self.seconds / shown.max(1.0));
        if last_ms - since < STANDING_MS.max(usual) {
            return Some(ended);
        }
        let standing = (self.start_ms - since) / 1e3 + self.seconds;
        Some((ended.0 + 1.0, ended.1 + standing))
    }

    /// Mbit/s that were of use, between the samples that tell of them.
    fn goodput(&self) -> Option<f64> {
        let of = |sample: &Sample| sample.received.as_ref()?.goodput_bytes;
        let samples = self.within.iter().rev();
        let (last, bytes) = samples.filter_map(|s| Some((s.unix_ms, of(s)?))).next()?;
        let before = self.before.and_then(|s| Some((s.unix_ms, of(s)?)));
        let (first, earlier) = before.unwrap_or((self.start_ms, 0.0));
        (last > first).then(|| (bytes - earlier) * 8.0 / 1e3 / (last - first))
    }
}

impl ClientLogs<'_> {
    /// The values that exist, as `metrics::measure` gives them.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        let mut values = Vec::new();
        let several = self.setup.flows.len() > 1;
        for (name, of) in METRICS {
            let flow = |flow: usize| mean(self.stretches(flow).iter().filter_map(of));
            let whole = mean(self.focus.iter().filter_map(|&each| flow(each)));
            values.extend(whole.map(|value| ((*name).to_owned(), value)));
            for (index, setup) in self.setup.flows.iter().enumerate().filter(|_| several) {
                let value = flow(index).map(|value| (format!("{name}.{}", setup.name), value));
                values.extend(value);
            }
        }
        self.add_sums(&mut values);
        values.retain(|(name, value)| value.is_finite() && metrics::find(name).is_some());
        values
    }

    /// What is no mean of the flows: goodput is their sum, latency is over
    /// all pictures.
    fn add_sums(&self, values: &mut Vec<Value>) {
        let goodput = |flows: &[usize]| {
            let stretches = flows.iter().flat_map(|&flow| self.stretches(flow));
            let rates = stretches.filter_map(|stretch| stretch.goodput());
            rates.reduce(|sum, rate| sum + rate)
        };
        let pictures = |flows: &[usize]| {
            let each = flows.iter().flat_map(|&flow| {
                let (start, stop) = self.window(flow);
                let unix = |time: Duration| self.began_ms + time.as_secs_f64() * 1e3;
                latencies(self.logs, flow, (unix(start), unix(stop)))
            });
            let mut all: Vec<f64> = each.collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let mut add = |suffix: &str, flows: &[usize]| {
            let all = pictures(flows);
            let found = [
                ("goodput_mbps", goodput(flows)),
                ("e2e_ms_mean", mean(all.iter().copied())),
                ("e2e_ms_p95", quantile(&all, 0.95)),
            ];
            for (name, value) in found {
                values.extend(value.map(|value| (format!("{name}{suffix}"), value)));
            }
        };
        add("", self.focus);
        if self.setup.flows.len() > 1 {
            for (index, setup) in self.setup.flows.iter().enumerate() {
                add(&format!(".{}", setup.name), &[index]);
            }
        }
    }

    /// When a flow ran and was measured.
    fn window(&self, flow: usize) -> (Duration, Duration) {
        let setup = &self.setup.flows[flow];
        let stop = setup.stops_at(self.setup.duration);
        (setup.start.max(self.from).min(stop), stop)
    }

    /// Samples of both ends of a flow.
    fn stretches(&self, flow: usize) -> Vec<Stretch<'_>> {
        let (start, stop) = self.window(flow);
        let at = |sample: &Sample| (sample.unix_ms - self.began_ms) / 1e3;
        let logs = self.logs.iter().filter(|log| log.flow == flow);
        let stretch = logs.map(|log| {
            let before = log.samples.iter().rfind(|s| at(s) < start.as_secs_f64());
            let after = log.samples.iter().filter(|s| at(s) >= start.as_secs_f64());
            Stretch {
                before,
                within: after.filter(|s| at(s) <= stop.as_secs_f64()).collect(),
                seconds: (stop - start).as_secs_f64(),
                start_ms: self.began_ms + start.as_secs_f64() * 1e3,
            }
        });
        stretch.collect()
    }

    /// Adds what clients told over time.
    pub fn add_series(&self, series: &mut Series) {
        let columns: &[(&'static str, &'static str, Quantity)] = &[
            ("target_mbps", "Mbit/s", |s| s.sent.as_ref()?.target_mbps),
            ("fps", "1/s", |s| s.received.as_ref()?.fps),
            ("rtt_ms", "ms", |s| s.rtt_ms),
            ("height_px", "px", |s| s.received.as_ref()?.height),
            ("jitter_buffer_ms", "ms", |s| {
                s.received.as_ref()?.jitter_buffer_ms
            }),
        ];
        for (flow, setup) in self.setup.flows.iter().enumerate() {
            for (name, unit, of) in columns {
                let rows = series.t.iter().map(|t| self.at(flow, *t, *of));
                let values: Vec<Option<f64>> = rows.collect();
                if values.iter().any(Option::is_some) {
                    series.add(name, &setup.name, unit, values);
                }
            }
        }
    }

    /// What the first end that knows it said last, at most a second before.
    fn at(&self, flow: usize, t: f64, of: Quantity) -> Option<f64> {
        const STALE_S: f64 = 1.0;
        let logs = self.logs.iter().filter(|log| log.flow == flow);
        let mut found = logs.map(|log| {
            let at = |s: &Sample| (s.unix_ms - self.began_ms) / 1e3;
            let last = log.samples.iter().rfind(|s| at(s) <= t)?;
            of(last).filter(|_| t - at(last) <= STALE_S)
        });
        found.find_map(|value| value)
    }

    /// What must be known of the clients to judge the run.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        /// W3C webrtc-stats counts from the first frame on; shorter is the
        /// encoder's start. Chosen by us.
        const LIMITED_S: f64 = 1.0;
        let mut notes = Vec::new();
        for log in self.logs {
            let flow = &self.setup.flows[log.flow].name;
            if let Some(about) = &log.about {
                let words =
                    about
                        .as_object()
                        .into_iter()
                        .flatten()
                        .map(|(key, value)| match value {
                            serde_json::Value::String(text) => format!("{key} {text}"),
                            other => format!("{key} {other}"),
                        });
                let end = log.end.name();
                notes.push(format!(
                    "flow `{flow}`, {end}: {}",
                    words.collect::<Vec<_>>().join(", ")
                ));
            }
            if log.has_failed {
                notes.push(format!(
                    "flow `{flow}`, {}: its connection was lost for good: what comes after is no call",
                    log.end.name()
                ));
            }
            let limited = log
                .samples
                .iter()
                .rev()
                .find_map(|s| s.sent.as_ref()?.cpu_limited_s);
            if let Some(limited) = limited.filter(|s| *s > LIMITED_S) {
                notes.push(format!(
                    "flow `{flow}`: the processor limited the pictures for {limited:.1} s \
                     or left some out: this measures the machine, not the link; use smaller pictures \
                     or a faster machine"
                ));
            }
        }
        notes
    }
}

#[cfg(test)]
mod tests;
