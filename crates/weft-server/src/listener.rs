use axum::serve::Listener;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;

/// Longest TLS handshake. Chosen by us: many round trips of a bad link.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause when the system has no file descriptor for another connection.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);
/// First octet of every TLS connection: record type handshake (RFC 8446
/// section 5.1).
const TLS_HANDSHAKE: u8 = 22;
const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\
Connection: close\r\n\r\n{\"error\":\"This server speaks HTTPS.\",\"remedy\":\"Use https:// in the address.\"}";

/// Accepts connections, with TLS or without, as many as are allowed at a
/// time. Handshakes do not wait for each other.
pub(crate) struct Connections {
    ready: mpsc::Receiver<(Connection, SocketAddr)>,
    address: SocketAddr,
}

/// One connection.
pub(crate) struct Connection {
    io: Pin<Box<dyn Io>>,
    _permit: OwnedSemaphorePermit,
}

trait Io: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Io for T {}

impl Connections {
    /// Starts to accept. Needs a tokio runtime.
    pub(crate) fn start(
        listener: std::net::TcpListener,
        tls: Option<TlsAcceptor>,
        limit: usize,
    ) -> io::Result<Connections> {
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let (sender, ready) = mpsc::channel(16);
        let permits = Arc::new(Semaphore::new(limit));
        tokio::spawn(accept_all(listener, tls, permits, sender));
        Ok(Connections { ready, address })
    }
}

async fn accept_all(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    permits: Arc<Semaphore>,
    sender: mpsc::Sender<(Connection, SocketAddr)>,
) {
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = sender.closed() => return,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(EXHAUSTED_PAUSE).await;
            continue;
        };
        // Events and answers are small and wanted at once.
        let _ = stream.set_nodelay(true);
        let (tls, sender) = (tls.clone(), sender.clone());
        tokio::spawn(async move {
            let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, secured(stream, tls));
            if let Ok(Ok(io)) = handshake.await {
                let connection = Connection {
                    io,
                    _permit: permit,
                };
                let _ = sender.send((connection, peer)).await;
            }
        });
    }
}

async fn secured(mut stream: TcpStream, tls: Option<TlsAcceptor>) -> io::Result<Pin<Box<dyn Io>>> {
    let Some(tls) = tls else {
        return Ok(Box::pin(stream));
    };
    let mut first = [0; 1];
    if stream.peek(&mut first).await? == 1 && first[0] != TLS_HANDSHAKE {
        stream.write_all(NOT_TLS).await?;
        stream.shutdown().await?;
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Box::pin(tls.accept(stream).await?))
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
        self.io.as_mut().poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.io.as_mut().poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.as_mut().poll_shutdown(cx)
    }
}
