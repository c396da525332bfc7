use weft_units::Bytes;

/// One encoded picture, without its contents.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ModelFrame {
    /// From zero, without gaps: dropped pictures have none.
    pub number: u64,
    /// Encoded.
    pub size: Bytes,
    /// Decodable by itself.
    pub keyframe: bool,
    /// Temporal layer, `None` without layers.
    pub temporal_layer: Option<u8>,
    /// Depends on the base layer only (RFC 7741 section 4.2, `Y`).
    pub layer_sync: bool,
    /// No other frame depends on it.
    pub non_reference: bool,
    /// Numbers of the frames that it depends on: in the base layer, and in
    /// the layer above.
    pub needs: [Option<u64>; 2],
    /// Quantizer index: 0 to 127 for VP8, 0 to 51 for H.264. Coarser is
    /// higher.
    pub quantizer: u8,
    /// Luma's peak signal to noise ratio in dB.
    pub psnr_db: f64,
    /// Luma's structural similarity.
    pub ssim: f64,
}
