use openh264::OpenH264API;
use openh264::decoder::{DecodedYUV, Decoder, DecoderConfig, Flush};
use openh264::formats::YUVSource;
use weft_units::Codec;
use weft_wire::payload::h264::{SequenceParameters, nal_units};

use super::config_error;
use crate::Picture;
use crate::coding::{VideoError, check_size, too_large};

/// Maximum number of macroblocks of all reference pictures in a decoder: the value of
/// level 4.2 (ITU-T H.264 table A-1, MaxDpbMbs).
const MAX_REFERENCES: u32 = 34_816;
/// NAL unit types (ITU-T H.264 table 7-1).
const SEQUENCE_PARAMETERS: u8 = 7;
/// Parameter sets of scalable layers, which none of our profiles has.
const SUBSET_PARAMETERS: u8 = 15;

/// H.264 decoder.
///
/// It does not conceal errors and does not notice every missing frame. The caller must
/// track the dependencies, and pass a frame only after its references.
pub struct H264Decoder {
    raw: Decoder,
}

impl H264Decoder {
    /// Creates a decoder that waits for a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] if OpenH264 has no memory.
    pub fn new() -> Result<H264Decoder, VideoError> {
        // Our profiles do not reorder pictures.
        let config = DecoderConfig::new().flush_after_decode(Flush::NoFlush);
        let raw = Decoder::with_api_config(OpenH264API::from_source(), config);
        Ok(H264Decoder {
            raw: raw.map_err(config_error)?,
        })
    }

    /// Decodes one frame, a byte stream (ITU-T H.264 Annex B); `None` if it contains no
    /// picture.
    ///
    /// # Errors
    /// [`VideoError::Decode`] for data that is not an H.264 frame, refers to a missing
    /// frame or has parameters outside our profiles, [`VideoError::TooLarge`] for
    /// pictures above the limit; the decoder remains usable from the next keyframe.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Option<Picture>, VideoError> {
        let failed = |reason: String| VideoError::Decode(Codec::H264, reason);
        // OpenH264 would treat an empty frame as the end of the stream.
        if frame.is_empty() || i32::try_from(frame.len()).is_err() {
            return Err(failed("empty or too long".to_owned()));
        }
        check_parameters(frame)?;
        let decoded = self.raw.decode(frame);
        let decoded = decoded.map_err(|error| failed(error.to_string()))?;
        Ok(decoded.as_ref().map(copy_out))
    }
}

/// Refuses parameter sets that are unparsable, or for which OpenH264 would allocate too
/// much memory when it reads them.
fn check_parameters(frame: &[u8]) -> Result<(), VideoError> {
    for unit in nal_units(frame) {
        let Some(header) = unit.first() else {
            continue;
        };
        let unread = || VideoError::Decode(Codec::H264, "unknown parameters".to_owned());
        match header & 0x1f {
            SEQUENCE_PARAMETERS => {
                let parameters = SequenceParameters::parse(unit).ok_or_else(unread)?;
                let (across, down) = parameters.macroblocks;
                check_size(Codec::H264, (across, down))?;
                let kept = parameters.references.saturating_mul(across * down);
                if kept > MAX_REFERENCES {
                    return Err(too_large(Codec::H264, (across, down)));
                }
            }
            SUBSET_PARAMETERS => return Err(unread()),
            _ => {}
        }
    }
    Ok(())
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
