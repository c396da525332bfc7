use weft_units::Bytes;

/// Encoded picture, without its contents.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ModelFrame {
    /// Number from zero, without gaps: dropped pictures have none.
    pub number: u64,
    /// Size after encoding.
    pub size: Bytes,
    /// Whether it can be decoded without other frames.
    pub keyframe: bool,
    /// Temporal layer, `None` without layers.
    pub temporal_layer: Option<u8>,
    /// Whether it depends on the base layer only (RFC 7741 section 4.2, `Y`).
    pub layer_sync: bool,
    /// Whether no other frame depends on it.
    pub non_reference: bool,
    /// Numbers of the frames that it depends on: in the base layer, and in the layer
    /// above.
    pub needs: [Option<u64>; 2],
    /// Quantizer index: 0 to 127 for VP8, 0 to 51 for H.264. Higher is coarser.
    pub quantizer: u8,
    /// Peak signal-to-noise ratio of luma in dB.
    pub psnr_db: f64,
    /// Structural similarity of luma.
    pub ssim: f64,
}
