//! One station of 802.11n with aggregates, compared with the arithmetic of its
//! frames.

use super::saturated::{assert_near, cell, saturate, stations, upwards};
use crate::medium::wifi::{GuardInterval, WifiStandard};
use weft_units::Duration;

/// Rate, guard interval, number of packets within 4 ms or 65,535 bytes, and the airtime
/// of the aggregate in microseconds, by hand: the PHY's preamble of 36 or 40 us, ceil((16
/// + 8 x 1560 x packets + 6) / N_DBPS) symbols, rounded up to 4 us, and 6 us.
const AGGREGATES: [(&str, GuardInterval, f64, f64, f64); 6] = [
    // ceil(24982 / 26) = 961 symbols; answer at 6 Mbit/s.
    ("mcs0", GuardInterval::Long, 2.0, 36.0 + 3844.0 + 6.0, 74.0),
    // ceil(99862 / 104) = 961.
    ("mcs3", GuardInterval::Long, 8.0, 36.0 + 3844.0 + 6.0, 38.0),
    // ceil(162262 / 156) = 1041, 3747.6 us.
    (
        "mcs4",
        GuardInterval::Short,
        13.0,
        36.0 + 3748.0 + 6.0,
        38.0,
    ),
    // ceil(274582 / 260) = 1057, 3805.2 us.
    (
        "mcs7",
        GuardInterval::Short,
        22.0,
        36.0 + 3808.0 + 6.0,
        38.0,
    ),
    // ceil(399382 / 416) = 961.
    (
        "mcs13",
        GuardInterval::Long,
        32.0,
        40.0 + 3844.0 + 6.0,
        38.0,
    ),
    // ceil(524182 / 520) = 1009, 3632.4 us: 65,535 bytes are the limit.
    (
        "mcs15",
        GuardInterval::Short,
        42.0,
        40.0 + 3636.0 + 6.0,
        38.0,
    ),
];

#[test]
fn aggregates_have_the_goodput_of_their_frames() {
    for (rate, guard, packets, data, answer) in AGGREGATES {
        let mut spec = stations(WifiStandard::N, &[rate]);
        spec.guard = guard;
        // AIFS of best effort 37, mean backoff 7.5 slots of 9, SIFS 10.
        let cycle = 37.0 + 67.5 + data + 10.0 + answer;
        let expected = packets * 12_000.0 / cycle;
        let outcome = saturate(cell(&spec), &upwards(1, 1500), Duration::from_secs(5));
        let what = format!("802.11n, {rate}, {guard:?}");
        assert_near(&what, outcome.total(), expected, 0.01);
    }
}
