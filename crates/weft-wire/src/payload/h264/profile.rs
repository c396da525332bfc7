//! Profiles as identified by `profile-level-id` (RFC 6184 section 8.1, table 5).

use std::fmt;

/// Profile: the tools that a stream may use, and that a decoder supports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Profile {
    /// The common subset of baseline and main.
    ConstrainedBaseline,
    /// With flexible macroblock order and similar tools, which no encoder for calls uses
    /// and libavcodec cannot decode. Treated like constrained baseline.
    Baseline,
    /// High without interlacing and B slices.
    ConstrainedHigh,
    /// CABAC, B slices, interlacing.
    Main,
    /// Main with the 8x8 transform.
    High,
    /// Baseline with data partitions, B and switching slices.
    Extended,
    /// High with ten bits.
    High10,
    /// High 10 with 4:2:2.
    High422,
    /// High 4:2:2 with 4:4:4 and 14 bits.
    High444,
    /// Intra pictures of high 10.
    High10Intra,
    /// Intra pictures of high 4:2:2.
    High422Intra,
    /// Intra pictures of high 4:4:4.
    High444Intra,
    /// Intra pictures of high 4:4:4 with CAVLC.
    Cavlc444Intra,
}

impl Profile {
    /// Returns the profile of this `profile_idc` and the following octet of constraint
    /// flags (`profile-iop`), whose first flag is the highest bit. `None` if table 5 has
    /// no such `profile_idc`.
    ///
    /// Flags that the table leaves open are ignored, like the reserved bits
    /// (decoders ignore them, ITU-T H.264 section 7.4.2.1.1).
    #[must_use]
    pub fn of(idc: u8, flags: u8) -> Option<Profile> {
        let set = |flag: u8| flags & (0x80 >> flag) != 0;
        Some(match idc {
            0x42 if set(1) => Profile::ConstrainedBaseline,
            0x42 => Profile::Baseline,
            0x4d if set(0) => Profile::ConstrainedBaseline,
            0x4d => Profile::Main,
            0x58 if set(0) && set(1) => Profile::ConstrainedBaseline,
            0x58 if set(0) => Profile::Baseline,
            0x58 => Profile::Extended,
            // ITU-T H.264 section A.2.4.2.
            0x64 if set(4) && set(5) => Profile::ConstrainedHigh,
            0x64 => Profile::High,
            0x6e if set(3) => Profile::High10Intra,
            0x6e => Profile::High10,
            0x7a if set(3) => Profile::High422Intra,
            0x7a => Profile::High422,
            0xf4 if set(3) => Profile::High444Intra,
            0xf4 => Profile::High444,
            0x2c => Profile::Cavlc444Intra,
            _ => return None,
        })
    }

    /// Returns `profile_idc` and constraint flags, as browsers write them if table 5
    /// leaves a choice. Baseline is offered as constrained baseline, which all receivers
    /// list.
    #[must_use]
    pub const fn octets(self) -> [u8; 2] {
        match self {
            Profile::ConstrainedBaseline | Profile::Baseline => [0x42, 0xe0],
            Profile::ConstrainedHigh => [0x64, 0x0c],
            Profile::Main => [0x4d, 0],
            Profile::High => [0x64, 0],
            Profile::Extended => [0x58, 0],
            Profile::High10 => [0x6e, 0],
            Profile::High422 => [0x7a, 0],
            Profile::High444 => [0xf4, 0],
            Profile::High10Intra => [0x6e, 0x10],
            Profile::High422Intra => [0x7a, 0x10],
            Profile::High444Intra => [0xf4, 0x10],
            Profile::Cavlc444Intra => [0x2c, 0x10],
        }
    }

    /// Whether a decoder of this profile decodes every stream of the other one
    /// (ITU-T H.264 section A.2). [`Profile::Baseline`] is an exception: every
    /// decoder is assumed to decode it.
    #[must_use]
    pub const fn decodes(self, stream: Profile) -> bool {
        use Profile::{
            Baseline, Cavlc444Intra, ConstrainedBaseline, ConstrainedHigh, Extended, High, High10,
            High10Intra, High422, High422Intra, High444, High444Intra, Main,
        };
        let stream = match stream {
            Baseline => ConstrainedBaseline,
            other => other,
        };
        match self {
            ConstrainedBaseline | Baseline => matches!(stream, ConstrainedBaseline),
            Extended => matches!(stream, ConstrainedBaseline | Extended),
            ConstrainedHigh => matches!(stream, ConstrainedBaseline | ConstrainedHigh),
            Main => matches!(stream, ConstrainedBaseline | Main),
            High => matches!(stream, High | ConstrainedHigh) || Main.decodes(stream),
            High10 => matches!(stream, High10 | High10Intra) || High.decodes(stream),
            High422 => matches!(stream, High422 | High422Intra) || High10.decodes(stream),
            High444 => {
                matches!(stream, High444 | High444Intra | Cavlc444Intra) || High422.decodes(stream)
            }
            High10Intra => matches!(stream, High10Intra),
            High422Intra => matches!(stream, High10Intra | High422Intra),
            High444Intra => {
                matches!(stream, High444Intra | Cavlc444Intra) || High422Intra.decodes(stream)
            }
            Cavlc444Intra => matches!(stream, Cavlc444Intra),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::ConstrainedBaseline => "constrained baseline",
            Profile::Baseline => "baseline",
            Profile::ConstrainedHigh => "constrained high",
            Profile::Main => "main",
            Profile::High => "high",
            Profile::Extended => "extended",
            Profile::High10 => "high 10",
            Profile::High422 => "high 4:2:2",
            Profile::High444 => "high 4:4:4",
            Profile::High10Intra => "high 10 intra",
            Profile::High422Intra => "high 4:2:2 intra",
            Profile::High444Intra => "high 4:4:4 intra",
            Profile::Cavlc444Intra => "CAVLC 4:4:4 intra",
        })
    }
}
