#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, TcpStream as StdTcpStream, UdpSocket as StdUdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use mio::{Events, Poll, Token, Waker};
use weft_units::{Deadline, Ecn, FiveTuple, Instant};

use crate::Clock;
use crate::load::{Load, Meter, processor_time};
use crate::sockets::{Buffers, Sockets};

/// Node on a driver: handles datagrams and produces them. Called on the
/// driver's thread; must not block.
pub trait Node {
    /// Command from other threads.
    type Command: Send + 'static;

    /// Handles a datagram that arrived between these addresses.
    fn handle_datagram(&mut self, now: Instant, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]);

    /// Handles a command from another thread.
    fn handle_command(&mut self, network: &mut Network<'_>, command: Self::Command);

    /// Deadline of the next [`Node::handle_timeout`].
    fn poll_timeout(&self) -> Option<Deadline>;

    /// Handles the deadline; a spurious call does nothing.
    fn handle_timeout(&mut self, network: &mut Network<'_>);

    /// Sends all pending datagrams.
    fn send(&mut self, network: &mut Network<'_>);
}

/// Network access of a node during a call.
pub struct Network<'a> {
    /// Clock of the run.
    pub clock: Clock,
    pub(crate) sockets: &'a mut Sockets,
    pub(crate) meter: &'a mut Meter,
    pub(crate) stop: &'a mut bool,
}

impl Network<'_> {
    /// Sends a datagram between these addresses with this ECN field.
    pub fn send(&mut self, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]) {
        self.meter.on_sent(datagram.len());
        self.sockets.send(tuple, ecn, datagram);
    }

    /// Adds a socket for receiving and sending; returns its address.
    ///
    /// # Errors
    /// If the system refuses to watch it, or a socket with its address exists.
    pub fn add_socket(&mut self, socket: StdUdpSocket) -> io::Result<SocketAddr> {
        self.sockets.add(socket)
    }

    /// Closes the socket with a local address.
    pub fn remove_socket(&mut self, local: SocketAddr) {
        self.sockets.remove(local);
    }

    /// Adds a non-blocking TCP connection, in which each datagram follows its length (RFC
    /// 4571). Returns its addresses.
    ///
    /// # Errors
    /// If the system refuses to watch it, or a connection between these addresses exists.
    pub fn add_stream(&mut self, stream: StdTcpStream) -> io::Result<FiveTuple> {
        self.sockets.add_stream(stream, self.clock.now())
    }

    /// Closes the TCP connection between two addresses.
    pub fn remove_stream(&mut self, tuple: FiveTuple) {
        self.sockets.streams.close_tuple(tuple);
    }

    /// Time of the last octets that arrived over a TCP connection; `None` after its end.
    #[must_use]
    pub fn stream_heard(&self, tuple: FiveTuple) -> Option<Instant> {
        self.sockets.streams.heard(tuple)
    }

    /// Number of TCP connections, and of datagrams dropped because the connections were too slow.
    #[must_use]
    pub fn streams(&self) -> (usize, u64) {
        let streams = &self.sockets.streams;
        (streams.len(), streams.dropped())
    }

    /// Recent load of the driver.
    #[must_use]
    pub fn load(&self) -> Load {
        self.meter.load()
    }

    /// Number of datagrams that the system refused: a full buffer, an interface
    /// without a carrier, no route.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.sockets.unsent()
    }

    /// Ends the driver after this call.
    pub fn stop(&mut self) {
        *self.stop = true;
    }
}

/// Sender of commands to a node on its driver.
#[derive(Debug)]
pub struct Remote<C> {
    commands: Sender<C>,
    waker: WakeOnDrop,
    /// Whether the loop waits or is about to: only then must a sender wake it.
    sleeps: Arc<AtomicBool>,
}

/// Dropped after the adjacent sender, so that the loop sees that it is gone.
#[derive(Clone, Debug)]
struct WakeOnDrop(Arc<Waker>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        // A loop that has ended needs no wake-up.
        let _ = self.0.wake();
    }
}

impl<C> Clone for Remote<C> {
    fn clone(&self) -> Remote<C> {
        Remote {
            commands: self.commands.clone(),
            waker: self.waker.clone(),
            sleeps: Arc::clone(&self.sleeps),
        }
    }
}

impl<C> Remote<C> {
    /// Sends a command; returns false if the driver has ended.
    pub fn send(&self, command: C) -> bool {
        let sent = self.commands.send(command).is_ok();
        if sent && self.sleeps.swap(false, Ordering::SeqCst) {
            return self.waker.0.wake().is_ok();
        }
        sent
    }
}

/// Driver that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The system provides no readiness queue or thread.
    #[error(
        "cannot start the network loop: {0}; the limit of open files may be reached (`ulimit -n`)"
    )]
    System(#[from] io::Error),
}

/// Driver that ended by a panic, which the panic hook has reported.
#[derive(Debug, thiserror::Error)]
#[error("the network loop ended because of a bug")]
pub struct DriverPanicked;

/// Running driver: its thread ends when the node stops it, or all its
/// [`Remote`]s are gone.
#[derive(Debug)]
pub struct Driver<C> {
    /// Sender of commands to the node.
    pub remote: Remote<C>,
    thread: JoinHandle<()>,
}

impl<C: Send + 'static> Driver<C> {
    /// Starts a thread that runs `node` on these sockets.
    ///
    /// # Errors
    /// If the system provides no readiness queue or thread.
    pub fn run<N>(
        name: &str,
        clock: Clock,
        sockets: Vec<StdUdpSocket>,
        node: N,
    ) -> Result<Driver<C>, DriverError>
    where
        N: Node<Command = C> + Send + 'static,
    {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKE)?);
        let (sender, commands) = channel();
        let sleeps = Arc::new(AtomicBool::new(false));
        let mut watched = Sockets::new(poll.registry().try_clone()?);
        for socket in sockets {
            watched.add(socket)?;
        }
        let event_loop = EventLoop {
            clock,
            poll,
            commands,
            next: None,
            sleeps: Arc::clone(&sleeps),
            node,
            sockets: watched,
            meter: Meter::new(clock.now()),
            unread: BTreeSet::new(),
            _waker: Arc::clone(&waker),
            stop: false,
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || event_loop.run())?;
        Ok(Driver {
            remote: Remote {
                commands: sender,
                waker: WakeOnDrop(waker),
                sleeps,
            },
            thread,
        })
    }

    /// Waits until the driver has ended.
    ///
    /// # Errors
    /// If it ended by a panic.
    pub fn join(self) -> Result<(), DriverPanicked> {
        drop(self.remote);
        self.thread.join().map_err(|_| DriverPanicked)
    }
}

const WAKE: Token = Token(usize::MAX);

/// Result of reading a socket or commands for a turn.
#[derive(PartialEq, Eq)]
enum Turn {
    /// Nothing is left to read.
    Emptied,
    /// More may be left to read.
    Over,
}

struct EventLoop<N: Node> {
    clock: Clock,
    poll: Poll,
    commands: Receiver<N::Command>,
    /// Command that was received before the loop wanted to wait.
    next: Option<N::Command>,
    sleeps: Arc<AtomicBool>,
    node: N,
    sockets: Sockets,
    meter: Meter,
    /// Sockets that may hold more datagrams: readiness is reported only once.
    unread: BTreeSet<Token>,
    /// Kept alive, because dropping the waker loses wake-ups.
    _waker: Arc<Waker>,
    stop: bool,
}

/// Maximum number of datagrams read from one socket before the others and the
/// timers get their turn. Chosen by us: a millisecond of work.
const TURN: usize = 256;

/// Maximum number of reads from one TCP connection in a turn. Chosen by us: as many
/// octets as a turn of datagrams from a socket.
const READS: usize = 16;

/// Maximum number of commands handled before the sockets and the timers get
/// their turn: each may create a connection, which takes a millisecond. Chosen
/// by us: a packet waits for less than a frame interval.
const COMMANDS: usize = 8;

impl<N: Node> EventLoop<N> {
    fn run(mut self) {
        let mut events = Events::with_capacity(256);
        let mut buffers = Buffers::new();
        while !self.stop {
            self.flush();
            self.meter.on_turn_end(self.clock.now());
            let timeout = self.fall_asleep();
            if let Err(error) = self.poll.poll(&mut events, timeout) {
                assert!(
                    error.kind() == io::ErrorKind::Interrupted,
                    "readiness queue: {error}"
                );
            }
            self.sleeps.store(false, Ordering::SeqCst);
            self.meter.on_turn(self.clock.now(), processor_time);
            let ready = events.iter().map(mio::event::Event::token);
            self.unread.extend(ready);
            // Nobody wakes a loop that is awake, so it checks for commands itself.
            self.unread.insert(WAKE);
            for token in std::mem::take(&mut self.unread) {
                if token == WAKE {
                    if self.take_commands() == Turn::Over {
                        self.unread.insert(token);
                    }
                } else if self.take_datagrams(token, &mut buffers) == Turn::Over {
                    self.unread.insert(token);
                }
            }
            self.with_node(N::handle_timeout);
        }
        self.flush();
    }

    /// Returns how long to wait. From now on, commands wake the loop.
    fn fall_asleep(&mut self) -> Option<std::time::Duration> {
        self.sleeps.store(true, Ordering::SeqCst);
        match self.commands.try_recv() {
            Ok(command) => self.next = Some(command),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.stop = true,
        }
        match self.next.is_some() || self.stop {
            true => Some(std::time::Duration::ZERO),
            false => self.timeout(),
        }
    }

    fn timeout(&self) -> Option<std::time::Duration> {
        if !self.unread.is_empty() {
            return Some(std::time::Duration::ZERO);
        }
        let next = self.node.poll_timeout()?;
        Some(next.at.saturating_since(self.clock.now()).into())
    }

    /// Handles the waiting commands, up to a turn.
    fn take_commands(&mut self) -> Turn {
        for _ in 0..COMMANDS {
            let next = self.next.take();
            match next.map_or_else(|| self.commands.try_recv(), Ok) {
                Ok(command) => {
                    self.with_node(|node, network| node.handle_command(network, command));
                    self.flush();
                }
                Err(TryRecvError::Empty) => return Turn::Emptied,
                Err(TryRecvError::Disconnected) => {
                    self.stop = true;
                    return Turn::Emptied;
                }
            }
        }
        Turn::Over
    }

    fn take_datagrams(&mut self, token: Token, buffers: &mut Buffers) -> Turn {
        match self.sockets.streams.has(token) {
            true => self.receive_stream(token),
            false => self.receive(token, buffers),
        }
    }

    /// Writes the waiting octets to a TCP connection, and reads it until it is empty, up
    /// to a turn.
    fn receive_stream(&mut self, token: Token) -> Turn {
        self.sockets.streams.write(token);
        for _ in 0..READS {
            let now = self.clock.now();
            match self.sockets.streams.read(token, now) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Turn::Emptied,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    self.sockets.streams.close(token);
                    return Turn::Emptied;
                }
            }
            loop {
                match self.sockets.streams.next_datagram(token) {
                    Ok(Some((tuple, datagram))) => {
                        self.node.handle_datagram(now, tuple, Ecn::NotEct, datagram);
                    }
                    Ok(None) => break,
                    Err(_) => {
                        self.sockets.streams.close(token);
                        return Turn::Emptied;
                    }
                }
            }
            self.flush();
        }
        Turn::Over
    }

    /// Reads a socket until it is empty, up to a turn.
    fn receive(&mut self, token: Token, buffers: &mut Buffers) -> Turn {
        let Some(local) = self.sockets.address(token) else {
            return Turn::Emptied;
        };
        let mut taken = 0;
        while taken < TURN {
            match self.sockets.receive(local, buffers) {
                Ok(datagrams) => {
                    let now = self.clock.now();
                    // Empty datagrams are not included, but cost time, too.
                    taken += 1;
                    for (remote, ecn, datagram) in datagrams {
                        let tuple = FiveTuple::udp(local, remote);
                        self.node.handle_datagram(now, tuple, ecn, datagram);
                        taken += 1;
                    }
                    self.flush();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Turn::Emptied,
                // A refused port or an interrupted call: the next datagram may
                // be fine.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The socket's interface disappeared.
                Err(_) => return Turn::Emptied,
            }
        }
        Turn::Over
    }

    fn flush(&mut self) {
        self.with_node(N::send);
        self.sockets.flush();
        self.sockets.streams.flush();
    }

    fn with_node(&mut self, call: impl FnOnce(&mut N, &mut Network<'_>)) {
        let mut network = Network {
            clock: self.clock,
            sockets: &mut self.sockets,
            meter: &mut self.meter,
            stop: &mut self.stop,
        };
        call(&mut self.node, &mut network);
    }
}
