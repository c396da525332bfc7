use weft_publish::fitting::Seen;
use weft_publish::fitting::vp8::log2_step;
use weft_publish::{FrameRequest, Keyframe};
use weft_units::Rate;

use super::attempt::{Attempt, Fitting};
use super::raw::RawEncoder;
use super::within::Within;
use crate::Picture;
use crate::coding::{EncodedFrame, EncoderConfig, VideoError, check_planes};

/// Real-time VP8 encoder at a constant bit rate, which can change at any time. It drops
/// pictures below its minimum rate.
///
/// Encodes a picture with a budget up to three times until it fits, which also costs a
/// copy of one picture. See [`FrameRequest::budget`].
pub struct Vp8Encoder {
    pub(super) raw: RawEncoder,
    fitting: Fitting,
}

impl Vp8Encoder {
    /// Creates an encoder whose first picture will be a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] if a field is out of range.
    pub fn new(config: EncoderConfig) -> Result<Vp8Encoder, VideoError> {
        Ok(Vp8Encoder {
            raw: RawEncoder::new(config)?,
            fitting: Fitting::default(),
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
    /// [`VideoError::Config`] if libvpx refuses the rate.
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

    /// Restarts with a keyframe and without rate control's saved bits and state, which
    /// after a pause would lead to a keyframe that takes seconds to send
    /// (`examples/low_rate`).
    ///
    /// # Errors
    /// [`VideoError::Config`] if libvpx has no memory.
    pub fn restart(&mut self) -> Result<(), VideoError> {
        self.reopen((self.config().width, self.config().height))
    }

    fn reopen(&mut self, (width, height): (usize, usize)) -> Result<(), VideoError> {
        self.raw.reopen(width, height)?;
        self.fitting = Fitting::default();
        Ok(())
    }

    /// Encodes one picture; `None` if rate control drops it. `timestamp90k` is the
    /// picture's RTP timestamp, which may wrap.
    ///
    /// A picture of another size than the last one restarts the encoder with a keyframe
    /// (libvpx cannot grow past its first size in place).
    ///
    /// # Errors
    /// [`VideoError::PictureSize`] for a picture with wrong planes,
    /// [`VideoError::Encode`] if libvpx fails.
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
            self.reopen(size)?;
        }
        self.raw.advance(timestamp90k);
        let force = keyframe == Keyframe::Force || self.fitting.keyframe_due;
        if force {
            self.raw.begin_pattern();
        }
        let first = self.fitting.guess.seen(true).is_none();
        let frame = match budget {
            None => self.raw.attempt(picture, force, Attempt::Only)?,
            Some(budget) => {
                let mut within = Within {
                    raw: &mut self.raw,
                    fitting: &mut self.fitting,
                    budget,
                };
                within.encode(picture, force || first)?
            }
        };
        let Some(frame) = frame else {
            return Ok(None);
        };
        let seen = Seen {
            step: log2_step(frame.quantizer.into()),
            size: frame.data.len() as f64,
        };
        self.fitting.guess.on_frame(frame.keyframe, seen);
        self.fitting.keyframe_due &= !frame.keyframe;
        self.raw.next_position();
        Ok(Some(frame))
    }
}
