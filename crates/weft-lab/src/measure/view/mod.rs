//! What people see of a call, whichever way it is known: frame by frame, as a
//! simulator has it, as an oracle's pictures, or by what a client counts of
//! itself. A metric asks a [`View`], so there is one computation of each.

mod counters;
mod floor;
mod frames;
mod pictures;

pub use counters::logs;
pub use frames::{TAIL, shown, streams};
pub use pictures::SETUP;

use super::run::Run;

/// What was seen of one camera, or counted by one end, in the measured time.
/// What the engine does not see is absent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct View {
    /// How long it was measured.
    pub seconds: f64,
    /// Frames shown.
    pub shown: Option<f64>,
    /// How often and for how long the picture stood.
    pub frozen: Option<Frozen>,
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

/// How often and for how long a picture stood too long.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Frozen {
    /// How many freezes there were.
    pub count: f64,
    /// Their length together.
    pub seconds: f64,
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
