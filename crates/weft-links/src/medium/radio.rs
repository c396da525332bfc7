/// Transmission counters of a station of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RadioCounters {
    /// Transmissions: each of one frame or of an aggregate, or of one transport
    /// block.
    pub attempts: u64,
    /// Transmissions at the same time as another station's.
    pub collisions: u64,
    /// Frames sent, each attempt counted.
    pub frames: u64,
    /// Frames sent again.
    pub again: u64,
    /// Transmissions without a single received frame.
    pub failed: u64,
}

impl RadioCounters {
    /// Sum of both.
    #[must_use]
    pub fn plus(&self, other: &RadioCounters) -> RadioCounters {
        RadioCounters {
            attempts: self.attempts + other.attempts,
            collisions: self.collisions + other.collisions,
            frames: self.frames + other.frames,
            again: self.again + other.again,
            failed: self.failed + other.failed,
        }
    }

    /// Difference to `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &RadioCounters) -> RadioCounters {
        RadioCounters {
            attempts: self.attempts - earlier.attempts,
            collisions: self.collisions - earlier.collisions,
            frames: self.frames - earlier.frames,
            again: self.again - earlier.again,
            failed: self.failed - earlier.failed,
        }
    }
}
