use weft_units::{Instant, PathId};

use super::path_specific::PathSpecific;
use super::{FrameToProtect, Group, Protection, Risk};

/// weft's protection. While there is time for retransmissions, they repair most losses,
/// and the number of repair packets follows the losses of each path. While a path is in
/// doubt there may be no time, so the share of repair is larger and is interleaved, which
/// puts the packets of a burst into different groups. The share is largest where
/// retransmissions always come too late, because nothing else repairs a loss there.
#[derive(Default)]
pub(super) struct Weft(PathSpecific);

/// Maximum number of repair packets for each lost one, so that rare losses cost little: a
/// burst hits one frame of many, and all of them are protected. Chosen by trial: with 40,
/// a call whose feedback is 200 ms late freezes for longer.
const FOR_EACH_LOST: f64 = 80.0;
/// Repair packets while a path is in doubt, as a share of the frame's packets: repairs
/// bursts of two of thirteen. Chosen by trial (`docs/protocol/calm.md`): freezes are
/// about the same from 0.1 to 0.25.
const IN_DANGER: f64 = 0.15;
/// Repair packets where retransmissions come too late: repairs bursts of two of five.
/// Chosen by trial: with 0.15, a call whose feedback is late freezes for longer.
const LATE: f64 = 0.4;

impl Protection for Weft {
    fn on_feedback(&mut self, now: Instant, path: PathId, arrived: u64, lost: u64) {
        self.0.on_feedback(now, path, arrived, lost);
    }

    fn on_unrepaired(&mut self, now: Instant, path: PathId) {
        self.0.on_unrepaired(now, path);
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.0.on_path_removed(path);
    }

    fn protect(&mut self, now: Instant, frame: &FrameToProtect<'_>) -> Vec<Group> {
        self.0.protect_with(now, frame, |path, loss| {
            let most = match (frame.risk)(path) {
                Risk::None => 0.0,
                Risk::Danger => IN_DANGER,
                Risk::LateRetransmission => LATE,
            };
            (loss * FOR_EACH_LOST).min(most)
        })
    }
}
