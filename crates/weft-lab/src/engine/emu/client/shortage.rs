//! Whether a machine has time for its cameras.

/// For how long a camera's pictures were not looked at, as far as those tell
/// that were. A picture that the network has no room for counts as looked at;
/// one that nobody had time for does not, nor one that the camera never took:
/// hence by the rate at which it films.
#[derive(Clone, Copy, Debug)]
pub struct Shortage {
    fps: f64,
    /// Time and count of the first pictures.
    first: Option<(f64, f64)>,
    limited_s: f64,
}

impl Shortage {
    /// Of a camera that films so many pictures a second.
    #[must_use]
    pub fn of(fps: f64) -> Shortage {
        Shortage {
            fps: fps.max(1.0),
            first: None,
            limited_s: 0.0,
        }
    }

    /// So many pictures were encoded, dropped or skipped by this time,
    /// milliseconds; for how long they were short so far at most, in seconds.
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
        // A second in which half of the pictures were left.
        assert_eq!(shortage.on_count(3000.0, 50.0), 0.5);
        assert_eq!(shortage.on_count(4000.0, 80.0), 0.5, "it does not shrink");
    }
}
