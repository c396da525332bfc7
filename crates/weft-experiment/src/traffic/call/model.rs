use weft_units::{Codec, MediaKind, Rate};

/// Model of a real encoder.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ModelSetup {
    /// Codec, which also selects the encoder: VP8 by libvpx as `weft-media` configures
    /// it, H.264 by OpenH264 as libwebrtc configures it.
    pub codec: Codec,
    /// Picture width in pixels.
    pub width: u32,
    /// Picture height in pixels.
    pub height: u32,
    /// Pictures per second until the capture times show another rate. Default 30.
    pub fps: f64,
    /// Initial target rate.
    pub rate: Rate,
    /// Bits that the content needs at equal quantizers, relative to the built-in clip of
    /// `weft-media`. Default 1. The standard talking head has about 1.4, little motion in
    /// front of a fixed camera about 0.4.
    pub complexity: f64,
    /// Temporal layers: 1 (default), or 3 for VP8 (a quarter, half and all of
    /// the pictures).
    pub temporal_layers: u8,
}

/// Error in the parameters of an encoder model.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ModelError {
    /// A dimension is out of range.
    #[error("a picture of {width}x{height} cannot be encoded: each side has 16 to 16383 pixels")]
    Size {
        /// Requested width.
        width: u32,
        /// Requested height.
        height: u32,
    },
    /// The frame rate is not that of a camera.
    #[error("{0} pictures per second: give 1 to 240")]
    FrameRate(f64),
    /// The complexity is out of range.
    #[error("complexity {0}: give 0.01 to 100, 1 for the built-in clip")]
    Complexity(f64),
    /// The codec has no encoder model: it does not compress pictures, or its encoder was
    /// never measured.
    #[error("{0} has no model of an encoder: vp8 and h264 have one")]
    NoModel(Codec),
    /// The encoder does not support this number of layers.
    #[error("{layers} temporal layers of {codec}: VP8 has 1 or 3, H.264 has 1")]
    Layers {
        /// Requested number of layers.
        layers: u8,
        /// Requested codec.
        codec: Codec,
    },
}

impl ModelSetup {
    /// Creates a model of the built-in clip at 30 pictures per second in one layer.
    #[must_use]
    pub fn new(codec: Codec, width: u32, height: u32, rate: Rate) -> ModelSetup {
        ModelSetup {
            codec,
            width,
            height,
            fps: 30.0,
            rate,
            complexity: 1.0,
            temporal_layers: 1,
        }
    }

    /// Checks that a model with these parameters exists.
    ///
    /// # Errors
    /// [`ModelError`] for the first field that is out of range.
    pub fn validate(&self) -> Result<(), ModelError> {
        if self.codec.kind() != MediaKind::Video {
            return Err(ModelError::NoModel(self.codec));
        }
        let (width, height) = (self.width, self.height);
        let sides = 16..=16_383;
        if !sides.contains(&width) || !sides.contains(&height) {
            return Err(ModelError::Size { width, height });
        }
        // A range does not contain NaN.
        if !(1.0..=240.0).contains(&self.fps) {
            return Err(ModelError::FrameRate(self.fps));
        }
        if !(0.01..=100.0).contains(&self.complexity) {
            return Err(ModelError::Complexity(self.complexity));
        }
        let (codec, layers) = (self.codec, self.temporal_layers);
        match layers {
            1 => Ok(()),
            _ if layers == codec.temporal_layers() => Ok(()),
            _ => Err(ModelError::Layers { layers, codec }),
        }
    }
}
