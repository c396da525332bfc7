//! Cameras and a microphone, each on a thread of its own with what encodes it.

pub mod cameras;
pub mod feed;
pub mod sound;
mod timestamp;
pub mod video;

pub use timestamp::rtp_timestamp;
