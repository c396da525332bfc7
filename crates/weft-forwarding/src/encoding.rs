//! Choice of the camera encoding that a player gets.

use crate::routing::{Raises, TrackId};
use weft_units::{Instant, Rate};

/// Factor by which a share must exceed the rate of a larger encoding before a player gets
/// it. Chosen by us: an encoder exceeds its target by 15 % for seconds.
const RAISE_MARGIN: f64 = 1.15;
/// Encoding as it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    pub(crate) track: TrackId,
    /// Rate of all its layers.
    pub(crate) rate: Rate,
    /// Width and height of its pictures in pixels, if known.
    pub(crate) size: Option<(u16, u16)>,
}

/// Returns the encodings that are useful to a player, the smallest first: those that
/// arrive, up to the first one that fills the displayed size.
pub(crate) fn useful(mut all: Vec<Encoding>, shown: Option<(u32, u32)>) -> Vec<Encoding> {
    all.retain(|encoding| encoding.rate > Rate::ZERO);
    all.sort_by_key(|encoding| (encoding.size, encoding.rate));
    let fills = |encoding: &Encoding| {
        let (Some(shown), Some(size)) = (shown, encoding.size) else {
            return false;
        };
        u32::from(size.0) >= shown.0 && u32::from(size.1) >= shown.1
    };
    if let Some(enough) = all.iter().position(fills) {
        all.truncate(enough + 1);
    }
    all
}

/// Choice among the encodings of one camera: down at once, up after the share has
/// exceeded the need for a while.
#[derive(Debug, Clone, Default)]
pub(crate) struct EncodingChoice {
    raises: Raises,
}

impl EncodingChoice {
    /// Returns the encoding to forward, of the [`useful`] ones: the largest that fits the
    /// share, or else the smallest. `present` is the one forwarded now. `may_rise` only
    /// if nothing else of the player was raised recently.
    pub(crate) fn choose(
        &mut self,
        now: Instant,
        useful: &[Encoding],
        present: Option<TrackId>,
        share: Option<Rate>,
        may_rise: bool,
    ) -> Option<TrackId> {
        let fits = |factor: f64| {
            let fits = |e: &Encoding| share.is_none_or(|share| e.rate.mul_f64(factor) <= share);
            useful.iter().rposition(fits).unwrap_or(0)
        };
        let at = useful.iter().position(|e| Some(e.track) == present);
        let (stay, raise) = (fits(1.0), fits(RAISE_MARGIN));
        let chosen = match at {
            None => stay,
            Some(at) if stay < at => {
                self.raises.lower(now);
                stay
            }
            Some(at) if raise > at => {
                if !self.raises.is_due(now) || !may_rise {
                    return present;
                }
                self.raises.raise(now);
                at + 1
            }
            Some(at) => at,
        };
        self.raises.reset();
        useful.get(chosen).map(|encoding| encoding.track)
    }

    /// Returns the time of the last raise, unless it was undone.
    pub(crate) fn raised(&self) -> Option<Instant> {
        self.raises.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_units::Duration;

    fn encoding(track: u64, kbps: u64, size: (u16, u16)) -> Encoding {
        Encoding {
            track: TrackId(track),
            rate: Rate::from_kbps(kbps),
            size: Some(size),
        }
    }

    fn three() -> Vec<Encoding> {
        vec![
            encoding(3, 1_500, (1280, 720)),
            encoding(1, 150, (320, 180)),
            encoding(2, 500, (640, 360)),
        ]
    }

    fn tracks(useful: &[Encoding]) -> Vec<u64> {
        useful.iter().map(|e| e.track.0).collect()
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn encodings_that_do_not_arrive_or_exceed_the_tile_are_not_chosen() {
        assert_eq!(tracks(&useful(three(), None)), [1, 2, 3]);
        assert_eq!(tracks(&useful(three(), Some((640, 360)))), [1, 2]);
        assert_eq!(tracks(&useful(three(), Some((641, 360)))), [1, 2, 3]);
        assert_eq!(tracks(&useful(three(), Some((100, 50)))), [1]);
        let mut silent = three();
        silent[1].rate = Rate::ZERO;
        assert_eq!(tracks(&useful(silent, Some((100, 50)))), [2]);
    }

    #[test]
    fn the_largest_that_fits_is_chosen_down_at_once_and_up_after_two_seconds() {
        let useful = useful(three(), None);
        let mut choice = EncodingChoice::default();
        let mut choose = |ms, present: u64, kbps| {
            let share = Some(Rate::from_kbps(kbps));
            let chosen = choice.choose(at(ms), &useful, Some(TrackId(present)), share, true);
            chosen.map(|track| track.0)
        };
        assert_eq!(choose(0, 3, 1_500), Some(3));
        assert_eq!(choose(100, 3, 1_400), Some(2));
        assert_eq!(
            choose(200, 2, 100),
            Some(1),
            "the smallest comes in any case"
        );
        assert_eq!(choose(300, 1, 1_600), Some(1));
        assert_eq!(choose(2_200, 1, 1_600), Some(1));
        assert_eq!(
            choose(2_300, 1, 1_600),
            Some(2),
            "the largest has no margin"
        );
        assert_eq!(choose(2_400, 2, 1_800), Some(2));
        assert_eq!(choose(3_000, 2, 1_600), Some(2), "the wait begins again");
        assert_eq!(choose(4_600, 2, 1_800), Some(2));
        assert_eq!(choose(6_600, 2, 1_800), Some(3));
    }

    #[test]
    fn a_raise_that_did_not_last_is_tried_again_much_later() {
        let useful = useful(three(), None);
        let mut choice = EncodingChoice::default();
        let rich = Some(Rate::from_kbps(5_000));
        let poor = Some(Rate::from_kbps(200));
        let mut present = Some(TrackId(1));
        let mut raises = Vec::new();
        let mut raised = None;
        for ms in (0..120_000).step_by(100) {
            // Each raise turns out to be too much half a second later.
            let failed = raised.is_some_and(|at| ms >= at + 500);
            let share = if failed { poor } else { rich };
            let chosen = choice.choose(at(ms), &useful, present, share, true);
            if chosen > present {
                raises.push(ms);
                raised = Some(ms);
            } else if chosen < present {
                raised = None;
            }
            present = chosen;
        }
        assert_eq!(raises, [2_000, 12_600, 33_200, 73_800]);
    }

    #[test]
    fn a_first_choice_is_the_largest_that_fits_at_once() {
        let useful = useful(three(), None);
        let mut choice = EncodingChoice::default();
        let mut choose = |share| {
            choice
                .choose(at(0), &useful, None, share, true)
                .map(|t| t.0)
        };
        assert_eq!(choose(Some(Rate::from_kbps(600))), Some(2));
        assert_eq!(choose(None), Some(3));
        assert_eq!(choice.choose(at(0), &[], None, None, true), None);
    }
}
