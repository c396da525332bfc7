//! Received media per participant.

use weft_session::ReceivedFrame;
use weft_units::{Freezes, Instant};

use crate::caller::Track;

/// Totals received from one participant over all connections.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// Sound packets.
    pub audio_packets: u64,
    /// Octets of pictures and sound.
    pub bytes: u64,
    /// Cameras, in order.
    pub cameras: Vec<ReceivedCamera>,
}

/// Totals received from one camera.
#[derive(Clone, Debug, Default)]
pub struct ReceivedCamera {
    /// Complete pictures that were released.
    pub frames: u64,
    /// Encoded size of these pictures, in octets.
    pub bytes: u64,
    /// Freezes of a display that shows each picture at its release time.
    pub freezes: Freezes,
}

impl Received {
    /// Records a frame that was released at this time.
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
