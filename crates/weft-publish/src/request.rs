use weft_units::Bytes;

/// Whether this picture has to be a keyframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyframe {
    /// Keyframe at any cost.
    Force,
    /// Keyframe only for the first picture and the first picture of another size.
    Auto,
}

/// Request to an encoder for one picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRequest {
    /// Whether it has to be a keyframe.
    pub keyframe: Keyframe,
    /// Largest size that the picture should have. `None`: only the rate bounds it.
    ///
    /// The encoders of `weft-media`, and their models in `weft-sim`, only limit the size:
    /// if rate control would make the picture smaller anyway, it does, and it may drop
    /// the picture. A picture that cannot be made so small comes out as small as the
    /// encoder can make it, above the budget.
    ///
    /// - VP8, and keyframes of H.264: at least 95 of 100 pictures have at most 1.1 times
    ///   the budget, if that is at least 0.02 bits per pixel, and 0.1 for keyframes and
    ///   the pictures after a cut. They are encoded up to three times.
    /// - Other pictures of H.264 are encoded once: 95 of 100 keep to the budget for a
    ///   talking head, 85 of 100 when the whole picture moves. Nothing limits the first
    ///   picture after a cut.
    ///
    /// `docs/models/encoder-budget.md` has the measurements.
    pub budget: Option<Bytes>,
}

impl From<Keyframe> for FrameRequest {
    /// Creates a request without a budget.
    fn from(keyframe: Keyframe) -> FrameRequest {
        FrameRequest {
            keyframe,
            budget: None,
        }
    }
}
