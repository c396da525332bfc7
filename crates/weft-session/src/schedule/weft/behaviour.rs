//! Tasks of the session for the default scheduler. The values were found by trial on
//! generated and measured traces; `docs/protocol/calm.md` has the results.

use weft_units::{Duration, Rate};

use crate::ablation::{Ablation, Ablations};
use crate::preference::Preference;
use crate::schedule::{Behaviour, Cap, Caution, Lateness};

impl Behaviour {
    /// Returns the tasks for a call's preference, without the left-out parts.
    pub(super) fn of(preference: Preference, without: Ablations) -> Behaviour {
        let has = |part| !without.contains(part);
        let caution = Caution::of(preference);
        let others = match preference {
            Preference::Calm => Some(0.0),
            Preference::Balanced => Some(0.5),
            Preference::Pixels => None,
        };
        Behaviour {
            lateness: Some(Lateness {
                caution,
                others_count: others.filter(|_| has(Ablation::Caution)),
                avoids_degraded_paths: has(Ablation::DegradedPaths),
                restarts_pictures: has(Ablation::FreshStart),
                bounds_pictures: has(Ablation::FrameBudget),
                spreads_on_only_path: has(Ablation::OnlyPath),
            }),
            copies_sound: true,
        }
    }
}

impl Caution {
    pub(crate) fn of(preference: Preference) -> Caution {
        let balanced = Caution {
            danger: Duration::from_millis(100),
            trusts_rate: true,
            copies_for: Duration::from_secs(10),
            cap: Some(Cap {
                start: Rate::from_mbps(3),
                after_first: Rate::from_mbps(10_000),
                least: Rate::from_mbps(1),
                fall: 0.7,
                growth: 0.03,
                early_growth: 0.5,
                calm_after: None,
            }),
        };
        match preference {
            Preference::Balanced => balanced,
            Preference::Pixels => Caution {
                copies_for: Duration::ZERO,
                cap: None,
                ..balanced
            },
            Preference::Calm => Caution {
                danger: Duration::from_millis(80),
                trusts_rate: false,
                copies_for: Duration::from_secs(30),
                cap: Some(Cap {
                    start: Rate::from_mbps(10),
                    after_first: Rate::from_kbps(1500),
                    least: Rate::from_kbps(700),
                    fall: 0.6,
                    growth: 0.008,
                    early_growth: 0.1,
                    calm_after: Some(Duration::from_secs(30)),
                }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calmer_the_more_cautious() {
        let [calm, balanced, pixels] = Preference::ALL.map(Caution::of);
        assert!(calm.danger < balanced.danger);
        assert!(calm.copies_for > balanced.copies_for && balanced.copies_for > pixels.copies_for);
        let caps = [calm, balanced].map(|caution| caution.cap.expect("a cap"));
        assert!(caps[0].growth < caps[1].growth && caps[0].least < caps[1].least);
        assert!(pixels.cap.is_none());
    }

    #[test]
    fn each_part_can_be_left_out() {
        let lateness = |without| {
            let behaviour = Behaviour::of(Preference::Balanced, without);
            behaviour.lateness.expect("the session's duty")
        };
        let parts = |l: Lateness| {
            let others = l.others_count.is_some();
            [
                others,
                l.avoids_degraded_paths,
                l.restarts_pictures,
                l.bounds_pictures,
                l.spreads_on_only_path,
            ]
        };
        assert_eq!(parts(lateness(Ablations::NONE)), [true; 5]);
        let without = [
            Ablation::Caution,
            Ablation::DegradedPaths,
            Ablation::FreshStart,
            Ablation::FrameBudget,
            Ablation::OnlyPath,
        ];
        for (place, part) in without.into_iter().enumerate() {
            let left: Vec<bool> = (0..5).map(|other| other != place).collect();
            assert_eq!(parts(lateness(part.into())).to_vec(), left, "{part:?}");
        }
    }
}
