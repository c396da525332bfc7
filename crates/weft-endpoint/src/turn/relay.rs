//! Thread that connects an allocation to a TURN server over a link.

use std::fmt::Display;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use mio::net::{TcpStream, UdpSocket};
use mio::{Events, Interest, Poll, Token, Waker};
use rustls::ClientConnection;
use weft_net::{Clock, LinkChoice, TurnFraming};

use super::client::{Client, ClientEvent, SILENT};
use super::server::{TurnServer, TurnTransport};

/// Time limit for connecting to a server, and then for an allocation. Chosen by us.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time limit for releasing the allocation. Chosen by us.
const FAREWELL: Duration = Duration::from_millis(300);

/// Maximum number of octets that wait for a TCP connection; further datagrams are dropped.
/// Chosen by us: a tenth of a second at 5 Mbit/s.
const MAX_UNSENT: usize = 64 << 10;

/// Maximum number of datagrams that wait for the thread, and for the network thread. Chosen
/// by us: half a second at 1,000 a second.
const MAX_WAITING: usize = 512;

/// Reads from a connection before other work gets its turn. Chosen by us.
const TURN: usize = 32;

const SOCKET: Token = Token(0);
const WAKE: Token = Token(1);

/// News of a relay for the network thread.
#[derive(Debug)]
pub enum TurnNews {
    /// The server relays at this address.
    Up(SocketAddr),
    /// A datagram arrived from this peer.
    Datagram(SocketAddr, Vec<u8>),
    /// The relay could not be created, or has ended. The reason is a sentence without its
    /// subject, the server.
    Failed(String),
}

/// TCP connection, with TLS if the server requires it.
pub type TurnStream = (std::net::TcpStream, Option<Box<ClientConnection>>);

/// Connector to TURN servers: resolves their names, and connects over one link only.
pub trait TurnConnector: Send + Sync {
    /// Opens a TCP connection, and performs the TLS handshake if the server requires it.
    ///
    /// # Errors
    /// The reason in words.
    fn stream(
        &self,
        link: &LinkChoice,
        to: &TurnServer,
        limit: Duration,
    ) -> Result<TurnStream, String>;

    /// Opens a UDP socket that sends to the server and never blocks.
    ///
    /// # Errors
    /// If the host is unknown, or the link has no address of its family.
    fn datagrams(
        &self,
        link: &LinkChoice,
        to: &TurnServer,
        limit: Duration,
    ) -> io::Result<std::net::UdpSocket>;
}

/// Route to a TURN server.
pub struct TurnRoute {
    /// Link to use.
    pub link: LinkChoice,
    pub server: TurnServer,
    pub connector: Arc<dyn TurnConnector>,
}

/// Running relay. Dropping it releases the allocation.
pub struct TurnRelay {
    outgoing: SyncSender<(SocketAddr, Vec<u8>)>,
    waker: Arc<Waker>,
    stop: Arc<AtomicBool>,
    /// Datagrams for the network thread.
    waiting: Arc<AtomicUsize>,
}

/// Entry point of a relay for datagrams.
pub struct TurnEntrance {
    outgoing: SyncSender<(SocketAddr, Vec<u8>)>,
    waker: Arc<Waker>,
}

impl TurnEntrance {
    /// Sends a datagram, unless too many wait.
    pub fn send(&self, peer: SocketAddr, datagram: &[u8]) {
        if self.outgoing.try_send((peer, datagram.to_vec())).is_ok() {
            let _ = self.waker.wake();
        }
    }
}

impl TurnRelay {
    /// Starts a relay; it passes its news to `tell` on its own thread.
    ///
    /// # Errors
    /// If the system cannot provide a readiness queue or thread.
    pub fn start(
        clock: Clock,
        route: TurnRoute,
        tell: impl Fn(TurnNews) + Send + 'static,
    ) -> io::Result<TurnRelay> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKE)?);
        let (outgoing, incoming) = sync_channel(MAX_WAITING);
        let relay = TurnRelay {
            outgoing,
            waker,
            stop: Arc::default(),
            waiting: Arc::default(),
        };
        let (stop, waiting) = (Arc::clone(&relay.stop), Arc::clone(&relay.waiting));
        let run = move || {
            let connected = connect(&route);
            let carried = connected.and_then(|(carrier, local, server)| {
                let client = Client::new(local, server, &route.server);
                let mut running = RunningTurn {
                    clock,
                    poll,
                    carrier,
                    client,
                    incoming,
                    stop,
                    waiting,
                };
                running.run(&tell)
            });
            if let Err(reason) = carried {
                tell(TurnNews::Failed(reason));
            }
        };
        thread::Builder::new().name("turn".to_owned()).spawn(run)?;
        Ok(relay)
    }

    /// Returns an entry point for datagrams.
    pub fn entrance(&self) -> TurnEntrance {
        TurnEntrance {
            outgoing: self.outgoing.clone(),
            waker: Arc::clone(&self.waker),
        }
    }

    /// Records that the network thread has handled a datagram.
    pub fn on_taken(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for TurnRelay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.waker.wake();
    }
}

/// Connects to the server over the link.
fn connect(route: &TurnRoute) -> Result<(Carrier, SocketAddr, SocketAddr), String> {
    let TurnRoute {
        link,
        server,
        connector,
    } = route;
    let unreachable = |error: &dyn Display| format!("cannot be reached: {error}");
    let words = |error: io::Error| unreachable(&error);
    if server.transport == TurnTransport::Udp {
        let socket = connector.datagrams(link, server, PATIENCE).map_err(words)?;
        let local = socket.local_addr().map_err(words)?;
        let remote = socket.peer_addr().map_err(words)?;
        let carrier = Carrier::Datagrams(UdpSocket::from_std(socket));
        return Ok((carrier, local, remote));
    }
    let opened = connector.stream(link, server, PATIENCE);
    let (stream, tls) = opened.map_err(|error| unreachable(&error))?;
    stream.set_nonblocking(true).map_err(words)?;
    let _ = stream.set_nodelay(true);
    let local = stream.local_addr().map_err(words)?;
    let remote = stream.peer_addr().map_err(words)?;
    let carrier = Carrier::Stream(Box::new(StreamCarrier {
        io: TcpStream::from_std(stream),
        tls,
        framing: TurnFraming::default(),
        unsent: Vec::new(),
    }));
    Ok((carrier, local, remote))
}

/// Relay with its connection.
struct RunningTurn {
    clock: Clock,
    poll: Poll,
    carrier: Carrier,
    client: Client,
    incoming: Receiver<(SocketAddr, Vec<u8>)>,
    stop: Arc<AtomicBool>,
    waiting: Arc<AtomicUsize>,
}

impl RunningTurn {
    /// Runs until a stop, or until the end of the allocation, whose reason it returns.
    fn run(&mut self, tell: &impl Fn(TurnNews)) -> Result<(), String> {
        let broken = |error: io::Error| format!("has closed the connection ({error})");
        self.carrier.register(&self.poll).map_err(broken)?;
        let mut events = Events::with_capacity(8);
        let mut end = Some(self.clock.now() + PATIENCE.into());
        let mut has_unread = true;
        loop {
            let now = self.clock.now();
            if self.stop.load(Ordering::Relaxed) {
                return self.end(&mut events).map_err(broken);
            }
            if end.is_some_and(|end| now >= end) {
                return Err(SILENT.to_owned());
            }
            while let Ok((peer, datagram)) = self.incoming.try_recv() {
                self.client.send(now, peer, &datagram);
            }
            if has_unread {
                has_unread = self.receive(now, tell).map_err(broken)?;
            }
            let next = self.client.handle_timeout(now);
            self.flush().map_err(broken)?;
            while let Some(event) = self.client.poll_event() {
                match event {
                    ClientEvent::Allocated(address) => {
                        end = None;
                        tell(TurnNews::Up(address));
                    }
                    ClientEvent::Ended(reason) => return Err(reason),
                }
            }
            let wake = [next, end].into_iter().flatten().min();
            let timeout = match has_unread {
                true => Some(Duration::ZERO),
                false => wake.map(|at| at.saturating_since(self.clock.now()).into()),
            };
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(broken(error)),
                _ => {}
            }
            has_unread |= events.iter().any(|event| event.token() == SOCKET);
        }
    }

    /// Releases the allocation, and waits a while for the answer, because a connection that is
    /// closed earlier may be reset and lose the request.
    fn end(&mut self, events: &mut Events) -> io::Result<()> {
        let until = self.clock.now() + FAREWELL.into();
        self.client.end(self.clock.now());
        loop {
            self.flush()?;
            let now = self.clock.now();
            if now >= until || self.client.handle_timeout(now).is_none() {
                return Ok(());
            }
            let left = until.saturating_since(now);
            self.poll.poll(events, Some(left.into()))?;
            self.receive(now, &|_: TurnNews| {})?;
        }
    }

    /// Sends the client's messages to the server.
    fn flush(&mut self) -> io::Result<()> {
        while let Some(message) = self.client.poll_transmit() {
            self.carrier.send(message)?;
        }
        self.carrier.flush()
    }

    /// Handles the messages that have arrived; true if there may be more.
    fn receive(&mut self, now: weft_units::Instant, tell: &impl Fn(TurnNews)) -> io::Result<bool> {
        let RunningTurn {
            carrier,
            client,
            waiting,
            ..
        } = self;
        carrier.receive(|message| {
            let Some((peer, datagram)) = client.handle_message(now, message) else {
                return;
            };
            if waiting.load(Ordering::Relaxed) < MAX_WAITING {
                waiting.fetch_add(1, Ordering::Relaxed);
                tell(TurnNews::Datagram(peer, datagram));
            }
        })
    }
}

/// Connection that carries the messages.
enum Carrier {
    Datagrams(UdpSocket),
    Stream(Box<StreamCarrier>),
}

struct StreamCarrier {
    io: TcpStream,
    tls: Option<Box<ClientConnection>>,
    framing: TurnFraming,
    /// Octets for the socket.
    unsent: Vec<u8>,
}

impl Carrier {
    fn register(&mut self, poll: &Poll) -> io::Result<()> {
        match self {
            Carrier::Datagrams(socket) => {
                poll.registry().register(socket, SOCKET, Interest::READABLE)
            }
            Carrier::Stream(stream) => {
                let both = Interest::READABLE | Interest::WRITABLE;
                poll.registry().register(&mut stream.io, SOCKET, both)
            }
        }
    }

    fn send(&mut self, message: Vec<u8>) -> io::Result<()> {
        match self {
            Carrier::Datagrams(socket) => {
                // A full buffer loses the datagram, like the network.
                let _ = socket.send(&message);
                Ok(())
            }
            Carrier::Stream(stream) => stream.send(message),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Carrier::Datagrams(_) => Ok(()),
            Carrier::Stream(stream) => stream.flush(),
        }
    }

    /// Passes on the messages that have arrived, up to a limit; true if there may be more.
    fn receive(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        for _ in 0..TURN {
            match self {
                Carrier::Datagrams(socket) => match socket.recv(&mut buffer) {
                    Ok(length) => take(&buffer[..length]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                },
                Carrier::Stream(stream) => match stream.io.read(&mut buffer) {
                    Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                    Ok(length) => stream.take(&buffer[..length], &mut take)?,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                },
            }
        }
        Ok(true)
    }
}

impl StreamCarrier {
    /// Queues a message, padded to four octets (RFC 8656 section 12.5), unless too much
    /// data waits.
    fn send(&mut self, mut message: Vec<u8>) -> io::Result<()> {
        if self.unsent.len() > MAX_UNSENT {
            return Ok(());
        }
        message.resize(message.len().next_multiple_of(4), 0);
        match &mut self.tls {
            None => self.unsent.extend(message),
            Some(tls) => {
                tls.writer().write_all(&message)?;
                write_tls(tls, &mut self.unsent)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        let flushed = loop {
            if sent == self.unsent.len() {
                break Ok(());
            }
            match self.io.write(&self.unsent[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.unsent.drain(..sent);
        flushed
    }

    /// Handles octets from the socket, and passes on the complete messages.
    fn take(&mut self, mut octets: &[u8], take: &mut impl FnMut(&[u8])) -> io::Result<()> {
        match &mut self.tls {
            None => self.framing.buffer().extend_from_slice(octets),
            Some(tls) => {
                while !octets.is_empty() {
                    if tls.read_tls(&mut octets)? == 0 {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                    let state = tls.process_new_packets().map_err(io::Error::other)?;
                    let mut plain = vec![0; state.plaintext_bytes_to_read()];
                    tls.reader().read_exact(&mut plain)?;
                    self.framing.buffer().extend(plain);
                }
                // Answers of TLS itself, such as to a key update.
                write_tls(tls, &mut self.unsent)?;
            }
        }
        loop {
            match self.framing.next_message() {
                Ok(Some(message)) => take(message),
                Ok(None) => return Ok(()),
                Err(_) => return Err(io::Error::other("it does not speak TURN")),
            }
        }
    }
}

fn write_tls(tls: &mut ClientConnection, unsent: &mut Vec<u8>) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(unsent)?;
    }
    Ok(())
}
