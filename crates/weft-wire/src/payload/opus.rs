//! Opus in RTP (RFC 7587): each packet is a frame.

use weft_units::Codec;

use super::{
    Body, Content, Description, FirstPacket, Form, Part, PayloadFormat, PictureNumbers, Piece,
    PieceInfo, Prefix, Start,
};
use crate::{ParseError, sdp};

/// Opus as a payload format.
#[derive(Debug)]
pub(super) struct Format;

impl PayloadFormat for Format {
    fn first_packet(&self) -> FirstPacket {
        FirstPacket::Marked
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<Piece<'a>, ParseError> {
        Ok(Piece {
            info: PieceInfo {
                start: Start::Certain,
                entry: true,
                ..PieceInfo::SILENT
            },
            body: Body::Plain(payload),
        })
    }

    fn cut<'a>(&self, frame: &'a [u8], _: PictureNumbers, _: usize) -> Vec<Part<'a>> {
        vec![Part {
            content: Content::Media,
            prefix: Prefix::default(),
            data: frame,
        }]
    }

    fn description(&self) -> Description {
        Description {
            payload_type: 111,
            rtx: None,
            channels: Some(2),
            parameters: "minptime=10;useinbandfec=1",
            wanted: "Opus (audio/48000/2)",
        }
    }

    fn form(&self, offered: &sdp::Payload) -> Option<Form> {
        let is_same = offered.is(Codec::Opus.encoding());
        is_same.then_some(Form::Plain(Codec::Opus))
    }
}
