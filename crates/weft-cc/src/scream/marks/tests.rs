use super::*;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

const RTT: Duration = Duration::from_millis(50);

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

#[test]
fn the_share_rises_by_an_eighth_and_falls_by_a_hundred_and_twenty_eighth() {
    let mut marks = Marks::default();
    marks.update(ms(0), RTT);
    for n in 0..10 {
        marks.on_packet(if n < 4 { Ecn::Ce } else { Ecn::Ect1 });
    }
    marks.update(ms(10), RTT);
    near(marks.share(), 0.05); // 0.4 / 8
    marks.on_packet(Ecn::Ect1);
    marks.update(ms(19), RTT);
    near(marks.share(), 0.05); // too soon
    marks.update(ms(20), RTT);
    near(marks.share(), 0.05 * 127.0 / 128.0);
}

#[test]
fn the_codepoint_that_arrives_decides_what_a_mark_means() {
    let mut marks = Marks::default();
    assert_eq!(marks.marking(), Marking::Classic);
    marks.on_packet(Ecn::Ect1);
    marks.on_packet(Ecn::Ce);
    assert_eq!(marks.marking(), Marking::L4s);
    marks.on_packet(Ecn::Ect0);
    assert_eq!(marks.marking(), Marking::Classic);
}
