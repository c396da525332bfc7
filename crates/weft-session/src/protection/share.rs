use weft_units::{Bytes, Duration, Instant};

/// Share of the sent bytes that is repair, over about a second: the encoder gets the rest
/// of the rate.
#[derive(Default, Debug)]
pub(crate) struct RepairShare {
    media: f64,
    repair: f64,
    at: Instant,
}

/// Chosen by us: protections count losses over the same time.
const MEMORY: Duration = Duration::from_secs(1);
/// Highest share of the rate that is reserved for repair: kOverheadThreshold of
/// libwebrtc's `FecControllerDefault`.
const MOST: f64 = 0.5;

impl RepairShare {
    pub fn on_frame(&mut self, now: Instant, media: Bytes, repair: Bytes) {
        let since = now.saturating_since(self.at).as_secs_f64();
        let kept = (-since / MEMORY.as_secs_f64()).exp();
        self.media = self.media * kept + media.0 as f64;
        self.repair = self.repair * kept + repair.0 as f64;
        self.at = now;
    }

    /// Returns the share that is left for media, 0.5 to 1.
    pub fn left_for_media(&self) -> f64 {
        let all = self.media + self.repair;
        match all > 0.0 {
            true => 1.0 - (self.repair / all).min(MOST),
            false => 1.0,
        }
    }
}
