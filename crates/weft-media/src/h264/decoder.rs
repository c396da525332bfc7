use openh264::OpenH264API;
use openh264::decoder::{DecodedYUV, Decoder, DecoderConfig, Flush};
use openh264::formats::YUVSource;
use weft_units::Codec;

use super::config_error;
use crate::Picture;
use crate::coding::VideoError;

/// An H.264 decoder.
///
/// It conceals nothing and does not notice every missing frame: whoever feeds
/// it tracks the dependencies and gives it only frames whose references it
/// has seen.
pub struct H264Decoder {
    raw: Decoder,
}

impl H264Decoder {
    /// A decoder that waits for a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] when OpenH264 has no memory.
    pub fn new() -> Result<H264Decoder, VideoError> {
        // The profiles that we agree on have no pictures out of order.
        let config = DecoderConfig::new().flush_after_decode(Flush::NoFlush);
        let raw = Decoder::with_api_config(OpenH264API::from_source(), config);
        Ok(H264Decoder {
            raw: raw.map_err(config_error)?,
        })
    }

    /// Decodes one frame, a byte stream (ITU-T H.264 Annex B); `None` when it
    /// has no picture.
    ///
    /// # Errors
    /// [`VideoError::Decode`] for data that is no H.264 frame or refers to
    /// what is missing; the decoder stays usable from the next keyframe on.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Option<Picture>, VideoError> {
        let failed = |reason: String| VideoError::Decode(Codec::H264, reason);
        // OpenH264 would take an empty frame for the end of the stream.
        if frame.is_empty() || i32::try_from(frame.len()).is_err() {
            return Err(failed("empty or too long".to_owned()));
        }
        let decoded = self.raw.decode(frame);
        let decoded = decoded.map_err(|error| failed(error.to_string()))?;
        Ok(decoded.as_ref().map(copy_out))
    }
}

fn copy_out(decoded: &DecodedYUV<'_>) -> Picture {
    let (width, height) = decoded.dimensions();
    let (strides, chroma) = (decoded.strides(), width.div_ceil(2));
    let plane = |from: &[u8], stride: usize, (width, height): (usize, usize)| {
        let mut samples = Vec::with_capacity(width * height);
        for row in from.chunks(stride).take(height) {
            samples.extend_from_slice(&row[..width]);
        }
        samples
    };
    let chroma = (chroma, height.div_ceil(2));
    Picture {
        width,
        height,
        y: plane(decoded.y(), strides.0, (width, height)),
        u: plane(decoded.u(), strides.1, chroma),
        v: plane(decoded.v(), strides.2, chroma),
    }
}
