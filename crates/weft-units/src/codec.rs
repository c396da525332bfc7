use std::fmt;

/// Kind of media.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MediaKind {
    /// Sound: every packet is a separate frame.
    Audio,
    /// Video: frames of several packets that refer to each other.
    Video,
}

/// Codec of sound or video.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Codec {
    /// Video codec of RFC 6386.
    Vp8,
    /// Video codec of ITU-T H.264. Our encoder and decoder support constrained
    /// baseline.
    H264,
    /// Video codec of RFC 9628, which weft forwards and neither encodes nor decodes.
    Vp9,
    /// Video codec of the Alliance for Open Media, likewise.
    Av1,
    /// Audio codec of RFC 6716.
    Opus,
}

impl Codec {
    /// All variants, in order of preference within each kind.
    pub const ALL: [Codec; 5] = [Codec::Vp8, Codec::H264, Codec::Vp9, Codec::Av1, Codec::Opus];
    /// Codecs that weft encodes and decodes, in order of preference within each kind.
    pub const CODED: [Codec; 3] = [Codec::Vp8, Codec::H264, Codec::Opus];

    /// Codecs of one kind that weft encodes and decodes, in order of preference.
    pub fn of_kind(kind: MediaKind) -> impl Iterator<Item = Codec> {
        Codec::CODED.into_iter().filter(move |c| c.kind() == kind)
    }

    /// Returns the codec that weft encodes and decodes by its [`Codec::name`].
    #[must_use]
    pub fn named(name: &str) -> Option<Codec> {
        Codec::CODED.into_iter().find(|c| c.name() == name)
    }

    /// Name on the command line and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// Name in session descriptions, where case does not matter (RFC 7741
    /// section 6.1, RFC 6184 section 8.1, RFC 7587 section 6.1).
    #[must_use]
    pub const fn encoding(self) -> &'static str {
        self.properties().encoding
    }

    /// Kind of media.
    #[must_use]
    pub const fn kind(self) -> MediaKind {
        self.properties().kind
    }

    /// Maximum number of temporal layers that its packets can distinguish (RFC
    /// 7741 section 4.2, as our encoders make them; RFC 6184 has none): a
    /// forwarder may drop the upper ones.
    #[must_use]
    pub const fn temporal_layers(self) -> u8 {
        self.properties().temporal_layers
    }

    /// Coarsest quantizer index (RFC 6386 section 9.6, ITU-T H.264 section
    /// 7.4.2.2); the finest is zero. `None` for sound, and for codecs that weft does not
    /// encode.
    #[must_use]
    pub const fn coarsest_quantizer(self) -> Option<u8> {
        match self.properties().quantizers {
            Some((coarsest, _)) => Some(coarsest),
            None => None,
        }
    }

    /// Quantizers between which a picture size is right. `None` as for
    /// [`Codec::coarsest_quantizer`].
    #[must_use]
    pub const fn quantizer_bounds(self) -> Option<QuantizerBounds> {
        match self.properties().quantizers {
            Some((_, bounds)) => Some(bounds),
            None => None,
        }
    }

    /// Clock rate of its RTP timestamps in ticks per second (RFC 7741 section
    /// 6.1, RFC 6184 section 8.2.1, RFC 7587 section 4.1).
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
            Codec::Vp9 => Properties {
                name: "vp9",
                encoding: "VP9",
                kind: MediaKind::Video,
                temporal_layers: 4,
                quantizers: None,
                clock_rate: 90_000,
            },
            Codec::Av1 => Properties {
                name: "av1",
                encoding: "AV1",
                kind: MediaKind::Video,
                temporal_layers: 4,
                quantizers: None,
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

/// Properties of a codec; the methods of [`Codec`] document them.
struct Properties {
    name: &'static str,
    encoding: &'static str,
    kind: MediaKind,
    temporal_layers: u8,
    /// Coarsest index, and the bounds.
    quantizers: Option<(u8, QuantizerBounds)>,
    clock_rate: u32,
}

/// Quantizers between which a picture size is right, in the codec's own units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuantizerBounds {
    /// Mean at or below which a larger picture would look better.
    pub low: u8,
    /// Mean above which a smaller picture would look better.
    pub high: u8,
}

impl QuantizerBounds {
    /// Bounds of VP8's index, 0 to 127 (libwebrtc, `libvpx_vp8_encoder.cc`:
    /// `kLowVp8QpThreshold`, `kHighVp8QpThreshold`).
    pub const VP8: QuantizerBounds = QuantizerBounds { low: 29, high: 95 };
    /// Bounds of H.264's quantizer, 0 to 51 (libwebrtc,
    /// `h264_encoder_impl.cc`).
    pub const H264: QuantizerBounds = QuantizerBounds { low: 24, high: 37 };
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
