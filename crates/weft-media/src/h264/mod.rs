//! H.264, constrained baseline, with OpenH264.

mod decoder;
mod encoder;
mod raw;
#[cfg(test)]
mod tests;
mod within;

pub use decoder::H264Decoder;
pub use encoder::H264Encoder;

use weft_units::Codec;

use crate::coding::VideoError;

fn config_error(reason: impl ToString) -> VideoError {
    VideoError::Config(Codec::H264, reason.to_string())
}
