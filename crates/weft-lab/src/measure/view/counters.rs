//! Counters of a client, as differences between the ends of the measured time.

use weft_experiment::{CounterLog, CounterSample, FlowDetail, ReceivedCounters, SentCounters};
use weft_units::{Duration, Instant};

use super::{ClientView, Freeze, Picture, Useful, View};
use crate::measure::run::Run;
use crate::statistics::mean;

/// Returns the counters that the ends of a flow reported.
#[must_use]
pub fn logs<'a>(run: &Run<'a>, flow: usize) -> &'a [CounterLog] {
    match &run.record.flows[flow].detail {
        FlowDetail::Counted(logs) => logs,
        _ => &[],
    }
}

/// Returns a view for each end of a flow.
pub fn views(run: &Run<'_>, flow: usize) -> Vec<View> {
    let (from, end) = run.active(flow);
    let logs = logs(run, flow).iter();
    logs.map(|log| view(log, (from, end))).collect()
}

/// Returns the view of one end's counters within the window.
#[must_use]
pub fn view(log: &CounterLog, window: (Duration, Duration)) -> View {
    Stretch::of(log, window).view()
}

/// Samples of one end.
struct Stretch<'a> {
    /// The last sample before the measured time, if there is one.
    before: Option<&'a CounterSample>,
    all: &'a [CounterSample],
    within: Vec<&'a CounterSample>,
    /// Time in seconds since the run began.
    start: f64,
    end: f64,
}

impl<'a> Stretch<'a> {
    fn of(log: &'a CounterLog, window: (Duration, Duration)) -> Stretch<'a> {
        let (start, end) = (window.0.as_secs_f64(), window.1.as_secs_f64());
        let all = log.samples.iter();
        Stretch {
            before: all.clone().rfind(|s| s.at_s < start),
            all: &log.samples,
            within: all.filter(|s| (start..=end).contains(&s.at_s)).collect(),
            start,
            end,
        }
    }

    fn view(&self) -> View {
        let within = || self.within.iter();
        let received = || within().filter_map(|s| s.received.as_ref());
        let encoded = self.sent(|s| s.frames).filter(|frames| *frames > 0.0);
        let quantizer = || Some(self.sent(|s| s.quantizer_sum)? / encoded?);
        // Pictures shown at the end may be reported slightly later.
        let told = self.all.iter().filter_map(|s| s.received.as_ref());
        let latencies = told.flat_map(|r| &r.latencies);
        let shown_within = |at: f64| (self.start..=self.end).contains(&at);
        View {
            seconds: self.seconds(),
            shown: self.received(|r| r.frames),
            freezes: self.freezes(),
            dropped: self.received(|r| r.dropped),
            keyframe_requests: self.sent(|s| s.keyframe_requests),
            latency: latencies
                .filter(|(at, _)| shown_within(*at))
                .map(|(_, ms)| *ms)
                .collect(),
            picture: Picture {
                quantizer: quantizer(),
                height: mean(received().filter_map(|r| r.height)),
                brisque: mean(received().flat_map(|r| r.brisque.iter().copied())),
                ..Picture::default()
            },
            useful: self.useful(),
            client: ClientView {
                rtt_ms: mean(within().filter_map(|s| s.rtt_ms)),
                jitter_buffer_ms: mean(received().filter_map(|r| r.jitter_buffer_ms)),
                cpu_limited_s: self.sent(|s| s.cpu_limited_s),
            },
            ..View::default()
        }
    }

    fn seconds(&self) -> f64 {
        self.end - self.start
    }

    fn received(&self, of: fn(&ReceivedCounters) -> Option<f64>) -> Option<f64> {
        self.grown(|sample| of(sample.received.as_ref()?))
    }

    fn sent(&self, of: fn(&SentCounters) -> Option<f64>) -> Option<f64> {
        self.grown(|sample| of(sample.sent.as_ref()?))
    }

    /// Returns the growth of a counter.
    fn grown(&self, of: impl Fn(&CounterSample) -> Option<f64>) -> Option<f64> {
        let last = self.within.iter().rev().find_map(|sample| of(sample))?;
        Some(last - self.before.and_then(&of).unwrap_or(0.0))
    }

    /// Clients count a freeze when it ends; this adds one that lasts until the end.
    fn freezes(&self) -> Option<Vec<Freeze>> {
        let mut all = self.ended()?;
        let (count, time) = (1.0, self.unfinished()?);
        all.extend(time.map(|begin| Freeze {
            begin: instant(begin),
            end: instant(self.end),
            count,
        }));
        Some(all)
    }

    /// Returns the growth of the freeze counters between reports. The counters do not
    /// show the start of a freeze, so it is placed as late as possible.
    fn ended(&self) -> Option<Vec<Freeze>> {
        let counters = |sample: &CounterSample| {
            let received = sample.received.as_ref()?;
            Some((received.freezes?, received.freeze_s?))
        };
        let known = self.within.iter();
        let known: Vec<_> = known.filter_map(|s| Some((s.at_s, counters(s)?))).collect();
        known.last()?;
        let earliest = self.before.map_or(self.start, |sample| sample.at_s);
        let mut before = self.before.and_then(counters).unwrap_or_default();
        let grown = known.into_iter().filter_map(|(at, now)| {
            let (count, seconds) = (now.0 - before.0, now.1 - before.1);
            before = now;
            (count > 0.0 || seconds > 0.0).then(|| Freeze {
                begin: instant((at - seconds.max(0.0)).max(earliest)),
                end: instant(at),
                count,
            })
        });
        Some(grown.collect())
    }

    /// Returns the start of a freeze that lasts until the end, if there is one; the outer
    /// option is `None` if no report mentions pictures.
    fn unfinished(&self) -> Option<Option<f64>> {
        /// Minimum time without a picture that counts, given that clients report every
        /// 500 ms or every second. Chosen by us.
        const STANDING_S: f64 = 0.4;
        let frames = |sample: &CounterSample| sample.received.as_ref()?.frames;
        let known = self.within.iter().rev();
        let (last, all) = known.filter_map(|s| Some((s.at_s, frames(s)?))).next()?;
        let has_all = |sample: &&&CounterSample| frames(sample) == Some(all);
        let is_before = self.before.is_some_and(|before| has_all(&&before));
        let newest = self.within.iter().find(has_all);
        let newest = newest.filter(|_| all > 0.0 && !is_before);
        let since = newest.map_or(self.start, |newest| newest.at_s);
        // A low frame rate is not a freeze.
        let shown = self.received(|r| r.frames)?;
        let usual = newest.map_or(0.0, |_| 3.0 * self.seconds() / shown.max(1.0));
        Some((last - since >= STANDING_S.max(usual)).then_some(since))
    }

    /// Returns the useful bytes between the samples that report them.
    fn useful(&self) -> Option<Useful> {
        let of = |sample: &CounterSample| sample.received.as_ref()?.useful_bytes;
        let known = self.within.iter().rev();
        let (last, bytes) = known.filter_map(|s| Some((s.at_s, of(s)?))).next()?;
        let before = self.before.and_then(|s| Some((s.at_s, of(s)?)));
        let (first, earlier) = before.unwrap_or((self.start, 0.0));
        (last > first).then_some(Useful {
            bytes: bytes - earlier,
            seconds: last - first,
        })
    }
}

fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}
