use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, UdpSocket as StdUdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use mio::{Events, Poll, Token, Waker};
use weft_peer::{Event, Output, Peer, PeerKey, PeerSet};
use weft_units::{Bytes, Deadline, Instant};

use crate::Clock;
use crate::sockets::{Buffers, Sockets};

/// What runs on a driver: a call, a server. It is called on the driver's
/// thread and must not block.
pub trait Application {
    /// What other threads ask of it.
    type Command: Send + 'static;

    /// Another thread asks for something.
    fn on_command(&mut self, context: &mut Context<'_>, command: Self::Command);

    /// A peer has something to say.
    fn on_event(&mut self, context: &mut Context<'_>, peer: PeerKey, event: Event);

    /// When [`Application::on_timeout`] is wanted.
    fn poll_timeout(&self) -> Option<Deadline>;

    /// The deadline has come; a spurious call does nothing.
    fn on_timeout(&mut self, context: &mut Context<'_>);
}

/// What an application may do during a call.
pub struct Context<'a> {
    /// The time of the call.
    pub now: Instant,
    /// The clock, for what needs its epoch.
    pub clock: Clock,
    peers: &'a mut PeerSet,
    sockets: &'a mut Sockets,
    /// Peers that may have output.
    touched: &'a mut BTreeSet<PeerKey>,
    stop: &'a mut bool,
}

impl Context<'_> {
    /// A peer, to be driven; what it wants done is done after the call.
    pub fn peer(&mut self, key: PeerKey) -> Option<&mut Peer> {
        self.touched.insert(key);
        self.peers.get_mut(key)
    }

    /// All peers, to look at.
    #[must_use]
    pub fn peers(&self) -> &PeerSet {
        self.peers
    }

    /// Takes a peer in.
    pub fn insert(&mut self, peer: Peer) -> PeerKey {
        let key = self.peers.insert(peer);
        self.touched.insert(key);
        key
    }

    /// Takes a peer out; what it still wanted to send is sent.
    pub fn remove(&mut self, key: PeerKey) {
        if let Some(peer) = self.peers.get_mut(key) {
            peer.close(self.now);
        }
        while let Some(output) = self.peers.poll_output(key) {
            if let Output::Transmit {
                local,
                remote,
                ecn,
                datagram,
            } = output
            {
                self.sockets.send(local, remote, ecn, &datagram);
            }
        }
        self.peers.remove(key);
    }

    /// Adds a socket to receive on and send from.
    ///
    /// # Errors
    /// If the system refuses to watch it.
    pub fn add_socket(&mut self, socket: StdUdpSocket) -> io::Result<SocketAddr> {
        self.sockets.add(socket)
    }

    /// Closes the socket of a local address.
    pub fn remove_socket(&mut self, local: SocketAddr) {
        self.sockets.remove(local);
    }

    /// What the socket of a local address has sent and received so far, with
    /// the headers of IP and UDP.
    #[must_use]
    pub fn carried(&self, local: SocketAddr) -> Bytes {
        self.sockets.carried(local)
    }

    /// Datagrams so far that the system did not take: a full buffer, an
    /// interface without a carrier, no route.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.sockets.unsent()
    }

    /// Ends the driver after this call.
    pub fn stop(&mut self) {
        *self.stop = true;
    }
}

/// Other threads' way to an application on its driver.
#[derive(Debug)]
pub struct Remote<C> {
    commands: Sender<C>,
    waker: WakeOnDrop,
}

/// Dropped after the sender beside it, so that the loop sees that it is gone.
#[derive(Clone, Debug)]
struct WakeOnDrop(Arc<Waker>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        // A loop that has ended needs no waking.
        let _ = self.0.wake();
    }
}

impl<C> Clone for Remote<C> {
    fn clone(&self) -> Remote<C> {
        Remote {
            commands: self.commands.clone(),
            waker: self.waker.clone(),
        }
    }
}

impl<C> Remote<C> {
    /// Hands over a command; false if the driver has ended.
    pub fn send(&self, command: C) -> bool {
        self.commands.send(command).is_ok() && self.waker.0.wake().is_ok()
    }
}

/// A driver cannot start.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The system's readiness queue or a thread cannot be had.
    #[error(
        "cannot start the network loop: {0}; the limit of open files may be reached (`ulimit -n`)"
    )]
    System(#[from] io::Error),
}

/// A running driver: its thread ends when the application says so, or all its
/// [`Remote`]s are gone.
#[derive(Debug)]
pub struct Driver<C> {
    /// The way to the application.
    pub remote: Remote<C>,
    thread: JoinHandle<()>,
}

impl<C: Send + 'static> Driver<C> {
    /// Starts a thread that runs `application` on these sockets.
    ///
    /// # Errors
    /// If the system cannot provide a readiness queue or a thread.
    pub fn start<A>(
        name: &str,
        clock: Clock,
        sockets: Vec<StdUdpSocket>,
        application: A,
    ) -> Result<Driver<C>, DriverError>
    where
        A: Application<Command = C> + Send + 'static,
    {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKE)?);
        let (sender, commands) = channel();
        let mut watched = Sockets::new(poll.registry().try_clone()?);
        for socket in sockets {
            watched.add(socket)?;
        }
        let event_loop = EventLoop {
            clock,
            poll,
            commands,
            application,
            peers: PeerSet::default(),
            sockets: watched,
            touched: BTreeSet::new(),
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
            },
            thread,
        })
    }

    /// Waits until the driver has ended.
    pub fn join(self) {
        drop(self.remote);
        // A panic of the thread has been reported by the panic hook.
        let _ = self.thread.join();
    }
}

const WAKE: Token = Token(usize::MAX);

/// How a turn of reading a socket ended.
#[derive(PartialEq, Eq)]
enum Turn {
    /// Nothing is left.
    Emptied,
    /// There may be more.
    Over,
}

struct EventLoop<A: Application> {
    clock: Clock,
    poll: Poll,
    commands: Receiver<A::Command>,
    application: A,
    peers: PeerSet,
    sockets: Sockets,
    touched: BTreeSet<PeerKey>,
    /// Sockets that may hold more: readiness is told once.
    unread: BTreeSet<Token>,
    /// A wake-up is lost with its waker.
    _waker: Arc<Waker>,
    stop: bool,
}

/// Datagrams taken from one socket before the others and the timers have
/// their turn. Chosen by us: a millisecond's worth of work.
const TURN: usize = 256;

impl<A: Application> EventLoop<A> {
    fn run(mut self) {
        let mut events = Events::with_capacity(256);
        let mut buffers = Buffers::new();
        while !self.stop {
            self.flush();
            let timeout = self.timeout();
            if let Err(error) = self.poll.poll(&mut events, timeout) {
                assert!(
                    error.kind() == io::ErrorKind::Interrupted,
                    "readiness queue: {error}"
                );
            }
            let ready = events.iter().map(mio::event::Event::token);
            self.unread.extend(ready);
            for token in std::mem::take(&mut self.unread) {
                if token == WAKE {
                    self.take_commands();
                } else if self.receive(token, &mut buffers) == Turn::Over {
                    self.unread.insert(token);
                }
            }
            self.take_deadlines();
        }
        self.flush();
    }

    fn timeout(&self) -> Option<std::time::Duration> {
        if !self.unread.is_empty() {
            return Some(std::time::Duration::ZERO);
        }
        let next = Deadline::earlier(self.peers.poll_timeout(), self.application.poll_timeout())?;
        Some(next.at.saturating_since(self.clock.now()).into())
    }

    fn take_deadlines(&mut self) {
        let now = self.clock.now();
        self.touched.extend(self.peers.handle_timeout(now));
        if self.application.poll_timeout().is_some_and(|d| d.at <= now) {
            self.with_application(now, |application, context| application.on_timeout(context));
        }
    }

    fn take_commands(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(command) => {
                    let now = self.clock.now();
                    self.with_application(now, |a, context| a.on_command(context, command));
                    self.flush();
                }
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.stop = true;
                    return;
                }
            }
        }
    }

    /// Reads one socket empty, or for a turn.
    fn receive(&mut self, token: Token, buffers: &mut Buffers) -> Turn {
        let Some(local) = self.sockets.address(token) else {
            return Turn::Emptied;
        };
        let mut taken = 0;
        while taken < TURN {
            match self.sockets.receive(local, buffers) {
                Ok(datagrams) => {
                    let now = self.clock.now();
                    // Empty ones are not among them, and cost time too.
                    taken += 1;
                    for (remote, ecn, datagram) in datagrams {
                        let key = self
                            .peers
                            .handle_datagram(now, local, remote, ecn, datagram);
                        self.touched.extend(key);
                        taken += 1;
                    }
                    self.flush();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Turn::Emptied,
                // A refused port or an interrupted call: the next datagram may
                // be fine.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The interface went away under the socket.
                Err(_) => return Turn::Emptied,
            }
        }
        Turn::Over
    }

    /// Does what the touched peers want, until none wants anything.
    fn flush(&mut self) {
        while let Some(key) = self.touched.pop_first() {
            while let Some(output) = self.peers.poll_output(key) {
                match output {
                    Output::Transmit {
                        local,
                        remote,
                        ecn,
                        datagram,
                    } => {
                        self.sockets.send(local, remote, ecn, &datagram);
                        if let Some(peer) = self.peers.get_mut(key) {
                            peer.recycle(datagram);
                        }
                    }
                    Output::Event(event) => {
                        let now = self.clock.now();
                        self.with_application(now, |a, context| a.on_event(context, key, event));
                    }
                }
            }
        }
        self.sockets.flush();
    }

    fn with_application(&mut self, now: Instant, call: impl FnOnce(&mut A, &mut Context<'_>)) {
        let mut context = Context {
            now,
            clock: self.clock,
            peers: &mut self.peers,
            sockets: &mut self.sockets,
            touched: &mut self.touched,
            stop: &mut self.stop,
        };
        call(&mut self.application, &mut context);
    }
}
