//! The call as its users see it, from any source: frame by frame from a simulator, as an
//! oracle's pictures, or by the counters of a client. Metrics and time series use a
//! [`View`], so each is computed in one place.

mod conference;
mod counters;
mod floor;
mod frames;
mod pictures;

pub use conference::{people, shown as shown_on_tiles, view as view_of_tile};
pub use counters::{logs, view as of_counters};
pub use frames::{TAIL, shown, streams};
pub use pictures::{SETUP, view as of_pictures};

use weft_units::{Duration, Instant};

use super::run::Run;

/// Pictures of one camera, or counters of one end, in the measured time. Fields that the
/// engine does not know are absent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct View {
    /// Measured time in seconds.
    pub seconds: f64,
    /// Frames shown.
    pub shown: Option<f64>,
    /// Visible frames: of those within one refresh of the display, only the last.
    pub seen: Option<f64>,
    /// Freezes of the picture, in order.
    pub freezes: Option<Vec<Freeze>>,
    /// Time in seconds for which a server sent no pictures for lack of capacity.
    pub paused: Option<f64>,
    /// Time until the first picture, milliseconds.
    pub first_picture_ms: Option<f64>,
    /// Frames that were never shown.
    pub dropped: Option<f64>,
    /// Keyframes that were requested.
    pub keyframe_requests: Option<f64>,
    /// Latencies from capture to display of the frames with a known latency,
    /// milliseconds.
    pub latency: Vec<f64>,
    /// Mean latency of the frames captured within each second, milliseconds; seconds
    /// without a displayed frame are absent.
    pub latency_by_second: Vec<f64>,
    /// Mean time from the first packet of a frame to its last, milliseconds.
    pub construction: Option<f64>,
    /// Mean time between consecutive displayed frames, milliseconds.
    pub interval: Option<f64>,
    /// Quality of the pictures.
    pub picture: Picture,
    /// Useful bytes.
    pub useful: Option<Useful>,
    /// Measurements that only a client has.
    pub client: ClientView,
}

/// Freeze, limited to the measured time. A client with its own counters reports freezes
/// after they ended, so their end is the time of the report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Freeze {
    /// Start of the freeze.
    pub begin: Instant,
    /// End of the freeze.
    pub end: Instant,
    /// Number of freezes, since a client may report the sum of several, or the mean of
    /// its cameras.
    pub count: f64,
}

impl Freeze {
    /// Creates a single freeze.
    #[must_use]
    pub fn one(begin: Instant, end: Instant) -> Freeze {
        Freeze {
            begin,
            end,
            count: 1.0,
        }
    }
}

/// Number and total length of all freezes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Frozen {
    /// Number of freezes.
    pub count: f64,
    /// Sum of their lengths.
    pub seconds: f64,
}

impl View {
    /// Returns the sum of the freezes: the only source of `freeze_s` and `freeze_count`.
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
    /// BRISQUE of the scored pictures, 0 to 100: the last ones of a simulated call, a
    /// selection for a client.
    pub brisque: Option<f64>,
    /// Height in lines.
    pub height: Option<f64>,
}

/// Useful bytes of the application, and the time in which they arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Useful {
    /// Bytes of encoded frames, or ordered bytes of a TCP stream.
    pub bytes: f64,
    /// Time between the counts.
    pub seconds: f64,
}

/// Measurements that a client reports about itself.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ClientView {
    /// Mean round-trip time, milliseconds.
    pub rtt_ms: Option<f64>,
    /// Mean time that frames waited in the jitter buffer, milliseconds.
    pub jitter_buffer_ms: Option<f64>,
    /// Time for which the processor was too slow, seconds.
    pub cpu_limited_s: Option<f64>,
}

/// Returns the views of these flows: from the frames of every camera of a caller, or from
/// an oracle's pictures, or from the counters of each end.
#[must_use]
pub fn views(run: &Run<'_>, flows: &[usize]) -> Vec<View> {
    let of = |&flow: &usize| {
        let mut views = frames::views(run, flow);
        views.extend(conference::views(run, flow));
        views.extend(floor::view(run, flow));
        views.extend(counters::views(run, flow));
        let devices = run.setup.flows[flow].traffic().device_delay();
        for view in &mut views {
            let latencies = view.latency.iter_mut().chain(&mut view.latency_by_second);
            latencies.for_each(|latency| *latency += devices.as_millis_f64());
        }
        views
    };
    flows.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests;
