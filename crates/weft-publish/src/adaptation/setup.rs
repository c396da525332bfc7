use std::fmt;
use std::str::FromStr;

use weft_units::QuantizerBounds;

/// Property that gives way when the rate is low (W3C MST Content Hints,
/// `RTCDegradationPreference`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Degradation {
    /// The size; the frame rate only when the smallest picture does not fit.
    #[default]
    MaintainFrameRate,
    /// The frame rate; the size never.
    MaintainResolution,
    /// The size, and below 640x480 the frame rate as well.
    Balanced,
    /// Nothing: what does not fit, the encoder drops.
    Off,
}

impl Degradation {
    /// All of them, for help texts.
    pub const ALL: [Degradation; 4] = [
        Degradation::MaintainFrameRate,
        Degradation::MaintainResolution,
        Degradation::Balanced,
        Degradation::Off,
    ];

    /// The name on the command line and in scenario files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Degradation::MaintainFrameRate => "maintain-framerate",
            Degradation::MaintainResolution => "maintain-resolution",
            Degradation::Balanced => "balanced",
            Degradation::Off => "off",
        }
    }
}

impl fmt::Display for Degradation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no such preference.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot be maintained; write maintain-framerate, maintain-resolution, balanced or off"
)]
pub struct UnknownDegradation(pub(super) String);

impl FromStr for Degradation {
    type Err = UnknownDegradation;
    fn from_str(s: &str) -> Result<Degradation, UnknownDegradation> {
        let found = Degradation::ALL.into_iter().find(|d| d.name() == s);
        found.ok_or_else(|| UnknownDegradation(s.to_owned()))
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
