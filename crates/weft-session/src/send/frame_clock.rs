/// Measures the frame rate from a stream's timestamps.
///
/// The encoder's setting is unknown here, and a forwarder has none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameClock {
    last: Option<u32>,
    /// Smoothed ticks between frames.
    ticks: Option<f64>,
}

/// Weight of a new frame, as for a new round trip (RFC 6298).
const GAIN: f64 = 1.0 / 8.0;

impl FrameClock {
    /// Records a packet or frame with this RTP timestamp; repeated and old timestamps
    /// change nothing.
    pub fn on_frame(&mut self, timestamp: u32) {
        let Some(last) = self.last else {
            self.last = Some(timestamp);
            return;
        };
        let elapsed = timestamp.wrapping_sub(last);
        if elapsed == 0 || elapsed > u32::MAX / 2 {
            return;
        }
        self.last = Some(timestamp);
        let elapsed = f64::from(elapsed);
        self.ticks = Some(match self.ticks {
            // A pause says nothing about the rate; a sudden drop of the rate to a quarter
            // is still measured, but later.
            Some(ticks) if elapsed > 4.0 * ticks => ticks + (ticks * GAIN),
            Some(ticks) => ticks + (elapsed - ticks) * GAIN,
            None => elapsed,
        });
    }

    /// Returns the frame rate in frames per 1000 s.
    pub fn rate(&self, clock_rate: u32) -> Option<u32> {
        let rate = f64::from(clock_rate) * 1000.0 / self.ticks?;
        Some(rate.round() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::FrameClock;

    #[test]
    fn thirty_frames_a_second_are_3000_ticks_apart() {
        let mut clock = FrameClock::default();
        assert_eq!(clock.rate(90_000), None);
        for frame in 0..20_u32 {
            // Two packets per frame, across the wrap.
            let timestamp = (u32::MAX - 9_000).wrapping_add(frame * 3_000);
            clock.on_frame(timestamp);
            clock.on_frame(timestamp);
        }
        assert_eq!(clock.rate(90_000), Some(30_000));
    }

    #[test]
    fn a_pause_changes_little_and_a_new_rate_is_learnt() {
        let mut clock = FrameClock::default();
        (0..50).for_each(|frame| clock.on_frame(frame * 3_000));
        clock.on_frame(50 * 3_000 + 900_000);
        let rate = clock.rate(90_000).unwrap_or(0);
        assert!((25_000..30_000).contains(&rate), "{rate}");
        let from = 50 * 3_000 + 900_000;
        (0..60).for_each(|frame| clock.on_frame(from + frame * 6_000));
        let rate = clock.rate(90_000).unwrap_or(0);
        assert!((14_900..15_100).contains(&rate), "{rate}");
    }
}
