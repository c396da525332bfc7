use super::{Plan, Work};
use weft_experiment::Application;
use weft_units::{Bytes, Duration, Rng};

#[test]
fn a_size_becomes_full_segments_and_a_rest() {
    let work = |size| Work {
        size: Some(Bytes(size)),
        pause: Duration::ZERO,
    };
    assert_eq!(work(1).segments(), (1, 1));
    assert_eq!(work(1448).segments(), (1, 1448));
    assert_eq!(work(1449).segments(), (2, 1));
    assert_eq!(work(9_000_000).segments(), (6216, 680));
}

#[test]
fn transfers_and_pauses_have_their_means() {
    // RFC 8867 section 5.7: 100 kB to 1 MB, with pauses of 10 s on average.
    let application = Application::OnOff {
        size: (Bytes(100_000), Bytes(1_000_000)),
        mean_pause: Duration::from_secs(10),
    };
    let mut plan = Plan::new(&application, Rng::new(1));
    let n = 20_000;
    let (mut bytes, mut pauses) = (0.0, 0.0);
    for _ in 0..n {
        let work = plan.next().expect("another transfer");
        let size = work.size.expect("a size").0;
        assert!((100_000..=1_000_000).contains(&size));
        bytes += size as f64 / f64::from(n);
        pauses += work.pause.as_secs_f64() / f64::from(n);
    }
    assert!(
        (545_000.0..555_000.0).contains(&bytes),
        "mean of {bytes} bytes"
    );
    assert!((9.8..10.2).contains(&pauses), "mean of {pauses} s");
}
