//! Tracks of a recording, and their common picture and sound.

use crate::canvas::Canvas;
use crate::layout::{Layout, MAX_TILES, Rect, places};
use crate::options::Options;
use crate::source::{Source, SourceError};
use crate::speaker::ActiveSpeaker;
use crate::track::{SoundTrack, VideoTrack};
use std::path::Path;
use std::time::Duration;
use weft_media::Picture;
use weft_media::audio::{AudioFrame, BLOCK_SAMPLES, CHANNELS, FRAME_SAMPLES, Limiter};
use weft_record::{TrackEntry, TrackKind};
use weft_units::Codec;

/// All tracks with their files, and the present picture.
pub(crate) struct Composition {
    layout: Layout,
    size: (usize, usize),
    videos: Vec<(String, VideoTrack)>,
    sounds: Vec<(String, SoundTrack)>,
    canvas: Canvas,
    /// Tracks on the picture with their places.
    tiles: Vec<(usize, Rect)>,
    limiter: Limiter,
    speaker: ActiveSpeaker,
    /// Files that ended early, with the reason.
    notes: Vec<String>,
}

impl Composition {
    /// Opens all files. Also returns those that cannot be opened, with the reason.
    pub(crate) fn open(
        folder: &Path,
        tracks: &[TrackEntry],
        options: &Options,
    ) -> (Composition, Vec<String>) {
        let mut composition = Composition {
            layout: options.layout,
            size: options.size,
            videos: Vec::new(),
            sounds: Vec::new(),
            canvas: Canvas::new(options.size),
            tiles: Vec::new(),
            limiter: Limiter::default(),
            speaker: ActiveSpeaker::default(),
            notes: Vec::new(),
        };
        let mut refused = Vec::new();
        for entry in tracks {
            if let Err(error) = composition.add(folder, entry) {
                refused.push(format!("{}: {error}", entry.file));
            }
        }
        (composition, refused)
    }

    /// Returns the numbers of pictures and sounds.
    pub(crate) fn tracks(&self) -> (usize, usize) {
        (self.videos.len(), self.sounds.len())
    }

    fn add(&mut self, folder: &Path, entry: &TrackEntry) -> Result<(), SourceError> {
        let refuse = |reason: String| Err(SourceError::Container(reason));
        // The index is untrusted: a name must not lead out of the folder.
        let name = Path::new(&entry.file);
        if name.file_name() != Some(name.as_os_str()) {
            return refuse("the name leads out of the recording's folder".to_owned());
        }
        let source = Source::open(&folder.join(name))?;
        let codec = Codec::CODED
            .into_iter()
            .find(|codec| codec.encoding().eq_ignore_ascii_case(&entry.codec));
        let file = entry.file.clone();
        match (entry.kind, codec) {
            (TrackKind::Microphone, Some(Codec::Opus)) => {
                let track = SoundTrack::new(entry, source)?;
                self.sounds.push((file, track));
            }
            (TrackKind::Camera | TrackKind::Screen, Some(codec @ (Codec::Vp8 | Codec::H264))) => {
                let track = VideoTrack::new(entry, codec, source)?;
                self.videos.push((file, track));
            }
            _ => return refuse(format!("{} cannot be decoded", entry.codec)),
        }
        Ok(())
    }

    /// Whether nothing follows after this time.
    pub(crate) fn is_over(&self, at: Duration) -> bool {
        self.videos.iter().all(|(_, track)| track.is_over(at))
            && self.sounds.iter().all(|(_, track)| track.is_over())
    }

    /// Returns the picture at this time.
    pub(crate) fn picture(&mut self, at: Duration) -> &Picture {
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
            let track = &self.videos[*slot].1;
            let picture = track.visible(at);
            if let Some(picture) = picture.filter(|_| moved || changed.contains(slot)) {
                self.canvas.draw(*slot, *tile, picture, &track.name);
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
        let speaks = |slot: &usize| self.speaker.is(&track(slot).participant);
        let large = screen.or_else(|| match self.layout {
            Layout::Grid => None,
            Layout::Speaker => Some(slots.iter().position(speaks).unwrap_or(0)),
        });
        let large = large.filter(|_| !slots.is_empty());
        // The large tile is always shown.
        if let Some(place) = large.filter(|place| *place >= MAX_TILES) {
            slots.swap(MAX_TILES - 1, place);
        }
        slots.truncate(MAX_TILES);
        let large = large.map(|place| place.min(MAX_TILES - 1));
        let places = places(self.size, slots.len(), large);
        slots.into_iter().zip(places).collect()
    }

    /// Returns the sound of the 20 ms frame with this number.
    pub(crate) fn sound(&mut self, number: u32) -> AudioFrame {
        let mut frame = [0; FRAME_SAMPLES * CHANNELS];
        let mut levels = vec![0.0; self.sounds.len()];
        let at = Duration::from_millis(20) * number;
        let halves = frame.chunks_exact_mut(BLOCK_SAMPLES * CHANNELS);
        for (half, out) in halves.enumerate() {
            let mut sum = [0.0; BLOCK_SAMPLES * CHANNELS];
            let from = i64::from(number) * FRAME_SAMPLES as i64 + (half * BLOCK_SAMPLES) as i64;
            for ((file, track), level) in self.sounds.iter_mut().zip(&mut levels) {
                match track.read(from, &mut sum) {
                    Ok(square) => *level += square / 2.0,
                    Err(error) => self.notes.push(note(file, at, &error)),
                }
            }
            out.copy_from_slice(&self.limiter.limit(&sum));
        }
        let loudest = levels.iter().zip(&self.sounds);
        let loudest = loudest.max_by(|(a, _), (b, _)| a.total_cmp(b));
        if let Some((level, (_, track))) = loudest {
            self.speaker.update(at, &track.participant, *level);
        }
        frame
    }

    /// Returns files that ended early and frames that could not be decoded.
    pub(crate) fn notes(&self) -> Vec<String> {
        let videos = self
            .videos
            .iter()
            .map(|(file, track)| (file, track.damaged));
        let sounds = self
            .sounds
            .iter()
            .map(|(file, track)| (file, track.damaged));
        let damaged = videos.chain(sounds).filter(|(_, count)| *count > 0);
        let damaged =
            damaged.map(|(file, count)| format!("{file}: {count} frames cannot be decoded"));
        self.notes.iter().cloned().chain(damaged).collect()
    }
}

fn note(file: &str, at: Duration, error: &SourceError) -> String {
    format!(
        "{file}: from {:.1} s on it is left out: {error}",
        at.as_secs_f64()
    )
}
