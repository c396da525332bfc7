//! The loop over the film's pictures and sound.

use crate::canvas::Canvas;
use crate::error::ComposeError;
use crate::layout::{Layout, MAX_TILES, Rect, places};
use crate::source::{Source, SourceError};
use crate::track::{SoundTrack, VideoTrack};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use weft_media::audio::{AudioFrame, BLOCK_SAMPLES, CHANNELS, FRAME_SAMPLES, Limiter, SAMPLE_RATE};
use weft_media::{EncoderConfig, FrameRequest, Keyframe, OpusEncoder, Picture, VideoEncoder};
use weft_record::{Index, Recorder, TrackEntry, TrackKind, Tracks};
use weft_units::{Codec, Instant, Rate};

/// Rate of the sound.
const SOUND: Rate = Rate::from_kbps(64);
/// Time between keyframes: players can seek to them.
const KEYFRAMES: Duration = Duration::from_secs(5);
/// Time for which somebody who speaks stays large. Chosen by us: a "yes" of others does
/// not take the place.
const SPEAKS: Duration = Duration::from_secs(2);
/// Mean square of 10 ms of sound from which it may be speech: about -45 dB of full scale.
const AUDIBLE: f32 = 3e4;

/// Kind of film.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Arrangement of the pictures.
    pub layout: Layout,
    /// Width and height in pixels; even.
    pub size: (usize, usize),
    /// Pictures per second, 1 to 60.
    pub fps: u32,
    /// Rate of the pictures.
    pub rate: Rate,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            layout: Layout::Grid,
            size: (1280, 720),
            fps: 30,
            rate: Rate::from_kbps(2_000),
        }
    }
}

/// Result of [`compose`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Film {
    /// Length of the film.
    pub length: Duration,
    /// Cameras and screens in it.
    pub pictures: usize,
    /// Microphones in it.
    pub sounds: usize,
    /// Files that are missing, in whole or in part, with the reason.
    pub notes: Vec<String>,
}

/// Writes the film of the recording in `folder` to `output`, a new WebM file (VP8, Opus)
/// that only this user can read. Until it is complete it is called `output` and `.part`.
/// `progress` hears how much of the recording is done, about once for each of its seconds.
///
/// A file that is missing or damaged is left out from there on, and noted.
///
/// # Errors
/// If the recording has no index or nothing that can be read, if `output` exists, or if it
/// cannot be written. The recorded files are never changed.
pub fn compose(
    folder: &Path,
    output: &Path,
    options: &Options,
    mut progress: impl FnMut(Duration),
) -> Result<Film, ComposeError> {
    check(options)?;
    let index = Index::read(folder).map_err(|reason| ComposeError::Index {
        path: folder.join(Index::FILE),
        reason,
    })?;
    if output.exists() {
        return Err(ComposeError::Exists(output.to_owned()));
    }
    let mut film = Film::default();
    let mut stage = Stage::open(folder, &index.tracks, options, &mut film);
    if stage.videos.is_empty() && stage.sounds.is_empty() {
        return Err(ComposeError::NothingToShow {
            folder: folder.to_owned(),
            listed: index.tracks.len(),
            notes: film.notes,
        });
    }
    let length = index.length_ms.map(Duration::from_millis);
    let part = PathBuf::from([output.as_os_str(), ".part".as_ref()].join("".as_ref()));
    // An earlier attempt was killed.
    let _ = std::fs::remove_file(&part);
    let written = write(&mut stage, &part, length, options, &mut progress);
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    film.length = written?;
    film.notes.append(&mut stage.notes);
    film.notes.extend(stage.damage());
    std::fs::rename(&part, output).map_err(|reason| ComposeError::Rename { path: part, reason })?;
    Ok(film)
}

fn check(options: &Options) -> Result<(), ComposeError> {
    let (width, height) = options.size;
    let even = [width, height].iter().all(|side| side % 2 == 0);
    if !even || !(160..=1920).contains(&width) || !(90..=1920).contains(&height) {
        return Err(ComposeError::Options(format!(
            "a film of {width}x{height} is not possible: both sides are even, and at most 1920"
        )));
    }
    if !(1..=60).contains(&options.fps) {
        return Err(ComposeError::Options(format!(
            "{} pictures a second are not possible: give 1 to 60",
            options.fps
        )));
    }
    Ok(())
}

/// Writes pictures and sound until the recording is over; returns the length.
fn write(
    stage: &mut Stage,
    path: &Path,
    length: Option<Duration>,
    options: &Options,
    progress: &mut impl FnMut(Duration),
) -> Result<Duration, ComposeError> {
    let (width, height) = options.size;
    let mut recorder = Recorder::create_new(path, Tracks::Both)?;
    let mut pictures = VideoEncoder::new(
        Codec::Vp8,
        EncoderConfig {
            width,
            height,
            fps: options.fps,
            rate: options.rate,
            temporal_layers: 1,
        },
    )?;
    let mut sound = OpusEncoder::new(SOUND)?;
    let keyframes = KEYFRAMES.as_secs() as u32 * options.fps;
    let (mut picture, mut block) = (0_u32, 0_u32);
    loop {
        let at = Duration::from_secs(1) * picture / options.fps;
        if length.map_or_else(|| stage.is_over(at), |length| at > length) {
            break;
        }
        let request = match picture % keyframes {
            0 => FrameRequest::from(Keyframe::Force),
            _ => FrameRequest::from(Keyframe::Auto),
        };
        let timestamp = ticks(at, 90_000);
        let now = Instant::from_nanos(at.as_nanos() as u64);
        if let Some(frame) = pictures.encode(stage.picture(at), timestamp, request)? {
            recorder.video(now, timestamp, frame.keyframe, &frame.data)?;
        }
        picture += 1;
        let next = Duration::from_secs(1) * picture / options.fps;
        loop {
            let begins = Duration::from_millis(20) * block;
            if begins >= next {
                break;
            }
            let packet = sound.encode(&stage.sound(block))?;
            let now = Instant::from_nanos(begins.as_nanos() as u64);
            recorder.audio(now, ticks(begins, SAMPLE_RATE), &packet)?;
            block += 1;
        }
        if picture % options.fps == 0 {
            progress(next);
        }
    }
    recorder.finish()?;
    Ok(Duration::from_secs(1) * picture / options.fps)
}

fn ticks(at: Duration, rate: u32) -> u32 {
    // Timestamps wrap, as RTP's do.
    (at.as_nanos() * u128::from(rate) / 1_000_000_000) as u32
}

/// All tracks, and the picture that they make now.
struct Stage {
    layout: Layout,
    size: (usize, usize),
    videos: Vec<(String, VideoTrack)>,
    sounds: Vec<(String, SoundTrack)>,
    canvas: Canvas,
    /// Tracks on the picture and their places.
    tiles: Vec<(usize, Rect)>,
    limiter: Limiter,
    /// Participant who speaks, and when they were last heard.
    speaker: Option<(String, Duration)>,
    notes: Vec<String>,
}

impl Stage {
    fn open(folder: &Path, tracks: &[TrackEntry], options: &Options, film: &mut Film) -> Stage {
        let mut stage = Stage {
            layout: options.layout,
            size: options.size,
            videos: Vec::new(),
            sounds: Vec::new(),
            canvas: Canvas::new(options.size),
            tiles: Vec::new(),
            limiter: Limiter::default(),
            speaker: None,
            notes: Vec::new(),
        };
        for entry in tracks {
            if let Err(error) = stage.add(folder, entry) {
                film.notes.push(format!("{}: {error}", entry.file));
            }
        }
        (film.pictures, film.sounds) = (stage.videos.len(), stage.sounds.len());
        stage
    }

    fn add(&mut self, folder: &Path, entry: &TrackEntry) -> Result<(), SourceError> {
        let refuse = |reason: String| Err(SourceError::Container(reason));
        // The index is data: a name must not lead out of the folder.
        let name = Path::new(&entry.file);
        if name.file_name() != Some(name.as_os_str()) {
            return refuse("the name leads out of the recording's folder".to_owned());
        }
        let source = Source::open(&folder.join(name))?;
        let start = Duration::from_millis(entry.start_ms);
        let participant = entry.participant.clone();
        let codec = Codec::CODED
            .into_iter()
            .find(|codec| codec.encoding().eq_ignore_ascii_case(&entry.codec));
        let file = entry.file.clone();
        match (entry.kind, codec) {
            (TrackKind::Microphone, Some(Codec::Opus)) => {
                let track = SoundTrack::new(start, participant, source)?;
                self.sounds.push((file, track));
            }
            (TrackKind::Camera | TrackKind::Screen, Some(codec @ (Codec::Vp8 | Codec::H264))) => {
                let is_screen = entry.kind == TrackKind::Screen;
                let track = VideoTrack::new((start, codec), is_screen, participant, source)?;
                self.videos.push((file, track));
            }
            _ => return refuse(format!("{} cannot be decoded", entry.codec)),
        }
        Ok(())
    }

    fn is_over(&self, at: Duration) -> bool {
        self.videos.iter().all(|(_, track)| track.is_over(at))
            && self.sounds.iter().all(|(_, track)| track.is_over())
    }

    /// Returns the picture at this time.
    fn picture(&mut self, at: Duration) -> &Picture {
        let mut changed = Vec::new();
        let notes = &mut self.notes;
        for (slot, (file, track)) in self.videos.iter_mut().enumerate() {
            match track.advance(at) {
                Ok(true) => changed.push(slot),
                Ok(false) => {}
                Err(error) => notes.push(note(file, at, &error)),
            }
        }
        let tiles = self.arrange(at);
        let moved = tiles != self.tiles;
        if moved {
            self.tiles = tiles;
            self.canvas.clear();
        }
        for (slot, tile) in &self.tiles {
            let picture = self.videos[*slot].1.visible(at);
            if let Some(picture) = picture.filter(|_| moved || changed.contains(slot)) {
                self.canvas.draw(*slot, *tile, picture);
            }
        }
        self.canvas.picture()
    }

    fn arrange(&self, at: Duration) -> Vec<(usize, Rect)> {
        let mut slots: Vec<usize> = (0..self.videos.len())
            .filter(|slot| self.videos[*slot].1.visible(at).is_some())
            .collect();
        let track = |slot: &usize| &self.videos[*slot].1;
        let screen = slots.iter().rposition(|slot| track(slot).is_screen);
        let speaks = |slot: &usize| {
            let speaker = self.speaker.as_ref();
            speaker.is_some_and(|(who, _)| *who == track(slot).participant)
        };
        let large = screen.or_else(|| match self.layout {
            Layout::Grid => None,
            Layout::Speaker => Some(slots.iter().position(speaks).unwrap_or(0)),
        });
        let large = large.filter(|_| !slots.is_empty());
        // The large one is shown in any case.
        if let Some(place) = large.filter(|place| *place >= MAX_TILES) {
            slots.swap(MAX_TILES - 1, place);
        }
        slots.truncate(MAX_TILES);
        let large = large.map(|place| place.min(MAX_TILES - 1));
        let places = places(self.size, slots.len(), large);
        slots.into_iter().zip(places).collect()
    }

    /// Returns the sound of the frame of 20 ms with this number.
    fn sound(&mut self, number: u32) -> AudioFrame {
        let mut frame = [0; FRAME_SAMPLES * CHANNELS];
        let mut levels = BTreeMap::<usize, f32>::new();
        let at = Duration::from_millis(20) * number;
        for (half, out) in frame.chunks_exact_mut(BLOCK_SAMPLES * CHANNELS).enumerate() {
            let mut sum = [0.0; BLOCK_SAMPLES * CHANNELS];
            let from = i64::from(number) * FRAME_SAMPLES as i64 + (half * BLOCK_SAMPLES) as i64;
            for (slot, (file, track)) in self.sounds.iter_mut().enumerate() {
                match track.read(from, &mut sum) {
                    Ok(level) => *levels.entry(slot).or_default() += level,
                    Err(error) => self.notes.push(note(file, at, &error)),
                }
            }
            out.copy_from_slice(&self.limiter.limit(&sum));
        }
        self.listen(at, &levels);
        frame
    }

    /// Notes who speaks.
    fn listen(&mut self, at: Duration, levels: &BTreeMap<usize, f32>) {
        let loudest = levels.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let Some((slot, _)) = loudest.filter(|(_, level)| **level > 2.0 * AUDIBLE) else {
            return;
        };
        let who = &self.sounds[*slot].1.participant;
        match &mut self.speaker {
            Some((speaker, heard)) if speaker == who => *heard = at,
            Some((_, heard)) if at.saturating_sub(*heard) < SPEAKS => {}
            speaker => *speaker = Some((who.clone(), at)),
        }
    }

    /// Notes on what could not be decoded.
    fn damage(&self) -> Vec<String> {
        let videos = self
            .videos
            .iter()
            .map(|(file, track)| (file, track.damaged));
        let sounds = self
            .sounds
            .iter()
            .map(|(file, track)| (file, track.damaged));
        let damaged = videos.chain(sounds).filter(|(_, count)| *count > 0);
        damaged
            .map(|(file, count)| format!("{file}: {count} frames cannot be decoded"))
            .collect()
    }
}

fn note(file: &str, at: Duration, error: &SourceError) -> String {
    format!(
        "{file}: from {:.1} s on it is left out: {error}",
        at.as_secs_f64()
    )
}
