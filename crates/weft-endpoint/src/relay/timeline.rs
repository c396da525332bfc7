//! RTP timestamps of a track that continue where an earlier encoder stopped.

use weft_units::Instant;

/// Maps the timestamps of successive encoders to one timeline.
#[derive(Clone, Copy, Debug)]
pub struct Timeline {
    /// Ticks per second.
    clock_rate: u32,
    /// Difference to the encoder's timestamps; `None` before its first frame.
    offset: Option<u32>,
    /// Timestamp and time of the last frame.
    last: Option<(u32, Instant)>,
}

impl Timeline {
    /// Creates the timeline of a track with this number of ticks per second.
    pub fn new(clock_rate: u32) -> Timeline {
        Timeline {
            clock_rate,
            offset: None,
            last: None,
        }
    }

    /// Continues with another encoder, whose timestamps are unrelated to those of the
    /// last one.
    pub fn change_encoder(&mut self) {
        self.offset = None;
    }

    /// Returns the timestamp to send for an encoder's frame that arrived at this time.
    pub fn map(&mut self, now: Instant, timestamp: u32) -> u32 {
        let offset = *self.offset.get_or_insert_with(|| match self.last {
            Some((last, at)) => {
                let elapsed = now.saturating_since(at).as_secs_f64();
                let ticks = (elapsed * f64::from(self.clock_rate)) as u32;
                last.wrapping_add(ticks.max(1)).wrapping_sub(timestamp)
            }
            None => 0,
        });
        let mapped = timestamp.wrapping_add(offset);
        self.last = Some((mapped, now));
        mapped
    }
}

#[cfg(test)]
mod tests {
    use weft_units::Duration;

    use super::*;

    #[test]
    fn the_first_encoder_keeps_its_timestamps() {
        let mut timeline = Timeline::new(90_000);
        assert_eq!(timeline.map(Instant::ZERO, 7), 7);
        let later = Instant::ZERO + Duration::from_millis(40);
        assert_eq!(timeline.map(later, 3607), 3607);
    }

    #[test]
    fn the_next_encoder_continues_after_the_time_that_has_passed() {
        let mut timeline = Timeline::new(90_000);
        timeline.map(Instant::ZERO, u32::MAX);
        timeline.change_encoder();
        let later = Instant::ZERO + Duration::from_secs(2);
        assert_eq!(timeline.map(later, 500_000), 179_999);
        assert_eq!(timeline.map(later, 503_600), 183_599);
    }
}
