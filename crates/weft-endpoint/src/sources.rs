//! Cameras and a microphone, each on its own thread with its encoder.

pub mod cameras;
pub mod feed;
pub mod smaller;
pub mod sound;
mod timestamp;
pub mod video;

pub use timestamp::rtp_timestamp;
