use crate::source::{Sample, Source, SourceError};
use std::collections::VecDeque;
use std::time::Duration;
use weft_media::OpusDecoder;
use weft_media::audio::{BLOCK_SAMPLES, CHANNELS, FRAME_SAMPLES, SAMPLE_RATE};
use weft_record::TrackEntry;

/// Distance between a packet's time and the end of the sound before it, in samples, within
/// which the packet follows without a gap, because clocks differ and a jump is audible. 20
/// ms.
const LOOSE: i64 = 960;
/// Longest gap that is concealed, in samples: 100 ms. Longer gaps are silent.
const CONCEALED: i64 = 4_800;

/// A microphone.
pub(crate) struct SoundTrack {
    /// Start of the track in the recording.
    start: Duration,
    source: Source,
    decoder: OpusDecoder,
    pub(crate) participant: String,
    next: Option<Sample>,
    /// Decoded sound; left and right alternate.
    decoded: VecDeque<i16>,
    /// Position of the first sample of `decoded`, or of the next one if it is empty, in
    /// samples per channel since the start of the recording.
    position: i64,
    /// Whether a packet was decoded so far.
    heard: bool,
    /// Packets that could not be decoded.
    pub(crate) damaged: u64,
}

impl SoundTrack {
    pub(crate) fn new(entry: &TrackEntry, mut source: Source) -> Result<SoundTrack, SourceError> {
        let decoder = OpusDecoder::new();
        let decoder = decoder.map_err(|error| SourceError::Container(error.to_string()))?;
        let next = source.read()?;
        Ok(SoundTrack {
            start: Duration::from_millis(entry.start_ms),
            source,
            decoder,
            participant: entry.participant.clone(),
            next,
            decoded: VecDeque::new(),
            position: 0,
            heard: false,
            damaged: 0,
        })
    }

    /// Adds a block of 10 ms that starts at this sample to the sum. Returns the mean
    /// square of the block.
    ///
    /// # Errors
    /// If the rest of the file cannot be read; the track ends there.
    pub(crate) fn read(
        &mut self,
        from: i64,
        sum: &mut [f32; BLOCK_SAMPLES * CHANNELS],
    ) -> Result<f32, SourceError> {
        let to = from + BLOCK_SAMPLES as i64;
        while self.end() < to {
            let Some(at) = self.next.as_ref().map(|next| place(self.start + next.at)) else {
                break;
            };
            let gap = at - self.end();
            if self.heard && (LOOSE..=CONCEALED).contains(&gap) {
                let concealed = self.decoder.conceal();
                self.decoded
                    .extend(concealed.unwrap_or(vec![0; FRAME_SAMPLES * CHANNELS]));
            } else if gap < LOOSE || at < to {
                self.take(at)?;
            } else {
                break;
            }
        }
        self.drop_before(from);
        let silent = usize::try_from(self.position - from).unwrap_or(0) * CHANNELS;
        let mut energy = 0.0;
        let room = sum.iter_mut().skip(silent);
        let samples = room.len().min(self.decoded.len());
        for (slot, sample) in room.zip(self.decoded.drain(..samples)) {
            *slot += f32::from(sample);
            energy += f32::from(sample).powi(2);
        }
        self.position += (samples / CHANNELS) as i64;
        Ok(energy / sum.len() as f32)
    }

    /// Whether the track has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.next.is_none() && self.decoded.is_empty()
    }

    /// Position after the last decoded sample.
    fn end(&self) -> i64 {
        self.position + (self.decoded.len() / CHANNELS) as i64
    }

    /// Decodes the next packet, whose sound starts at this sample.
    fn take(&mut self, at: i64) -> Result<(), SourceError> {
        let packet = self.next.take();
        self.next = self.source.read()?;
        let decoded = packet.map(|packet| self.decoder.decode(&packet.data));
        let Some(Ok(sound)) = decoded else {
            self.damaged += 1;
            return Ok(());
        };
        let gap = at - self.end();
        let samples = |gap: i64| usize::try_from(gap).unwrap_or(0) * CHANNELS;
        if self.decoded.is_empty() && (gap >= LOOSE || !self.heard) {
            self.position = at;
        } else if gap >= LOOSE {
            self.decoded.extend(std::iter::repeat_n(0, samples(gap)));
        }
        let overlap = if gap <= -LOOSE { samples(-gap) } else { 0 };
        let overlap = if self.heard { overlap } else { 0 };
        self.decoded.extend(sound.into_iter().skip(overlap));
        self.heard = true;
        Ok(())
    }

    /// Drops the sound before this sample.
    fn drop_before(&mut self, from: i64) {
        let late = usize::try_from(from - self.position).unwrap_or(0) * CHANNELS;
        let late = late.min(self.decoded.len());
        self.decoded.drain(..late);
        self.position += (late / CHANNELS) as i64;
    }
}

/// Returns the number of the sample at this time.
fn place(at: Duration) -> i64 {
    let samples = at.as_nanos() * u128::from(SAMPLE_RATE) / 1_000_000_000;
    i64::try_from(samples).unwrap_or(i64::MAX / 4)
}
