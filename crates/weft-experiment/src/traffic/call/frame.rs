use weft_units::{Bytes, Duration, Instant};

/// Lifetime of one frame. Pictures that the encoder dropped have no record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrameRecord {
    /// Time at which the picture was captured and given to the session.
    pub captured_at: Instant,
    /// Size of the encoded frame.
    pub size: Bytes,
    /// Whether it can be decoded without another frame.
    pub keyframe: bool,
    /// Picture quality, if the encoder's model knows it.
    pub quality: Option<Quality>,
    /// Display at the other end; `None`: never shown.
    pub shown: Option<FrameShown>,
}

/// Quality of a picture that was decoded without loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quality {
    /// Quantizer index: 0 to 127 for VP8, 0 to 51 for H.264.
    pub quantizer: u8,
    /// Peak signal-to-noise ratio of luma in dB.
    pub psnr_db: f32,
    /// Structural similarity of luma.
    pub ssim: f32,
    /// BRISQUE, 0 best and 100 worst.
    pub brisque: f32,
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
}

/// A frame on display.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameShown {
    /// Time at which it was shown: decoded, and its play-out time reached.
    pub at: Instant,
    /// Arrival of its last packet; the frame waited from then on.
    pub complete_at: Instant,
    /// Delay past the play-out time of this frame or of one it refers to: zero for a
    /// frame in time.
    pub lateness: Duration,
    /// Time from its first packet to its last (frame construction delay).
    pub construction: Duration,
    /// Time spent waiting for its slowest path; zero with one path.
    pub skew: Duration,
}
