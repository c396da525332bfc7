use proptest::prelude::*;
use weft_units::{Bytes, Duration, Instant, PathId, Rate, StreamId};

use super::{MINIMUM, Metering, Policies, Policy, Standing, Weight};
use crate::ablation::Ablations;
use crate::schedule::{Assignment, Batch, Class, PathView, SchedulerKind};

fn view(id: u8, kbps: u64) -> PathView {
    PathView {
        id: PathId(id),
        rate: Rate::from_kbps(kbps),
        delay: Duration::ZERO,
        reach: Duration::ZERO,
        queued: Bytes::ZERO,
        srtt: Duration::from_millis(50),
        loss: 0.0,
        delivered: None,
        in_flight: Bytes::ZERO,
        endangered: false,
        repairs_late: false,
    }
}

const REGULAR: Policy = Policy {
    weight: Weight(1.0),
    standing: Standing::Regular,
    metering: Metering::Free,
};
const BACKUP: Policy = Policy {
    standing: Standing::Backup,
    ..REGULAR
};
const METERED: Policy = Policy {
    metering: Metering::Metered,
    ..REGULAR
};

fn policies(all: &[Policy]) -> Policies {
    let mut policies = Policies::default();
    for (id, policy) in all.iter().enumerate() {
        policies.set(PathId(id as u8), *policy);
    }
    policies
}

/// Returns the rates of the admitted paths, in kbps.
fn admitted(policies: &Policies, live: &[PathView], wanted: u64) -> Vec<(u8, u64)> {
    let admitted = policies.admit(live, Rate::from_kbps(wanted));
    let kbps = |(id, rate): (PathId, Rate)| (id.0, rate.as_bps() / 1000);
    admitted.into_iter().map(kbps).collect()
}

#[test]
fn a_backup_waits_while_another_path_carries_the_minimum() {
    let policies = policies(&[REGULAR, BACKUP]);
    let both = [view(0, 600), view(1, 5000)];
    assert_eq!(admitted(&policies, &both, 4000), [(0, 600)]);
    assert_eq!(admitted(&policies, &both[1..], 4000), [(1, 5000)]);
    let weak = [view(0, 180), view(1, 5000)];
    assert_eq!(admitted(&policies, &weak, 4000), [(0, 180), (1, 5000)]);
    // If the application wants less than the minimum, that is enough.
    assert_eq!(admitted(&policies, &weak, 100), [(0, 180)]);
}

#[test]
fn a_backup_that_helps_stays_until_the_others_have_half_as_much_again() {
    let mut policies = policies(&[REGULAR, BACKUP]);
    let wanted = Rate::from_kbps(4000);
    let at = |kbps| [view(0, kbps), view(1, 5000)];
    let helps = |policies: &Policies, kbps| policies.admit(&at(kbps), wanted).len() == 2;
    assert!(!helps(&policies, 200));
    policies.settle(&at(180), wanted);
    // 190 kbps and half as much again are 285.
    assert!(helps(&policies, 280));
    assert!(!helps(&policies, 290));
    policies.settle(&at(290), wanted);
    assert!(!helps(&policies, 280));
}

#[test]
fn a_metered_path_carries_what_is_missing() {
    let policies = policies(&[REGULAR, METERED, METERED]);
    let live = [view(0, 3000), view(1, 4000), view(2, 1000)];
    // 1,000 kbps are missing and divided 4 to 1.
    assert_eq!(
        admitted(&policies, &live, 4000),
        [(0, 3000), (1, 800), (2, 200)]
    );
    assert_eq!(admitted(&policies, &live, 3000), [(0, 3000)]);
    assert_eq!(admitted(&policies, &live, 3040), [(0, 3000)]);
    assert_eq!(
        admitted(&policies, &live, 20_000),
        [(0, 3000), (1, 4000), (2, 1000)]
    );
    assert_eq!(admitted(&policies, &live[1..2], 4000), [(1, 4000)]);
}

#[test]
fn a_weight_scales_a_share_beside_others_and_nothing_alone() {
    let half = Policy {
        weight: Weight(0.5),
        ..REGULAR
    };
    let policies = policies(&[REGULAR, half]);
    let both = [view(0, 2000), view(1, 2000)];
    assert_eq!(admitted(&policies, &both, 4000), [(0, 2000), (1, 1000)]);
    assert_eq!(admitted(&policies, &both[1..], 4000), [(1, 2000)]);
}

#[test]
fn packets_on_a_free_path_are_not_copied_to_a_metered_one() {
    let policies = policies(&[REGULAR, METERED, REGULAR]);
    let assignment = |path, copies: &[u8]| Assignment {
        path: PathId(path),
        copies: copies.iter().map(|id| PathId(*id)).collect(),
    };
    let mut all = [
        assignment(0, &[1, 2]),
        assignment(1, &[0, 2]),
        assignment(1, &[]),
    ];
    policies.spare(&mut all);
    assert_eq!(
        all,
        [assignment(0, &[2]), assignment(0, &[2]), assignment(1, &[]),]
    );
}

fn any_policy() -> impl Strategy<Value = Policy> {
    (0.01..=1.0f64, any::<bool>(), any::<bool>()).prop_map(|(weight, backup, metered)| Policy {
        weight: Weight::new(weight).expect("in range"),
        standing: match backup {
            true => Standing::Backup,
            false => Standing::Regular,
        },
        metering: match metered {
            true => Metering::Metered,
            false => Metering::Free,
        },
    })
}

fn any_paths() -> impl Strategy<Value = Vec<(Policy, u64, bool)>> {
    prop::collection::vec((any_policy(), 50..20_000u64, any::<bool>()), 1..6)
}

proptest! {
    #[test]
    fn there_is_always_a_path_if_one_lives(
        paths in any_paths(), wanted in 0..20_000u64, helping: bool
    ) {
        let all: Vec<Policy> = paths.iter().map(|(policy, ..)| *policy).collect();
        let mut policies = policies(&all);
        policies.helping = helping;
        let live: Vec<PathView> = paths
            .iter()
            .enumerate()
            .filter(|(_, (.., lives))| *lives)
            .map(|(id, (_, kbps, _))| view(id as u8, *kbps))
            .collect();
        let wanted = Rate::from_kbps(wanted);
        let admitted = policies.admit(&live, wanted);
        prop_assert_eq!(admitted.is_empty(), live.is_empty());
        // In order, each once, none above its own rate.
        prop_assert!(admitted.windows(2).all(|w| w[0].0 < w[1].0));
        for (id, rate) in &admitted {
            let own = live.iter().find(|p| p.id == *id);
            prop_assert!(own.is_some_and(|p| *rate <= p.rate));
        }
        // All free regular paths are in use, and if they alone carry the minimum, no
        // backup is.
        let free = |id| policies.of(id).metering == Metering::Free;
        let backup = |id| policies.of(id).standing == Standing::Backup;
        let regular = live.iter().filter(|p| !backup(p.id) && free(p.id));
        prop_assert!(regular.clone().all(|p| admitted.iter().any(|(id, _)| *id == p.id)));
        let carried: Rate = regular.map(|p| p.rate).sum();
        if carried >= MINIMUM.mul_f64(1.5) {
            prop_assert!(admitted.iter().all(|(id, _)| !backup(*id)));
        }
        // Settling does not change the decision.
        policies.settle(&live, wanted);
        prop_assert_eq!(policies.admit(&live, wanted).is_empty(), live.is_empty());
    }

    #[test]
    fn every_scheduler_stays_on_the_paths_that_are_admitted(
        paths in any_paths(), packets in 1..40usize, kind in 0..SchedulerKind::ALL.len()
    ) {
        let all: Vec<Policy> = paths.iter().map(|(policy, ..)| *policy).collect();
        let policies = policies(&all);
        let live: Vec<PathView> = paths
            .iter()
            .enumerate()
            .map(|(id, (_, kbps, _))| view(id as u8, *kbps))
            .collect();
        let admitted = policies.admit(&live, Rate::from_mbps(4));
        let views: Vec<PathView> = admitted
            .iter()
            .map(|(id, rate)| PathView { rate: *rate, ..live[usize::from(id.0)] })
            .collect();
        let mut scheduler = SchedulerKind::ALL[kind].build(Ablations::NONE);
        let sizes = vec![Bytes(1200); packets];
        let classes = vec![Class::Delta; packets];
        let batch = Batch {
            stream: StreamId(0),
            class: Class::Delta,
            classes: &classes,
            sizes: &sizes,
            made_for: None,
        };
        let mut assignments = scheduler.assign(Instant::ZERO, &batch, &views);
        policies.spare(&mut assignments);
        prop_assert_eq!(assignments.len(), packets);
        let is_admitted = |path: PathId| admitted.iter().any(|(id, _)| *id == path);
        let metered = |path| policies.of(path).metering == Metering::Metered;
        for Assignment { path, copies } in &assignments {
            prop_assert!(is_admitted(*path));
            prop_assert!(copies.iter().all(|copy| is_admitted(*copy) && !metered(*copy)));
        }
    }
}
