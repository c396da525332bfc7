use weft_units::{Bytes, Duration};

/// Parameters of RFC 8593's synthetic codec; the defaults are those of the RFC.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SyntheticSetup {
    /// Frames per second, equally spaced.
    pub frame_rate: f64,
    /// `tau_v`, default 0.2 s: time in which the encoder follows a new target. It skips
    /// targets that were replaced by a newer one.
    pub reaction: Duration,
    /// `SCALE_B`, default 0.15: scale of the Laplace distributed deviation of
    /// a frame's size, relative to the size.
    pub variation: f64,
    /// `K_B`, default 13.5 kB: size of a keyframe; at least the size of the frames around
    /// it.
    pub keyframe: Bytes,
    /// `K_d`, default 8: number of frames, including the keyframe, that compensate for
    /// the keyframe's size.
    pub transient: u32,
}

impl SyntheticSetup {
    /// Creates the RFC's defaults at this frame rate.
    #[must_use]
    pub fn new(frame_rate: f64) -> SyntheticSetup {
        SyntheticSetup {
            frame_rate,
            reaction: Duration::from_millis(200),
            variation: 0.15,
            keyframe: Bytes(13_500),
            transient: 8,
        }
    }

    pub(super) fn wrong(&self) -> Option<&'static str> {
        // Written so that NaN is also an error.
        if !(self.frame_rate >= 0.1 && self.frame_rate <= 1000.0) {
            return Some("give a camera 0.1 to 1000 frames per second");
        }
        if !(self.variation >= 0.0 && self.variation <= 1.0) {
            return Some("the variation of frame sizes is from 0 to 1");
        }
        (self.keyframe.0 > 10_000_000).then_some("a keyframe has at most 10 MB")
    }
}
