use proptest::prelude::*;

use super::*;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

fn quality() -> impl Strategy<Value = Quality> {
    (any::<u8>(), any::<[u16; 5]>()).prop_map(|(quantizer, numbers)| Quality {
        quantizer,
        psnr_db: f32::from(numbers[0]) / 7.0,
        ssim: f32::from(numbers[1]) / 11.0,
        brisque: f32::from(numbers[2]) / 13.0,
        width: numbers[3],
        height: numbers[4],
    })
}

fn shown() -> impl Strategy<Value = FrameShown> {
    any::<[u64; 5]>().prop_map(|nanos| FrameShown {
        at: at(nanos[0]),
        complete_at: at(nanos[1]),
        lateness: Duration::from_nanos(nanos[2]),
        construction: Duration::from_nanos(nanos[3]),
        skew: Duration::from_nanos(nanos[4]),
    })
}

fn frame() -> impl Strategy<Value = FrameRecord> {
    let quality = prop::option::of(quality());
    let parts = (any::<u64>(), 0..1_u64 << 61, any::<bool>(), quality);
    parts.prop_map(|(captured_at, size, keyframe, quality)| FrameRecord {
        captured_at: at(captured_at),
        size: Bytes(size),
        keyframe,
        quality,
        shown: None,
    })
}

proptest! {
    /// All frames, and those that were shown, are returned unchanged.
    #[test]
    fn frames_come_back_as_they_were(
        frames in prop::collection::vec((frame(), prop::option::of(shown())), 0..2_000),
    ) {
        let mut log = FrameLog::default();
        let plain = frames.iter().map(|(frame, shown)| FrameRecord { shown: *shown, ..*frame });
        let plain: Vec<FrameRecord> = plain.collect();
        for (frame, _) in &frames {
            log.push(*frame);
        }
        for (number, shown) in frames.iter().enumerate().filter_map(|(n, (_, s))| Some((n, (*s)?))) {
            prop_assert!(log.show(number as u64, shown));
        }
        prop_assert!(log.len() == plain.len() && log.iter().eq(plain.iter().copied()));
        prop_assert_eq!(&log, &plain.iter().copied().collect::<FrameLog>());
        let later = |at: Instant| Instant::from_nanos(at.as_nanos() ^ 0x55);
        let moved = plain.iter().map(|frame| FrameRecord {
            captured_at: later(frame.captured_at),
            ..*frame
        });
        prop_assert!(log.recaptured(later).iter().eq(moved));
    }
}

/// Returns a frame of a 30 fps stream, and its display.
fn film(number: u64) -> (FrameRecord, FrameShown) {
    let captured_at = at(number * 33_333_333);
    let ms = Duration::from_millis;
    let frame = FrameRecord {
        captured_at,
        size: Bytes(10_000),
        keyframe: false,
        quality: None,
        shown: None,
    };
    let shown = FrameShown {
        at: captured_at + ms(80),
        complete_at: captured_at + ms(60),
        lateness: Duration::ZERO,
        construction: ms(12),
        skew: ms(7),
    };
    (frame, shown)
}

#[test]
fn an_hour_of_frames_takes_little_memory() {
    const FRAMES: u64 = 30 * 3600;
    let mut log = FrameLog::default();
    for number in 0..FRAMES {
        let (frame, shown) = film(number);
        log.push(frame);
        assert!(log.show(number, shown));
    }
    let taken = log.blocks.len() * BLOCK + log.open.capacity() * size_of::<FrameRecord>();
    let plain = FRAMES as usize * size_of::<FrameRecord>();
    println!("{taken} bytes, {plain} as records");
    assert!(taken * 3 < plain, "{taken} of {plain}");
}

#[test]
fn a_frame_may_be_shown_a_little_late_and_one_never_sent_is_ignored() {
    let mut log = FrameLog::default();
    for number in 0..1000 {
        log.push(film(number).0);
    }
    assert!(log.show(999, film(999).1));
    assert!(log.show(1000 - OPEN as u64, film(1).1));
    assert!(!log.show(1000, film(1000).1));
    assert_eq!(log.iter().filter(|frame| frame.shown.is_some()).count(), 2);
}
