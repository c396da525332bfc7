use crate::source::{Sample, Source, SourceError};
use std::time::Duration;
use weft_media::{Picture, VideoDecoder};
use weft_record::{TrackEntry, TrackKind};
use weft_units::Codec;

/// Time after which a camera without pictures counts as off. Chosen by us: a call survives
/// shorter outages.
const OFF_AFTER: Duration = Duration::from_secs(2);
/// Time for which the last picture of a track remains visible.
const LAST: Duration = Duration::from_millis(500);

/// A camera or a shared screen.
pub(crate) struct VideoTrack {
    /// Start of the track in the recording.
    start: Duration,
    source: Source,
    codec: Codec,
    decoder: VideoDecoder,
    /// Whether it is a screen; a screen that does not change may send nothing.
    pub(crate) is_screen: bool,
    /// Participant of the track.
    pub(crate) participant: String,
    /// Name of the participant.
    pub(crate) name: String,
    next: Option<Sample>,
    /// Time of the newest picture.
    shown: Option<Duration>,
    picture: Option<Picture>,
    /// Frames that could not be decoded.
    pub(crate) damaged: u64,
}

impl VideoTrack {
    pub(crate) fn new(
        entry: &TrackEntry,
        codec: Codec,
        mut source: Source,
    ) -> Result<VideoTrack, SourceError> {
        let decoder = decoder(codec)?;
        let next = source.read()?;
        Ok(VideoTrack {
            start: Duration::from_millis(entry.start_ms),
            source,
            codec,
            decoder,
            is_screen: entry.kind == TrackKind::Screen,
            participant: entry.participant.clone(),
            name: entry.name.clone(),
            next,
            shown: None,
            picture: None,
            damaged: 0,
        })
    }

    /// Decodes all frames up to this time of the recording. Returns whether the picture
    /// changed.
    ///
    /// # Errors
    /// If the rest of the file cannot be read; the track ends there.
    pub(crate) fn advance(&mut self, to: Duration) -> Result<bool, SourceError> {
        let mut changed = false;
        while let Some(sample) = self.next.take_if(|sample| self.start + sample.at <= to) {
            match self.decoder.decode(&sample.data) {
                Ok(Some(picture)) => {
                    self.shown = Some(self.start + sample.at);
                    self.picture = Some(picture);
                    changed = true;
                }
                Ok(None) => {}
                Err(_) => {
                    self.damaged += 1;
                    // A decoder whose state depends on the damaged frame would show
                    // garbage.
                    self.decoder = decoder(self.codec)?;
                }
            }
            self.next = self.source.read()?;
        }
        Ok(changed)
    }

    /// Returns the picture at this time; `None` while the camera is off.
    pub(crate) fn visible(&self, at: Duration) -> Option<&Picture> {
        let shown = self.shown?;
        let next = self.next.as_ref().map(|next| self.start + next.at);
        let is_on = match next {
            Some(next) => self.is_screen || next.saturating_sub(shown) < OFF_AFTER,
            None => at.saturating_sub(shown) < LAST,
        };
        self.picture.as_ref().filter(|_| is_on)
    }

    /// Whether the track has ended.
    pub(crate) fn is_over(&self, at: Duration) -> bool {
        self.next.is_none() && self.shown.is_none_or(|shown| at > shown + LAST)
    }
}

fn decoder(codec: Codec) -> Result<VideoDecoder, SourceError> {
    VideoDecoder::new(codec).map_err(|error| SourceError::Container(error.to_string()))
}
