//! Cameras, files, encoders, decoders and quality metrics.
//!
//! Everything here is plain data in, plain data out: nothing knows of
//! packets or networks. Cameras and microphones are named by strings
//! ([`CameraSpec`], [`MicrophoneSpec`]) as on the command line.

pub mod clip;
pub mod metrics;
mod picture;
pub mod stamp;
pub mod vp8;

pub use picture::Picture;
pub use vp8::{EncodedFrame, EncoderConfig, Keyframe, Vp8Decoder, Vp8Encoder, Vp8Error};
