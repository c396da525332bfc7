//! Pictures that people in a conference saw.

use weft_units::{Duration, Instant};

/// Record of a group.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConferenceRecord {
    /// One for each person, in their order.
    pub people: Vec<PersonRecord>,
}

/// Record of one person.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PersonRecord {
    /// Name: that of the group, with a number if there are several people in it.
    pub name: String,
    /// Time of joining; `None` if the run ended earlier.
    pub joined_at: Option<Instant>,
    /// Others whose camera was on the screen, in order of appearance.
    pub tiles: Vec<TileRecord>,
    /// Frames that referred to pictures which the person did not have.
    pub undecodable: u64,
}

/// Pictures of one person on another person's screen.
#[derive(Clone, PartialEq, Debug)]
pub struct TileRecord {
    /// Name of the person that the tile shows.
    pub of: String,
    /// Time at which the tile appeared on the screen.
    pub since: Instant,
    /// Time at which it disappeared.
    pub until: Option<Instant>,
    /// Pictures shown, in order.
    pub pictures: Vec<TilePicture>,
    /// Times for which the server had paused the tile because the viewer's paths lacked
    /// capacity: start, and end if it ended.
    pub pauses: Vec<(Instant, Option<Instant>)>,
}

/// Picture on a tile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TilePicture {
    /// Time of display.
    pub shown_at: Instant,
    /// Time from capture to display.
    pub latency: Duration,
    /// Height of the encoding in lines.
    pub height: u16,
    /// Quantizer of the encoder.
    pub quantizer: u8,
    /// Size after encoding.
    pub bytes: u32,
    /// PSNR of the luma against the camera's picture in dB, including downscaling.
    pub psnr_db: f32,
    /// SSIM of the luma, likewise.
    pub ssim: f32,
}

impl TilePicture {
    /// Returns the time of capture.
    #[must_use]
    pub fn captured_at(&self) -> Instant {
        self.shown_at.saturating_sub(self.latency)
    }
}

impl TileRecord {
    /// Removes the tile from the screen.
    pub fn end(&mut self, now: Instant) {
        self.resume(now);
        self.until = Some(now);
    }

    /// Ends the pause, if the tile is paused.
    pub fn resume(&mut self, now: Instant) {
        if let Some((_, end @ None)) = self.pauses.last_mut() {
            *end = Some(now);
        }
    }
}
