/// What a station of a cell did with its turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RadioCounters {
    /// Transmissions: each of one frame or of an aggregate, or of one transport
    /// block.
    pub attempts: u64,
    /// Of these, at the same time as another station's.
    pub collisions: u64,
    /// Frames that were sent, each as often as it was.
    pub frames: u64,
    /// Of these, sent before.
    pub again: u64,
    /// Transmissions of which nothing came through.
    pub failed: u64,
}

impl RadioCounters {
    /// Both together.
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

    /// What was added since `earlier`.
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
