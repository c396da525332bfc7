use weft_units::{Bytes, Duration, Instant};

/// Part of what is sent that is repair, over about a second: an encoder's rate
/// is what the others leave.
#[derive(Default, Debug)]
pub(crate) struct RepairShare {
    media: f64,
    repair: f64,
    at: Instant,
}

/// Chosen by us: as long as protections look back for losses.
const MEMORY: Duration = Duration::from_secs(1);
/// At most this part of the rate is kept for repair: kOverheadThreshold of
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

    /// Part that is left for media, 0.5 to 1.
    pub fn left_for_media(&self) -> f64 {
        let all = self.media + self.repair;
        match all > 0.0 {
            true => 1.0 - (self.repair / all).min(MOST),
            false => 1.0,
        }
    }
}
