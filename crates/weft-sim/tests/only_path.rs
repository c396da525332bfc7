//! Call over one link that it shares with TCP, which fills every queue.

mod world;

use weft_experiment::{
    CallSetup, CameraSetup, CongestionKind, FlowDetail, FlowSetup, ModelSetup, Route, SideSetup,
};
use weft_session::{Ablation, Ablations};
use weft_units::{Codec, Duration, Rate};
use world::*;

/// Time for which the call is alone.
const ALONE: u64 = 10;
const SECONDS: u64 = 40;

/// Measurements of the call next to TCP.
#[derive(Clone, Copy, Debug)]
struct Seen {
    fps: f64,
    frozen: Duration,
    lost: f64,
}

fn call_beside_cubic(spec: &str, ablations: Ablations) -> Seen {
    let mut setup = over(spec, SECONDS);
    setup.measure_from = seconds(ALONE);
    let rate = Rate::from_kbps(2500);
    let pictures = ModelSetup::new(Codec::Vp8, 640, 360, rate);
    let mut side = SideSetup::filming(vec![CameraSetup::model(pictures, rate)]);
    side.ablations = ablations;
    let call = CallSetup::one_way(side);
    let tcp = long_lived("download", CongestionKind::Cubic);
    let tcp = tcp.between(seconds(ALONE), seconds(SECONDS));
    let call = FlowSetup::call("call", vec![Route::forward(&[0])], call);
    setup.flows.extend([call, tcp]);
    let record = run(&setup, 1);
    let FlowDetail::Call(call) = &record.flows[0].detail else {
        panic!("no call");
    };
    let stream = &call.caller.streams[0];
    let beside = seconds(SECONDS - ALONE).as_secs_f64();
    let shown = stream.frames.iter().filter_map(|frame| frame.shown);
    let from = weft_units::Instant::ZERO + seconds(ALONE);
    let leg = &record.flows[0].routes[0].there;
    let dropped: u64 = leg.dropped.iter().map(|row| row.packets).sum();
    Seen {
        fps: shown.filter(|shown| shown.at > from).count() as f64 / beside,
        frozen: stream.freezes.total(),
        lost: dropped as f64 / leg.sent.packets as f64,
    }
}

#[test]
fn a_queue_that_others_fill_leaves_no_picture_out() {
    let spec = "rate=2mbit,delay=25ms,queue=2bdp";
    let (with, without) = (
        call_beside_cubic(spec, Ablations::NONE),
        call_beside_cubic(spec, Ablation::OnlyPath.into()),
    );
    assert!(with.fps > 28.5, "{with:?}");
    assert!(without.fps < 27.0, "{without:?}");
}

#[test]
fn pictures_that_are_spread_out_lose_little_to_active_queue_management() {
    let spec = "rate=2mbit,delay=25ms,queue=10bdp,aqm=fq_codel";
    let (with, without) = (
        call_beside_cubic(spec, Ablations::NONE),
        call_beside_cubic(spec, Ablation::OnlyPath.into()),
    );
    assert!(with.lost < 0.01, "{with:?}");
    assert!(
        without.lost > 2.0 * with.lost,
        "{without:?} against {with:?}"
    );
    assert!(with.frozen <= Duration::from_millis(500), "{with:?}");
}
