//! Distances at which packets overtake each other: libwebrtc's
//! `NackRequester::WaitNumberOfPackets` (`modules/video_coding/nack_requester.cc`).

use std::collections::VecDeque;

/// Number of remembered packets: `kMaxReorderedPackets`.
const REMEMBERED: usize = 128;
/// Number of distinguished distances: `kNumReorderingBuckets`.
const BUCKETS: usize = 10;

/// Distances of the latest packets that arrived after newer ones.
#[derive(Debug, Default)]
pub(super) struct Overtaking {
    distances: VecDeque<u8>,
    buckets: [u16; BUCKETS],
}

impl Overtaking {
    /// Records a packet that arrived this many sequence numbers behind the newest.
    pub(super) fn add(&mut self, distance: u64) {
        if self.distances.len() == REMEMBERED
            && let Some(oldest) = self.distances.pop_front()
        {
            self.buckets[usize::from(oldest)] -= 1;
        }
        let bucket = distance.min(BUCKETS as u64 - 1) as u8;
        self.distances.push_back(bucket);
        self.buckets[usize::from(bucket)] += 1;
    }

    /// Returns how many packets to wait before requesting a missing one: one more than
    /// the median distance, or none before any packet came late.
    pub(super) fn patience(&self) -> u64 {
        let half = self.distances.len().div_ceil(2);
        let mut passed = 0;
        let mut packets = 0;
        for bucket in self.buckets {
            if passed >= half {
                break;
            }
            passed += usize::from(bucket);
            packets += 1;
        }
        packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_follows_the_median_of_late_packets() {
        let mut overtaking = Overtaking::default();
        assert_eq!(overtaking.patience(), 0);
        overtaking.add(1);
        assert_eq!(overtaking.patience(), 2);
        overtaking.add(4);
        // Half of them were at most one packet late.
        assert_eq!(overtaking.patience(), 2);
        overtaking.add(4);
        assert_eq!(overtaking.patience(), 5);
        (0..REMEMBERED).for_each(|_| overtaking.add(500));
        assert_eq!(overtaking.patience(), BUCKETS as u64);
        assert_eq!(overtaking.distances.len(), REMEMBERED);
        assert_eq!(usize::from(overtaking.buckets[9]), REMEMBERED);
    }
}
