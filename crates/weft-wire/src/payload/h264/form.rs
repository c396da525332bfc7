//! What a session description says of H.264 (RFC 6184 section 8.1).

use crate::sdp;

/// What we send and offer: constrained baseline at level 3.1 or whatever the
/// other side takes, non-interleaved, the format parameters that every browser
/// lists.
pub const PARAMETERS: &str =
    "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f";

/// Baseline, constrained or not.
const BASELINE: u32 = 0x42;
/// `constraint_set1_flag`: decodable by decoders of the main profile too.
const CONSTRAINED: u32 = 0x40;

/// How well a payload type fits: the greater the better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Form {
    /// Baseline, which has tools that nobody uses.
    Baseline,
    /// Constrained baseline: what we send.
    ConstrainedBaseline,
}

impl Form {
    /// Of a payload type; `None` if it is no H.264 that we send and understand:
    /// of another profile, or without fragments (packetization mode 0).
    #[must_use]
    pub fn of(payload: &sdp::Payload) -> Option<Form> {
        let is_fragmented = payload.parameter("packetization-mode") == Some("1");
        if !payload.is("H264") || !is_fragmented {
            return None;
        }
        let profile = payload.parameter("profile-level-id")?;
        let profile = u32::from_str_radix(profile, 16).ok()?;
        let constrained = profile >> 8 & CONSTRAINED != 0;
        match (profile >> 16 == BASELINE, constrained) {
            (true, true) => Some(Form::ConstrainedBaseline),
            (true, false) => Some(Form::Baseline),
            (false, _) => None,
        }
    }
}
