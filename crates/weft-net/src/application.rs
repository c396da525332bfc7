use std::io;
use std::net::{SocketAddr, UdpSocket as StdUdpSocket};

use weft_peer::{Event, Output, Peer, PeerKey, PeerSet};
use weft_units::{Bytes, Deadline, Ecn, FiveTuple, Instant};

use crate::Clock;
use crate::driver::{Driver, DriverError, Network, Node};
use crate::sockets::Sockets;

/// Application that creates peers and handles their events: a call, an
/// endpoint. Called on the driver's thread; must not block.
pub trait Application {
    /// Command from other threads.
    type Command: Send + 'static;

    /// Handles a command from another thread.
    fn on_command(&mut self, context: &mut Context<'_>, command: Self::Command);

    /// Handles an event of a peer.
    fn on_event(&mut self, context: &mut Context<'_>, peer: PeerKey, event: Event);

    /// Deadline of the next [`Application::on_timeout`].
    fn poll_timeout(&self) -> Option<Deadline>;

    /// Handles the deadline; a spurious call does nothing.
    fn on_timeout(&mut self, context: &mut Context<'_>);
}

/// Operations available to an application during a call.
pub struct Context<'a> {
    /// Time of the call.
    pub now: Instant,
    /// Clock, for conversions that need its epoch.
    pub clock: Clock,
    peers: &'a mut PeerSet,
    sockets: &'a mut Sockets,
    stop: &'a mut bool,
}

impl Context<'_> {
    /// Mutable peer; its output is handled after the call.
    pub fn peer(&mut self, key: PeerKey) -> Option<&mut Peer> {
        self.peers.get_mut(key)
    }

    /// All peers.
    #[must_use]
    pub fn peers(&self) -> &PeerSet {
        self.peers
    }

    /// Adds a peer.
    pub fn insert(&mut self, peer: Peer) -> PeerKey {
        self.peers.insert(peer)
    }

    /// Removes a peer; its pending packets are sent.
    pub fn remove(&mut self, key: PeerKey) {
        self.peers.close(self.now, key);
    }

    /// Adds a socket for receiving and sending.
    ///
    /// # Errors
    /// If the system refuses to watch it, or a socket with its local address
    /// exists ([`Context::has_socket`]).
    pub fn add_socket(&mut self, socket: StdUdpSocket) -> io::Result<SocketAddr> {
        self.sockets.add(socket)
    }

    /// Adds a local address at which `send` passes datagrams to a relay, such as a TURN server;
    /// false if the address is taken. [`Context::remove_socket`] removes it.
    pub fn add_relayed(
        &mut self,
        local: SocketAddr,
        send: impl FnMut(SocketAddr, &[u8]) + Send + 'static,
    ) -> bool {
        self.sockets.add_relayed(local, send)
    }

    /// Handles a datagram that a relay received at `local`. It has no ECN field: relays do not
    /// pass it on.
    pub fn handle_relayed(&mut self, local: SocketAddr, remote: SocketAddr, datagram: &[u8]) {
        if self.sockets.count_relayed(local, remote, datagram.len()) {
            let tuple = FiveTuple::udp(local, remote);
            self.peers
                .handle_datagram(self.now, tuple, Ecn::NotEct, datagram);
        }
    }

    /// Whether a socket with this local address exists. The system assigns the
    /// same port to sockets that are bound to different interfaces with the
    /// same address, such as two modems of one model.
    #[must_use]
    pub fn has_socket(&self, local: SocketAddr) -> bool {
        self.sockets.has(local)
    }

    /// Closes the socket with a local address.
    pub fn remove_socket(&mut self, local: SocketAddr) {
        self.sockets.remove(local);
    }

    /// Bytes sent and received on the socket with a local address so far,
    /// including the headers of IP and UDP.
    #[must_use]
    pub fn carried(&self, local: SocketAddr) -> Bytes {
        self.sockets.carried(local)
    }

    /// Ends the driver after this call.
    pub fn stop(&mut self) {
        *self.stop = true;
    }
}

impl<C: Send + 'static> Driver<C> {
    /// Starts a thread that runs `application`, and the peers that it creates,
    /// on these sockets.
    ///
    /// # Errors
    /// If the system provides no readiness queue or thread.
    pub fn start<A>(
        name: &str,
        clock: Clock,
        sockets: Vec<StdUdpSocket>,
        application: A,
    ) -> Result<Driver<C>, DriverError>
    where
        A: Application<Command = C> + Send + 'static,
    {
        let peers = PeerSet::default();
        Driver::run(name, clock, sockets, Hosted { application, peers })
    }
}

/// Application with its peers.
struct Hosted<A> {
    application: A,
    peers: PeerSet,
}

impl<A: Application> Hosted<A> {
    fn call(&mut self, network: &mut Network<'_>, call: impl FnOnce(&mut A, &mut Context<'_>)) {
        let mut context = Context {
            now: network.clock.now(),
            clock: network.clock,
            peers: &mut self.peers,
            sockets: network.sockets,
            stop: network.stop,
        };
        call(&mut self.application, &mut context);
    }
}

impl<A: Application> Node for Hosted<A> {
    type Command = A::Command;

    fn handle_datagram(&mut self, now: Instant, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]) {
        self.peers.handle_datagram(now, tuple, ecn, datagram);
    }

    fn handle_command(&mut self, network: &mut Network<'_>, command: A::Command) {
        self.call(network, |application, context| {
            application.on_command(context, command);
        });
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        Deadline::earlier(self.peers.poll_timeout(), self.application.poll_timeout())
    }

    fn handle_timeout(&mut self, network: &mut Network<'_>) {
        let now = network.clock.now();
        self.peers.handle_timeout(now);
        if self.application.poll_timeout().is_some_and(|d| d.at <= now) {
            self.call(network, A::on_timeout);
        }
    }

    fn send(&mut self, network: &mut Network<'_>) {
        while let Some((key, output)) = self.peers.poll_output() {
            match output {
                Output::Transmit {
                    tuple,
                    ecn,
                    datagram,
                } => {
                    network.send(tuple, ecn, &datagram);
                    self.peers.recycle(key, datagram);
                }
                Output::Event(event) => self.call(network, |application, context| {
                    application.on_event(context, key, event);
                }),
            }
        }
    }
}
