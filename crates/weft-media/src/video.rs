//! Encoders and decoders of all codecs, each as one type.

use weft_publish::FrameRequest;
use weft_units::{Codec, Rate};

use crate::Picture;
use crate::coding::{EncodedFrame, EncoderConfig, VideoError};
use crate::h264::{H264Decoder, H264Encoder};
use crate::vp8::{Vp8Decoder, Vp8Encoder};

/// Real-time encoder at a constant bit rate, which can change at any time. It drops
/// pictures below its minimum rate.
pub enum VideoEncoder {
    /// libvpx.
    Vp8(Vp8Encoder),
    /// OpenH264, constrained baseline.
    H264(H264Encoder),
}

/// Calls a method that all encoders or decoders have.
macro_rules! either {
    ($kind:ident, $of:expr, $one:ident => $call:expr) => {
        match $of {
            $kind::Vp8($one) => $call,
            $kind::H264($one) => $call,
        }
    };
}

impl VideoEncoder {
    /// Creates an encoder whose first picture will be a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] if a field is out of range, [`VideoError::Sound`] for an
    /// audio codec.
    pub fn new(codec: Codec, config: EncoderConfig) -> Result<VideoEncoder, VideoError> {
        Ok(match codec {
            Codec::Vp8 => VideoEncoder::Vp8(Vp8Encoder::new(config)?),
            Codec::H264 => VideoEncoder::H264(H264Encoder::new(config)?),
            Codec::Vp9 | Codec::Av1 => return Err(VideoError::NotCoded(codec)),
            Codec::Opus => return Err(VideoError::Sound(codec)),
        })
    }

    /// Returns the present configuration: size of the last picture, present rate.
    #[must_use]
    pub fn config(&self) -> &EncoderConfig {
        either!(VideoEncoder, self, encoder => encoder.config())
    }

    /// Changes the target rate from the next picture on, without a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] if the library refuses the rate.
    pub fn set_rate(&mut self, rate: Rate) -> Result<(), VideoError> {
        either!(VideoEncoder, self, encoder => encoder.set_rate(rate))
    }

    /// Sets the pictures per second from the next picture on.
    ///
    /// # Errors
    /// [`VideoError::Config`] if it is not between 1 and 240.
    pub fn set_fps(&mut self, fps: u32) -> Result<(), VideoError> {
        either!(VideoEncoder, self, encoder => encoder.set_fps(fps))
    }

    /// Restarts with a keyframe and new rate control state.
    ///
    /// # Errors
    /// [`VideoError::Config`] if the library has no memory.
    pub fn restart(&mut self) -> Result<(), VideoError> {
        either!(VideoEncoder, self, encoder => encoder.restart())
    }

    /// Encodes one picture; `None` if rate control drops it. `timestamp90k` is the
    /// picture's RTP timestamp, which may wrap. A picture of another size than the last
    /// one restarts the encoder with a keyframe.
    ///
    /// # Errors
    /// [`VideoError::PictureSize`] for a picture with wrong planes,
    /// [`VideoError::Encode`] if the library fails.
    pub fn encode(
        &mut self,
        picture: &Picture,
        timestamp90k: u32,
        request: impl Into<FrameRequest>,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        either!(VideoEncoder, self, encoder => encoder.encode(picture, timestamp90k, request))
    }
}

/// Decoder that waits for a keyframe. It does not notice every missing frame; the caller
/// must pass a frame only after its references.
pub enum VideoDecoder {
    /// libvpx.
    Vp8(Vp8Decoder),
    /// OpenH264.
    H264(H264Decoder),
}

impl VideoDecoder {
    /// Creates a decoder without state.
    ///
    /// # Errors
    /// [`VideoError::Config`] if the library has no memory, [`VideoError::Sound`] for an
    /// audio codec.
    pub fn new(codec: Codec) -> Result<VideoDecoder, VideoError> {
        Ok(match codec {
            Codec::Vp8 => VideoDecoder::Vp8(Vp8Decoder::new()?),
            Codec::H264 => VideoDecoder::H264(H264Decoder::new()?),
            Codec::Vp9 | Codec::Av1 => return Err(VideoError::NotCoded(codec)),
            Codec::Opus => return Err(VideoError::Sound(codec)),
        })
    }

    /// Decodes a frame; `None` if there is nothing to display.
    ///
    /// # Errors
    /// [`VideoError::Decode`] for data that is not a frame or refers to a missing one;
    /// the decoder remains usable from the next keyframe.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Option<Picture>, VideoError> {
        either!(VideoDecoder, self, decoder => decoder.decode(frame))
    }
}
