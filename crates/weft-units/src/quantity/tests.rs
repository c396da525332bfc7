use super::{decimal, rate, share, size, time};
use crate::{Bytes, Duration, Rate};

#[test]
fn units_scale() {
    assert_eq!(time("25ms"), Some(Duration::from_millis(25)));
    assert_eq!(time("500us"), Some(Duration::from_micros(500)));
    assert_eq!(time("3min"), Some(Duration::from_secs(180)));
    assert_eq!(time("1.5 s"), Some(Duration::from_millis(1500)));
    assert_eq!(time("24h"), Some(Duration::from_secs(86_400)));
    assert_eq!(rate("2.5mbit"), Some(Rate::from_kbps(2500)));
    assert_eq!(rate("0bit"), Some(Rate::ZERO));
    assert_eq!(size("60kB"), Some(Bytes(60_000)));
    assert_eq!(share("10%"), Some(0.1));
    assert_eq!(decimal("0.25"), Some(0.25));
}

#[test]
fn only_plain_numbers_with_a_known_unit_are_accepted() {
    for text in [
        "", "s", "30", "-1s", "+1s", "1e3s", "infs", "nans", "1.2.3s", "25h", "1d",
    ] {
        assert_eq!(time(text), None, "{text}");
    }
    for text in ["5mbps", "5Mbit", "1001gbit", "5"] {
        assert_eq!(rate(text), None, "{text}");
    }
    assert_eq!(size("60kb"), None);
    assert_eq!(share("2000%"), None);
}
