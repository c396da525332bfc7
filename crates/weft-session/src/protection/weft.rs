use weft_units::{Instant, PathId};

use super::path_specific::{PathSpecific, PathState};
use super::{Doubt, FrameToProtect, Group, Protection};

/// Ours. Retransmission brings back what is lost as long as there is time for
/// it, with few repair packets beside it, by what each path loses. While a path
/// is in doubt there may be none: then a fixed part of what goes once over a
/// path that loses is repair, dealt out so that bursts find each packet in
/// another group. Where retransmission always comes too late it is a larger
/// part, since nothing else makes up for a loss there.
#[derive(Default)]
pub(super) struct Weft(PathSpecific);

/// One repair packet for seven of the frame. Chosen by trial
/// (`docs/protocol/calm.md`): with 0.1 to 0.25 freezes are alike.
const IN_DANGER: f64 = 0.15;
/// Bursts of three of five packets are brought back. Chosen by trial: with 0.15
/// a call freezes for half as long again.
const LATE: f64 = 0.4;

impl Protection for Weft {
    fn on_feedback(&mut self, now: Instant, path: PathId, arrived: u64, lost: u64) {
        self.0.on_feedback(now, path, arrived, lost);
    }

    fn on_unrepaired(&mut self, now: Instant, path: PathId) {
        self.0.on_unrepaired(now, path);
    }

    fn protect(&mut self, now: Instant, frame: &FrameToProtect<'_>) -> Vec<Group> {
        let count = |id: PathId, path: &mut PathState, packets: usize| {
            let part = match (frame.doubt)(id) {
                _ if !path.loses() => 0.0,
                Doubt::None => return path.repairs_for(packets, frame.keyframe),
                Doubt::Danger => IN_DANGER,
                Doubt::RepairsLate => LATE,
            };
            (packets as f64 * part).round() as usize
        };
        self.0.protect_by(now, frame, count)
    }
}
