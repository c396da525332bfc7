use std::fmt;

/// Sound or pictures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MediaKind {
    /// Sound: every packet is a frame of its own.
    Audio,
    /// Pictures: frames of several packets that refer to each other.
    Video,
}

/// How sound or pictures are compressed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Codec {
    /// Pictures by RFC 6386.
    Vp8,
    /// Pictures by ITU-T H.264, constrained baseline.
    H264,
    /// Sound by RFC 6716.
    Opus,
}

impl Codec {
    /// All of them; of each kind in the order of preference.
    pub const ALL: [Codec; 3] = [Codec::Vp8, Codec::H264, Codec::Opus];

    /// Those of one kind, in the order of preference.
    pub fn of_kind(kind: MediaKind) -> impl Iterator<Item = Codec> {
        Codec::ALL.into_iter().filter(move |c| c.kind() == kind)
    }

    /// The one with this [`Codec::name`].
    #[must_use]
    pub fn named(name: &str) -> Option<Codec> {
        Codec::ALL.into_iter().find(|c| c.name() == name)
    }

    /// The name on the command line and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Codec::Vp8 => "vp8",
            Codec::H264 => "h264",
            Codec::Opus => "opus",
        }
    }

    /// The name in session descriptions (RFC 7741 section 6.1, RFC 6184
    /// section 8.1, RFC 7587 section 6.1), where case does not matter.
    #[must_use]
    pub const fn encoding(self) -> &'static str {
        match self {
            Codec::Vp8 => "VP8",
            Codec::H264 => "H264",
            Codec::Opus => "opus",
        }
    }

    /// What is compressed.
    #[must_use]
    pub const fn kind(self) -> MediaKind {
        match self {
            Codec::Vp8 | Codec::H264 => MediaKind::Video,
            Codec::Opus => MediaKind::Audio,
        }
    }

    /// The most temporal layers that its packets can tell apart (RFC 7741
    /// section 4.2, as our encoders make them; RFC 6184 has none): whoever
    /// forwards them may leave out the upper ones.
    #[must_use]
    pub const fn temporal_layers(self) -> u8 {
        match self {
            Codec::Vp8 => 3,
            Codec::H264 | Codec::Opus => 1,
        }
    }

    /// The coarsest quantizer index (RFC 6386 section 9.6, ITU-T H.264 section
    /// 7.4.2.2); the finest is zero. Sound has none.
    #[must_use]
    pub const fn coarsest_quantizer(self) -> Option<u8> {
        match self {
            Codec::Vp8 => Some(127),
            Codec::H264 => Some(51),
            Codec::Opus => None,
        }
    }

    /// Ticks per second of its RTP timestamps (RFC 7741 section 6.1, RFC 6184
    /// section 8.2.1, RFC 7587 section 4.1).
    #[must_use]
    pub const fn clock_rate(self) -> u32 {
        match self {
            Codec::Vp8 | Codec::H264 => 90_000,
            Codec::Opus => 48_000,
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
