use super::*;

const RATE: Rate = Rate::from_kbps(800);

/// Sends frames of this size at 25 a second for `seconds`, with a keyframe whenever the
/// dropper requests one. `layer` gives each frame its temporal layer. Returns for each
/// frame whether it was sent.
fn sent(
    dropper: &mut FrameDropper,
    from: Instant,
    seconds: u64,
    bytes: u64,
    layer: impl Fn(u64) -> Option<u8>,
) -> Vec<bool> {
    let mut is_wanted = from == Instant::ZERO;
    (0..25 * seconds)
        .map(|n| {
            let now = from + Duration::from_millis(40 * n);
            is_wanted |= dropper.wants_keyframe(now, RATE);
            let keyframe = std::mem::take(&mut is_wanted);
            let frame = OfferedFrame {
                bytes: Bytes(if keyframe { 3 * bytes } else { bytes }),
                keyframe,
                temporal_layer: layer(n).map(|layer| if keyframe { 0 } else { layer }),
                layer_sync: layer(n) == Some(1) && n % 4 == 2,
            };
            dropper.on_frame(now, frame, RATE)
        })
        .collect()
}

fn share(sent: &[bool]) -> f64 {
    sent.iter().filter(|sent| **sent).count() as f64 / sent.len() as f64
}

#[test]
fn an_encoder_that_keeps_to_the_rate_loses_nothing() {
    let mut dropper = FrameDropper::default();
    let sent = sent(&mut dropper, Instant::ZERO, 20, 3900, |_| None);
    assert_eq!(share(&sent), 1.0);
    assert_eq!(dropper.pace_change(Instant::ZERO, RATE), None);
    let later = Instant::ZERO + Duration::from_secs(20);
    assert_eq!(dropper.pace_change(later, RATE), None);
}

#[test]
fn at_twice_the_rate_without_layers_gaps_end_with_a_keyframe() {
    let mut dropper = FrameDropper::default();
    let start = Instant::ZERO;
    assert_eq!(dropper.pace_change(start, RATE), None);
    let sent = sent(&mut dropper, start, 20, 8000, |_| None);
    let share = share(&sent);
    assert!((0.3..0.6).contains(&share), "{share}");
    // No gap lasts longer than the backlog needs to leave; then the keyframe comes.
    let gaps = sent.split(|sent| *sent).map(<[bool]>::len);
    assert!(gaps.clone().max() < Some(16), "{:?}", gaps.max());
    let end = start + Duration::from_secs(20);
    let pace = dropper.pace_change(end, RATE);
    let Some(EncoderPace::TooFast { sent, carried }) = pace else {
        panic!("{pace:?}");
    };
    assert!(sent > RATE && carried == RATE, "{pace:?}");
}

#[test]
fn upper_layers_go_first() {
    let mut dropper = FrameDropper::default();
    let layer = |n: u64| Some([0, 2, 1, 2][(n % 4) as usize]);
    let sent = sent(&mut dropper, Instant::ZERO, 20, 7000, layer);
    let of = |wanted: u8| {
        let own = (0..).zip(&sent).filter(|(n, _)| layer(*n) == Some(wanted));
        share(&own.map(|(_, sent)| *sent).collect::<Vec<bool>>())
    };
    assert_eq!(of(0), 1.0);
    assert!(
        of(2) < 0.5 && of(1) > of(2),
        "{} {} {}",
        of(0),
        of(1),
        of(2)
    );
}

#[test]
fn a_layer_comes_back_only_where_it_depends_on_the_base_alone() {
    let mut dropper = FrameDropper::default();
    let mut offer = |ms: u64, bytes: u64, layer: u8, layer_sync: bool| {
        let frame = OfferedFrame {
            bytes: Bytes(bytes),
            keyframe: ms == 0,
            temporal_layer: Some(layer),
            layer_sync,
        };
        dropper.on_frame(Instant::ZERO + Duration::from_millis(ms), frame, RATE)
    };
    // 15,000 bytes take 150 ms.
    assert!(offer(0, 15_000, 0, false));
    assert!(!offer(40, 1000, 1, true));
    assert!(!offer(1000, 1000, 1, false));
    assert!(!offer(1040, 1000, 2, true));
    assert!(offer(1080, 1000, 1, true));
    assert!(!offer(1120, 1000, 2, false));
    assert!(offer(1160, 1000, 1, false));
}

#[test]
fn nothing_passes_while_the_network_carries_nothing() {
    let mut dropper = FrameDropper::default();
    let frame = OfferedFrame {
        bytes: Bytes(1000),
        keyframe: true,
        temporal_layer: None,
        layer_sync: false,
    };
    assert!(!dropper.on_frame(Instant::ZERO, frame, Rate::ZERO));
    let later = Instant::ZERO + Duration::from_secs(60);
    assert!(!dropper.on_frame(later, frame, Rate::ZERO));
    assert!(!dropper.wants_keyframe(later, Rate::ZERO));
    let restored = later + Duration::from_secs(1);
    assert!(dropper.wants_keyframe(restored, RATE));
    assert!(!dropper.wants_keyframe(restored, RATE));
    assert!(dropper.on_frame(restored, frame, RATE));
}
