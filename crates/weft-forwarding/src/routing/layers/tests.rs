use super::{LAYERS, LayerChoice, LayerRates};
use weft_units::{Bytes, Duration, Instant, Rate};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Layer that is wanted at this target, with pictures of one size.
fn wanted(choice: &mut LayerChoice, rates: &LayerRates, ms: u64, kbps: Option<u64>) -> u8 {
    let (now, target) = (at(ms), kbps.map(Rate::from_kbps));
    let failed = choice.update(now, target, rates.cumulative(now), [0; LAYERS]);
    assert!(!failed, "no raise to larger pictures");
    choice.wanted()
}

/// Layers of 200, 200 and 400 kbps: 20 pictures a second in the pattern 0, 2,
/// 1, 2 are 5, 5 and 10 a second, hence 5,000 bytes each (5 * 40,000 bits).
fn feed(rates: &mut LayerRates, from: u64, to: u64) {
    for n in from / 50..to / 50 {
        let layer = [0, 2, 1, 2][(n % 4) as usize];
        rates.on_packet(at(n * 50), layer, Bytes(5_000));
    }
}

#[test]
fn rates_add_up_from_the_base_layer() {
    let mut rates = LayerRates::default();
    feed(&mut rates, 0, 2_000);
    let expected = [200, 400, 800, 800].map(Rate::from_kbps);
    assert_eq!(rates.cumulative(at(2_000)), Some(expected));
    assert_eq!(rates.total(at(2_000)), Some(Rate::from_kbps(800)));
}

#[test]
fn a_rate_needs_a_while_and_goes_when_the_stream_stops() {
    let mut rates = LayerRates::default();
    assert_eq!(rates.total(at(0)), None);
    feed(&mut rates, 0, 100);
    assert_eq!(rates.total(at(100)), None);
    feed(&mut rates, 100, 500);
    // 10 pictures of 40,000 bits in half a second.
    assert_eq!(rates.total(at(500)), Some(Rate::from_kbps(800)));
    assert_eq!(rates.total(at(5_000)), Some(Rate::ZERO));
}

#[test]
fn the_tenth_of_a_second_that_fills_does_not_count_yet() {
    let mut rates = LayerRates::default();
    feed(&mut rates, 0, 2_000);
    let before = rates.cumulative(at(2_000));
    rates.on_packet(at(2_010), 0, Bytes(1_000_000));
    assert_eq!(rates.cumulative(at(2_010)), before);
    assert_eq!(rates.cumulative(at(2_099)), before);
    // 8 Mbit of the base layer in place of a picture of it and one of layer 2.
    let after = [8_160, 8_360, 8_720, 8_720].map(Rate::from_kbps);
    assert_eq!(rates.cumulative(at(2_100)), Some(after));
    assert_eq!(rates.total(at(2_100)), Some(Rate::from_kbps(8_720)));
}

#[test]
fn it_goes_down_at_once_and_up_after_a_second_with_margin() {
    let mut rates = LayerRates::default();
    let mut choice = LayerChoice::new();
    let mut step = |ms: u64, kbps: u64| {
        feed(&mut rates, ms, ms + 50);
        wanted(&mut choice, &rates, ms, Some(kbps))
    };
    for ms in (0..1_000).step_by(50) {
        step(ms, 2_000);
    }
    assert_eq!(step(1_000, 800), 3, "fits exactly: stays");
    assert_eq!(step(1_050, 799), 1);
    assert_eq!(step(1_100, 150), 0, "the base layer is never given up");
    // 400 kbps with 15 % margin are 460.
    for ms in (1_150..3_150).step_by(50) {
        assert_eq!(step(ms, 455), 0, "below the margin at {ms}");
    }
    for ms in (3_150..4_150).step_by(50) {
        assert_eq!(step(ms, 465), 0, "too early at {ms}");
    }
    assert_eq!(step(4_150, 465), 1);
}

#[test]
fn a_dip_starts_the_wait_again() {
    let mut rates = LayerRates::default();
    feed(&mut rates, 0, 4_000);
    let mut choice = LayerChoice::new();
    assert_eq!(wanted(&mut choice, &rates, 4_000, Some(250)), 0);
    assert_eq!(wanted(&mut choice, &rates, 4_010, Some(2_000)), 0);
    feed(&mut rates, 4_000, 4_900);
    assert_eq!(wanted(&mut choice, &rates, 4_900, Some(250)), 0);
    assert_eq!(wanted(&mut choice, &rates, 4_910, Some(2_000)), 0);
    feed(&mut rates, 4_900, 5_900);
    assert_eq!(wanted(&mut choice, &rates, 5_900, Some(2_000)), 0);
    assert_eq!(wanted(&mut choice, &rates, 5_910, Some(2_000)), 3);
}

#[test]
fn without_a_target_everything_is_wanted() {
    let mut rates = LayerRates::default();
    feed(&mut rates, 0, 2_000);
    assert_eq!(wanted(&mut LayerChoice::new(), &rates, 2_000, None), 3);
}

/// Two temporal layers of small pictures, then two larger sizes.
#[test]
fn larger_pictures_come_one_size_at_a_time_and_later_each_time_that_they_were_too_large() {
    let rates = Some([100, 200, 400, 800].map(Rate::from_kbps));
    let mut choice = LayerChoice::new();
    let mut changes = Vec::new();
    let mut fell = 0;
    for ms in (0..60_000).step_by(50) {
        let before = choice.wanted();
        // The link carries the middle size, but its estimate stays too high until half a
        // second of the largest size corrects it.
        let top = before == 3 && ms >= fell + 500;
        let kbps = if ms == 0 {
            150
        } else if top {
            500
        } else {
            5_000
        };
        let failed = choice.update(at(ms), Some(Rate::from_kbps(kbps)), rates, [0, 0, 1, 2]);
        assert_eq!(failed, ms > 0 && choice.wanted() < before, "at {ms}");
        if choice.wanted() != before {
            changes.push((ms, choice.wanted()));
            fell = ms;
        }
    }
    let expected = [
        (0, 0),
        (1_050, 1),
        (3_100, 2),
        (5_150, 3),
        (5_650, 2),
        (15_700, 3),
        (16_200, 2),
        (36_250, 3),
        (36_750, 2),
    ];
    assert_eq!(changes, expected);
}
