use proptest::prelude::*;

use super::*;

const FAST: PathId = PathId(1);
const SLOW: PathId = PathId(2);
const FRAME: Duration = Duration::from_micros(33_333);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn packet(path: PathId, sequence: u64, marker: bool) -> ReceivedPacket<'static> {
    ReceivedPacket {
        path,
        sequence,
        stream_sequence: Some(sequence as u16),
        timestamp: 0,
        marker,
        audio_level: None,
        dependency: &[],
        payload: &[1],
        recovered: false,
    }
}

fn monitor() -> QualityMonitor {
    let mut monitor = QualityMonitor::new(90_000);
    monitor.set_expected(FRAME);
    monitor
}

/// Sends a frame of six packets: four on the fast path, the third and the last on the
/// slow path, which delivers the last one `late` ms after the fast path's last.
fn frame(monitor: &mut QualityMonitor, number: u64, late: u64) -> Vec<PathQuality> {
    let start = 1_000 + number * 33;
    let timestamp = 1_000_000 + number * 3_000;
    let first = 100 + number * 6;
    let mut found = Vec::new();
    for (index, path, delay) in [
        (0, FAST, 0),
        (1, FAST, 1),
        (2, SLOW, 1),
        (3, FAST, 2),
        (4, FAST, 3),
        (5, SLOW, 3 + late),
    ] {
        let packet = packet(path, first + index, index == 5);
        found.extend(monitor.on_packet(at(start + delay), &packet, timestamp));
    }
    found
}

#[test]
fn figure_8_one_packet_too_late_is_alpha_minus_one() {
    let mut monitor = monitor();
    for number in 0..3 {
        assert_eq!(frame(&mut monitor, number, 0), []);
    }
    // The third frame waits 7 ms for packet 18, which is harmless: it completes 40 ms
    // after the previous frame.
    assert_eq!(frame(&mut monitor, 3, 7), []);
    // The fourth frame's last packet comes 30 ms later: it completes 56 ms after the
    // third.
    let found = frame(&mut monitor, 4, 30);
    let expected = PathQuality {
        path: SLOW,
        alpha: -1,
        construction: Duration::from_millis(33),
    };
    assert_eq!(found, [expected]);
}

#[test]
fn early_packets_are_counted_when_the_fast_path_is_what_is_late() {
    let mut monitor = monitor();
    (0..3).for_each(|n| drop(frame(&mut monitor, n, 0)));
    // All packets of the slow path arrive at once, the fast path's last one after 40 ms.
    let (start, timestamp, first) = (1_000 + 3 * 33, 1_000_000 + 9_000, 118);
    for (index, path) in [(0, FAST), (2, SLOW), (4, SLOW), (1, FAST), (3, FAST)] {
        let packet = packet(path, first + index, false);
        assert_eq!(monitor.on_packet(at(start), &packet, timestamp), []);
    }
    let last = packet(FAST, first + 5, true);
    let found = monitor.on_packet(at(start + 40), &last, timestamp);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].path, found[0].alpha), (SLOW, 2));
}

#[test]
fn packets_that_were_repaired_first_count_as_late() {
    let mut monitor = monitor();
    (0..3).for_each(|n| drop(frame(&mut monitor, n, 0)));
    let (timestamp, first) = (1_000_000 + 9_000, 118);
    for index in [0, 1, 3, 4] {
        let packet = packet(FAST, first + index, false);
        monitor.on_packet(at(1_100), &packet, timestamp);
    }
    for index in [2, 5] {
        let mut repaired = packet(FAST, first + index, index == 5);
        repaired.recovered = true;
        assert_eq!(monitor.on_packet(at(1_104), &repaired, timestamp), []);
    }
    monitor.on_overdue(at(1_110), SLOW);
    monitor.on_overdue(at(1_120), SLOW);
    let found = frame(&mut monitor, 4, 29);
    assert_eq!((found[0].path, found[0].alpha), (SLOW, -3));
    // They count only once.
    let found = frame(&mut monitor, 5, 60);
    assert_eq!((found[0].path, found[0].alpha), (SLOW, -1));
}

#[test]
fn frames_that_the_sender_left_out_are_not_late() {
    let mut monitor = monitor();
    (0..3).for_each(|n| drop(frame(&mut monitor, n, 0)));
    assert_eq!(frame(&mut monitor, 5, 5), []);
}

#[test]
fn without_a_frame_rate_nothing_is_expected() {
    let mut monitor = QualityMonitor::new(90_000);
    (0..5).for_each(|n| assert_eq!(frame(&mut monitor, n, n * 30), []));
    assert!(monitor.frames.is_empty());
}

#[test]
fn copies_and_one_path_alone_are_never_blamed() {
    let mut monitor = monitor();
    for number in 0..20_u64 {
        for index in 0..3 {
            let mut packet = packet(FAST, number * 3 + index, index == 2);
            packet.stream_sequence = (number % 2 == 0).then_some(0);
            let now = at(number * 33 + number % 3 * 40);
            assert_eq!(monitor.on_packet(now, &packet, number * 3_000), []);
        }
    }
}

proptest! {
    #[test]
    fn whatever_comes_verdicts_and_memory_are_bounded(
        packets in proptest::collection::vec(
            (0..4_u8, 0..400_u64, 0..90_u64, any::<bool>(), any::<bool>(), 0..60_u64),
            0..400,
        ),
    ) {
        let mut monitor = monitor();
        let mut now = Instant::ZERO;
        let mut came = 0;
        for (path, sequence, frame, marker, overdue, wait) in packets {
            now += Duration::from_millis(wait);
            came += 1;
            let packet = packet(PathId(path), sequence, marker);
            if overdue {
                monitor.on_overdue(now, packet.path);
                continue;
            }
            let found = monitor.on_packet(now, &packet, frame * 3_000);
            for quality in found {
                prop_assert!(i64::from(quality.alpha).abs() <= came);
            }
            prop_assert!(monitor.frames.len() <= MAX_FRAMES);
            prop_assert!(monitor.lags.len() <= 4 && monitor.overdue.len() <= 4);
        }
    }
}
