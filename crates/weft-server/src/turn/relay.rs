//! Packets of one client between its connection and the socket of its
//! allocation.

use super::authority::Now;
use super::session::{Reaction, RelaySocket, Session};
use crate::http_slots::HttpSlot;
use crate::stream::Stream;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::ControlFlow;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UdpSocket;
use tokio::time::Instant;
use weft_net::TurnFraming;

/// Time limit for a stream to create an allocation. Chosen by us: many round trips over a
/// bad link.
const ARRIVAL: Duration = Duration::from_secs(10);
/// Maximum number of octets for a client that wait in this process if its stream is
/// slower than its media; further packets are dropped, as on a link of that rate. Chosen
/// by us: a large keyframe.
const MOST_WAITING: usize = 128 * 1024;
/// Maximum length of a datagram from a peer, as on the media side.
const DATAGRAM: usize = 2048;
/// Maximum number of peers' datagrams that are handled before the stream has its turn.
/// Chosen by us.
const BATCH: usize = 32;

/// Serves a client over a stream until its allocation ends. Once there is an allocation,
/// the slot of the connection is free for another one.
pub(super) async fn stream(io: Stream, session: Session, slot: HttpSlot) {
    let mut relay = Relay {
        session,
        socket: Socket(None),
        waiting: VecDeque::new(),
    };
    let (mut reader, mut writer) = tokio::io::split(io);
    let (mut framing, mut datagram) = (TurnFraming::default(), [0; DATAGRAM]);
    let (mut slot, mut is_flushed) = (Some(slot), true);
    let arrival = Instant::now() + ARRIVAL;
    loop {
        let end = relay.session.until().map_or(arrival, Instant::from_std);
        let is_idle = relay.waiting.is_empty() && is_flushed;
        tokio::select! {
            read = reader.read_buf(framing.buffer()) => {
                if !matches!(read, Ok(1..)) || relay.handle_stream(&mut framing).is_break() {
                    break;
                }
                is_flushed = false;
            }
            from = relay.socket.receive(&mut datagram) => {
                relay.handle_datagrams(from, &mut datagram);
                is_flushed = false;
            }
            written = write(&mut writer, &mut relay.waiting), if !is_idle => match written {
                Ok(()) => is_flushed = relay.waiting.is_empty(),
                Err(_) => break,
            },
            () = ended(slot.as_mut()) => break,
            () = tokio::time::sleep_until(end) => break,
        }
        if relay.session.until().is_some() {
            slot = None;
        }
    }
    // The answer to the request that ended it.
    let _ = tokio::time::timeout(ARRIVAL, async {
        while !relay.waiting.is_empty() {
            write(&mut writer, &mut relay.waiting).await?;
        }
        writer.shutdown().await
    })
    .await;
}

/// Writes the waiting octets, as many as possible at once, and flushes after the last.
/// Cancelling it loses nothing.
async fn write(
    writer: &mut (impl AsyncWrite + Unpin),
    waiting: &mut VecDeque<u8>,
) -> io::Result<()> {
    if waiting.is_empty() {
        return writer.flush().await;
    }
    let written = writer.write(waiting.as_slices().0).await?;
    waiting.drain(..written);
    match written {
        0 => Err(io::ErrorKind::WriteZero.into()),
        _ => Ok(()),
    }
}

/// Waits until the slot is given to another connection.
async fn ended(slot: Option<&mut HttpSlot>) {
    match slot {
        Some(slot) => drop((&mut slot.ends).await),
        None => std::future::pending().await,
    }
}

struct Relay {
    session: Session,
    socket: Socket,
    /// Octets for the client.
    waiting: VecDeque<u8>,
}

impl Relay {
    /// Handles all complete messages of the client.
    fn handle_stream(&mut self, framing: &mut TurnFraming) -> ControlFlow<()> {
        loop {
            let message = match framing.next_message() {
                Ok(Some(message)) => message,
                Ok(None) => return ControlFlow::Continue(()),
                Err(_) => return ControlFlow::Break(()),
            };
            match self
                .session
                .handle_client(Now::machine(), message, &mut self.socket)
            {
                Reaction::Nothing => {}
                Reaction::Send(to, data) => self.socket.send(to, data),
                Reaction::Answer(answer) => self.enqueue(&answer),
                Reaction::End(answer) => {
                    self.enqueue(&answer);
                    return ControlFlow::Break(());
                }
            }
        }
    }

    /// Handles a datagram, and others that have already arrived.
    fn handle_datagrams(&mut self, first: io::Result<(usize, SocketAddr)>, datagram: &mut [u8]) {
        let mut next = Some(first);
        for left in (0..BATCH).rev() {
            // An error belongs to an earlier datagram to a peer.
            if let Some(Ok((length, from))) = next
                && let Some(message) = self.session.handle_peer(from, &datagram[..length])
            {
                self.enqueue(&message);
            }
            next = match left {
                0 => None,
                _ => self.socket.receive_now(datagram),
            };
            if next.is_none() {
                return;
            }
        }
    }

    fn enqueue(&mut self, message: &[u8]) {
        if self.waiting.len() + message.len() <= MOST_WAITING {
            self.waiting.extend(message);
        }
    }
}

/// Socket of an allocation; `None` before it is open.
struct Socket(Option<UdpSocket>);

impl Socket {
    fn send(&self, to: SocketAddr, data: &[u8]) {
        // A full buffer loses it, as a network would.
        if let Some(socket) = &self.0 {
            let _ = socket.try_send_to(data, to);
        }
    }

    async fn receive(&self, datagram: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        match &self.0 {
            Some(socket) => socket.recv_from(datagram).await,
            None => std::future::pending().await,
        }
    }

    /// Returns a datagram that has already arrived, or an error.
    fn receive_now(&self, datagram: &mut [u8]) -> Option<io::Result<(usize, SocketAddr)>> {
        let received = self.0.as_ref()?.try_recv_from(datagram);
        let is_none = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        (!received.as_ref().is_err_and(is_none)).then_some(received)
    }
}

impl RelaySocket for Socket {
    fn open(&mut self, ip: IpAddr) -> io::Result<SocketAddr> {
        let socket = std::net::UdpSocket::bind((ip, 0))?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        self.0 = Some(UdpSocket::from_std(socket)?);
        Ok(address)
    }
}
