use std::fmt;
use std::str::FromStr;

/// How pictures are compressed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum VideoCodec {
    /// VP8 (RFC 6386).
    #[default]
    Vp8,
    /// H.264 (ITU-T H.264), constrained baseline.
    H264,
}

impl VideoCodec {
    /// All of them, the default first.
    pub const ALL: [VideoCodec; 2] = [VideoCodec::Vp8, VideoCodec::H264];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            VideoCodec::Vp8 => "vp8",
            VideoCodec::H264 => "h264",
        }
    }

    /// The name in session descriptions (RFC 7741 section 6.1, RFC 6184
    /// section 8.1).
    #[must_use]
    pub const fn encoding(self) -> &'static str {
        match self {
            VideoCodec::Vp8 => "VP8",
            VideoCodec::H264 => "H264",
        }
    }
}

impl fmt::Display for VideoCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no such video codec.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownVideoCodec(String);

impl fmt::Display for UnknownVideoCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no video codec; write vp8 or h264", self.0)
    }
}

impl std::error::Error for UnknownVideoCodec {}

impl FromStr for VideoCodec {
    type Err = UnknownVideoCodec;
    fn from_str(s: &str) -> Result<VideoCodec, UnknownVideoCodec> {
        let found = VideoCodec::ALL.into_iter().find(|c| c.name() == s);
        found.ok_or_else(|| UnknownVideoCodec(s.to_owned()))
    }
}
