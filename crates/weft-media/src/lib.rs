//! Cameras, files, encoders, decoders and quality metrics.
//!
//! Everything here is plain data in, plain data out: nothing knows of
//! packets or networks. Cameras and microphones are named by strings
//! ([`CameraSpec`], [`MicrophoneSpec`]) as on the command line.

pub mod audio;
pub mod camera;
pub mod clip;
pub mod metrics;
mod picture;
mod recorder;
mod scaler;
mod spec;
pub mod stamp;
pub mod vp8;

pub use audio::{
    AudioFrame, Microphone, MicrophoneError, MicrophoneSpec, OpusDecoder, OpusEncoder, OpusError,
};
pub use camera::{Camera, CameraError, CameraSpec, Captured, Format};
pub use picture::Picture;
pub use recorder::{Recorder, RecorderError, Tracks};
pub use scaler::Scaler;
pub use spec::{Pace, SpecError};
pub use vp8::{EncodedFrame, EncoderConfig, Keyframe, Vp8Decoder, Vp8Encoder, Vp8Error};
