use weft_units::{Bytes, Instant};

/// Budget in bytes for packets that are sent again before they are known to be lost.
///
/// It is at most one part in [`SHARE`] of the media sent, plus [`BURST`]: the bytes of 2
/// Mbps in a queue of 200 ms.
#[derive(Debug)]
pub(in crate::session) struct Budget {
    left: Bytes,
    /// Time of the last check whether dead paths have come back.
    pub(super) asked: Option<Instant>,
}

/// Divisor of the media bytes.
const SHARE: u64 = 20;
const BURST: Bytes = Bytes(50_000);

impl Budget {
    pub fn new() -> Budget {
        Budget {
            left: BURST,
            asked: None,
        }
    }

    /// Adds to the budget for media that was assigned to paths for the first time.
    pub fn earn(&mut self, media: Bytes) {
        self.left = (self.left + Bytes(media.0 / SHARE)).min(BURST);
    }

    pub(super) fn spend(&mut self, size: Bytes) -> bool {
        let enough = self.left >= size;
        if enough {
            self.left -= size;
        }
        enough
    }
}

#[cfg(test)]
mod tests;
