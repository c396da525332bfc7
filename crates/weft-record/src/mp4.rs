//! H.264 in a fragmented MP4 file.

use crate::error::RecorderError;
use crate::webm::{Timeline, private_file};
use shiguredo_mp4::boxes::VisualSampleEntryFields as Visual;
use shiguredo_mp4::boxes::{Avc1Box, AvccBox, FtypBox, MoovBox, SampleEntry};
use shiguredo_mp4::mux::{Fmp4SegmentMuxer, MuxError, Sample};
use shiguredo_mp4::{Decode, Encode, TrackKind, Uint};
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use weft_units::Instant;
use weft_wire::payload::h264::{NalHeader, SequenceParameters, nal_units};

/// Ticks per second: the clock of video in RTP (RFC 6184 section 5.1).
const CLOCK_RATE: NonZeroU32 = NonZeroU32::new(90_000).expect("not zero");
/// Length of a fragment, in ticks. Chosen by us: a crash loses the fragment in memory.
const FRAGMENT: u64 = 45_000;
/// Duration of the last frame, which has no successor: a 30th of a second.
const LAST: u32 = 3_000;

/// NAL unit types (ITU-T H.264 table 7-1).
const SEQUENCE_PARAMETERS: u8 = 7;
const PICTURE_PARAMETERS: u8 = 8;
const DELIMITER: u8 = 9;

/// Parameter sets that a file declares at its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parameters {
    sequence: Vec<Vec<u8>>,
    picture: Vec<Vec<u8>>,
}

impl Parameters {
    /// Takes the parameter sets of a frame (a byte stream). If the frame has no sequence
    /// parameter set, its sets add to the present ones.
    pub(crate) fn update(&mut self, frame: &[u8]) {
        let of_kind = |kind| {
            let units = nal_units(frame).filter(move |unit| kind_of(unit) == kind);
            units.map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let sequence = of_kind(SEQUENCE_PARAMETERS);
        let picture = of_kind(PICTURE_PARAMETERS);
        if !sequence.is_empty() {
            *self = Parameters { sequence, picture };
        } else if !picture.is_empty() {
            self.picture = picture;
        }
    }

    /// Returns the codec's description for players; `None` if a set is missing or
    /// damaged.
    fn sample_entry(&self) -> Option<SampleEntry> {
        let first = self.sequence.first()?;
        let &[_, profile, compatibility, level, ..] = &first[..] else {
            return None;
        };
        if self.picture.is_empty() || self.sequence.len() > 31 {
            return None;
        }
        let size = SequenceParameters::parse(first);
        let pixels = |of: fn(&SequenceParameters) -> u32| {
            let pixels = size.as_ref().map_or(0, of);
            u16::try_from(pixels).unwrap_or(0)
        };
        // High profiles declare their sampling here (ISO/IEC 14496-15 section 5.3.3.1.2);
        // WebRTC uses only 4:2:0 with 8 bits.
        let high = ![66, 77, 88].contains(&profile);
        let avcc_box = AvccBox {
            avc_profile_indication: profile,
            profile_compatibility: compatibility,
            avc_level_indication: level,
            length_size_minus_one: Uint::new(3),
            sps_list: self.sequence.clone(),
            pps_list: self.picture.clone(),
            chroma_format: high.then(|| Uint::new(1)),
            bit_depth_luma_minus8: high.then(|| Uint::new(0)),
            bit_depth_chroma_minus8: high.then(|| Uint::new(0)),
            sps_ext_list: Vec::new(),
        };
        Some(SampleEntry::Avc1(Avc1Box {
            visual: Visual {
                data_reference_index: Visual::DEFAULT_DATA_REFERENCE_INDEX,
                width: pixels(|s| s.width),
                height: pixels(|s| s.height),
                horizresolution: Visual::DEFAULT_HORIZRESOLUTION,
                vertresolution: Visual::DEFAULT_VERTRESOLUTION,
                frame_count: Visual::DEFAULT_FRAME_COUNT,
                compressorname: Visual::NULL_COMPRESSORNAME,
                depth: Visual::DEFAULT_DEPTH,
            },
            avcc_box,
            unknown_boxes: Vec::new(),
        }))
    }
}

fn kind_of(unit: &[u8]) -> u8 {
    let header = unit.first().map(|octet| NalHeader::parse(*octet));
    header.and_then(Result::ok).map_or(0, |header| header.kind)
}

/// Appends the units of a byte stream with their lengths, except those that the start of
/// the file contains.
fn append(frame: &[u8], out: &mut Vec<u8>) {
    let beside = [SEQUENCE_PARAMETERS, PICTURE_PARAMETERS, DELIMITER];
    for unit in nal_units(frame).filter(|unit| !beside.contains(&kind_of(unit))) {
        out.extend((unit.len() as u32).to_be_bytes());
        out.extend(unit);
    }
}

/// A frame that is not written yet.
struct Waiting {
    /// Ticks since the start of the file.
    at: u64,
    keyframe: bool,
    size: usize,
}

/// Writes H.264 to an `.mp4` file, in fragments of half a second that players read one by
/// one. The file begins with a keyframe, and all its frames have the same parameter sets.
pub(crate) struct Mp4 {
    path: PathBuf,
    file: File,
    muxer: Fmp4SegmentMuxer,
    parameters: Parameters,
    /// Description of the codec, until the first fragment is written.
    entry: Option<SampleEntry>,
    timeline: Timeline,
    start: Option<u64>,
    fragment: Vec<Waiting>,
    payload: Vec<u8>,
}

impl Mp4 {
    /// Creates a new file that only this user can read; `None` if these parameters cannot
    /// be described.
    ///
    /// # Errors
    /// [`RecorderError::Create`] if the file exists or cannot be created.
    pub(crate) fn create_new(
        path: &Path,
        parameters: &Parameters,
    ) -> Result<Option<Mp4>, RecorderError> {
        let Some(entry) = parameters.sample_entry() else {
            return Ok(None);
        };
        let muxer = Fmp4SegmentMuxer::new().map_err(|e| failed(path, &e))?;
        let file = private_file(path).map_err(|reason| RecorderError::Create {
            path: path.to_owned(),
            reason,
        })?;
        Ok(Some(Mp4 {
            path: path.to_owned(),
            file,
            muxer,
            parameters: parameters.clone(),
            entry: Some(entry),
            timeline: Timeline::new(CLOCK_RATE.get()),
            start: None,
            fragment: Vec::new(),
            payload: Vec::new(),
        }))
    }

    /// Whether the file declares these parameters.
    pub(crate) fn declares(&self, parameters: &Parameters) -> bool {
        self.parameters == *parameters
    }

    /// Returns the time of the first frame, which is zero in the file.
    pub(crate) fn start(&self) -> Option<Instant> {
        self.start.map(Instant::from_nanos)
    }

    /// Records a frame that arrived at `now` with this RTP timestamp.
    ///
    /// # Errors
    /// [`RecorderError::Write`] if writing fails.
    pub(crate) fn write(
        &mut self,
        now: Instant,
        timestamp: u32,
        keyframe: bool,
        frame: &[u8],
    ) -> Result<(), RecorderError> {
        let at = self.timeline.place(now, timestamp);
        let start = *self.start.get_or_insert(at);
        let ticks = u128::from(at.saturating_sub(start)) * u128::from(CLOCK_RATE.get());
        let at = u64::try_from(ticks / 1_000_000_000).unwrap_or(u64::MAX);
        // The container requires increasing times.
        let at = self.fragment.last().map_or(at, |last| at.max(last.at + 1));
        let first = self.fragment.first().map_or(at, |first| first.at);
        if at - first >= FRAGMENT {
            self.flush(Some(at))?;
        }
        let before = self.payload.len();
        append(frame, &mut self.payload);
        let size = self.payload.len() - before;
        if size > 0 {
            self.fragment.push(Waiting { at, keyframe, size });
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`RecorderError::Write`] if writing fails.
    pub(crate) fn finish(mut self) -> Result<(), RecorderError> {
        self.flush(None)
    }

    /// Writes the fragment; `next` is the time of the frame after it.
    fn flush(&mut self, next: Option<u64>) -> Result<(), RecorderError> {
        let frames = std::mem::take(&mut self.fragment);
        let payload = std::mem::take(&mut self.payload);
        if frames.is_empty() {
            return Ok(());
        }
        let written = self.add(&frames, &payload, next);
        let written = written.map_err(|reason| failed(&self.path, &reason))?;
        let result = self.file.write_all(&written);
        result.map_err(|reason| RecorderError::write(&self.path, reason))
    }

    /// Returns the octets of the fragment, preceded by the start of the file if it is the
    /// first one.
    fn add(
        &mut self,
        frames: &[Waiting],
        payload: &[u8],
        next: Option<u64>,
    ) -> Result<Vec<u8>, MuxError> {
        let ends = frames.iter().skip(1).map(|frame| Some(frame.at));
        let ends = ends.chain([next]);
        let mut offset = 0;
        let mut samples = Vec::new();
        let entry = self.entry.take();
        let is_first = entry.is_some();
        let mut entry = entry;
        for (frame, end) in frames.iter().zip(ends) {
            let duration = end.and_then(|end| u32::try_from(end - frame.at).ok());
            samples.push(Sample {
                track_kind: TrackKind::Video,
                timescale: CLOCK_RATE,
                sample_entry: entry.take(),
                duration: duration.unwrap_or(LAST),
                keyframe: frame.keyframe,
                composition_time_offset: None,
                data_offset: offset,
                data_size: frame.size,
            });
            offset += frame.size as u64;
        }
        let fragment = self.muxer.create_media_segment_metadata(&samples)?;
        let mut written = match is_first {
            true => beginning(&self.muxer)?,
            false => Vec::new(),
        };
        written.extend(fragment);
        written.extend(payload);
        Ok(written)
    }
}

/// Error of the library, which reports no system errors.
fn failed(path: &Path, reason: &MuxError) -> RecorderError {
    RecorderError::write(path, io::Error::other(reason.to_string()))
}

/// Returns the start of the file. The library adds the duration of the fragments so far,
/// which here is only the first one; without a duration, players determine it themselves.
fn beginning(muxer: &Fmp4SegmentMuxer) -> Result<Vec<u8>, MuxError> {
    let bytes = muxer.init_segment_bytes()?;
    let (ftyp, length) = FtypBox::decode(&bytes).map_err(MuxError::EncodeError)?;
    let (mut moov, _) = MoovBox::decode(&bytes[length..]).map_err(MuxError::EncodeError)?;
    if let Some(mvex) = &mut moov.mvex_box {
        mvex.mehd_box = None;
    }
    let mut bytes = ftyp.encode_to_vec().map_err(MuxError::EncodeError)?;
    bytes.extend(moov.encode_to_vec().map_err(MuxError::EncodeError)?);
    Ok(bytes)
}
