//! Pictures that a publisher's pacer has not sent completely.

use std::collections::VecDeque;

use weft_units::{Duration, Instant};

/// Maximum number of remembered pictures; older ones that were never sent completely are
/// forgotten. Chosen by us: more than a second at 60 pictures a second.
const MOST: usize = 64;

/// Pictures of a publisher from their hand-over until their last packets are sent.
#[derive(Debug, Default)]
pub(crate) struct Leaving(VecDeque<Picture>);

#[derive(Debug)]
struct Picture {
    timestamp: u32,
    captured: Instant,
    /// Encodings whose last packets have not been sent.
    encodings: usize,
}

impl Leaving {
    /// Adds a picture that is handed over in this many encodings.
    pub fn add(&mut self, captured: Instant, timestamp: u32, encodings: usize) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(Picture {
            timestamp,
            captured,
            encodings,
        });
    }

    /// Returns the time from the hand-over of a picture, if this is its last packet: its
    /// marker bit and its timestamp are not encrypted (RFC 3550 section 5.1).
    pub fn on_datagram(&mut self, now: Instant, datagram: &[u8]) -> Option<Duration> {
        let (0x80..=0xbf, [_, second, ..]) = (*datagram.first()?, datagram) else {
            return None;
        };
        let timestamp = u32::from_be_bytes(*datagram.get(4..)?.first_chunk()?);
        let is_last = second & 0x80 != 0 && !(192..=223).contains(second);
        let find = |picture: &Picture| picture.timestamp == timestamp;
        let place = self.0.iter().position(find).filter(|_| is_last)?;
        let picture = self.0.get_mut(place)?;
        picture.encodings = picture.encodings.saturating_sub(1);
        let took = now.saturating_since(picture.captured);
        if picture.encodings == 0 {
            self.0.remove(place);
        }
        Some(took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn packet(marker: bool, timestamp: u32) -> Vec<u8> {
        let mut packet = vec![0x80, 96 | u8::from(marker) << 7, 0, 1];
        packet.extend(timestamp.to_be_bytes());
        packet
    }

    #[test]
    fn a_picture_leaves_with_its_last_packet() {
        let mut leaving = Leaving::default();
        leaving.add(at(10), 7, 2);
        assert_eq!(leaving.on_datagram(at(12), &packet(false, 7)), None);
        assert_eq!(leaving.on_datagram(at(12), &packet(true, 8)), None, "sound");
        let left = |ms| Some(Duration::from_millis(ms));
        assert_eq!(leaving.on_datagram(at(15), &packet(true, 7)), left(5));
        assert_eq!(leaving.on_datagram(at(19), &packet(true, 7)), left(9));
        assert_eq!(
            leaving.on_datagram(at(30), &packet(true, 7)),
            None,
            "a copy"
        );
        for number in 0..100 {
            leaving.add(at(40), number, 1);
        }
        assert_eq!(leaving.on_datagram(at(41), &packet(true, 1)), None);
        assert_eq!(leaving.on_datagram(at(41), &packet(true, 99)), left(1));
        // A sender report, and nothing.
        assert_eq!(leaving.on_datagram(at(42), &[0x80, 200, 0, 6]), None);
        assert_eq!(leaving.on_datagram(at(42), &[]), None);
    }
}
