//! Encoders and decoders behind one name, whatever the codec.

use weft_units::{Codec, Rate};

use crate::Picture;
use crate::h264::{H264Decoder, H264Encoder};
use crate::vp8::{Vp8Decoder, Vp8Encoder};

/// What a [`VideoEncoder`] is built for.
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

/// Whether this picture has to be a keyframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyframe {
    /// A keyframe, whatever it costs.
    Force,
    /// The first picture is a keyframe, and the first of another size;
    /// otherwise none.
    Auto,
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
}

/// A real-time encoder at a constant bit rate, which may be changed at any
/// time. Below the rate it needs, it drops pictures.
pub enum VideoEncoder {
    /// libvpx.
    Vp8(Vp8Encoder),
    /// OpenH264, constrained baseline.
    H264(H264Encoder),
}

/// Calls the same method of whichever encoder or decoder it is.
macro_rules! either {
    ($kind:ident, $of:expr, $one:ident => $call:expr) => {
        match $of {
            $kind::Vp8($one) => $call,
            $kind::H264($one) => $call,
        }
    };
}

impl VideoEncoder {
    /// An encoder whose first picture will be a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] when a field is out of range,
    /// [`VideoError::Sound`] for a codec of sound.
    pub fn new(codec: Codec, config: EncoderConfig) -> Result<VideoEncoder, VideoError> {
        Ok(match codec {
            Codec::Vp8 => VideoEncoder::Vp8(Vp8Encoder::new(config)?),
            Codec::H264 => VideoEncoder::H264(H264Encoder::new(config)?),
            Codec::Opus => return Err(VideoError::Sound(codec)),
        })
    }

    /// The present configuration: size of the last picture, present rate.
    #[must_use]
    pub fn config(&self) -> &EncoderConfig {
        either!(VideoEncoder, self, encoder => encoder.config())
    }

    /// Changes the target rate from the next picture on, without a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] when the library refuses the rate.
    pub fn set_rate(&mut self, rate: Rate) -> Result<(), VideoError> {
        either!(VideoEncoder, self, encoder => encoder.set_rate(rate))
    }

    /// Pictures per second from the next picture on.
    ///
    /// # Errors
    /// [`VideoError::Config`] when it is not between 1 and 240.
    pub fn set_fps(&mut self, fps: u32) -> Result<(), VideoError> {
        either!(VideoEncoder, self, encoder => encoder.set_fps(fps))
    }

    /// Begins anew with a keyframe: rate control forgets what it learned.
    ///
    /// # Errors
    /// [`VideoError::Config`] when the library has no memory.
    pub fn restart(&mut self) -> Result<(), VideoError> {
        either!(VideoEncoder, self, encoder => encoder.restart())
    }

    /// Encodes one picture; `None` when rate control drops it.
    /// `timestamp90k` is the picture's RTP timestamp, which may wrap. A picture
    /// of another size than the last restarts the encoder with a keyframe.
    ///
    /// # Errors
    /// [`VideoError::PictureSize`] for a picture with wrong planes,
    /// [`VideoError::Encode`] when the library fails.
    pub fn encode(
        &mut self,
        picture: &Picture,
        timestamp90k: u32,
        keyframe: Keyframe,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        either!(VideoEncoder, self, encoder => encoder.encode(picture, timestamp90k, keyframe))
    }
}

/// A decoder that waits for a keyframe. It does not notice every missing
/// frame: whoever feeds it gives it only frames whose references it has seen.
pub enum VideoDecoder {
    /// libvpx.
    Vp8(Vp8Decoder),
    /// OpenH264.
    H264(H264Decoder),
}

impl VideoDecoder {
    /// A decoder that has seen nothing.
    ///
    /// # Errors
    /// [`VideoError::Config`] when the library has no memory,
    /// [`VideoError::Sound`] for a codec of sound.
    pub fn new(codec: Codec) -> Result<VideoDecoder, VideoError> {
        Ok(match codec {
            Codec::Vp8 => VideoDecoder::Vp8(Vp8Decoder::new()?),
            Codec::H264 => VideoDecoder::H264(H264Decoder::new()?),
            Codec::Opus => return Err(VideoError::Sound(codec)),
        })
    }

    /// Decodes one frame; `None` when there is nothing to show.
    ///
    /// # Errors
    /// [`VideoError::Decode`] for data that is no frame or refers to what is
    /// missing; the decoder stays usable from the next keyframe on.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Option<Picture>, VideoError> {
        either!(VideoDecoder, self, decoder => decoder.decode(frame))
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
