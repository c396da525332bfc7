//! File with one track, in the container of its codec.

use crate::error::RecorderError;
use crate::mp4::{Mp4, Parameters};
use crate::webm::{Recorder, Tracks};
use std::path::Path;
use weft_session::ReceivedFrame;
use weft_units::{Codec, Instant, MediaKind};

/// Whether a track of this codec can be recorded.
#[must_use]
pub fn can_record(codec: Codec) -> bool {
    Codec::CODED.contains(&codec)
}

/// File with one track.
pub(crate) enum TrackFile {
    WebM(Box<Recorder>),
    Mp4(Box<Mp4>),
}

impl TrackFile {
    /// Extension of the files of a codec.
    pub(crate) fn extension(codec: Codec) -> &'static str {
        match codec {
            Codec::H264 => "mp4",
            Codec::Vp8 | Codec::Vp9 | Codec::Av1 | Codec::Opus => "webm",
        }
    }

    /// Creates a file that only this user can read. `None` if the parameters do not
    /// describe H.264 yet, or the codec cannot be recorded.
    ///
    /// # Errors
    /// [`RecorderError::Create`] if the file exists or cannot be created.
    pub(crate) fn create(
        path: &Path,
        codec: Codec,
        parameters: &Parameters,
    ) -> Result<Option<TrackFile>, RecorderError> {
        Ok(match codec {
            Codec::H264 => {
                let file = Mp4::create_new(path, parameters)?;
                file.map(|file| TrackFile::Mp4(Box::new(file)))
            }
            Codec::Vp9 | Codec::Av1 => None,
            Codec::Vp8 | Codec::Opus => {
                let tracks = match codec.kind() {
                    MediaKind::Audio => Tracks::Audio,
                    MediaKind::Video => Tracks::Video,
                };
                let file = Recorder::create_new(path, tracks)?;
                Some(TrackFile::WebM(Box::new(file)))
            }
        })
    }

    /// Whether the file may continue with these parameters.
    pub(crate) fn continues(&self, parameters: &Parameters) -> bool {
        match self {
            TrackFile::WebM(_) => true,
            TrackFile::Mp4(file) => file.declares(parameters),
        }
    }

    /// Records a frame.
    ///
    /// # Errors
    /// [`RecorderError::Write`] if writing fails.
    pub(crate) fn write(&mut self, frame: &ReceivedFrame) -> Result<(), RecorderError> {
        let (at, time) = (frame.first_arrival, frame.timestamp);
        match self {
            TrackFile::Mp4(file) => file.write(at, time, frame.keyframe, &frame.data),
            TrackFile::WebM(file) => match frame.codec.kind() {
                MediaKind::Audio => file.audio(at, time, &frame.data),
                MediaKind::Video => file.video(at, time, frame.keyframe, &frame.data),
            },
        }
    }

    /// Returns the time of the first frame, which is zero in the file.
    pub(crate) fn start(&self) -> Option<Instant> {
        match self {
            TrackFile::WebM(file) => file.start(),
            TrackFile::Mp4(file) => file.start(),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`RecorderError::Write`] if writing fails.
    pub(crate) fn finish(self) -> Result<(), RecorderError> {
        match self {
            TrackFile::WebM(file) => file.finish(),
            TrackFile::Mp4(file) => file.finish(),
        }
    }
}
