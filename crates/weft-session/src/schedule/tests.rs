use proptest::prelude::*;
use weft_units::{Bytes, Duration, Instant, PathId, Rate, StreamId};

use super::{Assignment, Assignments, Batch, Class, PathView, SKEW_CAP, Scheduler, SchedulerKind};
use crate::ablation::{Ablation, Ablations};

fn view(id: u8, kbps: u64, delay_ms: u64) -> PathView {
    PathView {
        id: PathId(id),
        rate: Rate::from_kbps(kbps),
        delay: Duration::from_millis(delay_ms),
        reach: Duration::from_millis(delay_ms),
        queued: Bytes::ZERO,
        srtt: Duration::from_millis(40 + 2 * delay_ms),
        loss: 0.0,
        delivered: None,
        in_flight: Bytes::ZERO,
        endangered: false,
        repairs_late: false,
    }
}

fn assign(
    scheduler: &mut dyn Scheduler,
    class: Class,
    packets: usize,
    paths: &[PathView],
) -> Assignments {
    let batch = Batch {
        stream: StreamId(0),
        class,
        classes: &vec![class; packets],
        sizes: &vec![Bytes(1200); packets],
        made_for: None,
    };
    scheduler.assign(Instant::ZERO, &batch, paths)
}

fn bytes_on(assignments: &[Assignment], path: u8) -> u64 {
    1200 * assignments
        .iter()
        .filter(|a| a.path == PathId(path))
        .count() as u64
}

#[test]
fn completion_time_is_transmission_of_all_that_waits_plus_delay() {
    let mut path = view(0, 1000, 20);
    path.queued = Bytes(1250);
    // 2,500 bytes take 20 ms at 1 Mbps, plus 20 ms of delay.
    assert_eq!(path.completion(Bytes(1250)), Duration::from_millis(40));
}

#[test]
fn delta_frames_are_shared_in_proportion_to_the_rates() {
    // Converge, section 4.1: 15 and 5 Mbps share 40 packets as 30 and 10.
    let paths = [view(0, 15_000, 0), view(1, 5_000, 5)];
    let mut scheduler = SchedulerKind::Converge.build(Ablations::NONE);
    let all: Vec<Assignment> = (0..100)
        .flat_map(|_| assign(scheduler.as_mut(), Class::Delta, 8, &paths))
        .collect();
    let share = bytes_on(&all, 0) as f64 / (1200.0 * all.len() as f64);
    assert!((0.72..=0.78).contains(&share), "path 0 got {share}");
}

#[test]
fn small_frames_stay_whole() {
    let paths = [view(0, 4_000, 0), view(1, 4_000, 10)];
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    for _ in 0..50 {
        let frame = assign(scheduler.as_mut(), Class::Delta, 3, &paths);
        let on_first = bytes_on(&frame, 0);
        assert!(
            on_first == 0 || on_first == 3600,
            "split a small frame: {frame:?}"
        );
    }
}

#[test]
fn a_keyframe_takes_the_fast_path_and_flows_over_when_it_is_full() {
    let paths = [view(0, 2_000, 0), view(1, 2_000, 30)];
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    // 1,200 bytes take 4.8 ms: six packets fit into the 30 ms by which path 0 is ahead.
    let small = assign(scheduler.as_mut(), Class::Keyframe, 6, &paths);
    assert_eq!(bytes_on(&small, 1), 0);
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    let large = assign(scheduler.as_mut(), Class::Keyframe, 40, &paths);
    let behind = bytes_on(&large, 1) / 1200;
    // 40 packets at equal rates, 30 ms apart, divide into 23 and 17.
    assert!(
        (16..=18).contains(&behind),
        "{behind} packets on the slow path"
    );
}

#[test]
fn a_path_beyond_the_skew_cap_gets_no_delta_frames() {
    let late = SKEW_CAP.as_millis() + 20;
    let paths = [view(0, 1_000, 0), view(1, 8_000, late)];
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    let frame = assign(scheduler.as_mut(), Class::Delta, 4, &paths);
    assert_eq!(bytes_on(&frame, 1), 0);
    let within = [view(0, 1_000, 0), view(1, 8_000, late - 40)];
    let frame = assign(scheduler.as_mut(), Class::Delta, 12, &within);
    assert!(bytes_on(&frame, 1) > 0);
}

#[test]
fn audio_goes_on_two_paths_and_video_never_does() {
    let paths = [view(0, 1_000, 0), view(1, 1_000, 10), view(2, 1_000, 20)];
    let mut scheduler = SchedulerKind::Converge.build(Ablations::NONE);
    let audio = assign(scheduler.as_mut(), Class::Audio, 1, &paths);
    assert_eq!(
        audio[0],
        Assignment {
            path: PathId(0),
            copies: vec![PathId(1)]
        }
    );
    let video = assign(scheduler.as_mut(), Class::Delta, 9, &paths);
    assert!(video.iter().all(|a| a.copies.is_empty()));
}

#[test]
fn duplicate_sends_everything_everywhere_and_numbers_in_turn() {
    let paths = [view(0, 1_000, 0), view(1, 3_000, 10)];
    let mut scheduler = SchedulerKind::Duplicate.build(Ablations::NONE);
    let frame = assign(scheduler.as_mut(), Class::Delta, 10, &paths);
    assert!(
        frame
            .iter()
            .all(|a| a.copies.len() == 1 && a.copies[0] != a.path)
    );
    assert_eq!(bytes_on(&frame, 0), 6000);
    assert_eq!(scheduler.rate(&paths), Rate::from_mbps(3));
}

#[test]
fn single_stays_where_it_is_while_its_path_lives() {
    let mut scheduler = SchedulerKind::Single.build(Ablations::NONE);
    let both = [view(0, 1_000, 50), view(1, 9_000, 0)];
    assert_eq!(
        bytes_on(&assign(scheduler.as_mut(), Class::Delta, 2, &both), 0),
        2400
    );
    let second = [view(1, 9_000, 0)];
    assert_eq!(
        bytes_on(&assign(scheduler.as_mut(), Class::Delta, 2, &second), 1),
        2400
    );
    assert_eq!(
        bytes_on(&assign(scheduler.as_mut(), Class::Delta, 2, &both), 1),
        2400
    );
}

#[test]
fn names_parse_back() {
    for kind in SchedulerKind::ALL {
        assert_eq!(kind.name().parse::<SchedulerKind>().ok(), Some(kind));
    }
    assert!(matches!("min-rtt".parse(), Ok(SchedulerKind::MinRtt)));
    let error = "best".parse::<SchedulerKind>().map_err(|e| e.to_string());
    assert_eq!(
        error,
        Err(
            "there is no scheduler `best`: write weft, converge, single, migrate, min_rtt, throughput, mprtp or duplicate"
                .to_owned()
        )
    );
}

#[test]
fn min_rtt_fills_the_quickest_path_first_and_then_the_next() {
    // Windows: 2 Mbps for 40 + 50 ms are 22,500 bytes, 18 packets; for 90 + 50 ms 35,000
    // bytes, 29 packets.
    let mut paths = [view(0, 2_000, 25), view(1, 2_000, 0)];
    let mut scheduler = SchedulerKind::MinRtt.build(Ablations::NONE);
    let few = assign(scheduler.as_mut(), Class::Keyframe, 18, &paths);
    assert_eq!(bytes_on(&few, 1), 18 * 1200);
    let many = assign(scheduler.as_mut(), Class::Delta, 40, &paths);
    assert_eq!((bytes_on(&many, 1), bytes_on(&many, 0)), (21_600, 26_400));
    // Packets in flight also take room.
    paths[1].in_flight = Bytes(12_000);
    let few = assign(scheduler.as_mut(), Class::Delta, 18, &paths);
    assert_eq!(bytes_on(&few, 1), 8 * 1200);
    // If all paths are full, the packet takes the one where it leaves first.
    paths[0].in_flight = Bytes(35_000);
    paths[1].in_flight = Bytes(35_000);
    paths[1].queued = Bytes(24_000);
    let few = assign(scheduler.as_mut(), Class::Delta, 22, &paths);
    assert_eq!((bytes_on(&few, 0), bytes_on(&few, 1)), (21 * 1200, 1200));
}

#[test]
fn throughput_follows_what_arrives_and_not_the_target() {
    let mut paths = [view(0, 9_000, 0), view(1, 1_000, 0)];
    paths[0].delivered = Some(Rate::from_mbps(1));
    paths[1].delivered = Some(Rate::from_mbps(3));
    let mut scheduler = SchedulerKind::Throughput.build(Ablations::NONE);
    let frame = assign(scheduler.as_mut(), Class::Keyframe, 40, &paths);
    assert_eq!((bytes_on(&frame, 0), bytes_on(&frame, 1)), (12_000, 36_000));
    // Without a measurement, the target rate counts.
    paths[0].delivered = None;
    let frame = assign(scheduler.as_mut(), Class::Delta, 40, &paths);
    assert_eq!(bytes_on(&frame, 0), 36_000);
}

#[test]
fn mprtp_shrinks_a_path_by_its_losses_and_lets_it_grow_without() {
    let mut paths = [view(0, 4_000, 0), view(1, 4_000, 0)];
    let mut scheduler = SchedulerKind::Mprtp.build(Ablations::NONE);
    let mut share = |paths: &[PathView], second: u64| {
        let batch = Batch {
            stream: StreamId(0),
            class: Class::Delta,
            classes: &[Class::Delta; 100],
            sizes: &[Bytes(1200); 100],
            made_for: None,
        };
        let at = Instant::ZERO + Duration::from_secs(second);
        bytes_on(&scheduler.assign(at, &batch, paths), 1) / 1200
    };
    assert_eq!(share(&paths, 0), 50);
    paths[1].loss = 0.2;
    // After three reports, 0.9^3 of it against 1.05^3: 38.6 %.
    share(&paths, 1);
    share(&paths, 2);
    assert!((38..=39).contains(&share(&paths, 3)));
    paths[0].loss = 0.05;
    paths[1].loss = 0.0;
    for second in 4..10 {
        share(&paths, second);
    }
    // After seven reports with a factor of 1.05: 47.0 %.
    assert!((46..=48).contains(&share(&paths, 10)));
}

#[test]
fn migrate_stays_with_a_poor_path_and_pauses_when_it_dies() {
    let mut scheduler = SchedulerKind::Migrate.build(Ablations::NONE);
    let both = [view(0, 100, 400), view(1, 9_000, 0)];
    for _ in 0..20 {
        let frame = assign(scheduler.as_mut(), Class::Delta, 2, &both);
        assert_eq!(bytes_on(&frame, 0), 2400);
    }
    assert_eq!(scheduler.keeps_to(), Some(PathId(0)));
    let at = Instant::ZERO + Duration::from_secs(7);
    scheduler.on_path_down(at, PathId(1));
    assert_eq!(scheduler.resumes_at(), None);
    scheduler.on_path_down(at, PathId(0));
    assert_eq!(scheduler.resumes_at(), Some(at + super::migrate::MIGRATION));
    assign(scheduler.as_mut(), Class::Delta, 2, &both[1..]);
    // When the first path returns, the call stays on the second.
    let frame = assign(scheduler.as_mut(), Class::Delta, 2, &both);
    assert_eq!(bytes_on(&frame, 1), 2400);
}

fn any_paths() -> impl Strategy<Value = Vec<PathView>> {
    let path = (
        0..50_000_u64,
        0..3_000_u64,
        -0.5..1.5,
        0..300_000_u64,
        0..90_000_u64,
    );
    proptest::collection::vec(path, 1..6).prop_map(|paths| {
        let paths = paths.into_iter().enumerate();
        let view =
            |(id, (kbps, delay, loss, in_flight, delivered)): (_, (u64, u64, f64, u64, _))| {
                PathView {
                    loss,
                    in_flight: Bytes(in_flight),
                    delivered: (delivered > 10_000).then(|| Rate::from_kbps(delivered)),
                    ..view(id as u8, kbps, delay)
                }
            };
        paths.map(view).collect()
    })
}

proptest! {
    #[test]
    fn every_scheduler_sends_every_packet_once_over_a_live_path(
        steps in proptest::collection::vec((any_paths(), 1..90_usize, 0..3_000_u64, 0..6_u8), 1..12),
        kind in 0..SchedulerKind::ALL.len(),
    ) {
        let mut scheduler = SchedulerKind::ALL[kind].build(Ablations::NONE);
        let mut now = Instant::ZERO;
        for (paths, packets, wait, dead) in steps {
            now += Duration::from_millis(wait);
            let batch = Batch {
                stream: StreamId(0),
                class: Class::Delta,
                classes: &vec![Class::Delta; packets],
                sizes: &vec![Bytes(1000); packets],
                made_for: None,
            };
            let assigned = scheduler.assign(now, &batch, &paths);
            prop_assert_eq!(assigned.len(), packets);
            for Assignment { path, copies } in assigned {
                prop_assert!(paths.iter().any(|p| p.id == path));
                prop_assert!(!copies.contains(&path));
                prop_assert!(copies.iter().all(|c| paths.iter().any(|p| p.id == *c)));
            }
            prop_assert!(scheduler.rate(&paths) <= paths.iter().map(|p| p.rate).sum());
            scheduler.on_path_down(now, PathId(dead));
        }
    }
}

#[test]
fn weft_sends_a_frame_whole_where_it_arrives_first() {
    // 9,600 bytes take 15.4 ms at 5 Mbps, and 19.2 ms at 4 Mbps, which is 20 ms slower.
    let paths = [view(0, 5_000, 0), view(1, 4_000, 20)];
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    let frame = assign(scheduler.as_mut(), Class::Delta, 8, &paths);
    assert_eq!(bytes_on(&frame, 0), 9600);
    // 15,000 bytes before it add 24 ms: 29.8 against 27.2 ms.
    let mut waits = paths;
    waits[0].queued = Bytes(15_000);
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    let frame = assign(scheduler.as_mut(), Class::Delta, 3, &waits);
    assert_eq!(bytes_on(&frame, 1), 3600);
}

#[test]
fn weft_gives_a_path_no_more_than_its_rate_for_long() {
    // Three frames of 9,600 bytes at once take 46 ms at 5 Mbps. Then the other path,
    // which is 35 ms slower and takes 19 ms, is first.
    let paths = [view(0, 5_000, 0), view(1, 4_000, 35)];
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    let mut frame = || bytes_on(&assign(scheduler.as_mut(), Class::Delta, 8, &paths), 0);
    assert_eq!((frame(), frame(), frame()), (9600, 9600, 9600));
    assert!(frame() < 9600, "the quick path is full");
}

#[test]
fn weft_splits_where_that_is_much_sooner() {
    // 40 packets of 1,200 bytes take 96 ms at 4 Mbps, half of them 48.
    let paths = [view(0, 4_000, 0), view(1, 4_000, 10)];
    for class in [Class::Keyframe, Class::Delta] {
        let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
        let frame = assign(scheduler.as_mut(), class, 40, &paths);
        let behind = bytes_on(&frame, 1) / 1200;
        // 2.4 ms each, 10 ms apart: 22 and 18 packets.
        assert!((17..=19).contains(&behind), "{behind} on the slow path");
        let turn = frame.iter().position(|a| a.path == PathId(1)).unwrap();
        assert!(
            frame[turn..].iter().all(|a| a.path == PathId(1)),
            "two runs"
        );
    }
}

#[test]
fn weft_avoids_losses_and_late_paths() {
    let mut paths = [view(0, 5_000, 0), view(1, 5_000, 20)];
    // Eight packets at 5 %: a third of the frames waits 40 + 30 ms for the repair, so the
    // jitter buffer delays all of them.
    paths[0].loss = 0.05;
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    let frame = assign(scheduler.as_mut(), Class::Delta, 8, &paths);
    assert_eq!(bytes_on(&frame, 1), 9600);
    paths[1].delay = SKEW_CAP + Duration::from_millis(1);
    assert_eq!(scheduler.rate(&paths), Rate::from_kbps(5_000));
    paths[1].delay = SKEW_CAP;
    assert_eq!(scheduler.rate(&paths), Rate::from_kbps(10_000));
}

#[test]
fn frames_go_over_two_paths_after_a_danger_where_there_is_room() {
    let endangered = |id, kbps, delay_ms| PathView {
        endangered: true,
        ..view(id, kbps, delay_ms)
    };
    let copied = |ablation, paths: &[PathView]| {
        let mut scheduler = SchedulerKind::Weft.build(ablation);
        let frame = assign(scheduler.as_mut(), Class::Delta, 3, paths);
        let everywhere = |copies: &[PathId]| frame.iter().all(|a| a.copies == copies);
        assert!(everywhere(&frame[0].copies), "of the whole frame");
        frame[0].copies.clone()
    };
    let (first, second) = (view(0, 4_000, 0), view(1, 2_000, 40));
    let danger = [endangered(0, 4_000, 0), second];
    assert_eq!(copied(Ablations::NONE, &[first, second]), []);
    assert_eq!(copied(Ablations::NONE, &danger), [PathId(1)]);
    assert_eq!(copied(Ablation::Copies.into(), &danger), []);
    // 3,600 bytes fill 100 kbit/s for 288 ms.
    let narrow = [endangered(0, 4_000, 0), view(1, 100, 40)];
    assert_eq!(copied(Ablations::NONE, &narrow), []);
    let far = [endangered(0, 4_000, 0), view(1, 2_000, 300)];
    assert_eq!(copied(Ablations::NONE, &far), []);
}

#[test]
fn weft_splits_less_after_a_danger_and_not_where_repairs_come_too_late() {
    let split = |packets, endangered, repairs_late| {
        let path = |id| PathView {
            endangered,
            repairs_late,
            ..view(id, 4_000, 0)
        };
        let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
        let frame = assign(
            scheduler.as_mut(),
            Class::Delta,
            packets,
            &[path(0), path(1)],
        );
        bytes_on(&frame, 1) > 0
    };
    // 15 packets of 1,200 bytes take 36 ms at 4 Mbps, eight of them 19.
    assert!(split(15, false, false) && split(15, false, true));
    assert!(!split(15, true, false) && !split(15, true, true));
    // 40 packets take 96 ms, half of them 48: worth it unless a loss costs the picture.
    assert!(split(40, true, false) && !split(40, true, true));
}

#[test]
fn a_copy_does_not_wait_for_the_repair_of_both() {
    let endangered = |id, delay_ms, loss| PathView {
        endangered: true,
        loss,
        ..view(id, 4_000, delay_ms)
    };
    // A fifth of all packets is lost: more than every twentieth picture waits for its
    // repair, for a round trip of 300 ms. The copy arrives 240 ms later.
    let mut far = endangered(1, 240, 0.2);
    far.srtt = Duration::from_millis(300);
    let mut scheduler = SchedulerKind::Weft.build(Ablations::NONE);
    let frame = assign(
        scheduler.as_mut(),
        Class::Delta,
        3,
        &[endangered(0, 0, 0.0), far],
    );
    assert!(frame.iter().all(|a| a.copies == [PathId(1)]));
}
