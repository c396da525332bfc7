//! What every codec of pictures is told and gives.

use weft_units::{Codec, Rate};

use crate::Picture;

/// What an encoder is built for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderConfig {
    /// Width of the first picture in pixels; later ones may differ.
    pub width: usize,
    /// Height of the first picture in pixels.
    pub height: usize,
    /// Expected pictures per second. Only a hint: rate control goes by the
    /// pictures' timestamps.
    pub fps: u32,
    /// First target rate.
    pub rate: Rate,
    /// Temporal layers: 1, or for VP8 3 (a quarter, half and all of the
    /// pictures), so that a forwarder may drop layers without hurting the
    /// others.
    pub temporal_layers: u8,
}

/// One compressed picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedFrame {
    /// The VP8 bitstream, or H.264 as a byte stream (ITU-T H.264 Annex B).
    pub data: Vec<u8>,
    /// Decodable by itself.
    pub keyframe: bool,
    /// Temporal layer, `None` without layers.
    pub temporal_layer: Option<u8>,
    /// This picture depends on the base layer only, so that a receiver may
    /// go up to this layer here (the Y bit of RFC 7741).
    pub layer_sync: bool,
    /// No other picture depends on this one (the N bit of RFC 7741).
    pub non_reference: bool,
    /// Quantizer, from 0 (finest): VP8's index to 127, H.264's parameter to 51.
    pub quantizer: u8,
    /// How often the picture was encoded until it fitted its budget; 1 without
    /// one.
    pub attempts: u8,
}

/// Why an encoder or decoder did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// The configuration cannot be encoded; the text names the field.
    #[error("{codec} encoder configuration: {1}", codec = .0.encoding())]
    Config(Codec, String),
    /// The codec compresses no pictures.
    #[error("{codec} is a codec of sound, not of pictures", codec = .0.encoding())]
    Sound(Codec),
    /// The picture's planes do not have the size its dimensions ask for.
    #[error("the picture says {width}x{height}, but its planes have another size")]
    PictureSize {
        /// Width that the picture claims.
        width: usize,
        /// Height that the picture claims.
        height: usize,
    },
    /// The library refused to encode.
    #[error("{codec} could not be encoded: {1}", codec = .0.encoding())]
    Encode(Codec, String),
    /// The data is no decodable frame, or it refers to one that is missing:
    /// drop it and ask the sender for a keyframe.
    #[error("{codec} frame not decodable ({1}): a keyframe is needed", codec = .0.encoding())]
    Decode(Codec, String),
    /// The pictures would take more memory than a decoder may ([`MAX_MACROBLOCKS`]).
    #[error(
        "{codec} pictures of {width}x{height} are not decoded: they are larger than 1920x1080 or \
         need too many references",
        codec = .codec.encoding()
    )]
    TooLarge {
        /// Codec of the pictures.
        codec: Codec,
        /// Pixels across, before they are cut.
        width: u32,
        /// Pixels down, before they are cut.
        height: u32,
    },
}

/// Largest picture that is decoded, in squares of 16 by 16 pixels: a frame header
/// of ten octets can ask for a gigabyte. Those of ITU-T H.264 level 4.2 (table A-1,
/// MaxFS), which has room for 1920x1080 in either direction; a picture takes
/// 3.3 MB, a decoder some 20 MB.
pub const MAX_MACROBLOCKS: u32 = 8_704;

/// Refuses pictures of so many macroblocks across and down if they are too large.
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
