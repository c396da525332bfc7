//! Events of one end of a call, from the record of its run.

use std::path::Path;

use serde_json::{Value, json};
use weft_experiment::{CallRecord, FlowDetail, PathSample, Record, Setup, SideRecord};
use weft_session::PathState;
use weft_trace::call::{PathMetrics, path_state};
use weft_trace::qlog::{Epoch, Event as QlogEvent, QlogWriter, VantagePoint};
use weft_units::Instant;

use super::calls::{CallEnd, calls, links};
use super::files::{TraceError, TraceFile};

type Event = (Instant, &'static str, Value);

/// Writes the logs of both ends of each call.
pub fn logs(
    folder: &Path,
    run: &str,
    setup: &Setup,
    record: &Record,
) -> Vec<Result<TraceFile, TraceError>> {
    let mut logs = Vec::new();
    for index in calls(setup) {
        let FlowDetail::Call(call) = &record.flows[index].detail else {
            continue;
        };
        for end in CallEnd::BOTH {
            logs.push(log(folder, run, (setup, index), (call, end)));
        }
    }
    logs
}

fn log(
    folder: &Path,
    run: &str,
    (setup, index): (&Setup, usize),
    (call, end): (&CallRecord, CallEnd),
) -> Result<TraceFile, TraceError> {
    let flow = &setup.flows[index];
    let file = TraceFile::create(folder, (run, &flow.name, end.name(), "sqlog"))?;
    let path = file.path().to_owned();
    let (own, other, vantage_point) = match end {
        CallEnd::Caller => (&call.caller, &call.callee, VantagePoint::Client),
        CallEnd::Callee => (&call.callee, &call.caller, VantagePoint::Server),
    };
    // Number of the other end's cameras, whose streams come before those of its
    // microphones.
    let sides = flow.traffic().media().map(|call| match end {
        CallEnd::Caller => &call.callee,
        CallEnd::Callee => &call.caller,
    });
    let cameras = sides.map_or(0, |side| side.cameras.len());
    let links: Vec<String> = flow
        .routes
        .iter()
        .map(|route| links(setup, route))
        .collect();
    let title = format!(
        "{run}, {}, {}, weft {}",
        flow.name,
        end.name(),
        crate::VERSION
    );
    let begun = QlogWriter::new(file, &title, vantage_point, Epoch::Unknown);
    let written = begun.and_then(|mut writer| {
        for (at, name, data) in events((own, other), cameras, &links) {
            writer.event(&QlogEvent {
                at: at - Instant::ZERO,
                group: None,
                name,
                data: &data,
            })?;
        }
        writer.finish()
    });
    written.map_err(|error| TraceError::new(&path, error))
}

/// Returns the events of an end in order of time: of its paths, controllers and encoders,
/// and of the frames that it shows. The first streams are those of `cameras`.
fn events(
    (own, other): (&SideRecord, &SideRecord),
    cameras: usize,
    links: &[String],
) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for (path, links) in links.iter().enumerate() {
        let data = json!({ "path": path, "links": links });
        let begins = own.series.first().map_or(Instant::ZERO, |sample| sample.at);
        let first = own.path_changes.first().map_or(begins, |change| change.at);
        events.push((begins.min(first), "call:path_assigned", data));
    }
    let mut states = vec![None; links.len()];
    for change in &own.path_changes {
        let path = usize::from(change.path.0);
        let old = states
            .get_mut(path)
            .and_then(|old| old.replace(change.state));
        let old = old.map(PathState::name);
        let data = path_state(path as u64, change.state.name(), old);
        events.push((change.at, "call:path_state_updated", data));
    }
    let mut before = vec![Value::Null; links.len()];
    for sample in &own.series {
        let data = json!({
            "target_rate": sample.target_rate.as_bps(),
            "encoded_bytes": sample.encoded.0,
        });
        events.push((sample.at, "call:encoders_updated", data));
        for (path, (metrics, before)) in sample.paths.iter().zip(&mut before).enumerate() {
            let data = path_metrics(path, metrics);
            if data != *before {
                before.clone_from(&data);
                events.push((sample.at, "call:path_metrics_updated", data));
            }
        }
    }
    for (number, stream) in own.streams.iter().enumerate() {
        for at in &stream.keyframe_requests {
            events.push((*at, "call:keyframe_requested", json!({ "stream": number })));
        }
        for (frame, record) in stream.frames.iter().enumerate() {
            let data = json!({
                "stream": number, "frame": frame, "bytes": record.size.0,
                "keyframe": record.keyframe,
            });
            events.push((record.captured_at, "call:frame_encoded", data));
        }
    }
    for (number, stream) in other.streams.iter().enumerate() {
        let kind = if number < cameras { "video" } else { "audio" };
        for (frame, record) in stream.frames.iter().enumerate() {
            let Some(shown) = record.shown else { continue };
            let ms = |from: Instant| (shown.at.saturating_since(from)).as_nanos() as f64 / 1e6;
            let data = json!({
                "stream": number, "kind": kind, "frame": frame,
                "latency": ms(record.captured_at),
                "waited": ms(shown.complete_at),
            });
            events.push((shown.at, "call:frame_shown", data));
        }
    }
    events.sort_by_key(|(at, ..)| *at);
    events
}

fn path_metrics(path: usize, sample: &PathSample) -> Value {
    let metrics = PathMetrics {
        path: path as u64,
        target_rate: sample.target_rate,
        rtt: sample.rtt,
        loss: sample.loss,
        queued: sample.queued,
        marked_packets: sample.marked_packets,
        ecn: sample.ecn.to_string(),
        controller_state: sample.controller_state,
    };
    let internals = sample.internals.iter();
    metrics.data(internals.map(|internal| (internal.name, internal.value)))
}
