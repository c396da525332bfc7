//! VP8 and Opus in a WebM file or pipe.

mod disk;
#[cfg(test)]
mod tests;
mod timeline;

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use webm::mux::{
    AudioCodecId, AudioTrack, Segment, SegmentBuilder, SegmentMode, VideoCodecId, VideoTrack,
    Writer,
};
use weft_units::{Codec, Instant};
use weft_wire::payload::vp8;

use crate::error::RecorderError;
use disk::{Disk, WriteError};
pub(crate) use timeline::Timeline;
use timeline::{Kind, Queue, Sample};

/// Clock rate and number of channels of Opus in RTP (RFC 7587 section 4).
const SAMPLE_RATE: u32 = 48_000;
const CHANNELS: u8 = 2;

/// Tracks of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracks {
    /// VP8 only.
    Video,
    /// Opus only.
    Audio,
    /// Both.
    Both,
}

/// Writes VP8 and Opus to a `.webm` file as they arrive. The container does not support
/// H.264 (WebM container guidelines: VP8, VP9 and AV1).
///
/// The file begins with the first video keyframe (with audio only: with the first
/// packet). All media is on disk half a second after its arrival, in units that players
/// read one by one, so the file plays even after a crash. [`Recorder::finish`] adds the
/// duration and the index for seeking.
pub struct Recorder {
    path: PathBuf,
    /// The file, until the first keyframe gives the picture size.
    file: Option<File>,
    mode: SegmentMode,
    output: Option<Output>,
    error: WriteError,
    tracks: Tracks,
    video: Timeline,
    audio: Timeline,
    queue: Queue,
}

struct Output {
    segment: Segment<Disk>,
    video: Option<VideoTrack>,
    audio: Option<AudioTrack>,
    /// Time of the first sample, which is zero in the file.
    start: u64,
    written: u64,
}

impl Recorder {
    /// Whether frames of this codec can be recorded.
    #[must_use]
    pub const fn takes(codec: Codec) -> bool {
        matches!(codec, Codec::Vp8 | Codec::Opus)
    }

    /// Creates a recording that begins with the first keyframe or audio packet. Replaces
    /// an existing file.
    ///
    /// # Errors
    /// [`RecorderError::Create`] if the file cannot be created.
    pub fn create(path: &Path, tracks: Tracks) -> Result<Recorder, RecorderError> {
        Recorder::in_file(path, File::create(path), tracks)
    }

    /// Creates a recording in a new file that only this user can read, because calls are
    /// private.
    ///
    /// # Errors
    /// [`RecorderError::Create`] if the file exists or cannot be created.
    pub fn create_new(path: &Path, tracks: Tracks) -> Result<Recorder, RecorderError> {
        Recorder::in_file(path, private_file(path), tracks)
    }

    /// Records into a pipe for a player. A pipe does not seek, so it gets no duration and
    /// no index. Errors show `name` in place of a path.
    #[must_use]
    pub fn in_pipe(name: &str, pipe: File, tracks: Tracks) -> Recorder {
        Recorder::new(name.into(), pipe, SegmentMode::Live, tracks)
    }

    fn in_file(
        path: &Path,
        file: std::io::Result<File>,
        tracks: Tracks,
    ) -> Result<Recorder, RecorderError> {
        let file = file.map_err(|reason| RecorderError::Create {
            path: path.into(),
            reason,
        })?;
        Ok(Recorder::new(path.into(), file, SegmentMode::File, tracks))
    }

    fn new(path: PathBuf, file: File, mode: SegmentMode, tracks: Tracks) -> Recorder {
        Recorder {
            path,
            file: Some(file),
            mode,
            output: None,
            error: WriteError::default(),
            tracks,
            video: Timeline::new(90_000),
            audio: Timeline::new(SAMPLE_RATE),
            queue: Queue::default(),
        }
    }

    /// Records a complete VP8 frame that arrived at `now` with this RTP timestamp.
    ///
    /// # Errors
    /// [`RecorderError::Write`] if writing fails.
    pub fn video(
        &mut self,
        now: Instant,
        timestamp: u32,
        keyframe: bool,
        frame: &[u8],
    ) -> Result<(), RecorderError> {
        if self.tracks == Tracks::Audio {
            return Ok(());
        }
        let at = self.video.place(now, timestamp);
        if self.output.is_none() {
            match dimensions(frame) {
                Some(size) if keyframe => self.open(at, Some(size))?,
                _ => return Ok(()),
            }
        }
        self.push(now, at, Kind::Video { keyframe }, frame)
    }

    /// Records an Opus packet that arrived at `now` with this RTP timestamp.
    ///
    /// # Errors
    /// [`RecorderError::Write`] if writing fails.
    pub fn audio(
        &mut self,
        now: Instant,
        timestamp: u32,
        packet: &[u8],
    ) -> Result<(), RecorderError> {
        if self.tracks == Tracks::Video {
            return Ok(());
        }
        let at = self.audio.place(now, timestamp);
        if self.output.is_none() {
            if self.tracks == Tracks::Both {
                return Ok(());
            }
            self.open(at, None)?;
        }
        self.push(now, at, Kind::Audio, packet)
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the time of the first sample, which is zero in the file; `None` before it.
    #[must_use]
    pub fn start(&self) -> Option<Instant> {
        Some(Instant::from_nanos(self.output.as_ref()?.start))
    }

    /// Ends the recording. Without this the file plays, but has no duration and no index.
    ///
    /// # Errors
    /// [`RecorderError::Write`] if writing fails.
    pub fn finish(mut self) -> Result<(), RecorderError> {
        self.close()
    }

    fn close(&mut self) -> Result<(), RecorderError> {
        while let Some(sample) = self.queue.pop(None) {
            self.write(&sample)?;
        }
        let Some(output) = self.output.take() else {
            return Ok(());
        };
        let duration_ms = output.written / 1_000_000;
        match output.segment.finalize(Some(duration_ms)) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.failed(&webm::mux::Error::Unknown)),
        }
    }

    fn push(
        &mut self,
        now: Instant,
        at: u64,
        kind: Kind,
        data: &[u8],
    ) -> Result<(), RecorderError> {
        self.queue.push(at, kind, data.to_vec());
        while let Some(sample) = self.queue.pop(Some(now)) {
            self.write(&sample)?;
        }
        Ok(())
    }

    fn write(&mut self, sample: &Sample) -> Result<(), RecorderError> {
        let Some(output) = &mut self.output else {
            return Ok(());
        };
        // Audio that arrived before the first picture.
        let Some(time) = sample.at.checked_sub(output.start) else {
            return Ok(());
        };
        // The container requires non-decreasing times.
        let time = time.max(output.written);
        output.written = time;
        let result = match (sample.kind, output.video, output.audio) {
            (Kind::Video { keyframe }, Some(track), _) => {
                output
                    .segment
                    .add_frame(track, &sample.data, time, keyframe)
            }
            (Kind::Audio, _, Some(track)) => {
                output.segment.add_frame(track, &sample.data, time, true)
            }
            _ => Ok(()),
        };
        result.map_err(|reason| self.failed(&reason))
    }

    fn open(&mut self, start: u64, size: Option<(u32, u32)>) -> Result<(), RecorderError> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let with_audio = self.tracks != Tracks::Video;
        let disk = Disk::new(file, self.error.clone());
        let (writer, mode) = match self.mode {
            SegmentMode::File => (Writer::new(disk), SegmentMode::File),
            SegmentMode::Live => (Writer::new_non_seek(disk), SegmentMode::Live),
        };
        let output = build((writer, mode), size, with_audio, start)
            .map_err(|reason| self.failed(&reason))?;
        self.output = Some(output);
        Ok(())
    }

    fn failed(&self, reason: &webm::mux::Error) -> RecorderError {
        RecorderError::Write {
            path: self.path.clone(),
            reason: self
                .error
                .take()
                .unwrap_or_else(|| std::io::Error::other(reason.to_string())),
        }
    }
}

/// Creates a file that only this user can read.
pub(crate) fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Finishes the recording if the caller returned early with an error.
impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

fn build(
    (writer, mode): (Writer<Disk>, SegmentMode),
    size: Option<(u32, u32)>,
    with_audio: bool,
    start: u64,
) -> Result<Output, webm::mux::Error> {
    let mut builder = SegmentBuilder::new(writer)?
        .set_writing_app("weft")?
        .set_mode(mode)?;
    let (mut video, mut audio) = (None, None);
    if let Some((width, height)) = size {
        let (next, track) = builder.add_video_track(width, height, VideoCodecId::VP8, None)?;
        (builder, video) = (next, Some(track));
    }
    if with_audio {
        let (next, track) =
            builder.add_audio_track(SAMPLE_RATE, CHANNELS.into(), AudioCodecId::Opus, None)?;
        builder = next.set_codec_private(track, &opus_head())?;
        audio = Some(track);
    }
    Ok(Output {
        segment: builder.build(),
        video,
        audio,
        start,
        written: 0,
    })
}

/// Returns the identification header that players require (RFC 7845 section 5.1).
fn opus_head() -> [u8; 19] {
    let mut head = [0; 19];
    head[..8].copy_from_slice(b"OpusHead");
    head[8] = 1;
    head[9] = CHANNELS;
    head[12..16].copy_from_slice(&SAMPLE_RATE.to_le_bytes());
    head
}

/// Reads the picture size from a VP8 keyframe's header.
fn dimensions(frame: &[u8]) -> Option<(u32, u32)> {
    let (width, height) = vp8::dimensions(frame)?;
    Some((width.into(), height.into())).filter(|(width, height)| *width > 0 && *height > 0)
}
