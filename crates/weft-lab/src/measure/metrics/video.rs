//! What the people in a call see.

use weft_experiment::{
    CallRecord, CameraSetup, FlowDetail, FlowKind, FrameRecord, SourceKind, StreamRecord,
};
use weft_units::{Duration, Freezes, Instant};

use super::rates;
use crate::measure::run::{Run, Value};
use crate::statistics::{mean, quantile};

/// Frames captured so shortly before the end may still be on their way;
/// chosen by us: longer than any frame is waited for.
pub const TAIL: Duration = Duration::from_secs(1);

/// A call that begins may take so long to the first picture and is not frozen;
/// chosen by us: its set-up takes three round trips at most.
const SETUP: Duration = Duration::from_secs(1);

/// A camera's frames from one end to the other, within the window.
struct Shown {
    /// Display times, in order.
    at: Vec<Instant>,
    /// From capture to display, milliseconds.
    latency: Vec<f64>,
    /// From the first packet to the last, milliseconds.
    construction: Vec<f64>,
    /// Of the pictures shown, where the encoder's model knows.
    quantisers: Vec<f64>,
    psnr: Vec<f64>,
    ssim: Vec<f64>,
    heights: Vec<f64>,
    frozen: Frozen,
    dropped: usize,
    keyframe_requests: usize,
    seconds: f64,
}

impl Shown {
    /// Seconds frozen and number of freezes. Who sees no picture at all sees
    /// one freeze, as long as the call: without it a dead link would be best.
    fn frozen(&self) -> (f64, f64) {
        match self.at.is_empty() {
            true => (self.seconds, 1.0),
            false => (self.frozen.time.as_secs_f64(), f64::from(self.frozen.count)),
        }
    }
}

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let streams = |flows: &[usize]| -> Vec<Shown> {
        flows.iter().flat_map(|&flow| cameras(run, flow)).collect()
    };
    let metrics: &[(&str, Of)] = &[
        ("fps", |s| Some(s.at.len() as f64 / s.seconds)),
        ("freeze_s", |s| Some(s.frozen().0)),
        ("freeze_count", |s| Some(s.frozen().1)),
        ("freeze_ms_mean", |s| {
            let (seconds, count) = s.frozen();
            (count > 0.0).then(|| seconds * 1e3 / count)
        }),
        ("e2e_ms_mean", |s| mean(s.latency.iter().copied())),
        ("frames_dropped", |s| Some(s.dropped as f64)),
        ("keyframe_requests", |s| Some(s.keyframe_requests as f64)),
        ("fcd_ms", |s| mean(s.construction.iter().copied())),
        ("qp", |s| mean(s.quantisers.iter().copied())),
        ("psnr_db", |s| mean(s.psnr.iter().copied())),
        ("height_px", |s| mean(s.heights.iter().copied())),
        ("ssim", |s| mean(s.ssim.iter().copied())),
        ("ifd_ms", |s| mean(intervals(&s.at))),
    ];
    let over = |shown: &[Shown], of: Of| mean(shown.iter().filter_map(of));
    for &(name, of) in metrics {
        let whole = over(&streams(run.focus), of);
        run.for_each_flow(name, values, whole, |flow| over(&streams(&[flow]), of));
    }
    let p95 = |flows: &[usize]| {
        let mut all: Vec<f64> = streams(flows).into_iter().flat_map(|s| s.latency).collect();
        all.sort_by(f64::total_cmp);
        quantile(&all, 0.95)
    };
    for (name, of) in NORMS {
        let of = |flow: usize| of(run, flow);
        let whole = mean(run.focus.iter().filter_map(|&flow| of(flow)));
        run.for_each_flow(name, values, whole, of);
    }
    run.for_each_flow("e2e_ms_p95", values, p95(run.focus), |flow| p95(&[flow]));
}

/// Frames a second that a call should show at least (Converge, section 6).
const ENOUGH_FPS: f64 = 24.0;

type Norm = fn(&Run<'_>, usize) -> Option<f64>;

/// Between 0 and about 1, so that they fit into one plot.
const NORMS: [(&str, Norm); 3] = [
    ("throughput_norm", |run, flow| {
        let most: f64 = setups(run, flow).map(|c| c.max_rate.as_mbps()).sum();
        let (begin, end) = run.active(flow);
        (most > 0.0 && begin < end).then(|| rates::throughput(run, flow, (begin, end)) / most)
    }),
    ("fps_norm", |run, flow| {
        let shown = cameras(run, flow).into_iter();
        mean(shown.map(|s| s.at.len() as f64 / s.seconds / ENOUGH_FPS))
    }),
    ("qp_norm", |run, flow| {
        let coarsest = setups(run, flow).find_map(|camera| match &camera.source {
            SourceKind::Model(model) => Some(model.coarsest_quantizer()),
            SourceKind::Synthetic(_) => None,
        })?;
        let shown = cameras(run, flow).into_iter();
        mean(shown.filter_map(|s| mean(s.quantisers.into_iter()))).map(|qp| qp / coarsest)
    }),
];

/// The cameras of a caller, as they were set up.
fn setups<'a>(run: &Run<'a>, flow: usize) -> impl Iterator<Item = &'a CameraSetup> {
    let call = match &run.setup.flows[flow].kind {
        FlowKind::Call(call) => Some(call),
        FlowKind::Tcp(_) | FlowKind::Udp(_) => None,
    };
    call.into_iter().flat_map(|call| &call.caller.cameras)
}

type Of = fn(&Shown) -> Option<f64>;

/// Every camera of a caller.
fn cameras(run: &Run<'_>, flow: usize) -> Vec<Shown> {
    let window = run.active(flow);
    let streams = streams(run, flow).into_iter();
    streams.map(|stream| shown(stream, window)).collect()
}

/// The video streams that a caller sends. What a callee sends is load on the
/// way back, which is not judged.
pub fn streams<'a>(run: &Run<'a>, flow: usize) -> Vec<&'a StreamRecord> {
    let (FlowKind::Call(setup), FlowDetail::Call(record)) =
        (&run.setup.flows[flow].kind, &run.record.flows[flow].detail)
    else {
        return Vec::new();
    };
    let record: &CallRecord = record;
    // Cameras come before microphones.
    let cameras = setup.caller.cameras.len();
    record.caller.streams.iter().take(cameras).collect()
}

fn shown(stream: &StreamRecord, window: (Duration, Duration)) -> Shown {
    let (from, end) = (Instant::ZERO + window.0, Instant::ZERO + window.1);
    let frames = || {
        stream
            .frames
            .iter()
            .filter(|f| f.captured_at >= from && f.captured_at < end)
    };
    let requests = stream.keyframe_requests.iter();
    let mut shown = Shown {
        at: Vec::new(),
        latency: Vec::new(),
        construction: Vec::new(),
        quantisers: Vec::new(),
        psnr: Vec::new(),
        ssim: Vec::new(),
        heights: Vec::new(),
        frozen: freezes(stream, from, end),
        dropped: 0,
        keyframe_requests: requests.filter(|at| **at >= from && **at < end).count(),
        seconds: end.saturating_since(from).as_secs_f64(),
    };
    for frame in frames() {
        if let Some(display) = frame.shown {
            shown.at.push(display.at);
            shown.latency.push(
                display
                    .at
                    .saturating_since(frame.captured_at)
                    .as_millis_f64(),
            );
            shown
                .construction
                .push(display.construction.as_millis_f64());
            if let Some(quality) = frame.quality {
                shown.quantisers.push(f64::from(quality.quantizer));
                shown.psnr.push(f64::from(quality.psnr_db));
                shown.ssim.push(f64::from(quality.ssim));
                shown.heights.push(f64::from(quality.height));
            }
        }
    }
    shown.at.sort();
    let waits = |frame: &&FrameRecord| frame.shown.is_none() && frame.captured_at + TAIL < end;
    shown.dropped = frames().filter(waits).count();
    shown
}

/// What of the window a display stood still for too long.
#[derive(Default)]
struct Frozen {
    time: Duration,
    count: u32,
}

impl Frozen {
    fn add(&mut self, time: Duration) {
        self.time += time;
        self.count += 1;
    }
}

/// Pictures shown before the window say how long is too long, and a freeze
/// that began with one of them counts with its part inside.
fn freezes(stream: &StreamRecord, from: Instant, end: Instant) -> Frozen {
    let frames = stream.frames.iter().filter(|f| f.captured_at < end);
    let mut pictures: Vec<Instant> = frames.filter_map(|f| Some(f.shown?.at)).collect();
    pictures.sort();
    let mut found = Frozen::default();
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
