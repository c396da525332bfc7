//! Protocol of a new connection, by its first octets.

use crate::stream::Stream;
use crate::turn::STUN_OCTETS;
use socket2::SockRef;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Longest TLS handshake. Chosen by us: many round trips over a bad link.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum wait for the first octets if HTTP is not the only protocol. Chosen by us: the
/// same as for a silent HTTP connection.
const FIRST_OCTETS: Duration = Duration::from_secs(30);
/// First pause before more octets are examined; each further one is twice as long, so
/// that thousands of connections that start and stop cost little. Chosen by us: the first
/// octets arrive together, unless a client splits them.
const MORE_OCTETS: Duration = Duration::from_millis(20);
/// Number of octets that distinguish the protocols: the length of a check and all of it.
/// The first octet of the length also looks like one of STUN, so it is less than 1,024.
const MOST_OPENING: usize = 2 + 1023;
/// Magic cookie of STUN (RFC 8489 section 5), after type and length.
const STUN_COOKIE: [u8; 4] = [0x21, 0x12, 0xa4, 0x42];
/// First octet of every TLS connection: record type handshake (RFC 8446
/// section 5.1).
const TLS_HANDSHAKE: u8 = 22;
const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\
Connection: close\r\n\r\n{\"error\":\"This server speaks HTTPS.\",\"remedy\":\"Use https:// in the address.\"}";

/// Maximum number of octets of a media connection that the system holds before it sends
/// them. The default is megabytes: seconds of media on a slow link, which its congestion
/// control would notice too late. Chosen by us: 100 ms at 2.5 Mbit/s.
const UNSENT: u32 = 32 * 1024;

/// Accepted connection, by its first octets.
pub(super) enum Accepted {
    Http(Stream),
    Turn(Stream),
    /// Connection for media, and its check, which was not read from it.
    Media(std::net::TcpStream, Vec<u8>),
}

/// Protocols that are served in addition to HTTP.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Protocols {
    pub(super) turn: bool,
    pub(super) media: bool,
}

/// Identifies the protocol of a connection, after the TLS handshake if there is one.
pub(super) async fn identified(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    beside: Protocols,
) -> io::Result<Accepted> {
    let secured = match tls {
        None if beside == Protocols::default() => Secured::Not(stream, Opening::Other(None)),
        None => {
            let opening = timely(FIRST_OCTETS, opening(&stream, beside)).await?;
            Secured::Not(stream, opening)
        }
        Some(tls) => timely(HANDSHAKE_TIMEOUT, secured(stream, tls, beside)).await?,
    };
    match secured {
        Secured::Not(stream, Opening::Other(_)) => Ok(Accepted::Http(Box::pin(stream))),
        Secured::Not(stream, Opening::Turn) => {
            prepare_for_media(&stream);
            Ok(Accepted::Turn(Box::pin(stream)))
        }
        Secured::Not(stream, Opening::Check(check)) => {
            prepare_for_media(&stream);
            Ok(Accepted::Media(stream.into_std()?, check))
        }
        Secured::Tls(stream) if !beside.turn => Ok(Accepted::Http(Box::pin(stream))),
        Secured::Tls(stream) => {
            // A buffer of one octet, because it is only for the first.
            let mut stream = BufReader::with_capacity(1, stream);
            let first = timely(FIRST_OCTETS, stream.fill_buf()).await?;
            if !is_stun(first.first().copied()) {
                return Ok(Accepted::Http(Box::pin(stream)));
            }
            prepare_for_media(stream.get_ref().get_ref().0);
            Ok(Accepted::Turn(Box::pin(stream)))
        }
    }
}

enum Secured {
    Tls(Box<TlsStream<TcpStream>>),
    /// Plain HTTP; media; or TURN without TLS, which clients use if they do not trust the
    /// certificate.
    Not(TcpStream, Opening),
}

async fn secured(
    mut stream: TcpStream,
    tls: TlsAcceptor,
    beside: Protocols,
) -> io::Result<Secured> {
    let opening = opening(&stream, beside).await?;
    let Opening::Other(first) = opening else {
        return Ok(Secured::Not(stream, opening));
    };
    if first.is_some_and(|first| first != TLS_HANDSHAKE) {
        stream.write_all(NOT_TLS).await?;
        stream.shutdown().await?;
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Secured::Tls(Box::new(tls.accept(stream).await?)))
}

/// First octets of a connection.
#[derive(Debug, PartialEq, Eq)]
enum Opening {
    /// STUN message.
    Turn,
    /// STUN message after its length (RFC 4571).
    Check(Vec<u8>),
    /// Another protocol that starts with this octet; `None` at the end.
    Other(Option<u8>),
}

/// Returns the first octets without reading them.
async fn opening(stream: &TcpStream, beside: Protocols) -> io::Result<Opening> {
    let mut octets = [0; MOST_OPENING];
    let mut pauses = pauses();
    loop {
        let length = stream.peek(&mut octets).await?;
        if let Some(opening) = Opening::of(&octets[..length], beside) {
            return Ok(opening);
        }
        // The system does not report when more octets have arrived.
        tokio::time::sleep(pauses.next().unwrap_or(FIRST_OCTETS)).await;
    }
}

/// Pauses between examinations of the first octets, within the time limit.
fn pauses() -> impl Iterator<Item = Duration> {
    let doubled = |pause: &Duration| Some(*pause * 2);
    std::iter::successors(Some(MORE_OCTETS), doubled).take_while(|pause| *pause < FIRST_OCTETS)
}

impl Opening {
    /// Opening of a connection that starts with these octets; `None` if more octets are needed.
    fn of(octets: &[u8], beside: Protocols) -> Option<Opening> {
        let first = octets.first().copied();
        if !is_stun(first) || beside == Protocols::default() {
            return Some(Opening::Other(first));
        }
        let is_check = octets.get(6..10)? == STUN_COOKIE;
        if !(is_check && beside.media) {
            return Some(match beside.turn {
                true => Opening::Turn,
                false => Opening::Other(first),
            });
        }
        let (length, rest) = octets.split_first_chunk()?;
        let check = rest.get(..usize::from(u16::from_be_bytes(*length)))?;
        Some(Opening::Check(check.to_vec()))
    }
}

fn is_stun(first: Option<u8>) -> bool {
    first.is_some_and(|first| STUN_OCTETS.contains(&first))
}

async fn timely<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(limit, work).await?
}

/// Sets a socket option. Ignores it if the system does not support it.
fn prepare_for_media(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    let _ = SockRef::from(stream).set_tcp_notsent_lowat(UNSENT);
}

/// Identifies a protocol: a result for the first octets must be the same as for all octets.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_opening(octets: &[u8]) {
    let (turn, media) = (true, true);
    let all = Opening::of(octets, Protocols { turn, media });
    for length in 1..octets.len() {
        let early = Opening::of(&octets[..length], Protocols { turn, media });
        assert!(early.is_none() || early == all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Protocols = Protocols {
        turn: true,
        media: true,
    };

    /// Binding request without attributes.
    fn check() -> Vec<u8> {
        let mut check = vec![0, 1, 0, 0];
        check.extend(STUN_COOKIE);
        check.extend([7; 12]);
        check
    }

    #[test]
    fn protocols_differ_in_their_first_octets_however_these_are_divided() {
        let framed = [&[0, 20][..], &check()].concat();
        let media = Opening::Check(check());
        for (stream, opening) in [
            (&framed[..], media),
            (&check(), Opening::Turn),
            (b"GET /", Opening::Other(Some(b'G'))),
            (&[TLS_HANDSHAKE, 3, 1], Opening::Other(Some(TLS_HANDSHAKE))),
        ] {
            assert_eq!(Opening::of(stream, BOTH), Some(opening));
            for cut in 1..stream.len() {
                let early = Opening::of(&stream[..cut], BOTH);
                assert!(
                    early.is_none() || early == Opening::of(stream, BOTH),
                    "{cut} octets of {stream:x?}"
                );
            }
        }
        assert_eq!(Opening::of(&[], BOTH), Some(Opening::Other(None)));
    }

    #[test]
    fn an_unfinished_opening_is_looked_at_a_dozen_times_and_never_much_too_late() {
        let mut waited = Duration::ZERO;
        let mut looks = 0;
        for pause in pauses() {
            assert!(pause <= waited + MORE_OCTETS, "{pause:?} after {waited:?}");
            waited += pause;
            looks += 1;
        }
        assert!((8..=12).contains(&looks), "{looks} looks in {waited:?}");
        assert!(waited * 2 > FIRST_OCTETS, "no look after {waited:?}");
    }

    #[test]
    fn a_protocol_that_is_not_served_counts_as_another() {
        let framed = [&[0, 20][..], &check()].concat();
        let only = |turn, media| Protocols { turn, media };
        let other = Some(Opening::Other(Some(0)));
        assert_eq!(Opening::of(&check(), only(false, true)), other);
        assert_eq!(Opening::of(&framed, only(false, false)), other);
        assert_eq!(
            Opening::of(&framed, only(true, false)),
            Some(Opening::Turn),
            "which refuses it"
        );
    }
}
