//! Input of an encoding attempt, and the state kept between pictures.

use weft_publish::fitting::SizeGuess;

/// Limits given to libvpx for a picture: finest and coarsest quantizer, 0 to 63, and the
/// percentage of the buffer's target level below which it drops pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    pub finest: i32,
    pub coarsest: i32,
    pub drop_threshold: i32,
}

impl Bounds {
    /// The values of libwebrtc (`libvpx_vp8_encoder.cc`).
    pub const DEFAULT: Bounds = Bounds {
        finest: 2,
        coarsest: 56,
        drop_threshold: 30,
    };
}

/// Whether a frame can be undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Attempt {
    /// No; the picture is encoded as if there were no budgets.
    Only = 0,
    /// Yes.
    First = 1,
    /// Yes, and a previous attempt was undone.
    Again = 2,
}

/// State kept between pictures.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fitting {
    pub guess: SizeGuess,
    /// Whether a picture was lost after another was undone, so that only a keyframe is
    /// sure to be decodable.
    pub keyframe_due: bool,
}
