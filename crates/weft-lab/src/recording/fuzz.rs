//! Body of the fuzz target `imports`, which a test runs, too.

use std::net::{IpAddr, Ipv4Addr};

use super::input::Source;
use super::read_source;

#[cfg(test)]
mod tests;

/// Address of the recording machine in captures without directions.
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

/// Reads a file of any format. All values of a recording are finite, and its series and
/// percentiles can be computed.
///
/// # Panics
/// If there is a defect.
pub fn fuzz_imports(data: &[u8]) {
    let Ok(found) = read_source(Source::Bytes(data), "call", &[LOCAL]) else {
        return;
    };
    for one in &found {
        assert!(
            one.seconds.is_finite() && one.seconds >= 0.0,
            "{}",
            one.seconds
        );
        assert!(one.step > 0.0, "{}", one.step);
        for (name, value) in &one.values {
            assert!(value.is_finite(), "{name} is {value}");
        }
        let series = one.series(one.seconds.max(1.0) / 50.0, "call");
        for column in &series.columns {
            let values = column.values.iter().flatten();
            assert!(
                values.into_iter().all(|value| value.is_finite()),
                "{}",
                column.name
            );
        }
    }
}
