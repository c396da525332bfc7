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
    /// Pictures by ITU-T H.264. Our encoder and decoder know constrained baseline.
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
        self.properties().name
    }

    /// The name in session descriptions (RFC 7741 section 6.1, RFC 6184
    /// section 8.1, RFC 7587 section 6.1), where case does not matter.
    #[must_use]
    pub const fn encoding(self) -> &'static str {
        self.properties().encoding
    }

    /// What is compressed.
    #[must_use]
    pub const fn kind(self) -> MediaKind {
        self.properties().kind
    }

    /// The most temporal layers that its packets can tell apart (RFC 7741
    /// section 4.2, as our encoders make them; RFC 6184 has none): whoever
    /// forwards them may leave out the upper ones.
    #[must_use]
    pub const fn temporal_layers(self) -> u8 {
        self.properties().temporal_layers
    }

    /// The coarsest quantizer index (RFC 6386 section 9.6, ITU-T H.264 section
    /// 7.4.2.2); the finest is zero. Sound has none.
    #[must_use]
    pub const fn coarsest_quantizer(self) -> Option<u8> {
        match self.properties().quantizers {
            Some((coarsest, _)) => Some(coarsest),
            None => None,
        }
    }

    /// Between which quantizers a picture size is right. Sound has none.
    #[must_use]
    pub const fn quantizer_bounds(self) -> Option<QuantizerBounds> {
        match self.properties().quantizers {
            Some((_, bounds)) => Some(bounds),
            None => None,
        }
    }

    /// Ticks per second of its RTP timestamps (RFC 7741 section 6.1, RFC 6184
    /// section 8.2.1, RFC 7587 section 4.1).
    #[must_use]
    pub const fn clock_rate(self) -> u32 {
        self.properties().clock_rate
    }

    const fn properties(self) -> Properties {
        match self {
            Codec::Vp8 => Properties {
                name: "vp8",
                encoding: "VP8",
                kind: MediaKind::Video,
                temporal_layers: 3,
                quantizers: Some((127, QuantizerBounds::VP8)),
                clock_rate: 90_000,
            },
            Codec::H264 => Properties {
                name: "h264",
                encoding: "H264",
                kind: MediaKind::Video,
                temporal_layers: 1,
                quantizers: Some((51, QuantizerBounds::H264)),
                clock_rate: 90_000,
            },
            Codec::Opus => Properties {
                name: "opus",
                encoding: "opus",
                kind: MediaKind::Audio,
                temporal_layers: 1,
                quantizers: None,
                clock_rate: 48_000,
            },
        }
    }
}

/// What is known of a codec; the methods of [`Codec`] say what each means.
struct Properties {
    name: &'static str,
    encoding: &'static str,
    kind: MediaKind,
    temporal_layers: u8,
    /// The coarsest, and the bounds.
    quantizers: Option<(u8, QuantizerBounds)>,
    clock_rate: u32,
}

/// Quantizers between which a picture size is right, in the codec's own units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuantizerBounds {
    /// A mean of this or less: a larger picture would look better.
    pub low: u8,
    /// A mean above this: a smaller picture would look better.
    pub high: u8,
}

impl QuantizerBounds {
    /// VP8's index, 0 to 127 (libwebrtc, `libvpx_vp8_encoder.cc`:
    /// `kLowVp8QpThreshold`, `kHighVp8QpThreshold`).
    pub const VP8: QuantizerBounds = QuantizerBounds { low: 29, high: 95 };
    /// H.264's, 0 to 51 (libwebrtc, `h264_encoder_impl.cc`).
    pub const H264: QuantizerBounds = QuantizerBounds { low: 24, high: 37 };
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
