use weft_units::QuantizerBounds;

weft_units::named! {
    /// Property that is reduced when the rate is low (W3C MST Content Hints,
    /// `RTCDegradationPreference`).
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Degradation: "degradation preference" {
        /// Reduces the size, and the frame rate only when the smallest picture does not
        /// fit.
        #[default]
        MaintainFrameRate = "maintain-framerate",
        /// Reduces the frame rate, never the size.
        MaintainResolution = "maintain-resolution",
        /// Reduces the size, and below 640x480 the frame rate as well.
        Balanced = "balanced",
        /// Reduces nothing: the encoder drops the pictures that do not fit.
        Off = "off",
    }
}

/// Output of a camera, and the limits for scaling it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdaptationSetup {
    /// Width of the camera's pictures in pixels.
    pub width: u32,
    /// Height of the camera's pictures in pixels.
    pub height: u32,
    /// Frame rate of the camera, in pictures per second.
    pub fps: f64,
    /// Property that is reduced when the rate is low.
    pub degradation: Degradation,
    /// Quantizer bounds of the codec.
    pub quantizers: QuantizerBounds,
}

/// Size and frame rate of the encoded pictures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Form {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pictures per second.
    pub fps: f64,
}
