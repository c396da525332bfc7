//! The floor: what the best of all calls would show, which knows its links.

use std::ops::RangeInclusive;

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{MicrophoneSetup, Traffic};

/// An oracle in the place of a call. It knows the present of every link of its
/// routes and nothing of the future: on each, whenever it is idle, goes the
/// newest picture that has not gone there yet, whole, as if nobody else were on
/// it. Nothing of it is lost or waits, and none of it is a packet of the run:
/// other flows do not meet it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FloorSetup {
    /// Pictures a second. Default 30.
    pub frame_rate: f64,
    /// What the pictures would make together, were all of them sent; each has
    /// the same size. Default 150 kbit/s, chosen by us: a picture fits into
    /// one packet, so that it is the links that set the floor.
    pub rate: Rate,
    /// Sound goes the same way, beside the pictures. Default: none.
    pub sound: Option<MicrophoneSetup>,
    /// As a camera's ([`super::CameraSetup::device_delay`]). Default zero.
    pub device_delay: Duration,
}

/// What a floor has shown.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FloorRecord {
    /// Each was shown as soon as its last bit had come over one of the routes,
    /// and was newer than the one before.
    pub pictures: Vec<ShownPicture>,
    /// When a packet of sound came that was newer than all before.
    pub sound: Vec<Instant>,
}

/// A picture on a display.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownPicture {
    /// When it was taken.
    pub captured_at: Instant,
    /// From when on it was seen.
    pub shown_at: Instant,
}

/// Beside each picture and packet of sound: IPv4, UDP, RTP with the extensions of a call, and
/// SRTP's tag.
const HEADERS: Bytes = Bytes(60);

impl ShownPicture {
    /// From the one to the other.
    #[must_use]
    pub fn latency(&self) -> Duration {
        self.shown_at.saturating_since(self.captured_at)
    }
}

impl FloorSetup {
    /// What a picture takes on a link.
    #[must_use]
    pub fn picture(&self) -> Bytes {
        Bytes((self.rate.as_bps() as f64 / 8.0 / self.frame_rate) as u64) + HEADERS
    }

    /// What a packet of this microphone takes on a link.
    #[must_use]
    pub fn packet(microphone: &MicrophoneSetup) -> Bytes {
        Bytes(microphone.bytes() as u64) + HEADERS
    }
}

impl Default for FloorSetup {
    fn default() -> FloorSetup {
        FloorSetup {
            frame_rate: 30.0,
            rate: Rate::from_kbps(150),
            sound: None,
            device_delay: Duration::ZERO,
        }
    }
}

impl Traffic for FloorSetup {
    fn wrong(&self) -> Option<&'static str> {
        // A camera's range; chosen by us.
        if !(1.0..=1_000.0).contains(&self.frame_rate) {
            return Some("a floor has 1 to 1000 pictures a second");
        }
        if self.rate == Rate::ZERO {
            return Some("give the floor a rate above zero");
        }
        self.sound.as_ref().and_then(MicrophoneSetup::wrong)
    }

    fn routes(&self) -> (RangeInclusive<usize>, &'static str) {
        (1..=usize::MAX, "at least one")
    }

    fn words(&self) -> String {
        format!(
            "the floor of a call, {} pictures a second of {} B",
            self.frame_rate,
            self.picture().0
        )
    }

    fn has_packets(&self) -> bool {
        false
    }

    fn device_delay(&self) -> Duration {
        self.device_delay
    }
}
