use proptest::prelude::*;

use super::priority::LARGEST_PACKET;
use super::*;
use crate::schedule::PathMode;

const STREAM: StreamId = StreamId(0);

fn view(id: u8, mbps: f64, srtt_ms: u64) -> PathView {
    PathView {
        id: PathId(id),
        rate: Rate::from_bps((mbps * 1e6) as u64),
        delay: Duration::ZERO,
        reach: Duration::ZERO,
        queued: Bytes::ZERO,
        srtt: Duration::from_millis(srtt_ms),
        loss: 0.0,
        delivered: None,
        in_flight: Bytes::ZERO,
        endangered: false,
        repairs_late: false,
    }
}

/// Paths in the example of Converge, section 4.1.
fn example() -> [PathView; 2] {
    [view(1, 15.0, 40), view(2, 5.0, 40)]
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(100) + Duration::from_millis(ms)
}

/// Sends one of 30 frames a second; returns the packets on each path.
fn send(
    converge: &mut Converge,
    now: Instant,
    classes: &[Class],
    paths: &[PathView],
) -> Vec<usize> {
    let paths_of = assign(converge, now, classes, None, paths);
    let on = |p: &PathView| paths_of.iter().filter(|id| **id == p.id).count();
    paths.iter().map(on).collect()
}

fn assign(
    converge: &mut Converge,
    now: Instant,
    classes: &[Class],
    made_for: Option<PathId>,
    paths: &[PathView],
) -> Vec<PathId> {
    let class = match classes {
        all if all.contains(&Class::Keyframe) => Class::Keyframe,
        all if all.contains(&Class::Delta) => Class::Delta,
        all => all[0],
    };
    let batch = Batch {
        stream: STREAM,
        class,
        classes,
        sizes: &vec![LARGEST_PACKET; classes.len()],
        made_for,
    };
    let assigned = converge.assign(now, &batch, paths);
    assigned.iter().map(|a| a.path).collect()
}

fn feedback(converge: &mut Converge, now: Instant, path: u8, alpha: i32, paths: &[PathView]) {
    let quality = Quality {
        stream: STREAM,
        path: PathId(path),
        alpha,
        construction: Duration::from_millis(60),
    };
    converge.on_quality(now, &quality, paths);
}

#[test]
fn the_papers_example_40_packets_over_15_and_5_mbps() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablations::NONE);
    assert_eq!(send(&mut converge, at(0), &media, &paths), [30, 10]);
    feedback(&mut converge, at(1), 2, -5, &paths);
    assert_eq!(send(&mut converge, at(33), &media, &paths), [35, 5]);
}

#[test]
fn figure_8_four_to_two_becomes_five_to_one() {
    let paths = [view(1, 2.0, 40), view(2, 1.0, 40)];
    let media = [Class::Delta; 6];
    let mut converge = Converge::new(Ablations::NONE);
    assert_eq!(send(&mut converge, at(0), &media, &paths), [4, 2]);
    feedback(&mut converge, at(1), 2, -1, &paths);
    assert_eq!(send(&mut converge, at(33), &media, &paths), [5, 1]);
}

#[test]
fn positive_feedback_adds_up_to_p_max() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablations::NONE);
    send(&mut converge, at(0), &media, &paths);
    feedback(&mut converge, at(1), 2, 5, &paths);
    assert_eq!(send(&mut converge, at(33), &media, &paths), [25, 15]);
    feedback(&mut converge, at(99), 2, 100, &paths);
    // 5 Mbps carry 17.4 packets of 1200 bytes in 33.3 ms.
    assert_eq!(send(&mut converge, at(100), &media, &paths), [23, 17]);
}

#[test]
fn small_frames_are_shared_over_time_and_disable_nothing() {
    let paths = [view(1, 9.0, 40), view(2, 1.0, 40)];
    let mut converge = Converge::new(Ablations::NONE);
    let mut sums = [0, 0];
    for number in 0..100 {
        let counts = send(&mut converge, at(number * 33), &[Class::Delta; 2], &paths);
        sums = [sums[0] + counts[0], sums[1] + counts[1]];
    }
    assert_eq!(sums, [180, 20]);
    assert_eq!(converge.usage(PathId(2)), PathUse::default());
}

#[test]
fn a_correction_halves_in_five_seconds() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablations::NONE);
    send(&mut converge, at(0), &media, &paths);
    feedback(&mut converge, at(0), 2, -6, &paths);
    assert_eq!(send(&mut converge, at(33), &media, &paths), [36, 4]);
    assert_eq!(send(&mut converge, at(5_000), &media, &paths), [33, 7]);
    assert_eq!(send(&mut converge, at(30_000), &media, &paths), [30, 10]);
}

#[test]
fn feedback_within_a_round_trip_of_a_correction_is_about_the_frames_before_it() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablations::NONE);
    send(&mut converge, at(0), &media, &paths);
    feedback(&mut converge, at(10), 2, -2, &paths);
    feedback(&mut converge, at(49), 2, -2, &paths);
    assert_eq!(send(&mut converge, at(49), &media, &paths), [32, 8]);
    feedback(&mut converge, at(50), 2, -2, &paths);
    assert_eq!(send(&mut converge, at(50), &media, &paths), [34, 6]);
}

#[test]
fn a_cameras_keyframe_goes_before_the_delta_frames_of_the_others() {
    // 4 Mbps carry 13.9 packets in 33.3 ms, and 1 Mbps carries 3.4.
    let paths = [view(1, 4.0, 20), view(2, 1.0, 80)];
    let mut converge = Converge::new(Ablations::NONE);
    let mut of = |stream: u32, class: Class, packets: usize| {
        let batch = Batch {
            stream: StreamId(stream),
            class,
            classes: &vec![class; packets],
            sizes: &vec![LARGEST_PACKET; packets],
            made_for: None,
        };
        let assigned = converge.assign(at(0), &batch, &paths);
        let fast = assigned.iter().filter(|a| a.path == PathId(1)).count();
        (fast, packets - fast)
    };
    assert_eq!(of(0, Class::Keyframe, 10), (10, 0));
    // The room that the first camera's keyframe used is not available to the second's:
    // three packets still fit beside it, and three on the slow path; then all are full.
    let (fast, slow) = of(1, Class::Keyframe, 6);
    assert_eq!((fast, slow), (3, 3));
    // A delta frame of a third camera is still divided by the rates.
    assert_eq!(of(2, Class::Delta, 5), (4, 1));
}

#[test]
fn a_path_of_zero_packets_is_disabled_and_counts_no_more() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablations::NONE);
    send(&mut converge, at(0), &media, &paths);
    assert_eq!(converge.rate(&paths), Rate::from_mbps(20));
    feedback(&mut converge, at(1), 2, -10, &paths);
    let usage = converge.usage(PathId(2));
    assert_eq!((usage.state, usage.disabled), (PathMode::Disabled, 1));
    assert_eq!(converge.rate(&paths), Rate::from_mbps(15));
    assert_eq!(send(&mut converge, at(33), &media, &paths), [40, 0]);
    // It does not get packets with priority either, but still gets copies of sound.
    let keyframe = [Class::Keyframe; 100];
    assert_eq!(send(&mut converge, at(66), &keyframe, &paths), [100, 0]);
    let batch = Batch {
        stream: STREAM,
        class: Class::Audio,
        classes: &[Class::Audio],
        sizes: &[Bytes(100)],
        made_for: None,
    };
    let sound = converge.assign(at(70), &batch, &paths);
    let expected = Assignment {
        path: PathId(1),
        copies: [PathId(2)].into_iter().collect(),
    };
    assert_eq!(sound[..], [expected]);
}

#[test]
fn equation_3_enables_it_again_with_one_packet() {
    let media = [Class::Delta; 40];
    let mut converge = Converge::new(Ablations::NONE);
    send(&mut converge, at(0), &media, &example());
    // A frame construction delay of 60 ms.
    feedback(&mut converge, at(1), 2, -10, &example());
    let slow = [view(1, 15.0, 40), view(2, 5.0, 162)];
    assert_eq!(send(&mut converge, at(2_000), &media, &slow), [40, 0]);
    // Half of the difference, (160 - 40) / 2, is 60 ms.
    let quick = [view(1, 15.0, 40), view(2, 5.0, 160)];
    assert_eq!(send(&mut converge, at(2_033), &media, &quick), [39, 1]);
    let usage = converge.usage(PathId(2));
    assert_eq!((usage.state, usage.enabled), (PathMode::Enabled, 1));
    // Its correction of 9 packets then halves over time.
    assert_eq!(send(&mut converge, at(12_033), &media, &quick), [32, 8]);
}

#[test]
fn a_path_is_not_judged_by_the_round_trips_of_its_load() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablations::NONE);
    send(&mut converge, at(0), &media, &paths);
    feedback(&mut converge, at(1), 2, -10, &paths);
    assert_eq!(send(&mut converge, at(1_000), &media, &paths), [40, 0]);
    assert_ne!(send(&mut converge, at(1_001), &media, &paths), [40, 0]);
}

#[test]
fn the_last_path_is_never_disabled() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablations::NONE);
    send(&mut converge, at(0), &media, &paths);
    for (time, path) in [(1, 2), (100, 1), (200, 1), (300, 2), (400, 1)] {
        feedback(&mut converge, at(time), path, -40, &paths);
    }
    assert_eq!(converge.usage(PathId(1)).disabled, 0);
    assert_eq!(send(&mut converge, at(500), &media, &paths), [40, 0]);
    // The disabled path is used if it is the only one.
    let second = [view(2, 5.0, 400)];
    assert_eq!(send(&mut converge, at(533), &media, &second), [40]);
    assert_eq!(converge.usage(PathId(2)).state, PathMode::Enabled);
}

#[test]
fn without_feedback_nothing_is_corrected() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablation::Feedback.into());
    send(&mut converge, at(0), &media, &paths);
    feedback(&mut converge, at(1), 2, -10, &paths);
    assert_eq!(send(&mut converge, at(33), &media, &paths), [30, 10]);
}

#[test]
fn completion_time_has_goodput_and_half_a_round_trip() {
    // 20 packets of 1200 bytes over 10 Mbps with half of them lost take 38.4 ms, plus 15
    // ms.
    let mut lossy = view(1, 10.0, 30);
    lossy.loss = 0.5;
    assert_eq!(
        completion(&lossy, Bytes(24_000)),
        Duration::from_micros(53_400)
    );
    // At 6 Mbps they take 32 ms, plus 20 ms.
    let clean = view(2, 6.0, 40);
    assert_eq!(completion(&clean, Bytes(24_000)), Duration::from_millis(52));
    assert_eq!(fast_path(20, &[lossy, clean]), PathId(2));
    // One packet takes 1.92 + 15 ms or 1.6 + 20 ms.
    assert_eq!(fast_path(1, &[lossy, clean]), PathId(1));
}

#[test]
fn priority_goes_to_the_fast_path_up_to_p_max_then_to_the_next() {
    let paths = example();
    let key = |n| vec![Class::Keyframe; n];
    // 52 packets fit into 33.3 ms at 15 Mbps, and 17 at 5 Mbps; when both paths are full,
    // the rest fills them equally.
    for (packets, expected) in [(30, [30, 0]), (60, [52, 8]), (69, [52, 17]), (80, [60, 20])] {
        let mut converge = Converge::new(Ablations::NONE);
        assert_eq!(send(&mut converge, at(0), &key(packets), &paths), expected);
    }
}

#[test]
fn p_max_holds_for_a_frames_time_however_the_packets_come() {
    let paths = example();
    let mut converge = Converge::new(Ablations::NONE);
    let mut sums = [0, 0];
    for _ in 0..60 {
        let counts = send(&mut converge, at(0), &[Class::Retransmission], &paths);
        sums = [sums[0] + counts[0], sums[1] + counts[1]];
    }
    assert_eq!(sums, [52, 8]);
    // After 4 ms, 15 Mbps have carried 6.25 packets.
    let later = send(&mut converge, at(4), &[Class::Retransmission; 7], &paths);
    assert_eq!(later, [6, 1]);
}

/// Paths of which 2 Mbps have room for 6 packets in 33.3 ms, and 1 Mbps for 3.
fn narrow() -> [PathView; 3] {
    [view(1, 2.0, 20), view(2, 1.0, 40), view(3, 1.0, 400)]
}

#[test]
fn the_lowest_level_leaves_the_fast_path_first() {
    use Class::{Keyframe, PictureParameters, Repair, Retransmission, SequenceParameters};
    let classes = [
        Repair,
        PictureParameters,
        Keyframe,
        Keyframe,
        SequenceParameters,
        Repair,
        Keyframe,
        Retransmission,
    ];
    let mut converge = Converge::new(Ablations::NONE);
    let paths = assign(&mut converge, at(0), &classes, None, &narrow());
    let elsewhere: Vec<usize> = (0..8).filter(|i| paths[*i] != PathId(1)).collect();
    assert_eq!(elsewhere, [0, 5]);
    assert_eq!(paths[0], PathId(2));
}

#[test]
fn repair_that_does_not_fit_stays_on_its_path() {
    let mut converge = Converge::new(Ablations::NONE);
    let own = Some(PathId(3));
    let paths = assign(&mut converge, at(0), &[Class::Repair; 8], own, &narrow());
    let on = |id| paths.iter().filter(|p| **p == PathId(id)).count();
    assert_eq!((on(1), on(2), on(3)), (6, 0, 2));
    // Even if that path is full.
    let paths = assign(&mut converge, at(0), &[Class::Repair; 8], own, &narrow());
    assert!(paths.iter().all(|p| *p == PathId(3)), "{paths:?}");
    // If that path is gone, it takes the next one.
    let paths = assign(&mut converge, at(0), &[Class::Repair], own, &narrow()[..2]);
    assert_eq!(paths, [PathId(2)]);
}

#[test]
fn parameters_of_a_delta_frame_take_the_fast_path_and_the_rest_is_shared() {
    let paths = example();
    let mut classes = vec![Class::Delta; 41];
    classes[40] = Class::PictureParameters;
    let mut converge = Converge::new(Ablations::NONE);
    let assigned = assign(&mut converge, at(0), &classes, None, &paths);
    assert_eq!(assigned[40], PathId(1));
    let shared = assigned[..40].iter().filter(|p| **p == PathId(2)).count();
    assert_eq!(shared, 10);
}

#[test]
fn without_priorities_a_keyframe_is_shared_like_any_frame() {
    let paths = example();
    let mut converge = Converge::new(Ablation::Priorities.into());
    assert_eq!(
        send(&mut converge, at(0), &[Class::Keyframe; 40], &paths),
        [30, 10]
    );
}

#[test]
fn streams_are_corrected_each_for_itself() {
    let (paths, media) = (example(), [Class::Delta; 40]);
    let mut converge = Converge::new(Ablations::NONE);
    send(&mut converge, at(0), &media, &paths);
    let other = Batch {
        stream: StreamId(1),
        class: Class::Delta,
        classes: &media,
        sizes: &[LARGEST_PACKET; 40],
        made_for: None,
    };
    let on_second = |assigned: &[Assignment]| {
        let second = assigned.iter().filter(|a| a.path == PathId(2));
        second.count()
    };
    assert_eq!(on_second(&converge.assign(at(0), &other, &paths)), 10);
    feedback(&mut converge, at(1), 2, -5, &paths);
    assert_eq!(on_second(&converge.assign(at(33), &other, &paths)), 10);
    assert_eq!(send(&mut converge, at(33), &media, &paths), [35, 5]);
}

fn class() -> impl Strategy<Value = Class> {
    prop_oneof![
        Just(Class::Retransmission),
        Just(Class::Keyframe),
        Just(Class::SequenceParameters),
        Just(Class::PictureParameters),
        Just(Class::Repair),
        Just(Class::Delta),
    ]
}

fn any_path() -> impl Strategy<Value = (f64, u64, f64, u64)> {
    (0.0..30.0, 0..2_000_u64, -0.5..1.5, 0..200_000_u64)
}

proptest! {
    #[test]
    fn every_packet_goes_once_over_a_path_that_carries_media(
        steps in proptest::collection::vec((
            proptest::collection::vec(any_path(), 1..5),
            proptest::collection::vec(class(), 1..120),
            (0..6_u8, -300..300_i32, 0..500_u64, 0..3_000_u64),
        ), 1..30),
    ) {
        let mut converge = Converge::new(Ablations::NONE);
        let mut now = Instant::ZERO;
        for (paths, classes, (told, alpha, construction, wait)) in steps {
            now += Duration::from_millis(wait);
            let view = |(id, (mbps, srtt, loss, queued)): (usize, (f64, u64, f64, u64))| PathView {
                loss,
                queued: Bytes(queued),
                ..view(id as u8, mbps, srtt)
            };
            let paths: Vec<PathView> = paths.into_iter().enumerate().map(view).collect();
            let made_for = Some(PathId(told));
            let assigned = assign(&mut converge, now, &classes, made_for, &paths);
            prop_assert_eq!(assigned.len(), classes.len());
            let active = converge.links.active(&paths);
            prop_assert!(!active.is_empty());
            for path in assigned {
                prop_assert!(active.iter().any(|p| p.id == path));
            }
            prop_assert!(converge.rate(&paths) <= paths.iter().map(|p| p.rate).sum());
            let quality = Quality {
                stream: STREAM,
                path: PathId(told),
                alpha,
                construction: Duration::from_millis(construction),
            };
            converge.on_quality(now, &quality, &paths);
        }
    }

    #[test]
    fn equation_2_keeps_the_sum_and_the_bounds(
        paths in proptest::collection::vec((0..100_usize, -150..150_i64, 1..120_usize), 1..6),
        fast in 0..6_u8,
    ) {
        let shares: Vec<(PathId, usize)> = paths
            .iter()
            .enumerate()
            .map(|(id, (share, ..))| (PathId(id as u8), *share))
            .collect();
        let alphas: Vec<i64> = paths.iter().map(|(_, alpha, _)| *alpha).collect();
        let most: Vec<usize> = paths.iter().map(|(.., most)| *most).collect();
        let fast = PathId(fast.min(paths.len() as u8 - 1));
        let after = corrected(shares.clone(), &alphas, &most, fast);
        let sum = |shares: &[(PathId, usize)]| shares.iter().map(|(_, n)| n).sum::<usize>();
        prop_assert_eq!(sum(&after), sum(&shares));
        for (index, (id, share)) in after.iter().enumerate() {
            let before = shares[index].1;
            if *id == fast {
                continue;
            }
            if alphas[index] < 0 {
                let wanted = (before as i64 + alphas[index]).max(0) as usize;
                prop_assert!(*share <= wanted, "{share} of {wanted}");
            }
            prop_assert!(*share <= before.max(most[index]));
        }
    }
}
