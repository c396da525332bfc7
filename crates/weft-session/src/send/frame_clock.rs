/// Measures the frame rate that a stream's timestamps show.
///
/// The encoder's setting is not known here, and a forwarder has none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameClock {
    last: Option<u32>,
    /// Smoothed ticks between frames.
    ticks: Option<f64>,
}

/// Weight of a new frame, as that of a new round trip (RFC 6298).
const GAIN: f64 = 1.0 / 8.0;

impl FrameClock {
    /// A packet or frame of this RTP timestamp; repetitions and old ones change
    /// nothing.
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
            // A pause says nothing of the rate; a rate that fell to a quarter
            // at once is measured after it.
            Some(ticks) if elapsed > 4.0 * ticks => ticks + (ticks * GAIN),
            Some(ticks) => ticks + (elapsed - ticks) * GAIN,
            None => elapsed,
        });
    }

    /// Frames in 1000 s.
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
            // Two packets each, across the wrap.
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
