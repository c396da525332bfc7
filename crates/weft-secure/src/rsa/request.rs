//! The CertificateRequest of DTLS 1.2 (RFC 5246 section 7.4.4), in a flight and
//! in the transcript.

use std::borrow::Cow;

/// ContentType of a handshake record (RFC 5246 section 6.2.1).
const HANDSHAKE: u8 = 22;
/// Length of a record's header in bytes: type, version, epoch, sequence number, length
/// (RFC 6347 section 4.1).
const RECORD_HEADER: usize = 13;
/// Length of a message's header in bytes: type, length, sequence number, offset and
/// length of the fragment (RFC 6347 section 4.2.2).
const MESSAGE_HEADER: usize = 12;
/// HandshakeType values (RFC 5246 section 7.4).
const CLIENT_HELLO: u8 = 1;
const CERTIFICATE_REQUEST: u8 = 13;
/// ClientCertificateType `rsa_sign`.
const RSA_SIGN: u8 = 1;
/// `rsa_pkcs1_sha256` and `rsa_pkcs1_sha384`. Not `rsa_pss`: a client may
/// choose it if it is listed, and no client needs it in DTLS 1.2.
const RSA_SCHEMES: [u8; 4] = [4, 1, 5, 1];

/// Returns a datagram of our flight with RSA added to its CertificateRequest, which makes
/// it five bytes longer. A datagram without a request is unchanged.
pub(crate) fn widen_request(datagram: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::with_capacity(datagram.len() + 16);
    let mut rest = datagram;
    let mut found = false;
    while let Some((header, body, after)) = record(rest) {
        let plain = header[0] == HANDSHAKE && header[3..5] == [0, 0];
        let body = match plain.then(|| widen_messages(body)).flatten() {
            Some(wider) => {
                found = true;
                Cow::Owned(wider)
            }
            None => Cow::Borrowed(body),
        };
        out.extend_from_slice(&header[..RECORD_HEADER - 2]);
        // A record has fewer than 2^14 bytes.
        out.extend_from_slice(&(body.len() as u16).to_be_bytes());
        out.extend_from_slice(&body);
        rest = after;
    }
    out.extend_from_slice(rest);
    if found { out.into() } else { datagram.into() }
}

/// Returns the transcript of DTLS 1.2 as the client saw it. Other hash inputs are
/// unchanged, including the transcript of DTLS 1.3: it has the version 0xFEFD at the
/// position of a DTLS 1.2 message's sequence number.
pub(super) fn widen_transcript(data: &[u8]) -> Cow<'_, [u8]> {
    match data {
        [CLIENT_HELLO, _, _, _, 0, ..] => {
            widen_messages(data).map_or(Cow::Borrowed(data), Cow::Owned)
        }
        _ => data.into(),
    }
}

/// Returns whole messages with a wider CertificateRequest; `None` if they include no
/// request, or a fragment.
fn widen_messages(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(rest.len() + 16);
    let mut found = false;
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(MESSAGE_HEADER)?;
        let whole = header[6..9] == [0; 3] && header[9..12] == header[1..4];
        let len = u32::from_be_bytes([0, header[1], header[2], header[3]]) as usize;
        let (body, after) = after.split_at_checked(len).filter(|_| whole)?;
        if header[0] == CERTIFICATE_REQUEST {
            let body = widen_body(body)?;
            let [_, len @ ..] = (body.len() as u32).to_be_bytes();
            out.push(CERTIFICATE_REQUEST);
            out.extend_from_slice(&len);
            out.extend_from_slice(&header[4..9]);
            out.extend_from_slice(&len);
            out.extend_from_slice(&body);
            found = true;
        } else {
            out.extend_from_slice(header);
            out.extend_from_slice(body);
        }
        rest = after;
    }
    found.then_some(out)
}

/// Returns the body with RSA added at the end of its lists of certificate types and of
/// signature algorithms.
fn widen_body(body: &[u8]) -> Option<Vec<u8>> {
    let (&types, rest) = body.split_first()?;
    let (types, rest) = rest.split_at_checked(usize::from(types))?;
    let (schemes, rest) = rest.split_first_chunk()?;
    let (schemes, authorities) =
        rest.split_at_checked(usize::from(u16::from_be_bytes(*schemes)))?;
    let mut out = vec![u8::try_from(types.len() + 1).ok()?];
    out.extend_from_slice(types);
    out.push(RSA_SIGN);
    let len = u16::try_from(schemes.len() + RSA_SCHEMES.len()).ok()?;
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(schemes);
    out.extend_from_slice(&RSA_SCHEMES);
    out.extend_from_slice(authorities);
    Some(out)
}

/// Splits a datagram into the first record's header, its body, and the rest.
fn record(datagram: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (header, rest) = datagram.split_at_checked(RECORD_HEADER)?;
    let len = usize::from(u16::from_be_bytes([header[11], header[12]]));
    let (body, rest) = rest.split_at_checked(len)?;
    Some((header, body, rest))
}
