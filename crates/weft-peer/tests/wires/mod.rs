//! Links of one end of a call. It has an address on each; the other end has one address,
//! which all links reach.

use std::net::{IpAddr, SocketAddr};

use weft_ice::LocalAddress;
use weft_links::{Departure, Link, LinkSpec};
use weft_units::{Bytes, Duration, Instant, Rng};

use crate::common::local;

mod libnice;

pub use libnice::Libnice;

/// Length of the UDP and IPv4 headers in bytes.
pub const OVERHEAD: u64 = 28;

/// IP version of all addresses of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    V4,
    V6,
}

impl Family {
    /// Address of the end without its own links.
    pub fn hub(self) -> SocketAddr {
        self.address("198.51.100.1", "2001:db8::1", 5000)
    }

    fn spoke(self, index: usize) -> SocketAddr {
        let v4 = format!("10.{}.{}.2", index / 256, index % 256);
        let v6 = format!("fd00:{index}::2");
        self.address(&v4, &v6, 4000 + index as u16)
    }

    fn address(self, v4: &str, v6: &str, port: u16) -> SocketAddr {
        let text = match self {
            Family::V4 => v4,
            Family::V6 => v6,
        };
        let ip: IpAddr = text.parse().expect("an address");
        SocketAddr::new(ip, port)
    }
}

pub struct Datagram {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub bytes: Vec<u8>,
}

struct Wire {
    spoke: SocketAddr,
    /// Direction towards the hub.
    up: Link<Datagram>,
    down: Link<Datagram>,
}

pub struct Wires {
    family: Family,
    rng: Rng,
    wires: Vec<Wire>,
    /// Last port of [`Wires::open_beside`].
    ports: u16,
    /// Datagrams that the spokes sent, if a test inspects them.
    pub sent: Option<Vec<(Instant, Vec<u8>)>>,
    /// libnice's choice of address, if the hub sends its reports to it.
    pub libnice: Option<Libnice>,
}

impl Wires {
    pub fn new(family: Family, specs: &[&str], rng: &Rng) -> Wires {
        let mut wires = Wires {
            family,
            rng: rng.clone(),
            wires: Vec::new(),
            ports: 6000,
            sent: None,
            libnice: None,
        };
        for spec in specs {
            wires.add(spec);
        }
        wires
    }

    /// Adds a link; returns its address.
    pub fn add(&mut self, spec: &str) -> LocalAddress {
        let spec: LinkSpec = spec.parse().expect("a link specification");
        let index = self.wires.len();
        let link = |name| Link::new(&spec, self.rng.stream(&format!("{name}{index}")));
        let spoke = self.family.spoke(index);
        self.wires.push(Wire {
            spoke,
            up: link("up"),
            down: link("down"),
        });
        local(spoke, index as u8)
    }

    /// Opens another port on the link of this address.
    pub fn open_beside(&mut self, address: SocketAddr) -> LocalAddress {
        let ip = address.ip();
        let wire = self.wires.iter().position(|w| w.spoke.ip() == ip);
        self.ports += 1;
        let link = wire.expect("a link has this address");
        local(SocketAddr::new(ip, self.ports), link as u8)
    }

    pub fn locals(&self) -> Vec<LocalAddress> {
        let spokes = (0..).zip(&self.wires);
        spokes.map(|(i, w)| local(w.spoke, i)).collect()
    }

    pub fn spoke(&self, link: usize) -> SocketAddr {
        self.wires[link].spoke
    }

    /// Round trip of the first link, without queueing.
    pub fn rtt(&self) -> Duration {
        self.wires[0].up.delay() * 2
    }

    /// Bytes that each link delivered towards the hub and back.
    pub fn delivered(&self) -> Vec<(u64, u64)> {
        let bytes = |link: &Link<_>| link.counters().delivered.bytes.0;
        let both = |w: &Wire| (bytes(&w.up), bytes(&w.down));
        self.wires.iter().map(both).collect()
    }

    pub fn cut(&mut self, now: Instant, link: usize) {
        self.wires[link].up.cut(now);
        self.wires[link].down.cut(now);
    }

    pub fn restore(&mut self, now: Instant, link: usize) {
        self.wires[link].up.restore(now);
        self.wires[link].down.restore(now);
    }

    /// Sends a datagram from the hub or from a spoke; it is lost if no link carries it.
    pub fn send(&mut self, now: Instant, from: SocketAddr, to: SocketAddr, bytes: Vec<u8>) {
        let upwards = to == self.family.hub();
        let mut spoke = if upwards { from } else { to };
        if let Some(libnice) = &mut self.libnice {
            if upwards {
                libnice.on_datagram(from, &bytes);
            } else if is_rtcp(&bytes) {
                spoke = libnice.selected().unwrap_or(spoke);
            }
        }
        if let (true, Some(sent)) = (upwards, &mut self.sent) {
            sent.push((now, bytes.clone()));
        }
        // Several connections from one link have a port each.
        let Some(wire) = self.wires.iter_mut().find(|w| w.spoke.ip() == spoke.ip()) else {
            return;
        };
        let link = if upwards {
            &mut wire.up
        } else {
            &mut wire.down
        };
        let size = Bytes(bytes.len() as u64 + OVERHEAD);
        let to = if upwards { to } else { spoke };
        link.enqueue(now, size, Datagram { from, to, bytes });
    }

    /// Returns the next datagram that has arrived.
    pub fn poll(&mut self, now: Instant) -> Option<Datagram> {
        let links = self.wires.iter_mut().flat_map(|w| [&mut w.up, &mut w.down]);
        for link in links {
            while let Some(departure) = link.poll(now) {
                if let Departure::Delivered { packet, .. } = departure {
                    return Some(packet);
                }
            }
        }
        None
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let links = self.wires.iter().flat_map(|w| [&w.up, &w.down]);
        links.filter_map(Link::poll_timeout).map(|d| d.at).min()
    }
}

/// RFC 7983 section 7, and RFC 5761 section 4.
pub fn is_rtcp(datagram: &[u8]) -> bool {
    (128..192).contains(&datagram[0]) && (64..96).contains(&(datagram[1] & 0x7f))
}

/// Any value works in virtual time.
#[allow(clippy::disallowed_methods)]
pub fn any_epoch() -> std::time::Instant {
    std::time::Instant::now()
}
