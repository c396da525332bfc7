//! Metrics of the sound in a call.

use weft_experiment::{FlowDetail, StreamRecord};
use weft_units::{Duration, Instant};

use crate::measure::run::{Run, Value};
use crate::measure::view::{SETUP, TAIL};
use crate::statistics::mean;

/// Length above which a gap is certainly audible: ITU-T G.711 Appendix I lets concealed
/// sound fade to silence by then.
const HEARD: Duration = Duration::from_millis(60);

type Of = fn(&Heard) -> Option<f64>;

const METRICS: [(&str, Of); 4] = [
    ("sound_loss", |heard| {
        (heard.packets > 0).then(|| 1.0 - heard.latency.len() as f64 / heard.packets as f64)
    }),
    ("sound_ms_mean", |heard| mean(heard.latency.iter().copied())),
    ("sound_gap_ms", |heard| {
        heard.gaps.iter().max().map(|gap| gap.as_millis_f64())
    }),
    ("sound_gaps", |heard| {
        let long = heard.gaps.iter().filter(|gap| **gap > HEARD);
        Some(long.count() as f64)
    }),
];

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    for (name, of) in METRICS {
        let over = |flows: &[usize]| {
            let heard = flows.iter().flat_map(|&flow| microphones(run, flow));
            mean(heard.filter_map(|heard| of(&heard)))
        };
        run.for_each_flow(name, values, over(run.focus), |flow| over(&[flow]));
    }
}

/// A microphone's packets from one end to the other.
struct Heard {
    packets: usize,
    /// Latency of the released packets from recording to release, in milliseconds.
    latency: Vec<f64>,
    /// Times between consecutive played packets.
    gaps: Vec<Duration>,
}

/// Returns every microphone of a caller, or the sound of an oracle.
fn microphones(run: &Run<'_>, flow: usize) -> Vec<Heard> {
    let (from, end) = run.active(flow);
    let window = (Instant::ZERO + from, Instant::ZERO + end);
    let traffic = run.setup.flows[flow].traffic();
    match (traffic.media(), &run.record.flows[flow].detail) {
        (Some(setup), FlowDetail::Call(record)) => {
            // Cameras come before microphones.
            let cameras = setup.caller.cameras.len();
            let streams = record.caller.streams.iter().skip(cameras);
            streams.map(|stream| heard(stream, window)).collect()
        }
        // Its packets have no loss or delay comparable with a call's.
        (_, FlowDetail::Floor(floor)) if !floor.sound.is_empty() => vec![Heard {
            packets: 0,
            latency: Vec::new(),
            gaps: gaps(floor.sound.clone(), window),
        }],
        _ => Vec::new(),
    }
}

fn heard(stream: &StreamRecord, (from, end): (Instant, Instant)) -> Heard {
    // The last ones may still be in flight.
    let measured = |at: Instant| at >= from && at + TAIL < end;
    let packets = stream.frames.iter().filter(|f| measured(f.captured_at));
    let latency = packets.clone().filter_map(|frame| {
        let played = frame.shown?.at;
        Some(played.saturating_since(frame.captured_at).as_millis_f64())
    });
    let played = stream.frames.iter().filter_map(|frame| frame.shown);
    Heard {
        packets: packets.clone().count(),
        latency: latency.collect(),
        gaps: gaps(played.map(|shown| shown.at).collect(), (from, end)),
    }
}

/// Returns the times without a new packet within the window, until its end, and from its
/// start if the call starts later than usual.
fn gaps(mut played: Vec<Instant>, (from, end): (Instant, Instant)) -> Vec<Duration> {
    played.sort();
    played.push(end);
    let wait = played[0].min(end).saturating_since(from);
    let begins = (wait > SETUP).then_some(wait);
    let between = played.windows(2).filter_map(|pair| {
        let gap = pair[1].min(end).saturating_since(pair[0].max(from));
        (gap > Duration::ZERO).then_some(gap)
    });
    begins.into_iter().chain(between).collect()
}
