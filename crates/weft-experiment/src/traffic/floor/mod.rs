//! Floor: the best result that any call could reach, from an oracle that knows the links.

use std::ops::RangeInclusive;

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{MicrophoneSetup, Traffic};

/// Oracle in place of a call. It knows the present state of every link of its routes, but
/// not the future. Whenever a link is idle, it sends the newest picture that this link
/// has not carried yet as a whole, as if there were no other traffic. Its packets are not
/// lost or queued, and do not affect other flows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FloorSetup {
    /// Pictures per second. Default 30.
    pub frame_rate: f64,
    /// Rate of all pictures together; all have the same size. Default 150 kbit/s, chosen
    /// by us: a picture fits into one packet, so the links determine the floor.
    pub rate: Rate,
    /// Sound that takes the same routes as the pictures. Default: none.
    pub sound: Option<MicrophoneSetup>,
    /// Device delay of a camera ([`super::CameraSetup::device_delay`]). Default zero.
    pub device_delay: Duration,
}

/// Output of a floor.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FloorRecord {
    /// Displayed pictures. Each was displayed when its last bit had arrived over one of
    /// the routes, and was newer than the previous one.
    pub pictures: Vec<ShownPicture>,
    /// Arrival times of sound packets that were newer than all earlier ones.
    pub sound: Vec<Instant>,
}

/// Displayed picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownPicture {
    /// Time of capture.
    pub captured_at: Instant,
    /// Time from which it was visible.
    pub shown_at: Instant,
}

/// Headers of each picture and sound packet: IPv4, UDP, RTP with the extensions of a
/// call, and the SRTP tag.
const HEADERS: Bytes = Bytes(60);

impl ShownPicture {
    /// Returns the time from capture to display.
    #[must_use]
    pub fn latency(&self) -> Duration {
        self.shown_at.saturating_since(self.captured_at)
    }
}

impl FloorSetup {
    /// Returns the size of a picture on a link.
    #[must_use]
    pub fn picture(&self) -> Bytes {
        Bytes((self.rate.as_bps() as f64 / 8.0 / self.frame_rate) as u64) + HEADERS
    }

    /// Returns the size of this microphone's packets on a link.
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
        // Frame rates of cameras; chosen by us.
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
