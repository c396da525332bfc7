//! Tracks of a recording, decoded as the film proceeds.

mod sound;
mod video;

pub(crate) use sound::SoundTrack;
pub(crate) use video::VideoTrack;
