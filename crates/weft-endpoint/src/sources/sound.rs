//! A microphone and its Opus encoder on a thread of their own.

use std::thread;

use weft_media::{Microphone, MicrophoneError, OpusEncoder, OpusError, Pace, audio_level};
use weft_net::Clock;
use weft_units::{AudioLevel, Duration, Instant, Rate};

use super::feed::wait_until;

/// The rate of the sound: transparent speech, good music (RFC 7587 section
/// 3.1.1 recommends 28 to 40 kbps for fullband speech).
pub const RATE: Rate = Rate::from_kbps(40);
/// Ticks of one frame and its length (RFC 7587 section 4.1).
const FRAME_TICKS: u32 = 960;
const FRAME: Duration = Duration::from_millis(20);

/// One Opus packet on its way to the network.
#[derive(Debug)]
pub struct SoundFrame {
    /// One Opus packet of 20 ms.
    pub data: Vec<u8>,
    /// How loud it is.
    pub level: AudioLevel,
    /// RTP's, of 48 kHz.
    pub timestamp: u32,
    /// When its last sample was taken.
    pub taken_at: Instant,
}

/// Sound cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum SoundError {
    /// The microphone gives no more.
    #[error(transparent)]
    Microphone(#[from] MicrophoneError),
    /// It cannot be encoded.
    #[error(transparent)]
    Opus(#[from] OpusError),
}

/// Runs until the microphone ends or `send` says that nobody listens.
///
/// # Errors
/// If there is no encoder.
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
                level: audio_level(&samples),
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
