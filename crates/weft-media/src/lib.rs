//! Cameras, files, encoders, decoders and quality metrics.
//!
//! Input and output are plain data; nothing depends on packets or networks. Strings
//! specify cameras and microphones ([`CameraSpec`], [`MicrophoneSpec`]) as on the command
//! line.

pub mod audio;
pub mod camera;
pub mod clip;
mod coding;
mod h264;
pub mod metrics;
mod picture;
mod scaler;
mod spec;
pub mod stamp;
mod video;
mod vp8;

pub use audio::{
    AudioFrame, EchoCanceller, EchoFreeMicrophone, EchoReference, Microphone, MicrophoneError,
    MicrophoneSpec, OpusDecoder, OpusEncoder, OpusError, PlayedCounts, RoomMixer, SoundBlock,
    Speaker, SpeakerError, SpeakerSpec, audio_level,
};
pub use camera::{Camera, CameraError, CameraSpec, Captured, Format};
pub use coding::{EncodedFrame, EncoderConfig, MAX_MACROBLOCKS, VideoError};
pub use h264::{H264Decoder, H264Encoder};
pub use picture::Picture;
pub use scaler::Scaler;
pub use spec::{Pace, SpecError};
pub use video::{VideoDecoder, VideoEncoder};
pub use vp8::{Vp8Decoder, Vp8Encoder};
pub use weft_publish::{FrameRequest, Keyframe};
