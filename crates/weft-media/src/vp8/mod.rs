//! VP8 by the system's libvpx.

mod decoder;
mod encoder;
mod ffi;
#[cfg(test)]
mod tests;

pub use decoder::Vp8Decoder;
pub use encoder::{EncodedFrame, EncoderConfig, Keyframe, Vp8Encoder};

/// Why libvpx did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Vp8Error {
    /// The configuration cannot be encoded; the text names the field.
    #[error("VP8 encoder configuration: {0}")]
    Config(String),
    /// The picture's planes do not have the size its dimensions ask for.
    #[error("the picture says {width}x{height}, but its planes have another size")]
    PictureSize {
        /// Width that the picture claims.
        width: usize,
        /// Height that the picture claims.
        height: usize,
    },
    /// libvpx refused to encode.
    #[error("libvpx could not encode: {0}")]
    Encode(String),
    /// The data is no decodable VP8 frame, or it refers to one that is
    /// missing: drop it and ask the sender for a keyframe.
    #[error("VP8 frame not decodable ({0}): a keyframe is needed")]
    Decode(String),
}

fn message(code: i32) -> String {
    // SAFETY: returns a static, NUL-terminated string for every code.
    let text = unsafe { std::ffi::CStr::from_ptr(ffi::weft_vpx_error(code)) };
    text.to_string_lossy().into_owned()
}
