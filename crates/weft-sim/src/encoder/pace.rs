use weft_units::Instant;

/// Frame rate measured from the pictures' times, as libvpx tracks it (`onyx_if.c`): an
/// interval that differs by a tenth applies immediately, smaller changes move a mean over
/// the last second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    last: Option<Instant>,
    last_interval: f64,
    mean: f64,
    longest: f64,
}

/// Largest step of time between pictures, in picture intervals: `MAX_STEP` of
/// `weft-media`'s `vp8/encoder.rs`.
const MAX_STEP: f64 = 2.0;

impl Pace {
    pub fn new(fps: f64) -> Pace {
        Pace {
            last: None,
            last_interval: 1.0 / fps,
            mean: 1.0 / fps,
            longest: MAX_STEP / fps,
        }
    }

    /// Sets the expected frame rate.
    pub fn expect(&mut self, fps: f64) {
        self.longest = MAX_STEP / fps;
    }

    /// Records a picture; returns the current frame rate.
    pub fn on_picture(&mut self, now: Instant) -> f64 {
        let last = self.last.replace(now);
        let interval = last.map_or(0.0, |last| now.saturating_since(last).as_secs_f64());
        let interval = interval.min(self.longest);
        if interval > 0.0 {
            let change = (interval - self.last_interval).abs() / self.last_interval;
            self.last_interval = interval;
            self.mean = if change >= 0.1 {
                interval
            } else {
                self.mean * (1.0 - self.mean + interval)
            };
        }
        // clamp_framerate in the same file.
        (1.0 / self.mean).clamp(1.0, 240.0)
    }
}
