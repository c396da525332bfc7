//! Echo cancellation: removes the loudspeaker's sound from the microphone's sound.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use sonora::config::{EchoCanceller as Settings, MaxProcessingRate, Pipeline};
use sonora::{AudioProcessing, Config, StreamConfig};

use super::SoundBlock;
use super::{AudioFrame, BLOCK_SAMPLES, CHANNELS, Microphone, MicrophoneError, SAMPLE_RATE};
use crate::Pace;

/// Maximum number of blocks that wait for the microphone: half a second, after which the
/// microphone must have stopped. Chosen by us.
const WAITING_BLOCKS: usize = 50;

/// WebRTC's echo canceller (AEC3) for one microphone and one loudspeaker, both mono. It
/// determines the delay between them, up to half a second.
pub struct EchoCanceller {
    processing: AudioProcessing,
}

impl Default for EchoCanceller {
    fn default() -> EchoCanceller {
        let mono = StreamConfig::new(SAMPLE_RATE, 1);
        let config = Config {
            pipeline: Pipeline {
                maximum_internal_processing_rate: MaxProcessingRate::Rate48kHz,
                ..Pipeline::default()
            },
            echo_canceller: Some(Settings::default()),
            ..Config::default()
        };
        let builder = AudioProcessing::builder().config(config);
        EchoCanceller {
            processing: builder.capture_config(mono).render_config(mono).build(),
        }
    }
}

impl EchoCanceller {
    /// Handles a block for the loudspeaker, before the microphone picks it up.
    pub fn play(&mut self, block: &SoundBlock) {
        let (played, mut unused) = (mono(block), [0.0; BLOCK_SAMPLES]);
        let taken = self
            .processing
            .process_render_f32(&[&played], &mut [&mut unused]);
        taken.expect("the format is valid");
    }

    /// Removes the echo from 10 ms of the microphone; the result is the same on both
    /// channels.
    pub fn clean(&mut self, heard: &mut [i16]) {
        let (noisy, mut clean) = (mono(heard), [0.0; BLOCK_SAMPLES]);
        let cleaned = self
            .processing
            .process_capture_f32(&[&noisy], &mut [&mut clean]);
        cleaned.expect("the format is valid");
        for (out, sample) in heard.chunks_exact_mut(CHANNELS).zip(clean) {
            // A cast saturates.
            out.fill((sample * SCALE).round() as i16);
        }
    }
}

/// Full scale of 16 bits.
const SCALE: f32 = 32_768.0;

fn mono(block: &[i16]) -> [f32; BLOCK_SAMPLES] {
    let mut mono = [0.0; BLOCK_SAMPLES];
    for (out, pair) in mono.iter_mut().zip(block.chunks_exact(CHANNELS)) {
        *out = (f32::from(pair[0]) + f32::from(pair[1])) / (2.0 * SCALE);
    }
    mono
}

/// Microphone without the echo of a loudspeaker.
pub struct EchoFreeMicrophone {
    microphone: Box<dyn Microphone>,
    played: Receiver<SoundBlock>,
    canceller: EchoCanceller,
}

/// Sender of the loudspeaker's sound to an [`EchoFreeMicrophone`].
pub struct EchoReference(SyncSender<SoundBlock>);

impl EchoFreeMicrophone {
    /// Wraps a microphone. Pass every block of the loudspeaker to the reference.
    #[must_use]
    pub fn new(microphone: Box<dyn Microphone>) -> (EchoFreeMicrophone, EchoReference) {
        let (reference, played) = sync_channel(WAITING_BLOCKS);
        let canceller = EchoCanceller::default();
        let microphone = EchoFreeMicrophone {
            microphone,
            played,
            canceller,
        };
        (microphone, EchoReference(reference))
    }
}

impl EchoReference {
    /// Handles a block for the loudspeaker; drops it if the microphone has stopped.
    pub fn play(&self, block: &SoundBlock) {
        let _ = self.0.try_send(*block);
    }
}

impl Microphone for EchoFreeMicrophone {
    fn pace(&self) -> Pace {
        self.microphone.pace()
    }

    fn read(&mut self) -> Result<AudioFrame, MicrophoneError> {
        let mut frame = self.microphone.read()?;
        for block in self.played.try_iter() {
            self.canceller.play(&block);
        }
        for heard in frame.chunks_exact_mut(BLOCK_SAMPLES * CHANNELS) {
            self.canceller.clean(heard);
        }
        Ok(frame)
    }
}

#[cfg(test)]
mod tests;
