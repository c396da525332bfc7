use std::collections::VecDeque;

use weft_units::{Bytes, Duration, Instant, PathId};

use super::{FrameToProtect, Group, Protection, interleave};

/// Protection as in libwebrtc (revision of its `media_opt_util.cc` and `fec_rate_table.h`
/// as of 2019): a share of the packets of the whole frame that grows with loss and with
/// frame size, and is at least twice as large for keyframes. The loss is that of all
/// paths together, and the highest of the last ten seconds (`VCMLossProtectionLogic`'s
/// max filter). This is the reason for 40 repair packets per 100 at 1 % (Converge,
/// section 6.2).
#[derive(Default)]
pub(super) struct WebrtcTable {
    /// Start of each [`INTERVAL`] with the packets that arrived and were lost in it,
    /// oldest first.
    intervals: VecDeque<(Instant, u64, u64)>,
    /// Mean size of frames other than keyframes.
    size: f64,
}

/// kLossPrShortFilterWinMs and kLossPrHistorySize of libwebrtc.
const INTERVAL: Duration = Duration::from_secs(1);
const INTERVALS: usize = 10;
/// Number of frames over which the size is averaged, chosen by us: libwebrtc divides the
/// encoder's target by the frame rate.
const SIZE_MEMORY: f64 = 10.0;
/// The table's highest share: half of all packets are repair.
const MOST: f64 = 0.5;
/// Factor between a keyframe's share and that of other frames (`_scaleProtKey`), and
/// factor on the size for which it is looked up (`BoostCodeRateKey`).
const KEYFRAME_FACTOR: f64 = 2.0;

/// Returns the share of all packets, media and repair, that is repair. `loss` is a
/// fraction and `kbit` the size of a frame.
///
/// A closed form that we fitted to points of the table of 129 losses by 50 sizes: within
/// 0.11 of them, and within 0.04 for the largest frames. It approaches a half as losses
/// grow, faster for larger frames, and is zero below a minimum loss.
fn code_rate(loss: f64, kbit: f64) -> f64 {
    let kbit = kbit.clamp(5.0, 250.0);
    let (least, scale) = (0.5 / kbit, 0.018 + 2.5 / kbit);
    MOST * (1.0 - (-((loss - least) / scale).max(0.0)).exp())
}

impl WebrtcTable {
    fn loss(&self) -> f64 {
        let part = |&(_, arrived, lost): &(Instant, u64, u64)| match arrived + lost {
            0 => 0.0,
            all => lost as f64 / all as f64,
        };
        // The last interval is incomplete.
        let ended = self.intervals.len().saturating_sub(1);
        let parts = self.intervals.iter().take(ended).map(part);
        parts.fold(0.0, f64::max)
    }

    fn code_rate(&self, keyframe: bool) -> f64 {
        let (loss, kbit) = (self.loss(), self.size * 8.0 / 1000.0);
        let delta = code_rate(loss, kbit);
        match keyframe {
            true => {
                let larger = code_rate(loss, kbit * KEYFRAME_FACTOR);
                larger.max(delta * KEYFRAME_FACTOR).min(MOST)
            }
            false => delta,
        }
    }

    fn on_size(&mut self, size: Bytes) {
        let size = size.0 as f64;
        match self.size > 0.0 {
            true => self.size += (size - self.size) / SIZE_MEMORY,
            false => self.size = size,
        }
    }
}

impl Protection for WebrtcTable {
    fn on_feedback(&mut self, now: Instant, _path: PathId, arrived: u64, lost: u64) {
        let current = self.intervals.back();
        let is_over = |(begin, ..): &(Instant, u64, u64)| now >= *begin + INTERVAL;
        if current.is_none_or(is_over) {
            self.intervals.push_back((now, 0, 0));
        }
        if self.intervals.len() > INTERVALS + 1 {
            self.intervals.pop_front();
        }
        if let Some((_, all_arrived, all_lost)) = self.intervals.back_mut() {
            *all_arrived += arrived;
            *all_lost += lost;
        }
    }

    fn on_unrepaired(&mut self, _now: Instant, _path: PathId) {}

    fn protect(&mut self, _now: Instant, frame: &FrameToProtect<'_>) -> Vec<Group> {
        if !frame.keyframe {
            self.on_size(frame.size);
        }
        let goes_once = |place: &usize| frame.packets.get(*place).is_some_and(|p| p.goes_once);
        let members = (frame.begin..frame.packets.len()).filter(goes_once);
        let members: Vec<usize> = members.collect();
        // Share of the source packets, rounded (`ConvertFECRate`, `NumFecPackets`).
        let rate = self.code_rate(frame.keyframe);
        let count = (members.len() as f64 * rate / (1.0 - rate)).round();
        interleave(&members, count as usize, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with points of libwebrtc's table, `kFecRateTable[size * 129 + loss]` of
    /// 255, with losses in 255ths: only the shape has to match.
    #[test]
    fn the_closed_form_has_the_tables_shape() {
        let points = [
            (250.0, 2, 27),
            (250.0, 4, 54),
            (250.0, 7, 76),
            (250.0, 10, 85),
            (250.0, 22, 121),
            (250.0, 40, 127),
            (80.0, 3, 40),
            (80.0, 12, 66),
            (80.0, 24, 106),
            (55.0, 7, 53),
            (55.0, 20, 87),
            (55.0, 40, 127),
            (30.0, 18, 56),
            (30.0, 40, 79),
            (15.0, 33, 44),
            (15.0, 60, 85),
            (5.0, 20, 0),
            (5.0, 70, 39),
        ];
        for (kbit, loss, expected) in points {
            let here = code_rate(f64::from(loss) / 255.0, kbit) * 255.0;
            let tolerance = if kbit >= 200.0 { 0.04 } else { 0.11 } * 255.0;
            let expected = f64::from(expected);
            assert!(
                (here - expected).abs() <= tolerance,
                "{kbit} kbit, loss {loss}/255: {here} for {expected}"
            );
        }
    }
}
