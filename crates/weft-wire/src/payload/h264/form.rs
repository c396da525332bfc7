//! H.264 in session descriptions (RFC 6184 section 8.1).

use std::fmt;

use super::profile::Profile;
use crate::sdp;

/// Form of an H.264 stream, or of a receiver's capability, as a payload type
/// describes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Tools of the stream, or of the decoder.
    pub profile: Profile,
    /// `level_idc`: ten times the level (ITU-T H.264 table A-1).
    pub level: u8,
    /// Packetization of NAL units.
    pub packetization: Packetization,
}

/// `packetization-mode` (RFC 6184 section 6). A receiver of a later mode also
/// accepts the earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packetization {
    /// 0: one NAL unit in each packet.
    SingleUnit,
    /// None, which means 0 for a stream. A receiver without it has no limit, but no
    /// parameters to list: GStreamer's depayloader, for example, reads fragments.
    Unstated,
    /// 1: also fragments of NAL units, and several of them.
    NonInterleaved,
}

/// Level 3.1, which browsers list: 1280x720 at 30 pictures a second.
const LEVEL: u8 = 31;

impl Form {
    /// Form of our encoders' streams and of our offers.
    pub const OURS: Form = Form {
        profile: Profile::ConstrainedBaseline,
        level: LEVEL,
        packetization: Packetization::NonInterleaved,
    };

    /// Returns the form of a payload type; `None` if it is not H.264, has a profile that
    /// RFC 6184 does not list, or is interleaved (packetization mode 2).
    #[must_use]
    pub fn of(payload: &sdp::Payload) -> Option<Form> {
        if !payload.is("H264") {
            return None;
        }
        let packetization = packetization(payload)?;
        let (profile, level) = match payload.parameter("profile-level-id") {
            Some(id) => profile_and_level(id)?,
            // Baseline at level 1 (section 8.1).
            None => (Profile::Baseline, 10),
        };
        Some(Form {
            profile,
            level,
            packetization,
        })
    }

    /// Whether a receiver that lists this form decodes a stream of the other
    /// one. Levels are ignored: receivers list the lowest one and accept more,
    /// which `level-asymmetry-allowed` expresses only partly.
    #[must_use]
    pub fn decodes(self, stream: Form) -> bool {
        self.profile.decodes(stream.profile) && self.packetization.reads(stream.packetization)
    }

    /// Returns the rank among the forms that a publisher offers, the greatest first.
    /// Fragments come first, because single units cannot exceed a packet, which reduces
    /// the quality; then the profile that most receivers decode.
    #[must_use]
    pub fn preference(self) -> u8 {
        16 * self.packetization.mode() + 15 - self.profile as u8
    }

    /// Returns the format parameters (`a=fmtp`) of an offer with this form. All receivers
    /// list mode 1, which includes mode 0.
    #[must_use]
    pub fn parameters(self) -> String {
        let [idc, flags] = self.profile.octets();
        let level = self.level.max(LEVEL);
        format!(
            "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id={idc:02x}{flags:02x}{level:02x}"
        )
    }
}

impl Packetization {
    /// Returns the number in session descriptions.
    const fn mode(self) -> u8 {
        match self {
            Packetization::SingleUnit | Packetization::Unstated => 0,
            Packetization::NonInterleaved => 1,
        }
    }

    /// Whether a receiver of this mode reads streams of the other mode.
    const fn reads(self, stream: Packetization) -> bool {
        stream.mode() == 0 || !matches!(self, Packetization::SingleUnit)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = self.packetization.mode();
        write!(f, "{} profile, packetization-mode={mode}", self.profile)
    }
}

/// Describes a payload type that is H.264 but not a [`Form`], for display.
pub(in crate::payload) fn unsupported(payload: &sdp::Payload) -> String {
    let parameter = |name| payload.parameter(name).unwrap_or_default();
    match packetization(payload) {
        Some(_) => {
            let id = parameter("profile-level-id");
            format!("H.264 with profile-level-id={id} (RFC 6184 does not list this profile)")
        }
        None => {
            let mode = parameter("packetization-mode");
            format!("H.264 with packetization-mode={mode} (0 or 1 would do)")
        }
    }
}

/// `None` if it is interleaved, or not a mode of RFC 6184.
fn packetization(payload: &sdp::Payload) -> Option<Packetization> {
    match payload.parameter("packetization-mode") {
        None => Some(Packetization::Unstated),
        Some("0") => Some(Packetization::SingleUnit),
        Some("1") => Some(Packetization::NonInterleaved),
        Some(_) => None,
    }
}

/// Parses three octets in hexadecimal digits.
fn profile_and_level(id: &str) -> Option<(Profile, u8)> {
    let are_digits = id.len() == 6 && id.bytes().all(|b| b.is_ascii_hexdigit());
    let id = are_digits.then(|| u32::from_str_radix(id, 16).ok())??;
    let [_, idc, flags, level] = id.to_be_bytes();
    Some((Profile::of(idc, flags)?, level))
}
