use weft_units::QuantizerBounds;

weft_units::named! {
    /// Property that gives way when the rate is low (W3C MST Content Hints,
    /// `RTCDegradationPreference`).
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Degradation: "degradation preference" {
        /// The size; the frame rate only when the smallest picture does not fit.
        #[default]
        MaintainFrameRate = "maintain-framerate",
        /// The frame rate; the size never.
        MaintainResolution = "maintain-resolution",
        /// The size, and below 640x480 the frame rate as well.
        Balanced = "balanced",
        /// Nothing: what does not fit, the encoder drops.
        Off = "off",
    }
}

/// Output of a camera, and its bounds after scaling.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdaptationSetup {
    /// Width of the camera's pictures in pixels.
    pub width: u32,
    /// Height of the camera's pictures in pixels.
    pub height: u32,
    /// The camera's pictures per second.
    pub fps: f64,
    /// Property that gives way.
    pub degradation: Degradation,
    /// The codec's.
    pub quantizers: QuantizerBounds,
}

/// Size and frequency of the encoded pictures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Form {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pictures per second.
    pub fps: f64,
}
