//! Output of an iperf3 receiver.

use std::time::SystemTime;

use super::line::{Received, Sample};

/// Unit of rates in iperf3's output, the most precise one (`-f k`).
const RATE_UNIT: &str = "Kbits/sec";

/// Counts the bytes delivered by the connections of an iperf3.
#[derive(Debug, Default)]
pub struct Meter {
    bytes: f64,
}

impl Meter {
    /// Processes a line; returns a sample of the bytes received so far, if the line
    /// reports bytes.
    pub fn hear(&mut self, line: &str) -> Option<Sample> {
        self.bytes += interval(line)?;
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Some(Sample {
            unix_ms: unix.map_or(0.0, |since| since.as_secs_f64() * 1e3),
            received: Some(Received {
                goodput_bytes: Some(self.bytes),
                ..Received::default()
            }),
            ..Sample::default()
        })
    }
}

/// Parses the bytes of one connection in one interval: `[  5]   1.00-2.00   sec   228
/// KBytes  1868 Kbits/sec`. Ignores sums and the summary at the end, which add no
/// information.
fn interval(line: &str) -> Option<f64> {
    let (id, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
    id.trim().parse::<u32>().ok()?;
    let mut words = rest.split_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let seconds = to.parse::<f64>().ok()? - from.parse::<f64>().ok()?;
    let rate: f64 = words.nth(3)?.parse().ok()?;
    let is_interval = words.next() == Some(RATE_UNIT) && words.next().is_none();
    is_interval.then_some(rate * 1e3 / 8.0 * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_add_up_and_summaries_do_not() {
        let lines = [
            "-----------------------------------------------------------",
            "Accepted connection from 198.18.0.2, port 37422",
            "[  5] local 198.18.0.1 port 5201 connected to 198.18.0.2 port 37438",
            "[ ID] Interval           Transfer     Bitrate",
            "[  5]   0.00-1.00   sec   228 KBytes  1868 Kbits/sec                  ",
            "[  7]   0.00-1.00   sec   100 KBytes   800 Kbits/sec",
            "[SUM]   0.00-1.00   sec   328 KBytes  2668 Kbits/sec",
            "[  5]   1.00-1.50   sec  50.0 KBytes   800 Kbits/sec",
            "[  5]   0.00-1.50   sec   278 KBytes  1512 Kbits/sec                  receiver",
        ];
        let mut meter = Meter::default();
        let samples: Vec<Sample> = lines.iter().filter_map(|line| meter.hear(line)).collect();
        let bytes = samples.iter().map(|s| s.received.as_ref().unwrap());
        let bytes: Vec<f64> = bytes.filter_map(|r| r.goodput_bytes).collect();
        // 1868 kbit/s for a second, 800 for another and for half a second.
        assert_eq!(bytes, [233_500.0, 333_500.0, 383_500.0]);
        assert!(samples[0].unix_ms > 1.7e12, "milliseconds since 1970");
    }
}
