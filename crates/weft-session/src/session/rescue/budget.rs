use weft_units::{Bytes, Instant};

/// Bytes that may be sent again before they are known to be lost.
///
/// Never more than a [`SHARE`] of the media that was sent, and [`BURST`]:
/// what 2 Mbps leave in a queue of 200 ms.
#[derive(Debug)]
pub(in crate::session) struct Budget {
    left: Bytes,
    /// When dead paths were last asked whether they have come back.
    pub(super) asked: Option<Instant>,
}

/// One part in so many of the media.
const SHARE: u64 = 20;
const BURST: Bytes = Bytes(50_000);

impl Budget {
    pub fn new() -> Budget {
        Budget {
            left: BURST,
            asked: None,
        }
    }

    /// Media was given to the paths for the first time.
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
