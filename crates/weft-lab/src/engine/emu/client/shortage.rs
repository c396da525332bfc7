//! Detects a machine that is too slow for its cameras.

/// Time for which a camera's pictures were not processed, derived from the processed
/// ones. The reference is the camera's frame rate. A picture dropped for lack of network
/// capacity counts as processed; one dropped for lack of processor time, or never
/// captured, does not.
#[derive(Clone, Copy, Debug)]
pub struct Shortage {
    fps: f64,
    /// Time and count of the first report.
    first: Option<(f64, f64)>,
    limited_s: f64,
}

impl Shortage {
    /// Creates a counter for a camera with this frame rate.
    #[must_use]
    pub fn of(fps: f64) -> Shortage {
        Shortage {
            fps: fps.max(1.0),
            first: None,
            limited_s: 0.0,
        }
    }

    /// Adds the number of pictures encoded, dropped or skipped up to this time in
    /// milliseconds; returns the longest shortage so far in seconds.
    pub fn on_count(&mut self, unix_ms: f64, pictures: f64) -> f64 {
        let (began, before) = *self.first.get_or_insert((unix_ms, pictures));
        let filmed = (pictures - before) / self.fps;
        self.limited_s = self.limited_s.max((unix_ms - began) / 1e3 - filmed);
        self.limited_s
    }
}

#[cfg(test)]
mod tests {
    use super::Shortage;

    #[test]
    fn pictures_that_nobody_had_time_for_are_time_that_was_short() {
        let mut shortage = Shortage::of(30.0);
        assert_eq!(shortage.on_count(1000.0, 5.0), 0.0);
        assert_eq!(shortage.on_count(2000.0, 35.0), 0.0);
        // A second in which half of the pictures were missed.
        assert_eq!(shortage.on_count(3000.0, 50.0), 0.5);
        assert_eq!(shortage.on_count(4000.0, 80.0), 0.5, "it does not shrink");
    }
}
