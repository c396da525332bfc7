//! How frames travel in RTP packets, one file or folder for each codec.
//!
//! A [`PayloadFormat`] cuts frames into the payloads of packets, reads them,
//! and says how the codec stands in session descriptions. Sessions, forwarders
//! and negotiation ask the format of a codec ([`format_of`]) and know none.

pub mod h264;
mod opus;
pub mod vp8;

use std::fmt;

use weft_units::Codec;

use crate::{ParseError, sdp};

/// The payload format of a codec.
#[must_use]
pub fn format_of(codec: Codec) -> &'static dyn PayloadFormat {
    match codec {
        Codec::Vp8 => &vp8::Format,
        Codec::H264 => &h264::Format,
        Codec::Opus => &opus::Format,
    }
}

/// A codec in the form that a payload type describes: what a sender sends, or
/// what a receiver takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A codec with one form only.
    Plain(Codec),
    /// H.264, which has profiles and modes of packetization.
    H264(h264::Form),
}

impl Form {
    /// The form of a payload type; `None` if it is none of our codecs.
    #[must_use]
    pub fn of(offered: &sdp::Payload) -> Option<Form> {
        let mut all = Codec::ALL.into_iter();
        all.find_map(|codec| format_of(codec).form(offered))
    }

    /// The form that our encoders make.
    #[must_use]
    pub const fn ours(codec: Codec) -> Form {
        match codec {
            Codec::H264 => Form::H264(h264::Form::OURS),
            Codec::Vp8 | Codec::Opus => Form::Plain(codec),
        }
    }

    /// The codec.
    #[must_use]
    pub const fn codec(self) -> Codec {
        match self {
            Form::Plain(codec) => codec,
            Form::H264(_) => Codec::H264,
        }
    }

    /// Whether a receiver that lists this form decodes a stream of the other
    /// one.
    #[must_use]
    pub fn decodes(self, stream: Form) -> bool {
        match (self, stream) {
            (Form::H264(own), Form::H264(stream)) => own.decodes(stream),
            (own, stream) => own == stream,
        }
    }

    /// Whether whoever decodes streams of one of both forms decodes the others,
    /// too.
    #[must_use]
    pub fn is_like(self, other: Form) -> bool {
        self.decodes(other) && other.decodes(self)
    }

    /// Rank among the forms of one codec that a publisher offers, the greatest
    /// first.
    #[must_use]
    pub fn preference(self) -> u8 {
        match self {
            Form::Plain(_) => 0,
            Form::H264(form) => form.preference(),
        }
    }

    /// Format parameters (`a=fmtp`) of an offer of this form, empty for none.
    #[must_use]
    pub fn parameters(self) -> String {
        match self {
            Form::Plain(codec) => format_of(codec).description().parameters.to_owned(),
            Form::H264(form) => form.parameters(),
        }
    }
}

/// As people read it.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(format_of(self.codec()).description().wanted)?;
        match self {
            Form::Plain(_) => Ok(()),
            Form::H264(form) => write!(f, " ({form})"),
        }
    }
}

/// One codec in RTP packets and in session descriptions.
pub trait PayloadFormat: Sync + fmt::Debug {
    /// How a receiver knows the first packet of a frame.
    fn first_packet(&self) -> FirstPacket;

    /// Whether parameter sets travel in packets, so that a keyframe is of no
    /// use before the first ones.
    fn has_parameters(&self) -> bool {
        false
    }

    /// Reads the payload of a packet.
    ///
    /// # Errors
    /// If it is none of this format.
    fn read<'a>(&self, payload: &'a [u8]) -> Result<Piece<'a>, ParseError>;

    /// Cuts a frame as the encoder gives it into parts with `max_payload` octets
    /// of it at most, and [`Prefix::MAX`] in front of them. Sound is not cut.
    fn cut<'a>(
        &self,
        frame: &'a [u8],
        numbers: PictureNumbers,
        max_payload: usize,
    ) -> Vec<Part<'a>>;

    /// A payload with another picture id, and its index of base layer pictures
    /// moved by `tl0_shift`, for forwarders that leave pictures out. `None` if
    /// the format numbers no pictures, and for what is no payload of it.
    fn renumbered(&self, payload: &[u8], picture_id: u16, tl0_shift: u8) -> Option<Vec<u8>> {
        let _ = (payload, picture_id, tl0_shift);
        None
    }

    /// How it stands in our session descriptions.
    fn description(&self) -> Description;

    /// The form of this codec that a payload type describes; `None` if it is
    /// another codec, or a form that weft cannot forward.
    fn form(&self, offered: &sdp::Payload) -> Option<Form>;

    /// The format parameters of our answer to `offered` ones.
    fn answered(&self, offered: &str) -> String {
        let _ = offered;
        self.description().parameters.to_owned()
    }
}

/// How a receiver knows the first packet of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstPacket {
    /// It says so: [`Start::Certain`].
    Marked,
    /// The packet before it has come with another timestamp, or it begins with
    /// what stands at the beginning of a picture: [`Start::Likely`].
    Inferred,
}

/// What one packet says of its frame, and what it carries of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece<'a> {
    /// What it says.
    pub info: PieceInfo,
    /// What it carries.
    pub body: Body<'a>,
}

/// What one packet says of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PieceInfo {
    /// Whether it is the first one of its frame.
    pub start: Start,
    /// A receiver that has seen nothing can begin with this packet.
    pub entry: bool,
    /// Has a part of a picture that refers to no other.
    pub intra: bool,
    /// Has a part of a picture that refers to others.
    pub delta: bool,
    /// Has parameters of a sequence of pictures.
    pub sequence_parameters: bool,
    /// Has parameters of pictures.
    pub picture_parameters: bool,
    /// Of its picture.
    pub numbers: PictureNumbers,
}

/// Whether a packet is the first one of its frame, the surest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Start {
    /// It is not, or does not say.
    Never,
    /// It is if nothing of the frame comes before it.
    Possible,
    /// It is unless another packet of the frame comes before it.
    Likely,
    /// It is.
    Certain,
}

/// Numbers and layers of a picture; the names are those of the VP8 payload
/// descriptor (RFC 7741 section 4.2). Formats that have none leave them out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PictureNumbers {
    /// Counts the pictures, 15 bits.
    pub picture_id: Option<u16>,
    /// Counts the pictures of the base temporal layer.
    pub tl0_picture_index: Option<u8>,
    /// From 0, the base layer.
    pub temporal_layer: Option<u8>,
    /// It refers to the base layer only: a receiver may go up to its layer.
    pub layer_sync: bool,
    /// No later picture refers to it.
    pub non_reference: bool,
}

/// What a packet carries of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// Octets of the frame as they are.
    Plain(&'a [u8]),
    /// NAL units, which a decoder takes as a byte stream.
    H264(h264::Payload<'a>),
}

/// What one packet is to carry of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<'a> {
    /// What is in it.
    pub content: Content,
    /// What stands in front of the data.
    pub prefix: Prefix,
    /// Octets of the frame.
    pub data: &'a [u8],
}

/// What a packet is worth to a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Pictures, sound, or what goes with them.
    Media,
    /// Nothing but parameters of a sequence of pictures, perhaps with those
    /// of pictures.
    SequenceParameters,
    /// Nothing but parameters of pictures.
    PictureParameters,
}

/// What a format puts in front of a packet's share of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Prefix {
    octets: [u8; Prefix::MAX],
    len: u8,
}

/// A codec in our session descriptions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// The payload type of our offers, from the dynamic range (RFC 3551 section
    /// 6): the one that browsers use for the same codec.
    pub payload_type: u8,
    /// The one of its retransmissions, if lost packets are sent again.
    pub rtx: Option<u8>,
    /// Channels of sound.
    pub channels: Option<u8>,
    /// Format parameters (`a=fmtp`) of all its forms, empty for none.
    pub parameters: &'static str,
    /// For people: what another side has to offer.
    pub wanted: &'static str,
}

impl PieceInfo {
    /// Of a packet that says nothing.
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
            non_reference: false,
        },
    };

    /// Belongs to a keyframe: a picture that refers to no other, or the
    /// parameters before it.
    #[must_use]
    pub const fn is_of_keyframe(&self) -> bool {
        self.intra || self.sequence_parameters || self.picture_parameters
    }

    /// What it is worth.
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
    /// Appends it as the decoder takes it.
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
    /// The longest: VP8's descriptor.
    pub const MAX: usize = 6;

    /// These octets, of which those beyond [`Prefix::MAX`] are lost.
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

    /// What was put in.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.len)]
    }
}

/// For people: what a session description has to offer one of.
#[must_use]
pub fn wanted(codecs: &[Codec]) -> String {
    let each = codecs.iter();
    one_of(each.map(|codec| format_of(*codec).description().wanted))
}

/// For people: the codecs that these payload types name, without those that
/// only repair or accompany others.
#[must_use]
pub fn listed(payloads: &[sdp::Payload]) -> String {
    const AUXILIARY: [&str; 6] = ["rtx", "red", "ulpfec", "flexfec", "CN", "telephone-event"];
    let mut names: Vec<String> = Vec::new();
    for payload in payloads {
        let is_auxiliary = AUXILIARY.iter().any(|name| payload.is(name));
        let name = match (Form::of(payload), payload.parameter("profile-level-id")) {
            (Some(form), _) => form.to_string(),
            (None, Some(profile)) => format!("{} ({profile})", payload.codec),
            (None, None) => payload.codec.clone(),
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

/// `a, b or c`.
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
