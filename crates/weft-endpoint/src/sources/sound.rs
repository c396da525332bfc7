//! Microphone and its Opus encoder on their own thread.

use std::thread;

use weft_media::{Microphone, MicrophoneError, OpusEncoder, OpusError, Pace, audio_level};
use weft_net::Clock;
use weft_units::{AudioLevel, Duration, Instant, Rate};

use super::feed::wait_until;

/// Rate of the sound: transparent speech, good music (RFC 7587 section 3.1.1
/// recommends 28 to 40 kbps for fullband speech).
pub const RATE: Rate = Rate::from_kbps(40);
/// Ticks and duration of one frame (RFC 7587 section 4.1).
const FRAME_TICKS: u32 = 960;
const FRAME: Duration = Duration::from_millis(20);

/// Opus packet to send.
#[derive(Debug)]
pub struct SoundFrame {
    /// Opus packet of 20 ms.
    pub data: Vec<u8>,
    /// Audio level, if known.
    pub level: Option<AudioLevel>,
    /// RTP timestamp, at 48 kHz.
    pub timestamp: u32,
    /// Capture time of its last sample.
    pub taken_at: Instant,
}

/// Reason why sound cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum SoundError {
    /// The microphone stopped.
    #[error(transparent)]
    Microphone(#[from] MicrophoneError),
    /// Encoding failed.
    #[error(transparent)]
    Opus(#[from] OpusError),
}

/// Runs until the microphone ends or `send` returns false.
///
/// # Errors
/// If no encoder can be created.
pub fn start(
    mut microphone: Box<dyn Microphone>,
    clock: Clock,
    mut send: impl FnMut(SoundFrame) -> bool + Send + 'static,
    on_end: impl FnOnce(SoundError) + Send + 'static,
) -> Result<(), SoundError> {
    let mut encoder = OpusEncoder::new(RATE)?;
    let mut run = move || -> Result<(), SoundError> {
        let mut due = clock.now();
        let mut timestamp = super::rtp_timestamp(due, 48_000);
        loop {
            if microphone.pace() == Pace::Caller {
                due = wait_until(&clock, due) + FRAME;
            }
            let samples = microphone.read()?;
            let taken_at = clock.now();
            let data = encoder.encode(&samples)?;
            if !send(SoundFrame {
                data,
                level: Some(audio_level(&samples)),
                timestamp,
                taken_at,
            }) {
                return Ok(());
            }
            timestamp = timestamp.wrapping_add(FRAME_TICKS);
        }
    };
    thread::Builder::new()
        .name("microphone".to_owned())
        .spawn(move || {
            if let Err(error) = run() {
                on_end(error);
            }
        })
        .expect("the system gives a thread");
    Ok(())
}
