//! VP8 with the system's libvpx.

mod attempt;
mod decoder;
mod encoder;
mod ffi;
mod quantizer;
mod raw;
#[cfg(test)]
mod tests;
mod within;

pub use decoder::Vp8Decoder;
pub use encoder::Vp8Encoder;

use weft_units::Codec;

use crate::coding::VideoError;

fn config_error(reason: String) -> VideoError {
    VideoError::Config(Codec::Vp8, reason)
}

fn encode_error(reason: String) -> VideoError {
    VideoError::Encode(Codec::Vp8, reason)
}

fn decode_error(reason: String) -> VideoError {
    VideoError::Decode(Codec::Vp8, reason)
}

fn message(code: i32) -> String {
    // SAFETY: returns a static, NUL-terminated string for every code.
    let text = unsafe { std::ffi::CStr::from_ptr(ffi::weft_vpx_error(code)) };
    text.to_string_lossy().into_owned()
}
