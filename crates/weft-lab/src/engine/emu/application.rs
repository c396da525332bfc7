//! Converts the counters that clients report into counters of each flow's ends.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use weft_experiment::{
    CounterLog, CounterSample, FlowDetail, FlowKind, ReceivedCounters, SentCounters, Setup,
};
use weft_media::metrics::Brisque;

use super::latency::latencies;
use super::testbed::ClientLog;
use super::testbed::line::{Luma, Received, Sample, Sent};

/// Returns the counters of the ends, by flow; `began_ms` is the start of the run in
/// milliseconds since 1970. Scores the clients' pictures here, if a model is installed.
#[must_use]
pub fn details(
    setup: &Setup,
    logs: &[ClientLog],
    began_ms: f64,
    judge: Option<&Brisque>,
) -> Vec<FlowDetail> {
    let of = |flow: usize| {
        let own = logs.iter().filter(move |log| log.flow == flow);
        let counted = own.map(|log| {
            let others = logs.iter();
            let others = others.filter(|other| other.flow == flow && other.end != log.end);
            let filmed = latencies(log, others);
            let samples = log.samples.iter().zip(filmed);
            CounterLog {
                samples: samples
                    .map(|(s, filmed)| sample(s, filmed, began_ms, judge))
                    .collect(),
            }
        });
        let counted: Vec<CounterLog> = counted.collect();
        // A model reports its rate but no pictures.
        let is_model = matches!(setup.flows[flow].kind, FlowKind::App(_));
        match counted.is_empty() || is_model {
            true => FlowDetail::Packets,
            false => FlowDetail::Counted(counted),
        }
    };
    (0..setup.flows.len()).map(of).collect()
}

fn sample(
    sample: &Sample,
    latencies: Vec<(f64, f64)>,
    began_ms: f64,
    judge: Option<&Brisque>,
) -> CounterSample {
    let at_s = |unix_ms: f64| (unix_ms - began_ms) / 1e3;
    let latencies = latencies
        .into_iter()
        .map(|(at, ms)| (at_s(at), ms))
        .collect();
    CounterSample {
        at_s: at_s(sample.unix_ms),
        rtt_ms: sample.rtt_ms,
        sent: sample.sent.as_ref().map(sent),
        received: sample.received.as_ref().map(|received| ReceivedCounters {
            latencies,
            brisque: scores(received, judge),
            ..counted(received)
        }),
    }
}

fn sent(sent: &Sent) -> SentCounters {
    SentCounters {
        frames: sent.frames,
        quantizer_sum: sent.quantizer_sum,
        target_mbps: sent.target_mbps,
        keyframe_requests: sent.plis,
        cpu_limited_s: sent.cpu_limited_s,
    }
}

fn counted(received: &Received) -> ReceivedCounters {
    ReceivedCounters {
        frames: received.frames,
        fps: received.fps,
        dropped: received.dropped,
        freezes: received.freezes,
        freeze_s: received.freeze_s,
        height: received.height,
        jitter_buffer_ms: received.jitter_buffer_ms,
        useful_bytes: received.goodput_bytes,
        latencies: Vec::new(),
        brisque: Vec::new(),
    }
}

/// Returns the client's scores, or the scores of the pictures that it passed on.
fn scores(received: &Received, judge: Option<&Brisque>) -> Vec<f64> {
    let handed = received.picture.as_ref().zip(judge);
    let judged = handed.and_then(|(picture, judge)| score(picture, judge));
    received.brisque.iter().copied().chain(judged).collect()
}

/// Returns the score; `None` for invalid or unscorable pictures.
fn score(picture: &Luma, judge: &Brisque) -> Option<f64> {
    let luma = STANDARD.decode(&picture.base64).ok()?;
    let is_whole = picture.width.checked_mul(picture.height) == Some(luma.len());
    let score = is_whole.then(|| judge.score_luma(picture.width, picture.height, &luma));
    score.flatten()
}

/// Whether a client has passed on pictures to score.
#[must_use]
pub fn has_pictures(logs: &[ClientLog]) -> bool {
    let samples = logs.iter().flat_map(|log| &log.samples);
    let mut received = samples.filter_map(|sample| sample.received.as_ref());
    received.any(|received| received.picture.is_some())
}

/// Returns the notes about the clients that readers need to judge the run.
#[must_use]
pub fn notes(setup: &Setup, logs: &[ClientLog]) -> Vec<String> {
    /// Threshold of a note in seconds. W3C webrtc-stats counts from the first frame;
    /// shorter times are the start of the encoder. Chosen by us.
    const LIMITED_S: f64 = 1.0;
    let mut notes = Vec::new();
    for log in logs {
        let flow = &setup.flows[log.flow].name;
        if let Some(about) = &log.about {
            let words = about
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
                "flow `{flow}`, {}: its connection was lost permanently: later results are not those of a call",
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

#[cfg(test)]
mod tests;
