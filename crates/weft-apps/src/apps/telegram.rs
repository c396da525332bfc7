//! Telegram, early 2023: libwebrtc within the limits of tgcalls d20de8e,
//! `MediaManager.cpp`, the version that Grote et al. cite.

use weft_units::Rate;

use crate::family::WebrtcLimits;

pub(crate) const LIMITS: WebrtcLimits = WebrtcLimits {
    // Source: tgcalls, where neither the high-rate switch nor a low-cost network raises
    // it to 2,000.
    highest: Rate::from_kbps(800),
    // Source: tgcalls.
    lowest: Rate::from_kbps(64),
    // Source: tgcalls.
    start: Rate::from_kbps(400),
    // Source: tgcalls.
    sound: Rate::from_kbps(32),
    // Source: tgcalls, FlexFEC-03.
    protected: true,
};
