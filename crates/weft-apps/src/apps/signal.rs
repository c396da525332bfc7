//! Signal, February 2023: libwebrtc within the limits of ringrtc v2.25.0.

use weft_units::Rate;

use crate::family::WebrtcLimits;

pub(crate) const LIMITS: WebrtcLimits = WebrtcLimits {
    // Source: ringrtc, the limit of all media of a call without a relay.
    highest: Rate::from_kbps(2_000),
    // Source: ringrtc.
    lowest: Rate::from_kbps(30),
    // Source: libwebrtc's default, which ringrtc does not change.
    start: Rate::from_kbps(300),
    // Source: ringrtc, Opus at 20 to 32 kbit/s.
    sound: Rate::from_kbps(32),
    protected: false,
};
