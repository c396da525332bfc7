use weft_units::{Codec, Ssrc, StreamId};
use weft_wire::payload::Form;
use weft_wire::rtp::{Mid, Rid};

/// Direction of media in a section, seen from this side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamDirection {
    /// We send.
    Send,
    /// We receive.
    Receive,
}

/// Negotiated stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NegotiatedStream {
    /// Id in the session.
    pub stream: StreamId,
    /// Codec, as the negotiated payload type describes it.
    pub form: Form,
    /// Direction, seen from this side.
    pub direction: StreamDirection,
    /// Index, from 0, among the streams of its kind and direction in the offer or in the
    /// answer's policy. Streams that were not negotiated keep their index.
    pub place: usize,
    /// Media section.
    pub mid: Option<Mid>,
    /// Encoding, if the section has several; each one is a stream.
    pub rid: Option<Rid>,
    /// SSRC that we send with.
    pub ssrc: Option<Ssrc>,
}

impl NegotiatedStream {
    /// Returns the negotiated codec.
    #[must_use]
    pub const fn codec(&self) -> Codec {
        self.form.codec()
    }
}
