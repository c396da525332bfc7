/// Transmission counters of a station of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RadioCounters {
    /// Transmissions: each consists of one frame, an aggregate, or one transport block.
    pub attempts: u64,
    /// Transmissions at the same time as another station's.
    pub collisions: u64,
    /// Frames sent, counting each attempt.
    pub frames: u64,
    /// Frames sent again.
    pub again: u64,
    /// Transmissions of which no frame was received.
    pub failed: u64,
}

impl RadioCounters {
    /// Returns the sum of both.
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

    /// Returns the difference to `earlier`.
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
