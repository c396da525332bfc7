//! Common input and output of all video codecs.

use weft_units::{Codec, Rate};

use crate::Picture;

/// Configuration of an encoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderConfig {
    /// Width of the first picture in pixels; later ones may differ.
    pub width: usize,
    /// Height of the first picture in pixels.
    pub height: usize,
    /// Expected pictures per second. Only a hint: rate control uses the pictures'
    /// timestamps.
    pub fps: u32,
    /// Initial target rate.
    pub rate: Rate,
    /// Number of temporal layers: 1, or 3 for VP8 (a quarter, half and all of the
    /// pictures). A forwarder can drop the upper layers and keep the others decodable.
    pub temporal_layers: u8,
}

/// Compressed picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedFrame {
    /// VP8 bitstream, or H.264 as a byte stream (ITU-T H.264 Annex B).
    pub data: Vec<u8>,
    /// Whether it can be decoded without other pictures.
    pub keyframe: bool,
    /// Temporal layer; `None` without layers.
    pub temporal_layer: Option<u8>,
    /// Whether this picture depends only on the base layer, so that a receiver may switch
    /// up to this layer here (the Y bit of RFC 7741).
    pub layer_sync: bool,
    /// Whether no other picture depends on this one (the N bit of RFC 7741).
    pub non_reference: bool,
    /// Quantizer, from 0 (finest): VP8's index to 127, H.264's parameter to 51.
    pub quantizer: u8,
    /// Number of encoding attempts until the picture fitted its budget; 1 without a
    /// budget.
    pub attempts: u8,
}

/// Failure of an encoder or decoder.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// The configuration is invalid; the text names the field.
    #[error("{codec} encoder configuration: {1}", codec = .0.encoding())]
    Config(Codec, String),
    /// The codec is an audio codec.
    #[error("{codec} is an audio codec: choose a video codec", codec = .0.encoding())]
    Sound(Codec),
    /// weft neither encodes nor decodes this codec.
    #[error("weft neither encodes nor decodes {codec}: choose vp8 or h264", codec = .0.encoding())]
    NotCoded(Codec),
    /// The picture's planes do not match its dimensions.
    #[error("the picture says {width}x{height}, but its planes have another size")]
    PictureSize {
        /// Width that the picture claims.
        width: usize,
        /// Height that the picture claims.
        height: usize,
    },
    /// The library refused to encode.
    #[error("{codec} encoding failed: {1}", codec = .0.encoding())]
    Encode(Codec, String),
    /// The data is not a decodable frame, or a frame that it refers to is missing. Drop
    /// it and request a keyframe from the sender.
    #[error("{codec} frame cannot be decoded ({1}): request a keyframe", codec = .0.encoding())]
    Decode(Codec, String),
    /// The pictures exceed the memory limit of a decoder ([`MAX_MACROBLOCKS`]).
    #[error(
        "{codec} pictures of {width}x{height} are not decoded: they are larger than 1920x1080 or \
         need too many references",
        codec = .codec.encoding()
    )]
    TooLarge {
        /// Codec of the pictures.
        codec: Codec,
        /// Width in pixels, before cropping.
        width: u32,
        /// Height in pixels, before cropping.
        height: u32,
    },
}

/// Size limit for decoding, in squares of 16 by 16 pixels, because a frame header of ten
/// octets can request a gigabyte. The value is that of ITU-T H.264 level 4.2 (table A-1,
/// MaxFS), which allows 1920x1080 in either orientation; a picture takes 3.3 MB, a
/// decoder about 20 MB.
pub const MAX_MACROBLOCKS: u32 = 8_704;

/// Refuses pictures that are too large; the size is in macroblocks across and down.
pub(crate) fn check_size(codec: Codec, (across, down): (u32, u32)) -> Result<(), VideoError> {
    match across.checked_mul(down) {
        Some(all) if all <= MAX_MACROBLOCKS => Ok(()),
        _ => Err(too_large(codec, (across, down))),
    }
}

pub(crate) fn too_large(codec: Codec, (across, down): (u32, u32)) -> VideoError {
    VideoError::TooLarge {
        codec,
        width: across.saturating_mul(16),
        height: down.saturating_mul(16),
    }
}

pub(crate) fn check_fps(codec: Codec, fps: u32) -> Result<(), VideoError> {
    match fps {
        1..=240 => Ok(()),
        _ => Err(VideoError::Config(
            codec,
            format!("fps = {fps} is not between 1 and 240"),
        )),
    }
}

pub(crate) fn check_planes(picture: &Picture) -> Result<(), VideoError> {
    let chroma = picture.chroma_width() * picture.chroma_height();
    if picture.y.len() == picture.width * picture.height
        && picture.u.len() == chroma
        && picture.v.len() == chroma
    {
        return Ok(());
    }
    Err(VideoError::PictureSize {
        width: picture.width,
        height: picture.height,
    })
}
