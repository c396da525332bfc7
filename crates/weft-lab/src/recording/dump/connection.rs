//! A connection's statistics as a recording.

use weft_experiment::{CounterLog, CounterSample, ReceivedCounters, SentCounters};
use weft_units::Duration;

use super::{Connection, Report};
use crate::measure::view::{View, of_counters};
use crate::recording::periods::MBIT;
use crate::recording::record::{Format, Recording};
use crate::recording::track::{Owner, Span, Track, growth, held};
use crate::recording::values;

/// Maximum time for which a value is valid: Chromium reports each second. Chosen by us.
const STALE_S: f64 = 3.0;
/// Interval of the reports in seconds.
const STEP_S: f64 = 1.0;
/// Addition to the end of the measured time, so that rounding does not exclude the last
/// report.
const ROUNDING: Duration = Duration::from_millis(1);

/// Statistics of one kind, and the start of the recording in milliseconds since 1970.
struct Reports<'a> {
    all: Vec<&'a Report>,
    epoch_ms: f64,
}

impl Connection {
    /// Returns the recording; `None` without media.
    pub fn recording(self, browser: Option<&str>) -> Option<Recording> {
        let media = ["inbound-rtp", "outbound-rtp"];
        let times = self.reports.values();
        let times = times.filter(|report| media.contains(&report.kind.as_str()));
        let times: Vec<f64> = times.flat_map(Report::times).collect();
        let epoch_ms = times.iter().copied().min_by(f64::total_cmp)?;
        let end_ms = times.iter().copied().max_by(f64::total_cmp)?;
        let seconds = (end_ms - epoch_ms) / 1e3;
        if seconds <= 0.0 {
            return None;
        }
        let of = |kind: &str| Reports {
            all: self.reports.values().filter(|r| r.kind == kind).collect(),
            epoch_ms,
        };
        let [inbound, outbound] = media.map(of);
        let [received, sent] = [inbound.video(), outbound.video()];
        let (transport, pairs) = (of("transport"), of("candidate-pair"));
        let views = received.views(&pairs, &sent);
        let tracks = tracks(&received, &sent, [&inbound, &outbound, &transport, &pairs]);
        let mut own = values::of_views(&views);
        own.extend(inbound.packets(&outbound));
        own.extend(values::of_rates(&tracks));
        let mut recording = Recording {
            name: String::new(),
            format: Format::WebrtcInternals,
            about: self.about(browser, &received, &sent),
            seconds,
            step: STEP_S,
            tracks,
            values: values::sorted(own),
            freezes: values::frozen(&views),
            latencies: Vec::new(),
            notes: Vec::new(),
            cut: None,
        };
        recording.notes = notes(&recording, &transport);
        Some(recording)
    }

    fn about(&self, browser: Option<&str>, received: &Reports<'_>, sent: &Reports<'_>) -> String {
        let codecs = received.all.iter().chain(&sent.all);
        let codec = codecs.filter_map(|report| report.text("[codec]")).next();
        let codec = codec.map(|codec| codec.split(' ').next().unwrap_or(codec).to_owned());
        let url = self.url.clone().filter(|url| !url.is_empty());
        let parts = [browser.map(str::to_owned), codec, url];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn notes(recording: &Recording, transport: &Reports<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if transport.all.is_empty() {
        notes.push("rates are of RTP only, without RTCP and encryption".to_owned());
    }
    notes.push("rates exclude the headers of UDP and IP".to_owned());
    if recording.freezes.is_none() {
        notes
            .push("this end received no video, so there are no freezes and frame rates".to_owned());
    }
    // The page keeps this many values of each statistic.
    if recording.seconds >= 990.0 {
        notes.push(
            "the page keeps the last 1000 reports, so the beginning of the call may be missing"
                .to_owned(),
        );
    }
    notes
}

/// Returns the quantities over time.
fn tracks(
    received: &Reports<'_>,
    sent: &Reports<'_>,
    [inbound, outbound, transport, pairs]: [&Reports<'_>; 4],
) -> Vec<Track> {
    let rate = |names: [&[&str]; 2], rtp: &Reports<'_>| match transport.all.is_empty() {
        true => rtp.rates(names[0]),
        false => transport.rates(names[1]),
    };
    let rates = [
        (
            "rate_mbps",
            rate(
                [
                    &["bytesReceived", "headerBytesReceived"],
                    &["bytesReceived"],
                ],
                inbound,
            ),
        ),
        (
            "sent_mbps",
            rate(
                [&["bytesSent", "headerBytesSent"], &["bytesSent"]],
                outbound,
            ),
        ),
    ];
    let rates = rates.map(|(name, spans)| Track::new((name, "Mbit/s"), Owner::Call, moving(spans)));
    let target = sent.sum(|report, at| Some(report.number("targetBitrate", at)? / 1e6));
    let fps = received.mean_rates(&["framesDecoded"]);
    let height = received.sum(|report, at| report.number("frameHeight", at));
    let count = received.all.len().max(1) as f64;
    let height = height.into_iter().map(|span| Span {
        value: span.value / count,
        ..span
    });
    let rtt = pairs.sum(|report, at| Some(rtt_s(report, at)? * 1e3));
    let others = [
        Track::new(("target_mbps", "Mbit/s"), Owner::Call, target),
        Track::new(("fps", "1/s"), Owner::Call, fps),
        Track::new(("height_px", "px"), Owner::Call, height.collect()),
        Track::new(("rtt_ms", "ms"), Owner::Call, rtt),
    ];
    rates.into_iter().chain(others).flatten().collect()
}

/// Returns the spans, unless nothing ever changed because this end only sent, or only
/// received.
fn moving(spans: Vec<Span>) -> Vec<Span> {
    match spans.iter().any(|span| span.value > 0.0) {
        true => spans,
        false => Vec::new(),
    }
}

/// Returns the round-trip time of a nominated pair.
fn rtt_s(pair: &Report, at: usize) -> Option<f64> {
    let nominated = pair.number("nominated", at)?;
    pair.number("currentRoundTripTime", at)
        .filter(|_| nominated > 0.0)
}

impl<'a> Reports<'a> {
    fn video(&self) -> Reports<'a> {
        let all = self.all.iter().copied();
        Reports {
            all: all
                .filter(|report| report.text("kind") == Some("video"))
                .collect(),
            epoch_ms: self.epoch_ms,
        }
    }

    /// Returns the times of a report in seconds since the start of the recording.
    fn times(&self, report: &Report) -> Vec<f64> {
        let times = report.times().into_iter();
        times.map(|ms| (ms - self.epoch_ms) / 1e3).collect()
    }

    /// Returns the samples of a quantity of a report.
    fn samples(
        &self,
        report: &Report,
        of: &impl Fn(&Report, usize) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        let times = self.times(report).into_iter().enumerate();
        let samples = times.filter_map(|(at, time)| Some((time, of(report, at)?)));
        samples.filter(|(time, _)| *time >= 0.0).collect()
    }

    /// Returns the sum over the reports of a quantity that is valid until the next
    /// report.
    fn sum(&self, of: impl Fn(&Report, usize) -> Option<f64>) -> Vec<Span> {
        let all = self.all.iter();
        let each = all.map(|report| held(&self.samples(report, &of), STALE_S));
        added(each.collect())
    }

    /// Returns the rate in Mbit/s from these byte counters, over all reports.
    fn rates(&self, counters: &[&str]) -> Vec<Span> {
        self.grown(counters, MBIT)
    }

    /// Returns the mean growth per second of these counters over the reports.
    fn mean_rates(&self, counters: &[&str]) -> Vec<Span> {
        self.grown(counters, 1.0 / self.all.len().max(1) as f64)
    }

    fn grown(&self, counters: &[&str], scale: f64) -> Vec<Span> {
        let sum = |report: &Report, at: usize| {
            let values = counters.iter().map(|name| report.number(name, at));
            values.sum::<Option<f64>>()
        };
        let each = self
            .all
            .iter()
            .map(|report| growth(&self.samples(report, &sum)));
        let spans = added(each.collect()).into_iter();
        let spans = spans.map(|span| Span {
            value: span.value * scale,
            ..span
        });
        spans.collect()
    }

    /// Returns the view of each video stream that this end receives. The statistics of the
    /// sent stream and of the path are those of the connection.
    fn views(&self, pairs: &Reports<'_>, sent: &Reports<'_>) -> Vec<View> {
        let rtts: Vec<(f64, f64)> = pairs
            .all
            .iter()
            .flat_map(|pair| pairs.samples(pair, &|pair, at| Some(rtt_s(pair, at)? * 1e3)))
            .collect();
        let mut views: Vec<View> = self.all.iter().filter_map(|r| self.view(r)).collect();
        let rtt = crate::statistics::mean(rtts.iter().map(|(_, rtt)| *rtt));
        let cpu = sent.all.iter().filter_map(|report| {
            let samples = sent.samples(report, &|r, at| r.number("qualityLimitationDurations", at));
            Some(samples.last()?.1 - samples.first()?.1)
        });
        let cpu = crate::statistics::mean(cpu);
        if views.is_empty() && (rtt.is_some() || cpu.is_some()) {
            views.push(View::default());
        }
        for view in &mut views {
            view.client.rtt_ms = rtt;
            view.client.cpu_limited_s = cpu;
        }
        views
    }

    fn view(&self, report: &Report) -> Option<View> {
        let times = self.times(report);
        let mut jitter_buffer = None;
        let mut samples = Vec::new();
        for (at, time) in times.iter().enumerate() {
            let emitted = report.number("jitterBufferEmittedCount", at);
            let buffered = report.number("jitterBufferDelay", at).zip(emitted);
            let waited = buffered.zip(jitter_buffer);
            let waited = waited.and_then(|(now, before): ((f64, f64), (f64, f64))| {
                let frames = now.1 - before.1;
                (frames > 0.0).then(|| (now.0 - before.0) / frames * 1e3)
            });
            jitter_buffer = buffered.or(jitter_buffer);
            let number = |name| report.number(name, at);
            samples.push(CounterSample {
                at_s: *time,
                rtt_ms: None,
                // Quantizer of the pictures that this end shows.
                sent: Some(SentCounters {
                    frames: number("framesDecoded"),
                    quantizer_sum: number("qpSum"),
                    keyframe_requests: number("pliCount")
                        .map(|pli| pli + number("firCount").unwrap_or(0.0)),
                    ..SentCounters::default()
                }),
                received: Some(ReceivedCounters {
                    frames: number("framesDecoded"),
                    dropped: number("framesDropped"),
                    freezes: number("freezeCount"),
                    freeze_s: number("totalFreezesDuration"),
                    height: number("frameHeight"),
                    jitter_buffer_ms: waited,
                    useful_bytes: number("bytesReceived"),
                    ..ReceivedCounters::default()
                }),
            });
        }
        let (first, last) = (*times.first()?, *times.last()?);
        // The counters of the first report cover the time before it.
        let start = Duration::from_secs_f64(first.max(0.0)) + ROUNDING;
        let end = Duration::from_secs_f64(last.max(0.0)) + ROUNDING;
        (end > start).then(|| of_counters(&CounterLog { samples }, (start, end)))
    }

    /// Returns packets and loss, for those that this end received and those that it sent.
    fn packets(&self, outbound: &Reports<'_>) -> Vec<(String, f64)> {
        let total = |reports: &Reports<'_>, name: &str| {
            let each = reports.all.iter().filter_map(|report| {
                let samples = reports.samples(report, &|report, at| report.number(name, at));
                Some(samples.last()?.1 - samples.first()?.1)
            });
            let each: Vec<f64> = each.collect();
            (!each.is_empty()).then(|| each.iter().sum::<f64>())
        };
        let received = total(self, "packetsReceived");
        let lost = total(self, "packetsLost").map(|lost| lost.max(0.0));
        let loss = received.zip(lost);
        let loss = loss.filter(|(received, lost)| received + lost > 0.0);
        let loss = loss.map(|(received, lost)| lost / (received + lost));
        let all = [
            ("packets_received", received),
            ("packets_sent", total(outbound, "packetsSent")),
            ("loss", loss),
        ];
        let known = all.into_iter();
        known
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}

/// Returns the sum of several lists of spans.
fn added(lists: Vec<Vec<Span>>) -> Vec<Span> {
    let mut lists = lists.into_iter().filter(|list| !list.is_empty());
    let Some(first) = lists.next() else {
        return Vec::new();
    };
    let rest: Vec<Vec<Span>> = lists.collect();
    if rest.is_empty() {
        return first;
    }
    let all = || rest.iter().chain([&first]).flatten();
    let mut edges: Vec<f64> = all().flat_map(|span| [span.from, span.until]).collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    let mut positions = vec![0; rest.len() + 1];
    let mut sums = Vec::new();
    for pair in edges.windows(2) {
        let mut sum = None;
        for (list, position) in rest.iter().chain([&first]).zip(&mut positions) {
            while list
                .get(*position)
                .is_some_and(|span| span.until <= pair[0])
            {
                *position += 1;
            }
            if let Some(span) = list.get(*position).filter(|span| span.from <= pair[0]) {
                sum = Some(sum.unwrap_or(0.0) + span.value);
            }
        }
        sums.extend(sum.map(|value| Span {
            from: pair[0],
            until: pair[1],
            value,
        }));
    }
    sums
}
