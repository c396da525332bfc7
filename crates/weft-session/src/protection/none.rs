use weft_units::{Instant, PathId};

use super::{FrameToProtect, Group, Protection};

/// Protection that makes no repair packets.
pub(super) struct Nothing;

impl Protection for Nothing {
    fn on_feedback(&mut self, _now: Instant, _path: PathId, _arrived: u64, _lost: u64) {}

    fn on_unrepaired(&mut self, _now: Instant, _path: PathId) {}

    fn protect(&mut self, _now: Instant, _frame: &FrameToProtect<'_>) -> Vec<Group> {
        Vec::new()
    }
}
