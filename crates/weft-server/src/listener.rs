mod protocol;

#[cfg(any(test, fuzzing))]
pub(crate) use protocol::fuzz_opening;

use crate::config::Limits;
use crate::http_slots::{HttpSlot, HttpSlots, Known};
use crate::log::NotAccepted;
use crate::media_plane::{MediaPlane, MediaStream};
use crate::refusals::Refusals;
use crate::reload::Certificate;
use crate::stream::Stream;
use crate::turn::TurnServer;
use axum::serve::Listener;
use protocol::{Accepted, Protocols, identified};
use socket2::{SockRef, TcpKeepalive};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

/// Longest time without a write to a connection. Requests get an answer within
/// seconds, and event streams send a comment every 15 seconds: a connection
/// that is silent for longer has no request, sends one too slowly, or does not
/// read the answer. Chosen by us.
const SILENCE: Duration = Duration::from_secs(30);
/// Longest request body: the SDP of a browser with many interfaces has 10 kB.
pub(crate) const MAX_BODY: usize = 64 * 1024;
/// Maximum number of bytes read before part of the answer is written: the
/// longest body and the same for headers, of which hyper alone would accept 400
/// kB. Chosen by us.
const MOST_READ: usize = 2 * MAX_BODY;
/// Pause when the system has no file descriptor for another connection.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);
/// Errors "no file descriptor left" for the process and the system (EMFILE,
/// ENFILE: the same numbers on all systems that weft supports).
const NO_DESCRIPTOR: [i32; 2] = [24, 23];

/// Accepts connections, with or without TLS, up to the limit. Handshakes do not
/// wait for each other.
pub(crate) struct Connections {
    ready: mpsc::Receiver<(Connection, SocketAddr)>,
    address: SocketAddr,
}

/// Servers of other protocols on the port of HTTP.
#[derive(Clone, Default)]
pub(crate) struct BesideHttp {
    /// Server of TURN.
    pub(crate) turn: Option<Arc<TurnServer>>,
    /// Receiver of TCP connections for media.
    pub(crate) media: Option<Arc<dyn MediaPlane>>,
}

impl BesideHttp {
    fn protocols(&self) -> Protocols {
        Protocols {
            turn: self.turn.is_some(),
            media: self.media.is_some(),
        }
    }
}

/// HTTP connection.
pub(crate) struct Connection {
    io: Stream,
    /// Timer that closes the connection, restarted by every write.
    end: Pin<Box<Sleep>>,
    /// Bytes read since the last write.
    read: usize,
    slot: HttpSlot,
    /// Whether its slot was given to another connection.
    is_over: bool,
}

impl Connections {
    /// Starts to accept HTTP and the other protocols on its port. Needs a tokio runtime.
    pub(crate) fn start(
        listener: std::net::TcpListener,
        tls: Option<Arc<Certificate>>,
        beside: BesideHttp,
        limits: Limits,
        refusals: Arc<Refusals>,
    ) -> io::Result<Connections> {
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let (sender, ready) = mpsc::channel(16);
        let (all, per_address) = (limits.http_connections, limits.http_connections_per_address);
        let slots = HttpSlots::new(all, per_address, refusals);
        tokio::spawn(accept_all(listener, (tls, beside), slots, sender));
        Ok(Connections { ready, address })
    }
}

async fn accept_all(
    listener: TcpListener,
    (tls, beside): (Option<Arc<Certificate>>, BesideHttp),
    slots: HttpSlots,
    sender: mpsc::Sender<(Connection, SocketAddr)>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = sender.closed() => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if error
                    .raw_os_error()
                    .is_some_and(|n| NO_DESCRIPTOR.contains(&n))
                {
                    slots.make_room(NotAccepted::Descriptors);
                }
                tokio::time::sleep(EXHAUSTED_PAUSE).await;
                continue;
            }
        };
        let slot = tokio::select! {
            slot = slots.enter(peer.ip()) => slot,
            () = sender.closed() => return,
        };
        let Some(mut slot) = slot else {
            continue;
        };
        prepare(&stream);
        let acceptor = tls.as_ref().map(|tls| tls.acceptor());
        let (sender, beside) = (sender.clone(), beside.clone());
        tokio::spawn(async move {
            let accepted = tokio::select! {
                accepted = identified(stream, acceptor, beside.protocols()) => accepted,
                _ = &mut slot.ends => return,
            };
            let BesideHttp { turn, media } = beside;
            match (accepted, turn, media) {
                (Ok(Accepted::Http(io)), ..) => {
                    let connection = Connection {
                        io,
                        end: Box::pin(tokio::time::sleep(SILENCE)),
                        read: 0,
                        slot,
                        is_over: false,
                    };
                    let _ = sender.send((connection, peer)).await;
                }
                (Ok(Accepted::Turn(io)), Some(turn), _) => turn.serve(io, peer, slot),
                (Ok(Accepted::Media(socket, check)), _, Some(media)) => {
                    media.take_stream(MediaStream {
                        socket,
                        check,
                        slot,
                    });
                }
                _ => {}
            }
        });
    }
}

/// Sets socket options: events and answers are small and urgent, and vanished
/// clients must be detected. Ignores options that the system lacks.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE));
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(SILENCE));
}

impl Connection {
    /// Whether a client was admitted over it.
    pub(crate) fn known(&self) -> Known {
        self.slot.known.clone()
    }

    /// Fails if the connection was silent for too long, or its slot is needed.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.is_over || Pin::new(&mut self.slot.ends).poll(cx).is_ready() {
            self.is_over = true;
            return Poll::Ready(io::ErrorKind::ConnectionAborted.into());
        }
        self.end
            .as_mut()
            .poll(cx)
            .map(|()| io::ErrorKind::TimedOut.into())
    }
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        match self.ready.recv().await {
            Some(accepted) => accepted,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(error) = self.poll_end(cx) {
            return Poll::Ready(Err(error));
        }
        if self.read >= MOST_READ {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let before = buf.filled().len();
        let read = self.io.as_mut().poll_read(cx, buf);
        self.read += buf.filled().len() - before;
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(error) = self.poll_end(cx) {
            return Poll::Ready(Err(error));
        }
        let written = self.io.as_mut().poll_write(cx, buf);
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.end.as_mut().reset(Instant::now() + SILENCE);
            self.read = 0;
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.as_mut().poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Security;
    use crate::log::Log;
    use crate::tls::Source;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    fn refusals() -> Arc<Refusals> {
        Arc::new(Refusals::new(Log::default()))
    }

    async fn connection() -> (Connection, DuplexStream) {
        let (io, other) = tokio::io::duplex(64);
        let slots = HttpSlots::new(1, 1, refusals());
        let connection = Connection {
            io: Box::pin(io),
            end: Box::pin(tokio::time::sleep(SILENCE)),
            read: 0,
            slot: slots.enter([192, 0, 2, 1].into()).await.unwrap(),
            is_over: false,
        };
        (connection, other)
    }

    fn start(tls: Option<Arc<Certificate>>, limits: Limits) -> Connections {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let beside = BesideHttp::default();
        Connections::start(listener, tls, beside, limits, refusals()).unwrap()
    }

    #[tokio::test]
    async fn as_many_connections_are_taken_as_there_may_be() {
        let limits = Limits {
            http_connections: 2,
            ..Limits::default()
        };
        let mut connections = start(None, limits);
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(TcpStream::connect(connections.address).await.unwrap());
        }
        let first = connections.accept().await;
        let _second = connections.accept().await;
        let third = tokio::time::timeout(Duration::from_millis(100), connections.accept());
        assert!(third.await.is_err());
        drop(first);
        connections.accept().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_handshake_that_does_not_come_is_not_waited_for() {
        let source = Source::new(Security::Auto, [192, 0, 2, 1].into(), None);
        let made = Certificate::read(source, Log::default()).unwrap();
        let (certificate, _) = made.expect("beyond loopback");
        let connections = start(Some(certificate), Limits::default());
        let mut client = TcpStream::connect(connections.address).await.unwrap();
        let began = Instant::now();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0, "closed");
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn silent_and_slow_clients_are_cut_off() {
        for drip in [false, true] {
            let (mut connection, mut other) = connection().await;
            let began = Instant::now();
            tokio::spawn(async move {
                // A header that arrives octet by octet.
                while drip && other.write_all(b"G").await.is_ok() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                std::future::pending::<()>().await;
            });
            let mut read = Vec::new();
            let end = connection.read_to_end(&mut read).await;
            assert_eq!(end.unwrap_err().kind(), io::ErrorKind::TimedOut);
            // SECURITY.md states this time.
            assert_eq!(began.elapsed().as_secs(), 30);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_gives_way() {
        let (mut connection, _other) = connection().await;
        let refusals = refusals();
        let slots = HttpSlots::new(1, 1, Arc::clone(&refusals));
        connection.slot = slots.enter([192, 0, 2, 1].into()).await.unwrap();
        let silent = tokio::spawn(async move {
            let end = connection.read_u8().await;
            assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
        });
        let began = Instant::now();
        assert!(slots.enter([192, 0, 2, 2].into()).await.is_some());
        assert_eq!(began.elapsed().as_secs(), 0);
        silent.await.unwrap();
        assert_eq!(refusals.connections(), [(NotAccepted::Replaced, 1)]);
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_send_more_than_a_request_are_cut_off() {
        let (mut connection, mut other) = connection().await;
        tokio::spawn(async move { while other.write_all(&[b'x'; 64]).await.is_ok() {} });
        let mut read = Vec::new();
        let end = connection.read_to_end(&mut read).await;
        assert_eq!(end.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!((128 * 1024..128 * 1024 + 64).contains(&read.len()));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_one_after_the_other_may_be_long_together() {
        let (mut connection, mut other) = connection().await;
        let mut page = [0; 64];
        for _ in 0..2 * MOST_READ / 64 {
            other.write_all(&page).await.unwrap();
            connection.read_exact(&mut page).await.unwrap();
            connection.write_all(b"ok").await.unwrap();
            other.read_exact(&mut page[..2]).await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_is_written_to_and_read_lasts() {
        let (mut connection, mut other) = connection().await;
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_secs(15)).await;
            connection.write_all(b": comment").await.unwrap();
            let mut comment = [0; 9];
            other.read_exact(&mut comment).await.unwrap();
        }
        // The other end does not read any more.
        let began = Instant::now();
        let stuck = connection.write_all(&[0; 1000]).await;
        assert_eq!(stuck.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 30);
    }
}
