//! What an attempt at a picture is told, and what is remembered of it.

use weft_publish::fitting::SizeGuess;

/// What libvpx was told of a picture: finest and coarsest quantizer, 0 to 63,
/// and below how many percent of its buffer's aim it drops pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    pub finest: i32,
    pub coarsest: i32,
    pub drop_threshold: i32,
}

impl Bounds {
    /// libwebrtc's (`libvpx_vp8_encoder.cc`).
    pub const DEFAULT: Bounds = Bounds {
        finest: 2,
        coarsest: 56,
        drop_threshold: 30,
    };
}

/// Whether a frame may be taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Attempt {
    /// No: it is encoded as if there were no budgets.
    Only = 0,
    /// Yes.
    First = 1,
    /// Yes, and one was taken back before it.
    Again = 2,
}

/// What is remembered from one picture to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fitting {
    pub guess: SizeGuess,
    /// The last frame left the entropy coder's probabilities alone, and so
    /// libvpx's copy of them, which it brings back when it drops such a frame, is
    /// of now.
    pub copied: bool,
    /// A picture was lost after another was taken back: only a keyframe is sure
    /// to be decoded.
    pub keyframe_due: bool,
}

impl Fitting {
    /// A frame came out, and changed the entropy coder's probabilities or not.
    pub fn on_probabilities(&mut self, changed: bool) {
        self.copied = !changed;
    }
}
