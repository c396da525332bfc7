//! Sockets that receive and send many datagrams per system call, where the
//! system supports it (Linux: recvmmsg, UDP GRO and GSO).

mod singly;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, TcpStream as StdTcpStream, UdpSocket as StdUdpSocket};
use std::os::fd::AsRawFd;

use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};
use nix::sys::socket::{
    ControlMessage, MsgFlags, SockaddrStorage, sendmsg, setsockopt, sockopt::ReceiveTimestampns,
};
use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use singly::Singly;
use weft_units::{Bytes, Ecn, FiveTuple, Instant, Transport};

use crate::streams::Streams;

/// Maximum size of a run in bytes: one IP packet without headers.
const MAX_RUN: usize = 65_000;
/// Maximum size that the system merges (UDP GRO): an IP packet.
const MAX_RECEIVED: usize = 65_536;
/// Buffers filled by one call. Chosen by us: half a megabyte in total.
const BUFFERS: usize = 8;

struct Socket {
    token: Token,
    io: UdpSocket,
    /// State for receiving only. Its sender treats an error caused by one
    /// destination (EINVAL, EIO) as a fault of the socket, and gives up runs
    /// and ECN for all destinations.
    state: UdpSocketState,
    singly: Singly,
    /// Bytes sent and received.
    carried: u64,
}

/// Passes a datagram for this address to a relay.
type SendRelayed = dyn FnMut(SocketAddr, &[u8]) + Send;

/// Address at which a relay sends and receives for us.
struct Relayed {
    send: Box<SendRelayed>,
    /// Bytes sent and received, with the headers of datagrams between us and the peer.
    carried: u64,
}

/// Sockets of a driver.
pub(crate) struct Sockets {
    registry: Registry,
    by_address: BTreeMap<SocketAddr, Socket>,
    relayed: BTreeMap<SocketAddr, Relayed>,
    pub(crate) streams: Streams,
    next: usize,
    run: Run,
    unsent: u64,
}

/// Header bytes of a datagram on its link: IPv4 and UDP (RFC 791, RFC 768), or
/// IPv6 and UDP (RFC 8200).
fn headers(remote: SocketAddr) -> u64 {
    match remote {
        SocketAddr::V4(_) => 20 + 8,
        SocketAddr::V6(_) => 40 + 8,
    }
}

/// Common properties of datagrams that are sent in one call: source,
/// destination and ECN field.
type Route = (SocketAddr, SocketAddr, Ecn);

/// Consecutive datagrams of one route and of one size, except that the last one
/// may be shorter: the system sends them in one call.
#[derive(Default)]
struct Run {
    route: Option<Route>,
    size: usize,
    contents: Vec<u8>,
}

impl Run {
    fn takes(&self, route: Route, len: usize, most: usize) -> bool {
        let total = self.contents.len();
        self.route == Some(route)
            && (1..=self.size).contains(&len)
            && total.is_multiple_of(self.size)
            && total < most * self.size
            && total + len <= MAX_RUN
    }

    fn begin(&mut self, route: Route, datagram: &[u8]) {
        self.route = Some(route);
        self.size = datagram.len();
        self.contents.clear();
        self.contents.extend_from_slice(datagram);
    }

    fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.contents.chunks(self.size.max(1))
    }
}

impl Socket {
    /// Sends a datagram, or a run of them if `size` is less than the total.
    fn send(&self, remote: SocketAddr, ecn: Ecn, contents: &[u8], size: usize) -> io::Result<()> {
        let segment = u16::try_from(size).unwrap_or(u16::MAX);
        let (tos, class) = (ecn.bits(), i32::from(ecn.bits()));
        let field = match remote {
            SocketAddr::V4(_) => ControlMessage::Ipv4Tos(&tos),
            SocketAddr::V6(_) => ControlMessage::Ipv6TClass(&class),
        };
        let control = [field, ControlMessage::UdpGsoSegments(&segment)];
        let control = match size < contents.len() {
            true => &control[..],
            false => &control[..1],
        };
        let to = SockaddrStorage::from(remote);
        let contents = [IoSlice::new(contents)];
        let fd = self.io.as_raw_fd();
        sendmsg(fd, &contents, control, MsgFlags::empty(), Some(&to))?;
        Ok(())
    }

    /// Maximum number of datagrams that one call may send there.
    fn longest_run(&self, remote: SocketAddr) -> usize {
        match self.singly.contains(remote) {
            true => 1,
            false => self.state.max_gso_segments(),
        }
    }

    /// Sends a run, or its datagrams one by one if the system accepts only
    /// that. Returns the number accepted.
    fn send_run(&mut self, remote: SocketAddr, ecn: Ecn, run: &Run) -> usize {
        let count = run.datagrams().count();
        if count == 1 {
            self.singly.on_sent(remote);
        }
        let Err(error) = self.send(remote, ecn, &run.contents, run.size) else {
            return count;
        };
        // A full buffer or a dead interface loses the packet like the network
        // does; liveness and loss detection handle it.
        if count == 1 || error.kind() == io::ErrorKind::WouldBlock {
            return 0;
        }
        // An interface may not support runs, and only some datagrams may be at
        // fault.
        let alone = |datagram: &&[u8]| self.send(remote, ecn, datagram, datagram.len()).is_ok();
        let sent = run.datagrams().filter(alone).count();
        if sent > 0 {
            self.singly.on_run_refused(remote);
        }
        sent
    }
}

impl Sockets {
    pub(crate) fn new(registry: Registry) -> Sockets {
        Sockets {
            registry,
            by_address: BTreeMap::new(),
            relayed: BTreeMap::new(),
            streams: Streams::default(),
            next: 0,
            run: Run::default(),
            unsent: 0,
        }
    }

    pub(crate) fn add(&mut self, socket: StdUdpSocket) -> io::Result<SocketAddr> {
        // Also makes it non-blocking.
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // It enables timestamps, for which its buffer has no room beside the
        // length of a run and the addresses: the ECN field would be cut off.
        setsockopt(&socket, ReceiveTimestampns, &false)?;
        let address = socket.local_addr()?;
        // Two sockets bound to different interfaces may have the same address,
        // and would be indistinguishable.
        if self.has(address) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let mut io = UdpSocket::from_std(socket);
        let token = self.next_token();
        self.registry.register(&mut io, token, Interest::READABLE)?;
        let socket = Socket {
            token,
            io,
            state,
            singly: Singly::default(),
            carried: 0,
        };
        self.by_address.insert(address, socket);
        Ok(address)
    }

    fn next_token(&mut self) -> Token {
        let token = Token(self.next);
        self.next += 1;
        token
    }

    /// Adds a TCP connection; returns its addresses.
    pub(crate) fn add_stream(
        &mut self,
        stream: StdTcpStream,
        now: Instant,
    ) -> io::Result<FiveTuple> {
        let token = self.next_token();
        self.streams.add(&self.registry, token, stream, now)
    }

    /// Whether a socket with this local address exists.
    pub(crate) fn has(&self, local: SocketAddr) -> bool {
        self.by_address.contains_key(&local) || self.relayed.contains_key(&local)
    }

    pub(crate) fn remove(&mut self, local: SocketAddr) {
        self.flush();
        self.relayed.remove(&local);
        if let Some(mut socket) = self.by_address.remove(&local) {
            // Closing the descriptor deregisters it in any case.
            let _ = self.registry.deregister(&mut socket.io);
        }
    }

    /// Adds an address at which `send` passes datagrams to a relay; false if the address is
    /// taken.
    pub(crate) fn add_relayed(
        &mut self,
        local: SocketAddr,
        send: impl FnMut(SocketAddr, &[u8]) + Send + 'static,
    ) -> bool {
        let is_free = !self.has(local);
        if is_free {
            let send = Box::new(send);
            self.relayed.insert(local, Relayed { send, carried: 0 });
        }
        is_free
    }

    /// Counts a datagram from a relay; false if its address was removed.
    pub(crate) fn count_relayed(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        len: usize,
    ) -> bool {
        let relayed = self.relayed.get_mut(&local);
        relayed.is_some_and(|relayed| {
            relayed.carried += len as u64 + headers(remote);
            true
        })
    }

    /// Address of the socket with this token.
    pub(crate) fn address(&self, token: Token) -> Option<SocketAddr> {
        let found = self.by_address.iter().find(|(_, s)| s.token == token);
        found.map(|(address, _)| *address)
    }

    /// Queues a datagram, sent by [`Sockets::flush`] at the latest.
    pub(crate) fn send(&mut self, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]) {
        if tuple.transport == Transport::Tcp {
            return self.streams.send(tuple, datagram);
        }
        let FiveTuple { local, remote, .. } = tuple;
        if let Some(relayed) = self.relayed.get_mut(&local) {
            relayed.carried += datagram.len() as u64 + headers(remote);
            return (relayed.send)(remote, datagram);
        }
        let route = (local, remote, ecn);
        let mut most = 1;
        if let Some(socket) = self.by_address.get_mut(&local) {
            most = socket.longest_run(remote);
            socket.carried += datagram.len() as u64 + headers(remote);
        }
        if self.run.takes(route, datagram.len(), most) {
            self.run.contents.extend_from_slice(datagram);
        } else {
            self.flush();
            self.run.begin(route, datagram);
        }
    }

    /// Sends the queued datagrams.
    pub(crate) fn flush(&mut self) {
        let Some((local, remote, ecn)) = self.run.route.take() else {
            return;
        };
        let count = self.run.datagrams().count();
        let socket = self.by_address.get_mut(&local);
        let sent = socket.map_or(0, |socket| socket.send_run(remote, ecn, &self.run));
        self.unsent += (count - sent) as u64;
    }

    /// Number of datagrams that the system refused.
    pub(crate) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Bytes sent and received on the socket of `local` so far, including the
    /// headers of IP and UDP.
    pub(crate) fn carried(&self, local: SocketAddr) -> Bytes {
        let socket = self.by_address.get(&local).map(|socket| socket.carried);
        let relayed = self.relayed.get(&local).map(|relayed| relayed.carried);
        Bytes(socket.or(relayed).unwrap_or(0))
    }

    /// Datagrams that have arrived on the socket of `local`, with their source
    /// and ECN field, without empty ones; an error if there are none.
    pub(crate) fn receive<'b>(
        &mut self,
        local: SocketAddr,
        buffers: &'b mut Buffers,
    ) -> io::Result<impl Iterator<Item = (SocketAddr, Ecn, &'b [u8])> + use<'b>> {
        let socket = self.by_address.get_mut(&local);
        let socket = socket.ok_or(io::ErrorKind::NotConnected)?;
        let Buffers { bytes, metas } = buffers;
        let mut slices = bytes.each_mut().map(|b| IoSliceMut::new(b));
        let io = UdpSockRef::from(&socket.io);
        let filled = socket.state.recv(io, &mut slices, metas)?;
        for meta in &metas[..filled] {
            let datagrams = meta.len.div_ceil(meta.stride.max(1)) as u64;
            socket.carried += meta.len as u64 + datagrams * headers(meta.addr);
        }
        let received = metas.iter().zip(bytes.iter()).take(filled);
        Ok(received.flat_map(|(meta, bytes)| {
            let datagrams = bytes[..meta.len].chunks(meta.stride.max(1));
            let ecn = meta.ecn.map_or(Ecn::NotEct, |e| Ecn::from_bits(e as u8));
            datagrams.map(move |datagram| (meta.addr, ecn, datagram))
        }))
    }
}

/// Receive buffers.
pub(crate) struct Buffers {
    bytes: [Vec<u8>; BUFFERS],
    metas: [RecvMeta; BUFFERS],
}

impl Buffers {
    pub(crate) fn new() -> Buffers {
        Buffers {
            bytes: std::array::from_fn(|_| vec![0; MAX_RECEIVED]),
            metas: [RecvMeta::default(); BUFFERS],
        }
    }
}
