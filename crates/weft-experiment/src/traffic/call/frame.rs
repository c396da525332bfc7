use weft_units::{Bytes, Duration, Instant};

/// Lifetime of a frame. Pictures that the encoder dropped have no record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrameRecord {
    /// Time at which the picture was captured and passed to the session.
    pub captured_at: Instant,
    /// Size of the encoded frame.
    pub size: Bytes,
    /// Whether it can be decoded without another frame.
    pub keyframe: bool,
    /// Picture quality, if the encoder's model has it.
    pub quality: Option<Quality>,
    /// Display at the other end; `None` if it was never shown.
    pub shown: Option<FrameShown>,
}

/// Quality of a picture decoded without loss.
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

/// Displayed frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameShown {
    /// Time of display: decoded, and its play-out time reached.
    pub at: Instant,
    /// Arrival of its last packet, from which time the frame waited.
    pub complete_at: Instant,
    /// Delay after the play-out time of this frame or of one that it refers to; zero for
    /// a punctual frame.
    pub lateness: Duration,
    /// Time from its first packet to its last (frame construction delay).
    pub construction: Duration,
    /// Time for which it waited for its slowest path; zero with one path.
    pub skew: Duration,
}
