//! A camera's frames from one end to the other.

use weft_experiment::{CallRecord, FlowDetail, FrameRecord, StreamRecord};
use weft_units::{Duration, Freezes, Instant};

use super::{Frozen, Picture, Useful, View};
use crate::measure::run::Run;
use crate::statistics::mean;

/// Frames captured so shortly before the end may still be on their way;
/// chosen by us: longer than any frame is waited for.
pub const TAIL: Duration = Duration::from_secs(1);

/// A call that begins may take so long to the first picture and is not frozen;
/// chosen by us: its set-up takes three round trips at most.
const SETUP: Duration = Duration::from_secs(1);

/// The video streams that a caller sends. What a callee sends is load on the
/// way back, which is not judged.
pub fn streams<'a>(run: &Run<'a>, flow: usize) -> Vec<&'a StreamRecord> {
    let (Some(setup), FlowDetail::Call(record)) = (
        run.setup.flows[flow].traffic().media(),
        &run.record.flows[flow].detail,
    ) else {
        return Vec::new();
    };
    let record: &CallRecord = record;
    // Cameras come before microphones.
    let cameras = setup.caller.cameras.len();
    record.caller.streams.iter().take(cameras).collect()
}

/// Every camera of a caller.
pub fn views(run: &Run<'_>, flow: usize) -> Vec<View> {
    let window = run.active(flow);
    let streams = streams(run, flow).into_iter();
    streams.map(|stream| view(stream, window)).collect()
}

fn view(stream: &StreamRecord, window: (Duration, Duration)) -> View {
    let (from, end) = (Instant::ZERO + window.0, Instant::ZERO + window.1);
    let within = |at: Instant| at >= from && at < end;
    let frames: Vec<&FrameRecord> = stream
        .frames
        .iter()
        .filter(|f| within(f.captured_at))
        .collect();
    let shown = || frames.iter().filter_map(|f| Some((f, f.shown?)));
    let mut at: Vec<Instant> = shown().map(|(_, shown)| shown.at).collect();
    at.sort();
    let seconds = end.saturating_since(from).as_secs_f64();
    let standing = freezes(stream, from, end);
    let frozen = match at.is_empty() {
        // Who sees no picture at all sees one freeze, as long as the call:
        // without it a dead link would be best.
        true => (seconds, 1.0),
        false => (standing.time.as_secs_f64(), f64::from(standing.count)),
    };
    let requests = stream.keyframe_requests.iter();
    let waits = |frame: &&&FrameRecord| frame.shown.is_none() && frame.captured_at + TAIL < end;
    let useful = stream.frames.iter();
    let useful = useful.filter(|frame| frame.shown.is_some_and(|shown| within(shown.at)));
    View {
        seconds,
        shown: Some(at.len() as f64),
        frozen: Some(Frozen {
            count: frozen.1,
            seconds: frozen.0,
        }),
        dropped: Some(frames.iter().filter(waits).count() as f64),
        keyframe_requests: Some(requests.filter(|at| within(**at)).count() as f64),
        latency: shown()
            .map(|(f, shown)| shown.at.saturating_since(f.captured_at).as_millis_f64())
            .collect(),
        construction: shown()
            .map(|(_, shown)| shown.construction.as_millis_f64())
            .collect(),
        intervals: intervals(&at).collect(),
        picture: picture(&frames),
        useful: Some(Useful {
            bytes: useful.map(|frame| frame.size.0 as f64).sum(),
            seconds,
        }),
        ..View::default()
    }
}

/// Of the frames shown, where the encoder's model knows.
fn picture(frames: &[&FrameRecord]) -> Picture {
    let shown = frames.iter().filter(|frame| frame.shown.is_some());
    let known = || shown.clone().filter_map(|frame| frame.quality);
    Picture {
        quantizer: mean(known().map(|q| f64::from(q.quantizer))),
        psnr_db: mean(known().map(|q| f64::from(q.psnr_db))),
        ssim: mean(known().map(|q| f64::from(q.ssim))),
        height: mean(known().map(|q| f64::from(q.height))),
    }
}

/// What of the window a display stood still for too long.
#[derive(Default)]
struct Standing {
    time: Duration,
    count: u32,
}

impl Standing {
    fn add(&mut self, time: Duration) {
        self.time += time;
        self.count += 1;
    }
}

/// Pictures shown before the window say how long is too long, and a freeze
/// that began with one of them counts with its part inside.
fn freezes(stream: &StreamRecord, from: Instant, end: Instant) -> Standing {
    let frames = stream.frames.iter().filter(|f| f.captured_at < end);
    let mut pictures: Vec<Instant> = frames.filter_map(|f| Some(f.shown?.at)).collect();
    pictures.sort();
    let mut found = Standing::default();
    if let Some(first) = pictures.first() {
        let wait = first.min(&end).saturating_since(from);
        if wait > SETUP {
            found.add(wait);
        }
    }
    // A picture that stands until the end is a freeze like any other.
    let stands = pictures.last().is_some_and(|last| *last < end);
    let mut freezes = Freezes::default();
    let mut last = from;
    for at in pictures.into_iter().chain(stands.then_some(end)) {
        let before = freezes.count();
        freezes.on_picture(at);
        let time = at.min(end).saturating_since(last.max(from));
        if freezes.count() > before && time > Duration::ZERO {
            found.add(time);
        }
        last = at;
    }
    found
}

fn intervals(at: &[Instant]) -> impl Iterator<Item = f64> {
    at.windows(2)
        .map(|pair| pair[1].saturating_since(pair[0]).as_millis_f64())
}
