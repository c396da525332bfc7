use super::{LayerChoice, LayerRates};
use weft_units::{Bytes, Duration, Instant, Rate};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
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
fn it_goes_down_at_once_and_up_after_a_second_with_margin() {
    let mut rates = LayerRates::default();
    let mut choice = LayerChoice::new();
    let mut step = |ms: u64, kbps: u64| {
        feed(&mut rates, ms, ms + 50);
        choice.update(
            at(ms),
            Some(Rate::from_kbps(kbps)),
            rates.cumulative(at(ms)),
        )
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
    let rate = |kbps| Some(Rate::from_kbps(kbps));
    assert_eq!(
        choice.update(at(4_000), rate(250), rates.cumulative(at(4_000))),
        0
    );
    assert_eq!(
        choice.update(at(4_010), rate(2_000), rates.cumulative(at(4_010))),
        0
    );
    feed(&mut rates, 4_000, 4_900);
    assert_eq!(
        choice.update(at(4_900), rate(250), rates.cumulative(at(4_900))),
        0
    );
    assert_eq!(
        choice.update(at(4_910), rate(2_000), rates.cumulative(at(4_910))),
        0
    );
    feed(&mut rates, 4_900, 5_900);
    assert_eq!(
        choice.update(at(5_900), rate(2_000), rates.cumulative(at(5_900))),
        0
    );
    assert_eq!(
        choice.update(at(5_910), rate(2_000), rates.cumulative(at(5_910))),
        3
    );
}

#[test]
fn without_a_target_everything_is_wanted() {
    let mut rates = LayerRates::default();
    feed(&mut rates, 0, 2_000);
    assert_eq!(
        LayerChoice::new().update(at(2_000), None, rates.cumulative(at(2_000))),
        3
    );
}
