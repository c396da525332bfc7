//! Sent packets, byte for byte, for peers that get retransmissions under the original
//! sequence number.

use std::collections::VecDeque;

use weft_units::{Duration, Instant, Ssrc};

use crate::config::RETRANSMISSION_AGE;

/// Longest time that a retransmission waits for its pacer. Chosen by us: twice the time
/// in which pacers empty their queues.
const MAY_WAIT: Duration = Duration::from_millis(500);
/// Most bytes kept: a second and a half at 10 Mbit/s.
const MOST: usize = 2_000_000;

/// Sent packets, byte for byte, until they are too old to be useful.
#[derive(Default, Debug)]
pub struct RepeatStore {
    packets: VecDeque<Packet>,
    bytes: usize,
}

#[derive(Debug)]
struct Packet {
    at: Instant,
    ssrc: Ssrc,
    sequence: u16,
    bytes: Vec<u8>,
}

impl RepeatStore {
    /// Stores an RTP packet at its first transmission, not its copies.
    pub fn insert(&mut self, now: Instant, ssrc: Ssrc, sequence: u16, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.packets.push_back(Packet {
            at: now,
            ssrc,
            sequence,
            bytes: bytes.to_vec(),
        });
        let is_old = |p: &Packet| now.saturating_since(p.at) > RETRANSMISSION_AGE + MAY_WAIT;
        while let Some(oldest) = self.packets.front()
            && (self.bytes > MOST || is_old(oldest))
        {
            self.bytes -= oldest.bytes.len();
            self.packets.pop_front();
        }
    }

    /// Returns the packet with this number, as it was sent.
    #[must_use]
    pub fn get(&self, ssrc: Ssrc, sequence: u16) -> Option<&[u8]> {
        let mut newest_first = self.packets.iter().rev();
        let packet = newest_first.find(|p| p.ssrc == ssrc && p.sequence == sequence)?;
        Some(&packet.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_kept_by_time_and_by_bytes() {
        let mut store = RepeatStore::default();
        let ms = |n: u64| Instant::ZERO + Duration::from_millis(n);
        store.insert(ms(0), Ssrc(1), 7, &[1; 100]);
        store.insert(ms(0), Ssrc(2), 7, &[2; 100]);
        assert_eq!(store.get(Ssrc(1), 7), Some(&[1; 100][..]));
        assert_eq!(store.get(Ssrc(2), 7), Some(&[2; 100][..]));
        assert_eq!(store.get(Ssrc(2), 8), None);
        store.insert(ms(1500), Ssrc(1), 8, &[3; 100]);
        assert!(store.get(Ssrc(1), 7).is_some());
        store.insert(ms(1501), Ssrc(1), 9, &[4; 100]);
        assert!(store.get(Ssrc(1), 7).is_none());
        for sequence in 0..10_000 {
            store.insert(ms(1502), Ssrc(3), sequence, &[5; 1000]);
            assert!(store.bytes <= MOST);
        }
        assert!(store.get(Ssrc(3), 9_999).is_some());
        assert!(store.get(Ssrc(3), 0).is_none());
    }
}
