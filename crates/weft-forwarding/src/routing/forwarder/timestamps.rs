//! Timestamps of a subscriber, which continue when the source changes.

use weft_units::Instant;

/// Outgoing timestamps: those of the source, moved so that they continue where
/// the source before ended.
#[derive(Debug, Default)]
pub(super) struct Timestamps {
    /// `None` until the source's first packet is sent.
    pub shift: Option<u32>,
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

    pub fn shifted(&mut self, now: Instant, timestamp: u32, newest: bool) -> u32 {
        let out = timestamp.wrapping_add(self.shift.unwrap_or(0));
        if newest {
            self.last = Some((out, now));
        }
        out
    }
}
