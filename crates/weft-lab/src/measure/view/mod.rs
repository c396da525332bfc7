//! The call as people see it, whichever way it is known: frame by frame, as a
//! simulator has it, as an oracle's pictures, or by the counters of a client.
//! Metrics and time series ask a [`View`], so there is one computation of each.

mod counters;
mod floor;
mod frames;
mod pictures;

pub use counters::logs;
pub use frames::{TAIL, shown, streams};
pub use pictures::SETUP;

use weft_units::{Duration, Instant};

use super::run::Run;

/// What was seen of one camera, or counted by one end, in the measured time.
/// What the engine does not see is absent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct View {
    /// How long it was measured.
    pub seconds: f64,
    /// Frames shown.
    pub shown: Option<f64>,
    /// Freezes of the picture, in order.
    pub freezes: Option<Vec<Freeze>>,
    /// Frames that were never shown.
    pub dropped: Option<f64>,
    /// Keyframes that were asked for.
    pub keyframe_requests: Option<f64>,
    /// From capture to display of the frames for which it is known,
    /// milliseconds.
    pub latency: Vec<f64>,
    /// From the first packet of a frame to its last, milliseconds.
    pub construction: Vec<f64>,
    /// From one frame on display to the next, milliseconds.
    pub intervals: Vec<f64>,
    /// What the pictures were like.
    pub picture: Picture,
    /// What was of use.
    pub useful: Option<Useful>,
    /// What only a client knows of itself.
    pub client: ClientView,
}

/// A freeze, cut to the measured time. A client that counts for itself reports
/// freezes after they ended: of those the end is the time of its report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Freeze {
    /// When it began.
    pub begin: Instant,
    /// When it ended.
    pub end: Instant,
    /// Number of freezes: a client may report several as one sum, or the mean
    /// of its cameras.
    pub count: f64,
}

impl Freeze {
    /// One freeze.
    #[must_use]
    pub fn one(begin: Instant, end: Instant) -> Freeze {
        Freeze {
            begin,
            end,
            count: 1.0,
        }
    }
}

/// Number and length of all freezes together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Frozen {
    /// Number of freezes.
    pub count: f64,
    /// Sum of their lengths.
    pub seconds: f64,
}

impl View {
    /// Sum of the freezes: the one source of `freeze_s` and `freeze_count`.
    #[must_use]
    pub fn frozen(&self) -> Option<Frozen> {
        let freezes = self.freezes.as_ref()?.iter();
        let lengths = freezes.clone().map(|f| f.end.saturating_since(f.begin));
        let time = lengths.fold(Duration::ZERO, |all, one| all + one);
        Some(Frozen {
            count: freezes.map(|freeze| freeze.count).sum(),
            seconds: time.as_secs_f64(),
        })
    }
}

/// Means over the pictures.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Picture {
    /// Quantiser index.
    pub quantizer: Option<f64>,
    /// PSNR of the luma, dB.
    pub psnr_db: Option<f64>,
    /// SSIM of the luma, 0 to 1.
    pub ssim: Option<f64>,
    /// BRISQUE of those that it is known of, 0 to 100: of a simulated call the
    /// last ones, of a client some of all.
    pub brisque: Option<f64>,
    /// Height in lines.
    pub height: Option<f64>,
}

/// What the application got to use, and in which time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Useful {
    /// Bytes of encoded frames, or in the order of a TCP stream.
    pub bytes: f64,
    /// The time between the counts.
    pub seconds: f64,
}

/// What a client says of itself.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ClientView {
    /// Round-trip time, mean, milliseconds.
    pub rtt_ms: Option<f64>,
    /// Time that frames waited in the jitter buffer, mean, milliseconds.
    pub jitter_buffer_ms: Option<f64>,
    /// For how long the processor was too slow, seconds.
    pub cpu_limited_s: Option<f64>,
}

/// The views of these flows: of the frames of every camera of a caller, or
/// else of an oracle's pictures or of the counts of each end.
#[must_use]
pub fn views(run: &Run<'_>, flows: &[usize]) -> Vec<View> {
    let of = |&flow: &usize| {
        let mut views = frames::views(run, flow);
        views.extend(floor::view(run, flow));
        views.extend(counters::views(run, flow));
        let devices = run.setup.flows[flow].traffic().device_delay();
        for latency in views.iter_mut().flat_map(|view| &mut view.latency) {
            *latency += devices.as_millis_f64();
        }
        views
    };
    flows.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests;
