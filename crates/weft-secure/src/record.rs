//! Unencrypted DTLS records, as far as an observer can read them.

/// ContentType values (RFC 5246 section 6.2.1).
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
/// AlertLevel `fatal` (RFC 5246 section 7.2).
const FATAL: u8 = 2;

/// Position of a piece of a handshake: number of the message, offset of the fragment (RFC
/// 6347 section 4.2.2). It increases during a handshake.
pub(crate) type Position = (u16, u32);

/// Returns the position of a datagram's first record in the handshake, if it is an
/// unencrypted handshake record.
pub(crate) fn position(datagram: &[u8]) -> Option<Position> {
    let [_, _, _, _, number @ .., a, b, c, _, _, _] =
        plain(datagram, HANDSHAKE)?.first_chunk::<12>()?;
    let number = u16::from_be_bytes(*number);
    Some((number, u32::from_be_bytes([0, *a, *b, *c])))
}

/// Returns the description in an unencrypted fatal alert.
pub(crate) fn fatal_alert(datagram: &[u8]) -> Option<u8> {
    match plain(datagram, ALERT)? {
        [FATAL, description, ..] => Some(*description),
        _ => None,
    }
}

/// Returns the content of the first record, if it has this type and epoch 0.
fn plain(datagram: &[u8], kind: u8) -> Option<&[u8]> {
    match datagram {
        [first, _, _, 0, 0, _, _, _, _, _, _, _, _, content @ ..] if *first == kind => {
            Some(content)
        }
        _ => None,
    }
}
