//! What has come from others, counted.

use weft_session::ReceivedFrame;
use weft_units::{Freezes, Instant};

use crate::caller::Track;

/// What has come from one participant, over all connections that played them.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// Packets of sound.
    pub audio_packets: u64,
    /// Octets of pictures and sound.
    pub bytes: u64,
    /// Their cameras, in order.
    pub cameras: Vec<ReceivedCamera>,
}

/// What has come from one camera.
#[derive(Clone, Debug, Default)]
pub struct ReceivedCamera {
    /// Whole pictures that were due.
    pub frames: u64,
    /// Octets of these, encoded.
    pub bytes: u64,
    /// Of a display that shows each picture when it comes out.
    pub freezes: Freezes,
}

impl Received {
    /// A frame came out at this time.
    pub(crate) fn on_frame(&mut self, track: Track, at: Instant, frame: &ReceivedFrame) {
        let bytes = frame.data.len() as u64;
        self.bytes += bytes;
        match track {
            Track::Sound => self.audio_packets += 1,
            Track::Camera(place) => {
                let count = self.cameras.len().max(place + 1);
                self.cameras.resize_with(count, ReceivedCamera::default);
                let camera = &mut self.cameras[place];
                camera.frames += 1;
                camera.bytes += bytes;
                camera.freezes.on_picture(at);
            }
        }
    }
}
