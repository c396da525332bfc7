//! Single relay: its sockets and its medium.

use super::shared::{
    Change, DOWN, LATE, OVERHEAD_BYTES, Published, RelayCounters, Shared, UP, WayCounters,
};
use super::sockets::{Clock, Sockets};
use socket2::SockRef;
use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use weft_links::{Departure, Link, Medium, MediumSpec, StationId, WiredDirection};
use weft_units::{Bytes, Deadline, Duration, Instant, Rate, Rng};

/// Maximum number of client addresses; a new one replaces the one that was
/// silent longest. Chosen by us: the demo has one or two.
pub(super) const MAX_CLIENTS: usize = 32;
/// Packets read from one socket before the others' turn; the same as in the
/// emulator's measurements.
const BATCH: usize = 64;
/// Longer than any UDP payload (RFC 768: 16-bit length).
const BUFFER_BYTES: usize = 65_536;
/// Requested receive buffer, large enough that only the link model drops
/// bursts, and counts them: a second at the demo's best rate, including the
/// system's overhead per packet. Chosen by us.
const RECEIVE_BUFFER_BYTES: usize = 4_000_000;

pub(super) struct Nat {
    key: usize,
    address: SocketAddr,
    target: SocketAddr,
    listener: UdpSocket,
    sockets: Sockets,
    clients: BTreeMap<usize, Client>,
    medium: Medium<Packet>,
    buffer: Vec<u8>,
    totals: Totals,
    shared: Arc<Shared>,
}

/// Client address and its socket towards the target.
struct Client {
    address: SocketAddr,
    socket: UdpSocket,
    heard_at: Instant,
}

/// Packet of a client, with the client's key.
struct Packet {
    client: usize,
    payload: Vec<u8>,
}

#[derive(Default)]
struct Totals {
    send_errors: u64,
    late: u64,
    lateness_max: Duration,
}

impl Nat {
    pub fn open(
        sockets: &Sockets,
        spec: &MediumSpec,
        target: SocketAddr,
        rng: &Rng,
        shared: Arc<Shared>,
    ) -> io::Result<Nat> {
        let sockets = sockets.clone();
        let listener = bind_beside(target)?;
        let address = listener.local_addr()?;
        let key = sockets.add(&listener)?;
        let nat = Nat {
            key,
            address,
            target,
            listener,
            sockets,
            clients: BTreeMap::new(),
            medium: Medium::new(spec, rng),
            buffer: vec![0; BUFFER_BYTES],
            totals: Totals::default(),
            shared,
        };
        nat.publish();
        Ok(nat)
    }

    pub fn key(&self) -> usize {
        self.key
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn owns(&self, key: usize) -> bool {
        key == self.key || self.clients.contains_key(&key)
    }

    pub fn poll_timeout(&self) -> Option<Deadline> {
        let deadlines = self.medium.channels().map(|c| self.medium.poll_timeout(c));
        deadlines.fold(None, Deadline::earlier)
    }

    pub fn change(&mut self, now: Instant, ways: &[WiredDirection], change: Change) {
        let medium = &mut self.medium;
        for direction in ways {
            let station = direction.station();
            match change {
                Change::Capacity(rate) => {
                    if let Some(wired) = medium.wired_mut() {
                        wired.direction_mut(*direction).set_capacity(now, rate);
                    }
                }
                Change::Delay(delay) => medium.set_delay(now, station, delay),
                Change::Loss(loss) => medium.set_loss(now, station, loss),
                Change::Cut => medium.cut(now, station),
                Change::Restore => medium.restore(now, station),
            }
        }
    }

    /// Reads packets from the socket with this key into the medium.
    pub fn receive(&mut self, key: usize, clock: Clock) {
        for _ in 0..BATCH {
            let read = if key == self.key {
                self.receive_up(clock)
            } else {
                self.receive_down(key, clock)
            };
            match read {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                // The system reports here, once, that an earlier packet was refused
                // because nothing listens.
                Err(_) => self.totals.send_errors += 1,
            }
        }
    }

    fn receive_up(&mut self, clock: Clock) -> io::Result<()> {
        let (length, from) = self.listener.recv_from(&mut self.buffer)?;
        let now = clock.now();
        let client = self.client_of(from, now)?;
        let payload = self.buffer[..length].to_vec();
        let packet = Packet { client, payload };
        self.enqueue(now, UP, packet);
        Ok(())
    }

    fn receive_down(&mut self, client: usize, clock: Clock) -> io::Result<()> {
        let Some(Client { socket, .. }) = self.clients.get(&client) else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let length = socket.recv(&mut self.buffer)?;
        let payload = self.buffer[..length].to_vec();
        let packet = Packet { client, payload };
        self.enqueue(clock.now(), DOWN, packet);
        Ok(())
    }

    fn enqueue(&mut self, now: Instant, direction: WiredDirection, packet: Packet) {
        let size = packet.size();
        let (from, to) = (direction.station(), direction.reversed().station());
        self.medium.enqueue(now, from, to, size, packet);
    }

    /// Sends the packets that have left the medium, and publishes the counters.
    pub fn forward(&mut self, clock: Clock) {
        for channel in self.medium.channels() {
            while let Some((station, departure)) = self.medium.poll(clock.now(), channel) {
                if let Departure::Delivered { packet, at, .. } = departure {
                    let sent = self.send(station, &packet);
                    self.totals.on_sent(at, clock.now(), sent);
                }
            }
        }
        self.publish();
    }

    /// Sends a packet that has crossed the link from `station`.
    fn send(&self, station: StationId, packet: &Packet) -> io::Result<usize> {
        let client = self.clients.get(&packet.client).ok_or_else(gone)?;
        if station == UP.station() {
            client.socket.send(&packet.payload)
        } else {
            self.listener.send_to(&packet.payload, client.address)
        }
    }

    /// Key of the client at this address, which gets its own socket.
    fn client_of(&mut self, address: SocketAddr, now: Instant) -> io::Result<usize> {
        let known = self.clients.iter_mut().find(|c| c.1.address == address);
        if let Some((key, client)) = known {
            client.heard_at = now;
            return Ok(*key);
        }
        if self.clients.len() >= MAX_CLIENTS {
            let silent = self.clients.iter().min_by_key(|c| c.1.heard_at);
            if let Some(client) = silent.map(|c| *c.0).and_then(|k| self.clients.remove(&k)) {
                self.sockets.remove(&client.socket);
            }
        }
        let socket = bind_beside(self.target)?;
        socket.connect(self.target)?;
        let key = self.sockets.add(&socket)?;
        let client = Client {
            address,
            socket,
            heard_at: now,
        };
        self.clients.insert(key, client);
        Ok(key)
    }

    fn publish(&self) {
        let Totals {
            send_errors,
            late,
            lateness_max,
        } = self.totals;
        let counters = RelayCounters {
            up: state_of(&self.medium, UP),
            down: state_of(&self.medium, DOWN),
            send_errors,
            late,
            lateness_max,
        };
        let wired = self.medium.wired();
        let empty_at = [UP, DOWN].map(|way| wired.and_then(|w| w.direction(way).empty_at()));
        self.shared.write(Published { counters, empty_at });
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        self.sockets.remove(&self.listener);
        for client in self.clients.values() {
            self.sockets.remove(&client.socket);
        }
    }
}

impl Packet {
    fn size(&self) -> Bytes {
        Bytes(self.payload.len() as u64 + OVERHEAD_BYTES)
    }
}

impl Totals {
    fn on_sent(&mut self, due: Instant, now: Instant, sent: io::Result<usize>) {
        let lateness = now.saturating_since(due);
        self.lateness_max = self.lateness_max.max(lateness);
        self.late += u64::from(lateness > LATE);
        self.send_errors += u64::from(sent.is_err());
    }
}

fn state_of(medium: &Medium<Packet>, direction: WiredDirection) -> WayCounters {
    let station = direction.station();
    let link = medium.wired().map(|wired| wired.direction(direction));
    WayCounters {
        up: medium.is_up(station),
        capacity: link.map_or(Rate::ZERO, Link::capacity),
        delay: medium.delay(station),
        link: *medium.counters(station),
        queue_delay: link.and_then(Link::queue_delay),
    }
}

/// Error for a packet whose client was replaced while it was on the link.
fn gone() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

/// Binds a socket on the loopback address of the target.
fn bind_beside(target: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddr::new(target.ip(), 0))?;
    socket.set_nonblocking(true)?;
    // The system reduces the size to its limit and refuses only invalid values.
    SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
    Ok(socket)
}
