//! Datagrams in flight, by the number in their packet.

use std::net::SocketAddr;
use weft_units::FiveTuple;

use weft_peer::PeerKey;

use super::person::Connection;

/// Datagram with its addresses.
pub(super) struct Datagram {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub bytes: Vec<u8>,
    pub sender: Sender,
}

impl Datagram {
    pub fn new(sender: Sender, tuple: FiveTuple, bytes: Vec<u8>) -> Datagram {
        Datagram {
            from: tuple.local,
            to: tuple.remote,
            bytes,
            sender,
        }
    }
}

/// Owner of a datagram's memory.
pub(super) enum Sender {
    /// Peer of a server.
    Server(usize, PeerKey),
    Person(usize, Connection),
    /// Person who has left.
    Gone,
}

#[derive(Default)]
pub(super) struct InFlight {
    entries: Vec<Option<Datagram>>,
    free: Vec<u32>,
}

impl InFlight {
    pub fn keep(&mut self, datagram: Datagram) -> u32 {
        match self.free.pop() {
            Some(key) => {
                self.entries[key as usize] = Some(datagram);
                key
            }
            None => {
                self.entries.push(Some(datagram));
                self.entries.len() as u32 - 1
            }
        }
    }

    /// Takes a datagram whose packet has ended, which happens only once.
    pub fn take(&mut self, key: u32) -> Datagram {
        self.free.push(key);
        let entry = self.entries[key as usize].take();
        entry.expect("a packet ends once")
    }
}
