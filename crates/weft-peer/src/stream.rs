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

/// A stream that both sides agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NegotiatedStream {
    /// Its id in the session.
    pub stream: StreamId,
    /// The codec, as the payload type that was agreed on describes it.
    pub form: Form,
    /// Direction, seen from this side.
    pub direction: StreamDirection,
    /// Its place, from 0, among the streams of its kind and direction that the
    /// offer, or the answer's policy, asked for: those that were not agreed on
    /// keep theirs.
    pub place: usize,
    /// Its media section.
    pub mid: Option<Mid>,
    /// Encoding of the section, if it has several; each is a stream.
    pub rid: Option<Rid>,
    /// SSRC of what we send.
    pub ssrc: Option<Ssrc>,
}

impl NegotiatedStream {
    /// The codec that was agreed on.
    #[must_use]
    pub const fn codec(&self) -> Codec {
        self.form.codec()
    }
}
