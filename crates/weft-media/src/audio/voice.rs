//! Sound of one participant: converts Opus packets to samples at the pace of the sound
//! card.

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Adjustable, Async, FixedAsync, PolynomialDegree, Resampler};

use super::{BLOCK_SAMPLES, CHANNELS, FRAME_SAMPLES, OpusDecoder, OpusError, SAMPLE_RATE};

/// Longest gap between two packets that is filled, in samples: 120 ms, the longest Opus
/// packet (RFC 6716 section 2.1.4). A longer gap is a pause of the sender.
const LONGEST_GAP: u32 = 5_760;
/// Maximum number of concealed frames before silence: libopus has faded out after 60 ms.
const MAX_CONCEALED: usize = 3;
/// Maximum number of waiting samples per channel: 400 ms, because a longer delay prevents
/// a conversation (ITU-T G.114).
const MOST_WAITING: usize = 400 * SAMPLE_RATE as usize / 1_000;
/// Change of speed that listeners do not notice in speech. The session's jitter buffer
/// reduces its delay at the same speed. Chosen by us.
const MOST_CHANGE: f64 = 0.05;

/// Counts of a mixer since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayedCounts {
    /// Packets decoded.
    pub packets: u64,
    /// Frames of 20 ms recovered from the following packet, or concealed if it has no
    /// copy of them.
    pub recovered: u64,
    /// Frames of 20 ms concealed without a following packet.
    pub concealed: u64,
    /// Packets that arrived after their successors, dropped.
    pub late: u64,
    /// Packets that are not Opus, dropped.
    pub undecodable: u64,
    /// Samples per channel dropped because too many were waiting.
    pub dropped_samples: u64,
    /// Packets of participants beyond the maximum number, dropped.
    pub crowded: u64,
}

/// Decoder, buffer and resampler of one participant.
pub(super) struct Voice {
    decoder: OpusDecoder,
    /// Decoded samples; left and right alternate.
    waiting: Vec<f32>,
    /// RTP timestamp that follows the last decoded packet.
    next: Option<u32>,
    /// Samples concealed after the last packet.
    concealed: u32,
    is_playing: bool,
    resampler: Async<f32>,
    reserve: Reserve,
}

impl Voice {
    pub fn new() -> Result<Voice, OpusError> {
        let resampler = Async::new_poly(
            1.0,
            1.0 + 2.0 * MOST_CHANGE,
            PolynomialDegree::Cubic,
            BLOCK_SAMPLES,
            CHANNELS,
            FixedAsync::Output,
        );
        Ok(Voice {
            decoder: OpusDecoder::new()?,
            waiting: Vec::new(),
            next: None,
            concealed: 0,
            is_playing: false,
            resampler: resampler.expect("the ratios are valid"),
            reserve: Reserve::default(),
        })
    }

    /// Decodes a packet. Fills the gap before it with its copy of the previous one, and
    /// by concealment.
    pub fn push(&mut self, timestamp: u32, packet: &[u8], counts: &mut PlayedCounts) {
        let gap = self.next.map_or(0, |next| timestamp.wrapping_sub(next));
        if gap > u32::MAX - LONGEST_GAP {
            counts.late += 1;
            return;
        }
        if gap == 0 && self.concealed > 0 {
            self.reserve.grow();
        }
        if gap <= LONGEST_GAP && self.is_playing {
            self.fill(gap.saturating_sub(self.concealed), packet, counts);
        }
        match self.decoder.decode(packet) {
            Ok(sound) => {
                let samples = (sound.len() / CHANNELS) as u32;
                self.next = Some(timestamp.wrapping_add(samples));
                self.concealed = 0;
                self.add(&sound);
                counts.packets += 1;
            }
            Err(_) => counts.undecodable += 1,
        }
        let waiting = self.waiting();
        if waiting > MOST_WAITING {
            let dropped = waiting - self.reserve.target - FRAME_SAMPLES;
            self.waiting.drain(..dropped * CHANNELS);
            counts.dropped_samples += dropped as u64;
        }
    }

    fn fill(&mut self, missing: u32, following: &[u8], counts: &mut PlayedCounts) {
        let frames = missing as usize / FRAME_SAMPLES;
        for frame in 0..frames {
            let is_last = frame + 1 == frames;
            let sound = match is_last {
                true => self.decoder.recover(following),
                false => self.decoder.conceal(),
            };
            match is_last {
                true => counts.recovered += 1,
                false => counts.concealed += 1,
            }
            self.add(&sound.unwrap_or_default());
        }
    }

    fn add(&mut self, sound: &[i16]) {
        self.waiting.extend(sound.iter().map(|s| f32::from(*s)));
    }

    /// Returns the number of waiting samples per channel.
    pub fn waiting(&self) -> usize {
        self.waiting.len() / CHANNELS
    }

    /// Adds the next 10 ms to `mixed`.
    pub fn read(&mut self, mixed: &mut [f32], counts: &mut PlayedCounts) {
        let needed = self.resampler.input_frames_next();
        if !self.is_playing {
            if self.waiting.is_empty() {
                return;
            }
            self.is_playing = true;
            let reserve = self.reserve.target * CHANNELS;
            self.waiting.splice(..0, std::iter::repeat_n(0.0, reserve));
        }
        while self.waiting() < needed {
            if !self.conceal(counts) {
                // The remainder is less than a block, and faded out.
                self.waiting.clear();
                self.is_playing = false;
                return;
            }
        }
        let mut played = [0.0; BLOCK_SAMPLES * CHANNELS];
        let input = InterleavedSlice::new(&self.waiting, CHANNELS, needed);
        let output = InterleavedSlice::new_mut(&mut played, CHANNELS, BLOCK_SAMPLES);
        let (input, mut output) = (
            input.expect("the samples are there"),
            output.expect("the block has this size"),
        );
        let resampled = self
            .resampler
            .process_into_buffer(&input, &mut output, None);
        resampled.expect("both buffers have the size that the resampler asks for");
        self.waiting.drain(..needed * CHANNELS);
        for (sum, sample) in mixed.iter_mut().zip(played) {
            *sum += sample;
        }
        if let Some(speed) = self.reserve.on_read(self.waiting()) {
            let set = self
                .resampler
                .set_resample_ratio_relative(1.0 / speed, true);
            set.expect("the speed is within its bounds");
        }
    }

    /// Adds a concealed frame; false if the pause is too long.
    fn conceal(&mut self, counts: &mut PlayedCounts) -> bool {
        let frames = self.concealed as usize / FRAME_SAMPLES;
        if frames >= MAX_CONCEALED {
            return false;
        }
        let Ok(mut sound) = self.decoder.conceal() else {
            return false;
        };
        if frames + 1 == MAX_CONCEALED {
            fade(&mut sound);
        }
        self.concealed += (sound.len() / CHANNELS) as u32;
        counts.concealed += 1;
        self.add(&sound);
        true
    }
}

/// Fades out, so that the following silence does not click.
fn fade(sound: &mut [i16]) {
    let length = sound.len() as f32;
    for (place, sample) in sound.iter_mut().enumerate() {
        *sample = (f32::from(*sample) * (1.0 - place as f32 / length)) as i16;
    }
}

/// Samples per channel that remain in the buffer after a read, and the speed that keeps
/// this number: it corrects the drift between the clocks of sender and sound card.
struct Reserve {
    target: usize,
    /// Smallest remainder after a read in this window.
    least: usize,
    reads: u32,
}

impl Reserve {
    /// A block of 10 ms, because a packet may arrive just after a read, and 5 ms for the
    /// thread switch. Chosen by us.
    const LEAST: usize = 720;
    /// 80 ms. Chosen by us.
    const MOST: usize = 3_840;
    /// Growth after a late packet, 10 ms. Chosen by us.
    const STEP: usize = 480;
    /// Decrease per window, 0.5 ms: a late packet costs delay for about 10 s. Chosen by
    /// us.
    const DECREASE: usize = 24;
    /// Reads of 10 ms between two changes of the speed: several packets of maximum
    /// length. Chosen by us.
    const WINDOW: u32 = 50;

    fn grow(&mut self) {
        self.target = (self.target + Reserve::STEP).min(Reserve::MOST);
    }

    /// Handles the remainder after a read; returns the new speed at the end of a window,
    /// 1 for the sender's. The time constant is a second.
    fn on_read(&mut self, rest: usize) -> Option<f64> {
        self.least = self.least.min(rest);
        self.reads += 1;
        if self.reads < Reserve::WINDOW {
            return None;
        }
        let excess = self.least as f64 - self.target as f64;
        let target = self.target.saturating_sub(Reserve::DECREASE);
        *self = Reserve {
            target: target.max(Reserve::LEAST),
            ..Reserve::default()
        };
        let change = excess / f64::from(SAMPLE_RATE);
        Some(1.0 + change.clamp(-MOST_CHANGE, MOST_CHANGE))
    }
}

impl Default for Reserve {
    fn default() -> Reserve {
        Reserve {
            target: Reserve::LEAST,
            least: usize::MAX,
            reads: 0,
        }
    }
}
