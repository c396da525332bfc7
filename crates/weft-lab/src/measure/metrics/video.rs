//! Metrics of the displayed pictures of a call.

use weft_experiment::{CameraSetup, SourceKind};

use super::rates;
use crate::measure::run::{Run, Value};
use crate::measure::view::{View, views};
use crate::statistics::{mean, quantile};

type Of = fn(&View) -> Option<f64>;

/// Means over the views of all flows.
const METRICS: &[(&str, Of)] = &[
    ("fps", |v| Some(v.shown? / v.seconds)),
    ("fps_seen", |v| Some(v.seen? / v.seconds)),
    ("freeze_s", |v| Some(v.frozen()?.seconds)),
    ("freeze_count", |v| Some(v.frozen()?.count)),
    ("paused_s", |v| v.paused),
    ("first_picture_ms", |v| v.first_picture_ms),
    ("freeze_ms_mean", |v| {
        let frozen = v.frozen().filter(|frozen| frozen.count > 0.0)?;
        Some(frozen.seconds * 1e3 / frozen.count)
    }),
    ("e2e_ms_mean", |v| mean(v.latency.iter().copied())),
    ("e2e_ms_worst_s", |v| {
        v.latency_by_second.iter().copied().max_by(f64::total_cmp)
    }),
    ("frames_dropped", |v| v.dropped),
    ("keyframe_requests", |v| v.keyframe_requests),
    ("fcd_ms", |v| v.construction),
    ("qp", |v| v.picture.quantizer),
    ("psnr_db", |v| v.picture.psnr_db),
    ("height_px", |v| v.picture.height),
    ("ssim", |v| v.picture.ssim),
    ("brisque", |v| v.picture.brisque),
    ("ifd_ms", |v| v.interval),
    ("rtt_ms_mean", |v| v.client.rtt_ms),
    ("jitter_buffer_ms", |v| v.client.jitter_buffer_ms),
    ("cpu_limited_s", |v| v.client.cpu_limited_s),
];

/// Returns the metrics of these views together.
#[must_use]
pub fn of_views(views: &[View]) -> Vec<Value> {
    let means = METRICS.iter().map(|&(name, of)| (name, over(views, of)));
    let percentiles = PERCENTILES.map(|(name, share)| (name, latency(views, share)));
    let all = means.chain(percentiles);
    all.filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn over(views: &[View], of: Of) -> Option<f64> {
    mean(views.iter().filter_map(of))
}

const PERCENTILES: [(&str, f64); 2] = [("e2e_ms_p95", 0.95), ("e2e_ms_p99", 0.99)];

/// Returns the latency that this share of the frames did not exceed.
fn latency(views: &[View], share: f64) -> Option<f64> {
    let count = views.iter().map(|v| v.latency.len()).sum();
    let mut all = Vec::with_capacity(count);
    views.iter().for_each(|v| all.extend_from_slice(&v.latency));
    all.sort_by(f64::total_cmp);
    quantile(&all, share)
}

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let focus = views(run, run.focus);
    // The views of a long call are large, so those of a single flow are not computed
    // twice.
    let is_alone = run.focus == [0] && run.setup.flows.len() == 1;
    let flows = 0..run.setup.flows.len();
    let single: Vec<Vec<View>> = match is_alone {
        true => Vec::new(),
        false => flows.map(|flow| views(run, &[flow])).collect(),
    };
    let of_flow = |flow: usize| single.get(flow).unwrap_or(&focus);
    for &(name, of) in METRICS {
        run.for_each_flow(name, values, over(&focus, of), |flow| {
            over(of_flow(flow), of)
        });
    }
    for (name, of) in NORMS {
        let of = |flow: usize| of(run, flow, of_flow(flow));
        let whole = mean(run.focus.iter().filter_map(|&flow| of(flow)));
        run.for_each_flow(name, values, whole, of);
    }
    let worst = |views: &[View]| {
        // In other flows the views are the cameras of one call.
        let tiles = views.iter().filter(|view| view.paused.is_some());
        tiles
            .filter_map(|v| Some(v.frozen()?.seconds))
            .max_by(f64::total_cmp)
    };
    run.for_each_flow("freeze_s_worst", values, worst(&focus), |flow| {
        worst(of_flow(flow))
    });
    for (name, share) in PERCENTILES {
        run.for_each_flow(name, values, latency(&focus, share), |flow| {
            latency(of_flow(flow), share)
        });
    }
}

/// Minimum frame rate of a call (Converge, section 6).
const ENOUGH_FPS: f64 = 24.0;

type Norm = fn(&Run<'_>, usize, &[View]) -> Option<f64>;

/// Normalised to between 0 and about 1, so that they fit into one plot.
const NORMS: [(&str, Norm); 3] = [
    ("throughput_norm", |run, flow, _| {
        let most: f64 = setups(run, flow).map(|c| c.max_rate.as_mbps()).sum();
        let (begin, end) = run.active(flow);
        (most > 0.0 && begin < end).then(|| rates::throughput(run, flow, (begin, end)) / most)
    }),
    ("fps_norm", |_, _, views| {
        mean(
            views
                .iter()
                .filter_map(|v| Some(v.shown? / v.seconds / ENOUGH_FPS)),
        )
    }),
    ("qp_norm", |run, flow, views| {
        let coarsest = setups(run, flow).find_map(|camera| match &camera.source {
            SourceKind::Model(model) => model.codec.coarsest_quantizer().map(f64::from),
            SourceKind::Synthetic(_) => None,
        })?;
        mean(views.iter().filter_map(|v| v.picture.quantizer)).map(|qp| qp / coarsest)
    }),
];

/// Iterates over the setups of a caller's cameras.
fn setups<'a>(run: &Run<'a>, flow: usize) -> impl Iterator<Item = &'a CameraSetup> {
    let call = run.setup.flows[flow].traffic().media();
    call.into_iter().flat_map(|call| &call.caller.cameras)
}
