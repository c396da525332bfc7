use super::{rate, share, size, time};
use proptest::prelude::*;
use weft_units::{Bytes, Duration, Rate};

#[test]
fn units_scale() {
    assert_eq!(time("25ms"), Ok(Duration::from_millis(25)));
    assert_eq!(time("3min"), Ok(Duration::from_secs(180)));
    assert_eq!(time("1.5 s"), Ok(Duration::from_millis(1500)));
    assert_eq!(rate("2.5mbit"), Ok(Rate::from_kbps(2500)));
    assert_eq!(size("60kB"), Ok(Bytes(60_000)));
    assert_eq!(share("10%"), Ok(0.1));
}

#[test]
fn errors_are_reported_with_a_remedy() {
    for (error, parts) in [
        (time("30").unwrap_err(), ["\"30\" is not a time", "\"30s\""]),
        (rate("-5mbit").unwrap_err(), ["cannot be negative", "5mbit"]),
        (rate("1e9bit").unwrap_err(), ["is not a rate", "500kbit"]),
        (size("3 bytes").unwrap_err(), ["is not a size", "60kB"]),
        (share("2000%").unwrap_err(), ["is not a share", "10%"]),
    ] {
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,12}") {
        for result in [time(&text).is_ok(), rate(&text).is_ok(), size(&text).is_ok()] {
            // Valid texts start with a digit or a point.
            prop_assert!(!result || text.trim().starts_with(|c: char| c.is_ascii_digit() || c == '.'));
        }
    }
}
