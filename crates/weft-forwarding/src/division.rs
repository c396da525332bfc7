//! Division of the rate of a viewer's paths among the cameras on the screen.

use crate::routing::{ROOM, fair_shares};
use weft_units::{Duration, Instant, Rate};

/// Share of its smallest encoding that a camera needs: below it, even the lowest temporal
/// layer does not fit, and the picture would freeze. Chosen by us.
const MOVES: f64 = 0.5;
/// Factor by which the rate must exceed the need of a paused camera before it resumes.
/// Chosen by us: an encoder exceeds its target by 15 % for seconds.
const RESUME_MARGIN: f64 = 1.15;
/// Time without fitting after which a camera is paused. Chosen by us: longer than a
/// controller takes to recover from a loss.
const PAUSE_AFTER: Duration = Duration::from_secs(2);
/// Time for which a paused camera must fit before it resumes.
const RESUME_AFTER: Duration = Duration::from_secs(3);
/// Maximum of this time; it doubles each time that a camera is paused soon after it resumed.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Time without another pause after which a resumed camera counts as stable.
const LASTED: Duration = Duration::from_secs(10);
/// Maximum ratio of the areas of tiles in one group: tiles of a grid differ by a few pixels.
const SAME_SIZE: u64 = 2;

/// Camera that takes part in the division.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Want {
    /// Area of its tile in pixels; 0 if the viewer did not report it.
    pub(crate) area: u64,
    /// Rate of its largest useful encoding, if known.
    pub(crate) demand: Option<Rate>,
    /// Rate of its smallest encoding; zero for a camera that is never paused.
    pub(crate) smallest: Rate,
    /// Whether it is paused.
    pub(crate) paused: bool,
}

impl Want {
    /// Returns the rate of its smallest encoding, which may be the only one.
    fn kept(&self) -> Rate {
        match self.smallest {
            Rate::ZERO => self.demand.unwrap_or_default(),
            smallest => smallest,
        }
    }

    fn least(&self) -> Rate {
        let margin = if self.paused { RESUME_MARGIN } else { 1.0 };
        self.smallest.mul_f64(MOVES * margin)
    }
}

/// Returns which cameras fit, if each gets the minimum for a moving picture. Larger tiles
/// come first, then those with a lower index. The very first one always fits: without
/// packets, nothing would measure that the paths carry more again. At most one paused
/// camera fits, so that its cost is visible before the next one resumes.
pub(crate) fn fitting(total: Rate, wants: &[Want]) -> Vec<bool> {
    let mut left = total;
    let mut fits = vec![false; wants.len()];
    let mut resumes = false;
    for (order, place) in by_size(wants).into_iter().enumerate() {
        let Want { paused, .. } = wants[place];
        let least = wants[place].least();
        if order == 0 || least <= left && !(paused && resumes) {
            fits[place] = true;
            resumes |= paused;
            left = left.saturating_sub(least);
        }
    }
    fits
}

/// Returns the share of each camera that is not paused. Each gets its smallest encoding,
/// with a margin of [`ROOM`] while larger tiles get theirs first. The rest goes to larger
/// tiles first, divided evenly among tiles of one size. A camera that is not measured yet
/// gets an even share of the remaining rate.
pub(crate) fn shares(total: Rate, wants: &[Want]) -> Vec<Rate> {
    let order = by_size(wants).into_iter();
    let order: Vec<usize> = order.filter(|place| !wants[*place].paused).collect();
    let mut shares = vec![Rate::ZERO; wants.len()];
    let mut left = total;
    let mut rest = &order[..];
    while let Some(first) = rest.first() {
        let alike = |place: &&usize| wants[**place].area * SAME_SIZE >= wants[*first].area;
        let size = rest.iter().take_while(alike).count();
        let (group, smaller) = rest.split_at(size);
        let smallest = |places: &[usize]| -> Rate {
            let each = places.iter().map(|place| wants[*place].kept());
            each.sum()
        };
        let kept = left.saturating_sub(smallest(smaller).mul_f64(ROOM));
        let part = kept.max(left.min(smallest(group)));
        // No encoding can be chosen before it is measured.
        let even = Rate::from_bps(left.as_bps() / rest.len() as u64);
        let demand = |place: &usize| wants[*place].demand.unwrap_or(even);
        let demands: Vec<Option<Rate>> = group.iter().map(|place| Some(demand(place))).collect();
        let given = fair_shares(part, &demands);
        for (place, share) in group.iter().zip(given) {
            shares[*place] = share;
            left = left.saturating_sub(demand(place).min(share));
        }
        rest = smaller;
    }
    shares
}

fn by_size(wants: &[Want]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wants.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(wants[*place].area));
    order
}

/// Pause of a camera for a viewer: it starts after the camera has not fitted for a while,
/// and ends after it has fitted for a while.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pausing {
    paused: bool,
    /// Time since which the camera fits although it is paused, or does not fit although
    /// it is not paused.
    since: Option<Instant>,
    resumed: Option<Instant>,
    wait: Option<Duration>,
}

impl Pausing {
    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Pauses the camera, or resumes it, whatever came before.
    pub(crate) fn set(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Updates the state with whether the camera fits now; returns whether it is paused.
    pub(crate) fn update(&mut self, now: Instant, fits: bool) -> bool {
        if fits != self.paused {
            self.since = None;
            return self.paused;
        }
        let since = *self.since.get_or_insert(now);
        let resume_after = self.wait.unwrap_or(RESUME_AFTER);
        let wait = if self.paused {
            resume_after
        } else {
            PAUSE_AFTER
        };
        if now.saturating_since(since) < wait {
            return self.paused;
        }
        self.since = None;
        self.paused = !self.paused;
        if self.paused {
            let soon = |at| now.saturating_since(at) < LASTED;
            let again = self.resumed.is_some_and(soon);
            self.wait = again.then_some((resume_after * 2).min(LONGEST_WAIT));
        } else {
            self.resumed = Some(now);
        }
        self.paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kbps(rate: u64) -> Rate {
        Rate::from_kbps(rate)
    }

    fn want(area: u64) -> Want {
        Want {
            area,
            demand: Some(kbps(1_500)),
            smallest: kbps(150),
            paused: false,
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn large_tiles_are_filled_before_small_ones_get_more_than_the_smallest() {
        let wants = [want(100), want(1_000), want(90)];
        // A small tile gets more than its encoding needs: otherwise the first fluctuation
        // of the encoder would cost it a layer, which would never return.
        let shares = shares(kbps(1_200), &wants);
        let small = Rate::from_bps(187_500);
        assert_eq!(shares, [small, kbps(825), small]);
    }

    #[test]
    fn the_first_tile_has_its_smallest_encoding_before_the_others_have_theirs() {
        let wants = [want(100), want(1_000), want(100)];
        let shares = shares(kbps(200), &wants);
        assert_eq!(shares, [kbps(25), kbps(150), kbps(25)]);
    }

    #[test]
    fn a_camera_with_one_encoding_takes_nothing_from_those_with_several() {
        let large = Want {
            demand: None,
            ..want(1_000)
        };
        let only = Want {
            smallest: Rate::ZERO,
            demand: Some(kbps(200)),
            ..want(100)
        };
        let shares = shares(kbps(1_200), &[large, want(100), only]);
        assert!(shares[1] >= kbps(150), "{shares:?}");
        assert_eq!(shares[0], Rate::from_bps(762_500));
    }

    #[test]
    fn a_large_tile_that_is_not_measured_leaves_the_small_ones_their_layers() {
        let demand = |demand| Want {
            demand,
            smallest: Rate::ZERO,
            ..want(100)
        };
        let large = Want {
            area: 1_000,
            ..demand(None)
        };
        let shares = shares(kbps(3_000), &[large, demand(Some(kbps(150)))]);
        assert_eq!(shares[1], kbps(1_500));
    }

    #[test]
    fn tiles_of_one_size_share_evenly() {
        let wants = [want(1_000), want(990), want(1_010)];
        assert_eq!(shares(kbps(1_200), &wants), [kbps(400); 3]);
        let unknown = [want(0), want(0)];
        assert_eq!(shares(kbps(1_200), &unknown), [kbps(600); 2]);
    }

    #[test]
    fn a_paused_camera_leaves_its_part_to_the_others() {
        let paused = Want {
            paused: true,
            ..want(1_000)
        };
        let wants = [paused, want(1_000)];
        assert_eq!(shares(kbps(300), &wants), [Rate::ZERO, kbps(300)]);
    }

    #[test]
    fn the_smaller_and_later_tiles_do_not_fit_first() {
        let wants = [want(100), want(1_000), want(100)];
        assert_eq!(fitting(kbps(225), &wants), [true; 3]);
        assert_eq!(fitting(kbps(224), &wants), [true, true, false]);
        assert_eq!(fitting(kbps(75), &wants), [false, true, false]);
        assert_eq!(fitting(kbps(20), &wants), [false, true, false]);
        // A paused camera needs a little more.
        let paused = Want {
            paused: true,
            ..want(100)
        };
        let wants = [want(1_000), paused, paused];
        assert_eq!(fitting(kbps(160), &wants), [true, false, false]);
        assert_eq!(fitting(kbps(162), &wants), [true, true, false]);
        assert_eq!(fitting(kbps(900), &wants), [true, true, false]);
    }

    #[test]
    fn a_camera_without_encodings_to_choose_from_always_fits() {
        let only = Want {
            smallest: Rate::ZERO,
            ..want(10)
        };
        assert_eq!(fitting(Rate::ZERO, &[only]), [true]);
    }

    #[test]
    fn pausing_takes_two_seconds_and_resuming_longer_each_time_that_it_fails() {
        let mut pausing = Pausing::default();
        let mut changes = Vec::new();
        let mut before = false;
        for ms in (0..60_000).step_by(100) {
            // The camera fits exactly while it is paused.
            let paused = pausing.update(at(ms), before);
            if paused != before {
                changes.push(ms);
            }
            before = paused;
        }
        assert_eq!(
            changes,
            [
                2_000, 5_100, 7_200, 13_300, 15_400, 27_500, 29_600, 53_700, 55_800
            ]
        );
    }

    #[test]
    fn a_moment_changes_nothing() {
        let mut pausing = Pausing::default();
        for ms in (0..20_000).step_by(100) {
            assert!(!pausing.update(at(ms), ms % 1_900 == 0));
        }
    }
}
