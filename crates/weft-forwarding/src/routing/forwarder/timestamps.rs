//! Timestamps of a subscriber, which continue when the source changes.

use weft_units::Instant;

/// Outgoing timestamps: those of the source, shifted so that they continue where the
/// previous source ended.
#[derive(Debug, Default)]
pub(super) struct Timestamps {
    /// `None` until the source's first packet is sent.
    pub shift: Option<u32>,
    /// Highest timestamp, which is not necessarily the last: receivers drop pictures
    /// older than those shown.
    pub last: Option<(u32, Instant)>,
}

impl Timestamps {
    pub fn source_ended(&mut self) {
        self.shift = None;
    }

    pub fn start(&mut self, now: Instant, timestamp: u32, clock_rate: u32) {
        if self.shift.is_some() {
            return;
        }
        self.shift = Some(self.last.map_or(0, |(last, at)| {
            let passed = now.saturating_since(at).as_secs_f64() * f64::from(clock_rate);
            let next = last.wrapping_add((passed.round() as u32).max(1));
            next.wrapping_sub(timestamp)
        }));
    }

    pub fn shifted(&mut self, now: Instant, timestamp: u32) -> u32 {
        let out = timestamp.wrapping_add(self.shift.unwrap_or(0));
        let is_behind = |(last, _): (u32, Instant)| (out.wrapping_sub(last) as i32) < 0;
        if !self.last.is_some_and(is_behind) {
            self.last = Some((out, now));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_continues_after_the_highest_timestamp_of_the_one_before() {
        let mut timestamps = Timestamps::default();
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        timestamps.start(at(0), 5_000, 90_000);
        assert_eq!(timestamps.shifted(at(0), 5_000), 5_000);
        // Packets of a source whose timestamps do not increase, two seconds apart.
        assert_eq!(timestamps.shifted(at(10), 185_000), 185_000);
        assert_eq!(timestamps.shifted(at(20), 5_900), 5_900);
        timestamps.source_ended();
        timestamps.start(at(110), 77, 90_000);
        assert_eq!(timestamps.shifted(at(110), 77), 185_000 + 9_000);
    }
}
