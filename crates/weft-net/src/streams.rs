//! TCP connections of ICE (RFC 6544), in which each datagram follows its length.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream as StdTcpStream};

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use weft_units::{FiveTuple, Instant};

use crate::datagram_framing::{DatagramFraming, TooLong};

/// Maximum number of octets that wait in this process if a connection is slower than its
/// media; further datagrams are dropped whole, as on a link of that rate. Chosen by us:
/// half a second at 1 Mbit/s, and more than a peer sends in one turn.
const MOST_WAITING: usize = 64 * 1024;
/// Capacity that an empty queue keeps. Chosen by us: the usual amount of a turn.
const KEPT: usize = 8 * 1024;
/// Octets read by one system call. Chosen by us.
const CHUNK: usize = 16 * 1024;

struct Stream {
    io: TcpStream,
    tuple: FiveTuple,
    framing: DatagramFraming,
    /// Octets for the peer.
    waiting: VecDeque<u8>,
    /// Time of the last octets from the peer.
    heard: Instant,
}

impl Stream {
    /// Writes as much as the system accepts.
    fn write(&mut self) -> io::Result<()> {
        while !self.waiting.is_empty() {
            match self.io.write(self.waiting.as_slices().0) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => drop(self.waiting.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.waiting.shrink_to(KEPT);
        Ok(())
    }
}

/// TCP connections of a driver.
#[derive(Default)]
pub(crate) struct Streams {
    by_token: BTreeMap<Token, Stream>,
    tokens: BTreeMap<FiveTuple, Token>,
    /// Connections with octets that the next flush writes.
    pending: BTreeSet<Token>,
    dropped: u64,
    chunk: Vec<u8>,
}

impl Streams {
    /// Adds a connection, which must be non-blocking; returns its addresses. Fails if a
    /// connection between the same addresses exists.
    pub(crate) fn add(
        &mut self,
        registry: &Registry,
        token: Token,
        stream: StdTcpStream,
        now: Instant,
    ) -> io::Result<FiveTuple> {
        let remote = stream.peer_addr()?;
        // A dual-stack socket has IPv4 addresses in IPv6 form.
        let canonical = |addr: SocketAddr| SocketAddr::new(addr.ip().to_canonical(), addr.port());
        let tuple = FiveTuple::tcp(canonical(stream.local_addr()?), canonical(remote));
        if self.tokens.contains_key(&tuple) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let mut io = TcpStream::from_std(stream);
        registry.register(&mut io, token, Interest::READABLE | Interest::WRITABLE)?;
        self.chunk.resize(CHUNK, 0);
        self.tokens.insert(tuple, token);
        let stream = Stream {
            io,
            tuple,
            framing: DatagramFraming::default(),
            waiting: VecDeque::new(),
            heard: now,
        };
        self.by_token.insert(token, stream);
        Ok(tuple)
    }

    pub(crate) fn has(&self, token: Token) -> bool {
        self.by_token.contains_key(&token)
    }

    /// Closes a connection; ignores unknown ones.
    pub(crate) fn close(&mut self, token: Token) {
        self.pending.remove(&token);
        // Closing the descriptor deregisters it.
        if let Some(stream) = self.by_token.remove(&token) {
            self.tokens.remove(&stream.tuple);
        }
    }

    /// Closes the connection between two addresses.
    pub(crate) fn close_tuple(&mut self, tuple: FiveTuple) {
        if let Some(&token) = self.tokens.get(&tuple) {
            self.close(token);
        }
    }

    /// Time of the last octets that arrived over the connection between two addresses;
    /// `None` if it was closed.
    pub(crate) fn heard(&self, tuple: FiveTuple) -> Option<Instant> {
        let stream = self.by_token.get(self.tokens.get(&tuple)?)?;
        Some(stream.heard)
    }

    /// Number of open connections.
    pub(crate) fn len(&self) -> usize {
        self.by_token.len()
    }

    /// Number of datagrams dropped because connections were too slow or had ended.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Queues a datagram, which the next flush writes.
    pub(crate) fn send(&mut self, tuple: FiveTuple, datagram: &[u8]) {
        let token = self.tokens.get(&tuple);
        let stream = token.and_then(|token| self.by_token.get_mut(token));
        let (Some(token), Some(stream), Ok(length)) =
            (token, stream, u16::try_from(datagram.len()))
        else {
            self.dropped += 1;
            return;
        };
        let header = length.to_be_bytes();
        if stream.waiting.len() + header.len() + datagram.len() > MOST_WAITING {
            self.dropped += 1;
            return;
        }
        stream.waiting.extend(header);
        stream.waiting.extend(datagram);
        self.pending.insert(*token);
    }

    /// Writes the queued datagrams.
    pub(crate) fn flush(&mut self) {
        for token in std::mem::take(&mut self.pending) {
            self.write(token);
        }
    }

    /// Writes the waiting octets of a connection that accepts octets again.
    pub(crate) fn write(&mut self, token: Token) {
        let stream = self.by_token.get_mut(&token);
        if stream.is_some_and(|stream| stream.write().is_err()) {
            self.close(token);
        }
    }

    /// Reads octets from a connection.
    pub(crate) fn read(&mut self, token: Token, now: Instant) -> io::Result<()> {
        let stream = self.by_token.get_mut(&token);
        let stream = stream.ok_or(io::ErrorKind::NotConnected)?;
        match stream.io.read(&mut self.chunk)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            length => {
                stream.heard = now;
                stream.framing.extend(&self.chunk[..length]);
                Ok(())
            }
        }
    }

    /// Returns the next datagram that was read, with its addresses.
    pub(crate) fn next_datagram(
        &mut self,
        token: Token,
    ) -> Result<Option<(FiveTuple, &[u8])>, TooLong> {
        let Some(stream) = self.by_token.get_mut(&token) else {
            return Ok(None);
        };
        let tuple = stream.tuple;
        let datagram = stream.framing.next_datagram()?;
        Ok(datagram.map(|datagram| (tuple, datagram)))
    }
}

#[cfg(test)]
mod tests;
