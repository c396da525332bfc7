use weft_media::Picture;

/// Encoder output for a picture.
pub struct Coded {
    pub bits: usize,
    pub keyframe: bool,
    pub quantizer: u8,
    pub layer: u8,
    pub picture: Picture,
}
