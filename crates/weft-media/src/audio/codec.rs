use opus::{Application, Bitrate, Channels, Decoder, Encoder, Signal};
use weft_units::Rate;

use super::{AudioFrame, CHANNELS, FRAME_SAMPLES, SAMPLE_RATE};

/// Failure of libopus.
#[derive(Debug, thiserror::Error)]
pub enum OpusError {
    /// The encoder or decoder could not be created or configured.
    #[error("Opus: {0}")]
    Setup(opus::Error),
    /// libopus could not encode.
    #[error("Opus encoder: {0}")]
    Encode(opus::Error),
    /// The data is not an Opus packet; drop it and conceal the gap.
    #[error("no Opus packet: {0}")]
    Decode(opus::Error),
}

/// Speech encoder with in-band error correction, 20 ms per packet.
pub struct OpusEncoder {
    inner: Encoder,
}

/// An Opus packet of one frame is at most 1275 bytes (RFC 6716 section 3.2.1).
const MAX_PACKET: usize = 1275;
/// Loss for which the error correction is configured. libwebrtc starts at zero and
/// follows the reports; mobile links sometimes lose this much.
const EXPECTED_LOSS_PERCENT: i32 = 5;

impl OpusEncoder {
    /// Creates an encoder at this rate, 6 to 510 kbps (RFC 6716 section 2.1.1).
    ///
    /// # Errors
    /// [`OpusError::Setup`] if libopus refuses.
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

    /// Changes the rate, starting with the next frame.
    ///
    /// # Errors
    /// [`OpusError::Setup`] if libopus refuses.
    pub fn set_rate(&mut self, rate: Rate) -> Result<(), OpusError> {
        self.inner
            .set_bitrate(bitrate(rate))
            .map_err(OpusError::Setup)
    }

    /// Encodes one packet of 20 ms.
    ///
    /// # Errors
    /// [`OpusError::Encode`] if libopus fails.
    pub fn encode(&mut self, frame: &AudioFrame) -> Result<Vec<u8>, OpusError> {
        self.inner
            .encode_vec(frame, MAX_PACKET)
            .map_err(OpusError::Encode)
    }
}

fn bitrate(rate: Rate) -> Bitrate {
    Bitrate::Bits(rate.as_bps().clamp(6_000, 510_000) as i32)
}

/// Decoder for packets of any length up to 120 ms, mono or stereo.
pub struct OpusDecoder {
    inner: Decoder,
}

/// The longest packet (RFC 6716 section 2.1.4), samples per channel.
const MAX_SAMPLES: usize = 120 * 48;

impl OpusDecoder {
    /// Creates a decoder that starts from silence.
    ///
    /// # Errors
    /// [`OpusError::Setup`] if libopus has no memory.
    pub fn new() -> Result<OpusDecoder, OpusError> {
        let inner = Decoder::new(SAMPLE_RATE, Channels::Stereo).map_err(OpusError::Setup)?;
        Ok(OpusDecoder { inner })
    }

    /// Decodes a packet to samples, left and right alternating; most senders use 20 ms.
    ///
    /// # Errors
    /// [`OpusError::Decode`] for data that is not an Opus packet.
    pub fn decode(&mut self, packet: &[u8]) -> Result<Vec<i16>, OpusError> {
        self.run(packet, MAX_SAMPLES, false)
    }

    /// Synthesizes 20 ms in place of a lost packet, from the previous packets.
    ///
    /// # Errors
    /// [`OpusError::Decode`] if libopus fails.
    pub fn conceal(&mut self) -> Result<Vec<i16>, OpusError> {
        self.run(&[], FRAME_SAMPLES, false)
    }

    /// Recovers 20 ms of a lost packet from the copy in the next packet, or conceals them
    /// if there is no copy.
    ///
    /// # Errors
    /// [`OpusError::Decode`] for data that is not an Opus packet.
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
