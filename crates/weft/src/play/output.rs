//! File or pipe for a played stream.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;

use weft_endpoint::caller::Track;
use weft_endpoint::{Event, PlayedFrame, Recording};
use weft_record::{Recorder, RecorderError, Tracks};
use weft_units::Codec;

use crate::exit::{self, Failure};

/// Name of standard output, as an argument and in errors.
const STDOUT: &str = "-";

/// Output of a played stream.
pub enum MediaOutput {
    /// WebM files.
    Files(Box<Recording>),
    /// Standard output, usually a player.
    Pipe(Pipe),
}

/// Standard output with the first camera and the sound.
pub struct Pipe {
    stdout: File,
    /// Tracks of the stream.
    tracks: Tracks,
    content: Content,
    /// Error that ended it; the inner option is `None` if the reader closed the pipe.
    ended: Option<Option<String>>,
}

/// Content of a pipe, determined by the codec of its first frame.
enum Content {
    Unknown,
    Webm(Box<Recorder>),
    /// Pictures alone, as a byte stream (ITU-T H.264 Annex B), which players recognise.
    H264,
}

impl MediaOutput {
    /// Opens the output at this path, or standard output for `-`.
    pub fn open(path: &Path) -> Result<MediaOutput, Failure> {
        if path.as_os_str() != STDOUT {
            let recording = Recording::new(path, exit::notices());
            let recording =
                recording.map_err(|error| Failure::usage(format_args!("--output {error}")))?;
            return Ok(MediaOutput::Files(Box::new(recording)));
        }
        let stdout = io::stdout();
        if stdout.is_terminal() {
            return Err(Failure::usage(
                "--output -: standard output is a terminal; pipe it into a player, for example \
                 `weft play URL --output - | mpv -`",
            ));
        }
        let stdout = stdout.as_fd().try_clone_to_owned();
        let stdout = stdout.map_err(|error| {
            Failure::machine(format_args!("--output -: standard output: {error}"))
        })?;
        Ok(MediaOutput::Pipe(Pipe {
            stdout: stdout.into(),
            tracks: Tracks::Both,
            content: Content::Unknown,
            ended: None,
        }))
    }

    /// Whether an interruption would damage it.
    pub fn is_file(&self) -> bool {
        matches!(self, MediaOutput::Files(_))
    }

    /// Writes the media of an event, if it has any; false after the pipe has ended.
    pub fn on_event(&mut self, event: &Event) -> bool {
        match self {
            MediaOutput::Files(recording) => {
                recording.on_event(event);
                true
            }
            MediaOutput::Pipe(pipe) => pipe.on_event(event),
        }
    }

    /// Closes the output; returns an error if it is incomplete.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            MediaOutput::Files(recording) => recording.finish().map_err(Failure::run),
            MediaOutput::Pipe(pipe) => pipe.finish(),
        }
    }
}

impl Pipe {
    fn on_event(&mut self, event: &Event) -> bool {
        let written = match event {
            Event::Playing(stream) => {
                let publishing = &stream.publishing;
                self.tracks = match (publishing.cameras.is_empty(), publishing.audio) {
                    (false, true) => Tracks::Both,
                    (false, false) => Tracks::Video,
                    (true, _) => Tracks::Audio,
                };
                Ok(())
            }
            Event::Frame(played) if self.ended.is_none() => self.write(played),
            _ => Ok(()),
        };
        if let Err(error) = written {
            let is_closed = error.kind() == ErrorKind::BrokenPipe;
            self.ended = Some((!is_closed).then(|| error.to_string()));
        }
        self.ended.is_none()
    }

    fn write(&mut self, played: &PlayedFrame) -> io::Result<()> {
        let frame = &played.frame;
        let (at, timestamp) = (played.at, frame.timestamp);
        match (&mut self.content, played.track) {
            (Content::Webm(recorder), Track::Sound) => {
                recorder.audio(at, timestamp, &frame.data).map_err(io_error)
            }
            (Content::Webm(recorder), Track::Camera(0)) if Recorder::takes(frame.codec) => recorder
                .video(at, timestamp, frame.keyframe, &frame.data)
                .map_err(io_error),
            (Content::H264, Track::Camera(0)) if frame.codec == Codec::H264 => {
                self.stdout.write_all(&frame.data)
            }
            (Content::Unknown, Track::Camera(0)) if frame.codec == Codec::H264 => {
                if !frame.keyframe {
                    return Ok(());
                }
                complain!(
                    "weft: the stream is H.264, which WebM cannot hold: standard output gets the \
                     pictures alone, as a byte stream (Annex B)"
                );
                self.content = Content::H264;
                self.stdout.write_all(&frame.data)
            }
            (Content::Unknown, track) if track != Track::Sound || self.tracks == Tracks::Audio => {
                let pipe = self.stdout.try_clone()?;
                let recorder = Recorder::in_pipe(STDOUT, pipe, self.tracks);
                self.content = Content::Webm(Box::new(recorder));
                self.write(played)
            }
            _ => Ok(()),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        let closed = match self.content {
            Content::Webm(recorder) if self.ended.is_none() => recorder.finish().map_err(io_error),
            _ => Ok(()),
        };
        let ended = self.ended.flatten();
        let closed = closed.err().filter(|e| e.kind() != ErrorKind::BrokenPipe);
        match ended.or(closed.map(|error| error.to_string())) {
            Some(error) => Err(Failure::run(format_args!("standard output: {error}"))),
            None => Ok(()),
        }
    }
}

fn io_error(error: RecorderError) -> io::Error {
    match error {
        RecorderError::Create { reason, .. } | RecorderError::Write { reason, .. } => reason,
    }
}
