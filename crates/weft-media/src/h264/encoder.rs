use weft_publish::fitting::h264::PER_OCTAVE;
use weft_publish::fitting::{Seen, SizeGuess};
use weft_publish::{FrameRequest, Keyframe};
use weft_units::Rate;

use super::raw::RawEncoder;
use super::within::Within;
use crate::Picture;
use crate::coding::{EncodedFrame, EncoderConfig, VideoError, check_planes};

/// Real-time H.264 encoder at a constant bit rate, which can change at any time. It drops
/// pictures below its minimum rate. Each keyframe contains its parameter sets.
///
/// Encodes a keyframe with a budget up to three times until it fits, and any other
/// picture once. See [`FrameRequest::budget`].
pub struct H264Encoder {
    raw: RawEncoder,
    guess: SizeGuess,
}

impl H264Encoder {
    /// Creates an encoder whose first picture will be a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] if a field is out of range.
    pub fn new(config: EncoderConfig) -> Result<H264Encoder, VideoError> {
        Ok(H264Encoder {
            raw: RawEncoder::new(config)?,
            guess: SizeGuess::default(),
        })
    }

    /// Returns the present configuration: size of the last picture, present rate.
    #[must_use]
    pub fn config(&self) -> &EncoderConfig {
        self.raw.config()
    }

    /// Changes the target rate from the next picture on, without a keyframe. Rates below
    /// 5 kbps are raised to 5 kbps.
    ///
    /// # Errors
    /// [`VideoError::Config`] if OpenH264 refuses the rate.
    pub fn set_rate(&mut self, rate: Rate) -> Result<(), VideoError> {
        self.raw.set_rate(rate)
    }

    /// Sets the pictures per second from the next picture on.
    ///
    /// # Errors
    /// [`VideoError::Config`] if it is not between 1 and 240.
    pub fn set_fps(&mut self, fps: u32) -> Result<(), VideoError> {
        self.raw.set_fps(fps)
    }

    /// Restarts with a keyframe and new rate control state.
    ///
    /// # Errors
    /// [`VideoError::Config`] if OpenH264 has no memory.
    pub fn restart(&mut self) -> Result<(), VideoError> {
        self.guess = SizeGuess::default();
        self.raw.restart()
    }

    /// Encodes one picture; `None` if rate control drops it. `timestamp90k` is the
    /// picture's RTP timestamp, which may wrap.
    ///
    /// A picture of another size than the last one restarts the encoder with a keyframe.
    ///
    /// # Errors
    /// [`VideoError::PictureSize`] for a picture with wrong planes,
    /// [`VideoError::Encode`] if OpenH264 fails.
    pub fn encode(
        &mut self,
        picture: &Picture,
        timestamp90k: u32,
        request: impl Into<FrameRequest>,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        let FrameRequest { keyframe, budget } = request.into();
        check_planes(picture)?;
        let size = (picture.width, picture.height);
        if size != (self.config().width, self.config().height) {
            self.raw.resize(picture.width, picture.height)?;
            self.guess = SizeGuess::default();
        }
        let keyframe = keyframe == Keyframe::Force || !self.raw.is_open();
        let at = self.raw.advance(timestamp90k);
        let frame = match budget {
            None => self.raw.attempt(picture, at, keyframe)?,
            Some(budget) => {
                let mut within = Within {
                    raw: &mut self.raw,
                    guess: self.guess,
                    budget,
                };
                within.encode(picture, at, keyframe)?
            }
        };
        if let Some(frame) = &frame {
            let seen = Seen {
                step: f64::from(frame.quantizer) / PER_OCTAVE,
                size: frame.data.len() as f64,
            };
            self.guess.on_frame(frame.keyframe, seen);
        }
        Ok(frame)
    }
}
