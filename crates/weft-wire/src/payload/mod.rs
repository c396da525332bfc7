//! Packetization of frames in RTP, one file or folder for each codec.
//!
//! A [`PayloadFormat`] splits frames into the payloads of packets, parses them, and
//! describes the codec in session descriptions. Sessions, forwarders and negotiation use
//! the format of a codec through [`format_of`], and depend on no specific one.

pub mod av1;
pub mod h264;
mod opus;
pub mod vp8;
mod vp9;

use std::fmt;

use weft_units::Codec;

use crate::{ParseError, sdp};

/// Returns the payload format of a codec.
#[must_use]
pub fn format_of(codec: Codec) -> &'static dyn PayloadFormat {
    match codec {
        Codec::Vp8 => &vp8::Format,
        Codec::H264 => &h264::Format,
        Codec::Vp9 => &vp9::Format,
        Codec::Av1 => &av1::Format,
        Codec::Opus => &opus::Format,
    }
}

/// Form of a codec, as described by a payload type: of a sender's stream, or a receiver's
/// capability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Codec with only one form.
    Plain(Codec),
    /// H.264, which has profiles and modes of packetization.
    H264(h264::Form),
    /// VP9 with this profile (RFC 9628 section 6).
    Vp9 {
        /// `profile-id`.
        profile: u8,
    },
    /// AV1, which has profiles, levels and tiers.
    Av1(av1::Form),
}

impl Form {
    /// Returns the form of a payload type; `None` if it is not one of our codecs, or has
    /// another clock rate than the codec's payload format, because its timestamps would
    /// mean other times.
    #[must_use]
    pub fn of(offered: &sdp::Payload) -> Option<Form> {
        let timed = |codec: &Codec| codec.clock_rate() == offered.clock_rate;
        let mut all = Codec::ALL.into_iter().filter(timed);
        all.find_map(|codec| format_of(codec).form(offered))
    }

    /// Returns the form of our encoders' streams, or the one that all receivers of a
    /// codec decode.
    #[must_use]
    pub const fn ours(codec: Codec) -> Form {
        match codec {
            Codec::H264 => Form::H264(h264::Form::OURS),
            Codec::Vp9 => Form::Vp9 { profile: 0 },
            Codec::Av1 => Form::Av1(av1::Form::DEFAULT),
            Codec::Vp8 | Codec::Opus => Form::Plain(codec),
        }
    }

    /// Returns the codec of the form.
    #[must_use]
    pub const fn codec(self) -> Codec {
        match self {
            Form::Plain(codec) => codec,
            Form::H264(_) => Codec::H264,
            Form::Vp9 { .. } => Codec::Vp9,
            Form::Av1(_) => Codec::Av1,
        }
    }

    /// Whether a receiver that lists this form decodes a stream of the other
    /// one.
    #[must_use]
    pub fn decodes(self, stream: Form) -> bool {
        match (self, stream) {
            (Form::H264(own), Form::H264(stream)) => own.decodes(stream),
            (Form::Av1(own), Form::Av1(stream)) => own.decodes(stream),
            (own, stream) => own == stream,
        }
    }

    /// Whether a decoder of either form decodes every stream of the other.
    #[must_use]
    pub fn is_like(self, other: Form) -> bool {
        self.decodes(other) && other.decodes(self)
    }

    /// Returns the rank among the forms of one codec that a publisher offers, the
    /// greatest first.
    #[must_use]
    pub fn preference(self) -> u8 {
        match self {
            Form::Plain(_) => 0,
            Form::H264(form) => form.preference(),
            // Most receivers decode the lowest profile.
            Form::Vp9 { profile } | Form::Av1(av1::Form { profile, .. }) => u8::MAX - profile,
        }
    }

    /// Returns the format parameters (`a=fmtp`) of an offer with this form; empty for
    /// none.
    #[must_use]
    pub fn parameters(self) -> String {
        match self {
            Form::Plain(codec) => format_of(codec).description().parameters.to_owned(),
            Form::H264(form) => form.parameters(),
            Form::Vp9 { profile } => format!("profile-id={profile}"),
            Form::Av1(form) => form.parameters(),
        }
    }
}

/// Formats the form for display.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(format_of(self.codec()).description().wanted)?;
        match self {
            Form::Plain(_) | Form::Vp9 { profile: 0 } => Ok(()),
            Form::Av1(av1::Form { profile: 0, .. }) => Ok(()),
            Form::Vp9 { profile } => write!(f, " (profile {profile})"),
            Form::Av1(form) => write!(f, " ({form})"),
            Form::H264(form) => write!(f, " ({form})"),
        }
    }
}

/// Payload format and session description of one codec.
pub trait PayloadFormat: Sync + fmt::Debug {
    /// Returns how a frame's first packet is recognised.
    fn first_packet(&self) -> FirstPacket;

    /// Whether packets carry parameter sets, without which a keyframe is useless.
    fn has_parameters(&self) -> bool {
        false
    }

    /// Parses the payload of a packet.
    ///
    /// # Errors
    /// If it does not have this format.
    fn read<'a>(&self, payload: &'a [u8]) -> Result<Piece<'a>, ParseError>;

    /// Splits a frame from the encoder into parts with at most `max_payload`
    /// octets, plus a prefix of at most [`Prefix::MAX`]. Sound is not split. Default: no
    /// parts, for codecs without an encoder.
    fn cut<'a>(
        &self,
        frame: &'a [u8],
        numbers: PictureNumbers,
        max_payload: usize,
    ) -> Vec<Part<'a>> {
        let _ = (frame, numbers, max_payload);
        Vec::new()
    }

    /// For forwarders that drop pictures: returns the payload's descriptor with another
    /// picture id and its index of base layer pictures moved by `tl0_shift`, and the
    /// number of octets that it replaces. `None` if the format does not number pictures,
    /// or the payload has another format.
    fn renumbered(
        &self,
        payload: &[u8],
        picture_id: u16,
        tl0_shift: u8,
    ) -> Option<(Prefix, usize)> {
        let _ = (payload, picture_id, tl0_shift);
        None
    }

    /// Whether the pictures after a dropped one are renumbered, so that receivers see no gap
    /// in the ids. Default true.
    fn closes_gaps(&self) -> bool {
        true
    }

    /// Whether packets may have a dependency descriptor, from which forwarders select
    /// layers.
    fn has_dependencies(&self) -> bool {
        false
    }

    /// Returns the codec in our session descriptions.
    fn description(&self) -> Description;

    /// Returns the form of this codec that a payload type describes; `None` for another
    /// codec, or a form that weft cannot forward.
    fn form(&self, offered: &sdp::Payload) -> Option<Form>;

    /// Returns the format parameters of our answer to the `offered` ones.
    fn answered(&self, offered: &str) -> String {
        let _ = offered;
        self.description().parameters.to_owned()
    }
}

/// Recognition of a frame's first packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstPacket {
    /// The packet is marked: [`Start::Certain`].
    Marked,
    /// The previous packet had another timestamp, or the packet starts with a
    /// unit that precedes all others of a picture: [`Start::Likely`].
    Inferred,
}

/// Information about a frame from one packet, with the packet's part of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece<'a> {
    /// Information about the frame.
    pub info: PieceInfo,
    /// Part of the frame.
    pub body: Body<'a>,
}

/// Information about a frame from one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PieceInfo {
    /// Whether the packet is the first one of its frame.
    pub start: Start,
    /// Whether a receiver can start with this packet.
    pub entry: bool,
    /// Whether it has a part of a picture that refers to no other picture.
    pub intra: bool,
    /// Whether it has a part of a picture that refers to other pictures.
    pub delta: bool,
    /// Whether it has parameters of a sequence of pictures.
    pub sequence_parameters: bool,
    /// Whether it has parameters of pictures.
    pub picture_parameters: bool,
    /// Numbers of its picture.
    pub numbers: PictureNumbers,
    /// Width and height in pixels, at the start of a keyframe of VP8 or VP9.
    pub size: Option<(u16, u16)>,
}

/// Whether a packet is the first one of its frame, in ascending certainty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Start {
    /// It is not the first, or the packet does not say.
    Never,
    /// It is the first if no packet of the frame precedes it.
    Possible,
    /// It is the first unless another packet of the frame precedes it.
    Likely,
    /// It is the first.
    Certain,
}

/// Numbers and layers of a picture, named as in the VP8 payload descriptor (RFC 7741
/// section 4.2). `None` in formats without them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PictureNumbers {
    /// Picture counter of 15 bits.
    pub picture_id: Option<u16>,
    /// Counter of the pictures of the base temporal layer.
    pub tl0_picture_index: Option<u8>,
    /// Temporal layer, from 0, the base layer.
    pub temporal_layer: Option<u8>,
    /// Whether it refers only to the base layer, so that a receiver can switch up to its
    /// layer.
    pub layer_sync: bool,
    /// Whether later pictures of higher layers refer to no earlier picture above its layer,
    /// so that a receiver can switch up to any layer at this picture.
    pub switching_up: bool,
    /// Whether no later picture refers to it.
    pub non_reference: bool,
}

/// Part of a frame in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// Octets of the frame, unchanged.
    Plain(&'a [u8]),
    /// NAL units, which a decoder receives as a byte stream.
    H264(h264::Payload<'a>),
}

/// Part of a frame for one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<'a> {
    /// Kind of content.
    pub content: Content,
    /// Prefix before the data.
    pub prefix: Prefix,
    /// Octets of the frame.
    pub data: &'a [u8],
}

/// Importance of a packet to a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Pictures or sound, with their metadata.
    Media,
    /// Only parameters of a sequence of pictures, possibly with those of
    /// pictures.
    SequenceParameters,
    /// Only parameters of pictures.
    PictureParameters,
}

/// Prefix that a format adds to a packet's part of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Prefix {
    octets: [u8; Prefix::MAX],
    len: u8,
}

/// Codec in our session descriptions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// Payload type of our offers, from the dynamic range (RFC 3551 section 6); the same
    /// as in browsers.
    pub payload_type: u8,
    /// Payload type of its retransmissions, if lost packets are retransmitted.
    pub rtx: Option<u8>,
    /// Number of audio channels.
    pub channels: Option<u8>,
    /// Format parameters (`a=fmtp`) common to all forms of the codec; empty for none.
    pub parameters: &'static str,
    /// Requirement on the other side's offer, for display.
    pub wanted: &'static str,
}

impl PieceInfo {
    /// Information from a packet that reveals nothing.
    const SILENT: PieceInfo = PieceInfo {
        start: Start::Never,
        entry: false,
        intra: false,
        delta: false,
        sequence_parameters: false,
        picture_parameters: false,
        numbers: PictureNumbers {
            picture_id: None,
            tl0_picture_index: None,
            temporal_layer: None,
            layer_sync: false,
            switching_up: false,
            non_reference: false,
        },
        size: None,
    };

    /// Whether the packet belongs to a keyframe: a picture that refers to no other, or
    /// the parameters before it.
    #[must_use]
    pub const fn is_of_keyframe(&self) -> bool {
        self.intra || self.sequence_parameters || self.picture_parameters
    }

    /// Returns the importance of the packet.
    #[must_use]
    pub const fn content(&self) -> Content {
        match self {
            info if info.intra || info.delta => Content::Media,
            info if info.sequence_parameters => Content::SequenceParameters,
            info if info.picture_parameters => Content::PictureParameters,
            _ => Content::Media,
        }
    }
}

impl Body<'_> {
    /// Appends it in the decoder's form.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Body::Plain(octets) => out.extend_from_slice(octets),
            Body::H264(payload) => payload.write_stream(out),
        }
    }
}

impl Part<'_> {
    /// Appends the RTP payload.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.prefix.octets());
        out.extend_from_slice(self.data);
    }
}

impl Prefix {
    /// Maximum length: that of VP8's descriptor.
    pub const MAX: usize = 6;

    /// Creates a prefix of these octets, truncated at [`Prefix::MAX`].
    #[must_use]
    pub fn new(octets: &[u8]) -> Prefix {
        let len = octets.len().min(Prefix::MAX);
        let mut prefix = Prefix {
            len: len as u8,
            ..Prefix::default()
        };
        prefix.octets[..len].copy_from_slice(&octets[..len]);
        prefix
    }

    /// Returns the octets of the prefix.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.len)]
    }
}

/// Returns the requirement for display: the codecs of which a session description must
/// offer one.
#[must_use]
pub fn wanted(codecs: &[Codec]) -> String {
    let each = codecs.iter();
    one_of(each.map(|codec| format_of(*codec).description().wanted))
}

/// Returns the codecs named by these payload types, for display, without those that only
/// repair or accompany others.
#[must_use]
pub fn listed(payloads: &[sdp::Payload]) -> String {
    const AUXILIARY: [&str; 6] = ["rtx", "red", "ulpfec", "flexfec", "CN", "telephone-event"];
    let mut names: Vec<String> = Vec::new();
    for payload in payloads {
        let is_auxiliary = AUXILIARY.iter().any(|name| payload.is(name));
        let name = match Form::of(payload) {
            Some(form) => form.to_string(),
            None if has_other_clock(payload) => {
                format!(
                    "{} with a clock of {} Hz",
                    payload.codec, payload.clock_rate
                )
            }
            None if payload.is("H264") => h264::unsupported(payload),
            None => payload.codec.clone(),
        };
        if !is_auxiliary && !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    match names.is_empty() {
        true => "no codec".to_owned(),
        false => one_of(names),
    }
}

/// Whether it is one of our codecs with another clock rate than its payload format.
fn has_other_clock(payload: &sdp::Payload) -> bool {
    let mut codecs = Codec::ALL.into_iter();
    let same = codecs.find(|codec| payload.is(codec.encoding()));
    same.is_some_and(|codec| codec.clock_rate() != payload.clock_rate)
}

/// Formats names as `a, b or c`.
#[must_use]
pub fn one_of(names: impl IntoIterator<Item = impl fmt::Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    match &names[..] {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests;
