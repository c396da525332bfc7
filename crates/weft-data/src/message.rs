use sctp_proto::PayloadProtocolIdentifier as Protocol;

/// Message of a data channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// Text: a string in a browser.
    Text(String),
    /// Bytes: an `ArrayBuffer` or `Blob` in a browser.
    Binary(Vec<u8>),
}

/// Returns the message as SCTP carries it: an empty message is one byte (RFC 8831 section 6.6).
pub(crate) fn encoded(message: &Message) -> (Protocol, &[u8]) {
    match message {
        Message::Text(text) if text.is_empty() => (Protocol::StringEmpty, &[0]),
        Message::Text(text) => (Protocol::String, text.as_bytes()),
        Message::Binary(bytes) if bytes.is_empty() => (Protocol::BinaryEmpty, &[0]),
        Message::Binary(bytes) => (Protocol::Binary, bytes),
    }
}

/// Decodes a message; `None` if the protocol does not denote a message.
pub(crate) fn decoded(protocol: Protocol, bytes: Vec<u8>) -> Option<Message> {
    Some(match protocol {
        Protocol::String => Message::Text(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
        Protocol::StringEmpty => Message::Text(String::new()),
        Protocol::Binary => Message::Binary(bytes),
        Protocol::BinaryEmpty => Message::Binary(Vec::new()),
        Protocol::Dcep | Protocol::Unknown => return None,
    })
}
