use opus::{Application, Bitrate, Channels, Decoder, Encoder, Signal};
use weft_units::Rate;

use super::{AudioFrame, CHANNELS, FRAME_SAMPLES, SAMPLE_RATE};

/// libopus did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum OpusError {
    /// The encoder or decoder could not be made or set up.
    #[error("Opus: {0}")]
    Setup(opus::Error),
    /// libopus could not encode.
    #[error("Opus encoder: {0}")]
    Encode(opus::Error),
    /// The data is no Opus packet: drop it and conceal the gap.
    #[error("no Opus packet: {0}")]
    Decode(opus::Error),
}

/// Speech encoder with in-band error correction, 20 ms a packet.
pub struct OpusEncoder {
    inner: Encoder,
}

/// An Opus packet of one frame is at most 1275 bytes (RFC 6716 section 3.2.1).
const MAX_PACKET: usize = 1275;
/// The loss that the error correction is laid out for. libwebrtc starts at
/// zero and follows the reports; links that move lose this much at times.
const EXPECTED_LOSS_PERCENT: i32 = 5;

impl OpusEncoder {
    /// An encoder at this rate, 6 to 510 kbps (RFC 6716 section 2.1.1).
    ///
    /// # Errors
    /// [`OpusError::Setup`] when libopus refuses.
    pub fn new(rate: Rate) -> Result<OpusEncoder, OpusError> {
        let setup = |rate: Rate| {
            let mut inner = Encoder::new(SAMPLE_RATE, Channels::Stereo, Application::Voip)?;
            inner.set_bitrate(bitrate(rate))?;
            inner.set_signal(Signal::Voice)?;
            inner.set_inband_fec(true)?;
            inner.set_packet_loss_perc(EXPECTED_LOSS_PERCENT)?;
            Ok(inner)
        };
        let inner = setup(rate).map_err(OpusError::Setup)?;
        Ok(OpusEncoder { inner })
    }

    /// Changes the rate from the next frame on.
    ///
    /// # Errors
    /// [`OpusError::Setup`] when libopus refuses.
    pub fn set_rate(&mut self, rate: Rate) -> Result<(), OpusError> {
        self.inner
            .set_bitrate(bitrate(rate))
            .map_err(OpusError::Setup)
    }

    /// One packet of 20 ms.
    ///
    /// # Errors
    /// [`OpusError::Encode`] when libopus fails.
    pub fn encode(&mut self, frame: &AudioFrame) -> Result<Vec<u8>, OpusError> {
        self.inner
            .encode_vec(frame, MAX_PACKET)
            .map_err(OpusError::Encode)
    }
}

fn bitrate(rate: Rate) -> Bitrate {
    Bitrate::Bits(rate.as_bps().clamp(6_000, 510_000) as i32)
}

/// A decoder for packets of any length up to 120 ms, mono or stereo.
pub struct OpusDecoder {
    inner: Decoder,
}

/// The longest packet (RFC 6716 section 2.1.4), samples per channel.
const MAX_SAMPLES: usize = 120 * 48;

impl OpusDecoder {
    /// A decoder that starts from silence.
    ///
    /// # Errors
    /// [`OpusError::Setup`] when libopus has no memory.
    pub fn new() -> Result<OpusDecoder, OpusError> {
        let inner = Decoder::new(SAMPLE_RATE, Channels::Stereo).map_err(OpusError::Setup)?;
        Ok(OpusDecoder { inner })
    }

    /// The packet's sound, left and right alternating; 20 ms of it from most
    /// senders.
    ///
    /// # Errors
    /// [`OpusError::Decode`] for data that is no Opus packet.
    pub fn decode(&mut self, packet: &[u8]) -> Result<Vec<i16>, OpusError> {
        self.run(packet, MAX_SAMPLES, false)
    }

    /// 20 ms in place of a lost packet, from what came before.
    ///
    /// # Errors
    /// [`OpusError::Decode`] when libopus fails.
    pub fn conceal(&mut self) -> Result<Vec<i16>, OpusError> {
        self.run(&[], FRAME_SAMPLES, false)
    }

    /// 20 ms in place of a lost packet, from the packet after it if that one
    /// carries a copy, else concealed.
    ///
    /// # Errors
    /// [`OpusError::Decode`] for data that is no Opus packet.
    pub fn recover(&mut self, following: &[u8]) -> Result<Vec<i16>, OpusError> {
        self.run(following, FRAME_SAMPLES, true)
    }

    fn run(&mut self, packet: &[u8], samples: usize, recover: bool) -> Result<Vec<i16>, OpusError> {
        let mut sound = vec![0; samples * CHANNELS];
        let decoded = self
            .inner
            .decode(packet, &mut sound, recover)
            .map_err(OpusError::Decode)?;
        sound.truncate(decoded * CHANNELS);
        Ok(sound)
    }
}
