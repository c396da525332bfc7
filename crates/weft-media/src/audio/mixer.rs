//! Sound of all participants in a room, mixed for one loudspeaker.

use std::collections::BTreeMap;

use super::voice::{PlayedCounts, Voice};
use super::{BLOCK_SAMPLES, CHANNELS, SAMPLE_RATE, SoundBlock};

/// Maximum number of participants that are mixed. A server forwards only the loudest few.
/// Chosen by us.
const MAX_VOICES: usize = 32;

/// Mixes the sound of several participants. Push packets in order when they are due, and
/// read a block every 10 ms of the sound card's clock.
///
/// A short buffer per participant absorbs the difference between both clocks: playback
/// gets up to 5 % faster or slower. Lost packets are recovered from the next one (Opus
/// in-band FEC) or concealed. The sum passes a limiter, so it is never clipped.
#[derive(Default)]
pub struct RoomMixer {
    voices: BTreeMap<String, Voice>,
    limiter: Limiter,
    counts: PlayedCounts,
}

impl RoomMixer {
    /// Adds a packet of this participant, with its RTP timestamp at 48 kHz.
    pub fn push(&mut self, participant: &str, timestamp: u32, packet: &[u8]) {
        if !self.voices.contains_key(participant) {
            let voice = (self.voices.len() < MAX_VOICES).then(Voice::new);
            let Some(Ok(voice)) = voice else {
                self.counts.crowded += 1;
                return;
            };
            self.voices.insert(participant.to_owned(), voice);
        }
        if let Some(voice) = self.voices.get_mut(participant) {
            voice.push(timestamp, packet, &mut self.counts);
        }
    }

    /// Forgets a participant.
    pub fn remove(&mut self, participant: &str) {
        self.voices.remove(participant);
    }

    /// Reads the next 10 ms; silence if nobody is heard.
    pub fn read(&mut self) -> SoundBlock {
        let mut sum = [0.0; BLOCK_SAMPLES * CHANNELS];
        for voice in self.voices.values_mut() {
            voice.read(&mut sum, &mut self.counts);
        }
        self.limiter.limit(&sum)
    }

    /// Returns the counts since the start.
    #[must_use]
    pub fn counts(&self) -> PlayedCounts {
        self.counts
    }
}

/// Reduces the gain at once if the sum would exceed full scale, and restores it slowly.
/// Other sound passes unchanged.
pub struct Limiter {
    gain: f32,
}

/// Full scale of 16 bits.
const FULL: f32 = 32_767.0;
/// Time constant of the gain's recovery: short enough for the next word, too long to
/// follow a wave. Chosen by us.
const RELEASE_SECONDS: f32 = 0.1;

impl Limiter {
    /// Limits a block, whose sum may exceed full scale.
    pub fn limit(&mut self, sum: &[f32; BLOCK_SAMPLES * CHANNELS]) -> SoundBlock {
        let release = 1.0 / (RELEASE_SECONDS * SAMPLE_RATE as f32);
        let mut block = [0; BLOCK_SAMPLES * CHANNELS];
        let both = sum
            .chunks_exact(CHANNELS)
            .zip(block.chunks_exact_mut(CHANNELS));
        for (sum, out) in both {
            let peak = sum.iter().fold(0.0, |peak: f32, s| peak.max(s.abs()));
            let returned = self.gain + (1.0 - self.gain) * release;
            self.gain = returned.min(FULL / peak.max(FULL));
            for (out, sample) in out.iter_mut().zip(sum) {
                *out = (sample * self.gain).round() as i16;
            }
        }
        block
    }
}

impl Default for Limiter {
    fn default() -> Limiter {
        Limiter { gain: 1.0 }
    }
}

#[cfg(test)]
mod tests;
