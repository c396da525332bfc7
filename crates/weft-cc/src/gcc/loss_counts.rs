use weft_units::Bytes;

/// Numbers remembered as lost: more packets than a path below several gigabits carries in
/// one counting period.
const LOST_BITS: usize = 8192;

/// Packets that feedback named, each counted once.
#[derive(Debug)]
pub(super) struct LossCounts {
    packets: u32,
    lost: u32,
    size: Bytes,
    /// Numbers counted as lost, modulo the size, so that a packet that arrives after all
    /// is counted once.
    lost_numbers: Box<[u64; LOST_BITS / 64]>,
}

impl LossCounts {
    pub(super) fn new() -> LossCounts {
        LossCounts {
            packets: 0,
            lost: 0,
            size: Bytes::ZERO,
            lost_numbers: Box::new([0; LOST_BITS / 64]),
        }
    }

    /// Counts a packet; returns false if it has already been counted.
    pub(super) fn on_packet(&mut self, number: u64, size: Bytes, lost: bool) -> bool {
        let bit = number as usize % LOST_BITS;
        let word = &mut self.lost_numbers[bit / 64];
        let mask = 1 << (bit % 64);
        let known_as_lost = *word & mask != 0;
        match (known_as_lost, lost) {
            (true, true) => return false,
            (true, false) => {
                *word &= !mask;
                self.lost -= 1;
                return false;
            }
            (false, true) => {
                *word |= mask;
                self.lost += 1;
            }
            (false, false) => {}
        }
        self.packets += 1;
        self.size += size;
        true
    }

    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    pub(super) fn size(&self) -> Bytes {
        self.size
    }

    pub(super) fn clear(&mut self) {
        self.packets = 0;
        self.lost = 0;
        self.size = Bytes::ZERO;
        self.lost_numbers.fill(0);
    }
}
