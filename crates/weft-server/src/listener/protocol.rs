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
/// First octet of every TLS connection: record type handshake (RFC 8446
/// section 5.1).
const TLS_HANDSHAKE: u8 = 22;
const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\
Connection: close\r\n\r\n{\"error\":\"This server speaks HTTPS.\",\"remedy\":\"Use https:// in the address.\"}";

/// Octets of a TURN connection that the system holds before it sends them. The
/// default is megabytes, seconds of media on a slow link, of which its congestion
/// control would learn too late. Chosen by us: 100 ms at 2.5 Mbit/s.
const UNSENT: u32 = 32 * 1024;

/// Accepted connection, by what its first octets are.
pub(super) enum Accepted {
    Http(Stream),
    Turn(Stream),
}

/// Makes the TLS handshake, and tells TURN from HTTP if `turn` says how long to
/// wait for the first octet.
pub(super) async fn identified(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    turn: Option<Duration>,
) -> io::Result<Accepted> {
    let secured = match tls {
        None => Secured::Not(stream),
        Some(tls) => timely(HANDSHAKE_TIMEOUT, secured(stream, tls, turn.is_some())).await?,
    };
    match (secured, turn) {
        (Secured::Not(stream), None) => Ok(Accepted::Http(Box::pin(stream))),
        (Secured::Tls(stream), None) => Ok(Accepted::Http(Box::pin(stream))),
        (Secured::Not(stream), Some(wait)) => {
            if !is_stun(timely(wait, first_octet(&stream)).await?) {
                return Ok(Accepted::Http(Box::pin(stream)));
            }
            prepare_for_media(&stream);
            Ok(Accepted::Turn(Box::pin(stream)))
        }
        (Secured::Tls(stream), Some(wait)) => {
            // A buffer of one octet, because it is only for the first.
            let mut stream = BufReader::with_capacity(1, stream);
            let first = timely(wait, stream.fill_buf()).await?.first().copied();
            if !is_stun(first) {
                return Ok(Accepted::Http(Box::pin(stream)));
            }
            prepare_for_media(stream.get_ref().get_ref().0);
            Ok(Accepted::Turn(Box::pin(stream)))
        }
    }
}

enum Secured {
    Tls(Box<TlsStream<TcpStream>>),
    /// Plain HTTP, or TURN without TLS, which clients use where they do not trust
    /// the certificate.
    Not(TcpStream),
}

async fn secured(mut stream: TcpStream, tls: TlsAcceptor, turn: bool) -> io::Result<Secured> {
    let first = first_octet(&stream).await?;
    if turn && is_stun(first) {
        return Ok(Secured::Not(stream));
    }
    if first.is_some_and(|first| first != TLS_HANDSHAKE) {
        stream.write_all(NOT_TLS).await?;
        stream.shutdown().await?;
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Secured::Tls(Box::new(tls.accept(stream).await?)))
}

/// Returns the first octet without reading it; `None` at the end.
async fn first_octet(stream: &TcpStream) -> io::Result<Option<u8>> {
    let mut first = [0; 1];
    let length = stream.peek(&mut first).await?;
    Ok(first[..length].first().copied())
}

fn is_stun(first: Option<u8>) -> bool {
    first.is_some_and(|first| STUN_OCTETS.contains(&first))
}

async fn timely<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(limit, work).await?
}

/// Sets a socket option. Ignores it where the system lacks it.
fn prepare_for_media(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    let _ = SockRef::from(stream).set_tcp_notsent_lowat(UNSENT);
}
