//! Loop over the film's pictures and sound.

use crate::composition::Composition;
use crate::error::ComposeError;
use crate::options::Options;
use std::path::{Path, PathBuf};
use std::time::Duration;
use weft_media::audio::SAMPLE_RATE;
use weft_media::{EncoderConfig, FrameRequest, Keyframe, OpusEncoder, VideoEncoder};
use weft_record::{Index, Recorder, Tracks};
use weft_units::{Codec, Instant, Rate};

/// Rate of the sound.
const SOUND: Rate = Rate::from_kbps(64);
/// Time between keyframes: players can seek to them.
const KEYFRAMES: Duration = Duration::from_secs(5);

/// Result of [`compose`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Film {
    /// Length of the film.
    pub length: Duration,
    /// Number of cameras and screens in the film.
    pub pictures: usize,
    /// Number of microphones in the film.
    pub sounds: usize,
    /// Files that are missing or incomplete, with the reason.
    pub notes: Vec<String>,
}

/// Writes the film of the recording in `folder` to `output`, a new WebM file (VP8, Opus)
/// that only this user can read. Until the film is complete, its name is `output` followed
/// by `.part`. `progress` is called about once for each second of the recording, with the
/// time done.
///
/// If a file is missing or damaged, the film omits the rest of it and notes that.
///
/// # Errors
/// If the recording has no index or no readable file, or if `output` exists or cannot be
/// written. The recorded files are never changed.
pub fn compose(
    folder: &Path,
    output: &Path,
    options: &Options,
    mut progress: impl FnMut(Duration),
) -> Result<Film, ComposeError> {
    options.check()?;
    let index = Index::read(folder).map_err(|reason| ComposeError::Index {
        path: folder.join(Index::FILE),
        reason,
    })?;
    if output.exists() {
        return Err(ComposeError::Exists(output.to_owned()));
    }
    let mut film = Film::default();
    let (mut composition, refused) = Composition::open(folder, &index.tracks, options);
    film.notes = refused;
    (film.pictures, film.sounds) = composition.tracks();
    if film.pictures + film.sounds == 0 {
        return Err(ComposeError::NothingToShow {
            folder: folder.to_owned(),
            listed: index.tracks.len(),
            notes: film.notes,
        });
    }
    let length = index.length_ms.map(Duration::from_millis);
    let part = PathBuf::from([output.as_os_str(), ".part".as_ref()].join("".as_ref()));
    // Left by an earlier attempt that was killed.
    let _ = std::fs::remove_file(&part);
    let written = write(&mut composition, &part, length, options, &mut progress);
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    film.length = written?;
    film.notes.extend(composition.notes());
    std::fs::rename(&part, output).map_err(|reason| ComposeError::Rename { path: part, reason })?;
    Ok(film)
}

/// Writes pictures and sound until the end of the recording; returns the length.
fn write(
    composition: &mut Composition,
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
        if length.map_or_else(|| composition.is_over(at), |length| at > length) {
            break;
        }
        let request = match picture % keyframes {
            0 => FrameRequest::from(Keyframe::Force),
            _ => FrameRequest::from(Keyframe::Auto),
        };
        let timestamp = ticks(at, 90_000);
        let now = Instant::from_nanos(at.as_nanos() as u64);
        if let Some(frame) = pictures.encode(composition.picture(at), timestamp, request)? {
            recorder.video(now, timestamp, frame.keyframe, &frame.data)?;
        }
        picture += 1;
        let next = Duration::from_secs(1) * picture / options.fps;
        loop {
            let begins = Duration::from_millis(20) * block;
            if begins >= next {
                break;
            }
            let packet = sound.encode(&composition.sound(block))?;
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
    // Timestamps wrap like those of RTP.
    (at.as_nanos() * u128::from(rate) / 1_000_000_000) as u32
}
