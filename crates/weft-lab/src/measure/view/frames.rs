//! A camera's frames from sender to receiver.

use weft_experiment::{CallRecord, FlowDetail, FrameRecord, ShownPicture, StreamRecord};
use weft_units::{Duration, Instant};

use super::pictures;
use super::{Picture, Useful, View};
use crate::measure::run::Run;
use crate::statistics::mean;

/// Time before the end in which captured frames may still be in flight; chosen by us:
/// longer than a receiver waits for a frame.
pub const TAIL: Duration = Duration::from_secs(1);

/// Number of a call's last pictures that BRISQUE scores: Grote et al., section V.
const LAST_PICTURES: usize = 10;

/// Returns the video streams sent by a caller. A callee's streams are backward load and
/// are not evaluated.
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

/// Iterates over the displayed pictures of a camera, without other data.
pub fn shown(stream: &StreamRecord) -> impl Iterator<Item = ShownPicture> + Clone {
    stream.frames.iter().filter_map(|frame| {
        Some(ShownPicture {
            captured_at: frame.captured_at,
            shown_at: frame.shown?.at,
        })
    })
}

/// Returns a view for every camera of a caller.
pub fn views(run: &Run<'_>, flow: usize) -> Vec<View> {
    let (from, end) = run.active(flow);
    let window = (Instant::ZERO + from, Instant::ZERO + end);
    let streams = streams(run, flow).into_iter();
    streams.map(|stream| view(stream, window)).collect()
}

fn view(stream: &StreamRecord, (from, end): (Instant, Instant)) -> View {
    let within = |at: Instant| at >= from && at < end;
    let frames = stream.frames.iter().filter(|f| within(f.captured_at));
    let on_display = frames.clone().filter_map(|frame| frame.shown);
    let requests = stream.keyframe_requests.iter();
    let waits = |frame: &FrameRecord| frame.shown.is_none() && frame.captured_at + TAIL < end;
    let useful = stream.frames.iter();
    let useful = useful.filter(|frame| frame.shown.is_some_and(|shown| within(shown.at)));
    View {
        dropped: Some(frames.clone().filter(waits).count() as f64),
        keyframe_requests: Some(requests.filter(|at| within(**at)).count() as f64),
        construction: mean(on_display.map(|shown| shown.construction.as_millis_f64())),
        picture: picture(frames),
        useful: Some(Useful {
            bytes: useful.map(|frame| frame.size.0 as f64).sum(),
            seconds: end.saturating_since(from).as_secs_f64(),
        }),
        ..pictures::view(shown(stream), (from, end))
    }
}

/// Returns the quality of the displayed frames, if the encoder's model has it.
fn picture(frames: impl Iterator<Item = FrameRecord> + Clone) -> Picture {
    let shown = frames.filter(|frame| frame.shown.is_some());
    let known = || shown.clone().filter_map(|frame| frame.quality);
    let from = known().count().saturating_sub(LAST_PICTURES);
    let last = || known().skip(from);
    Picture {
        quantizer: mean(known().map(|q| f64::from(q.quantizer))),
        psnr_db: mean(known().map(|q| f64::from(q.psnr_db))),
        ssim: mean(known().map(|q| f64::from(q.ssim))),
        brisque: mean(last().map(|q| f64::from(q.brisque))),
        height: mean(known().map(|q| f64::from(q.height))),
    }
}
