use weft_units::Bytes;

/// Whether this picture has to be a keyframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyframe {
    /// A keyframe, whatever it costs.
    Force,
    /// The first picture is a keyframe, and the first of another size;
    /// otherwise none.
    Auto,
}

/// Request to an encoder for one picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRequest {
    /// Whether it has to be a keyframe.
    pub keyframe: Keyframe,
    /// Most bytes that it should have. `None`: what the rate allows.
    ///
    /// For `weft-media`'s encoders, and their models in `weft-sim`,
    /// only the size is bounded: rate control chooses as always where that is
    /// smaller, and may drop the picture. What cannot be made so small comes out
    /// as small as the encoder makes it, and is larger than the budget.
    ///
    /// - VP8, and keyframes of H.264: at least 95 of 100 pictures have at most
    ///   1.1 times the budget, if that is at least 0.02 bits per pixel, and 0.1
    ///   for keyframes and what follows a cut. They are encoded up to three times.
    /// - Other pictures of H.264 are encoded once: 95 of 100 of a person who
    ///   talks, 85 of 100 when the whole picture moves. After a cut there is
    ///   nothing that holds the first one.
    ///
    /// `docs/models/encoder-budget.md` has what was measured.
    pub budget: Option<Bytes>,
}

impl From<Keyframe> for FrameRequest {
    /// Without a budget.
    fn from(keyframe: Keyframe) -> FrameRequest {
        FrameRequest {
            keyframe,
            budget: None,
        }
    }
}
