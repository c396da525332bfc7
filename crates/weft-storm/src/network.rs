//! Links between the server and everybody else: they lose, delay, duplicate and reorder
//! datagrams, and can be cut.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use weft_links::{Departure, Link, LinkSpec};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

/// Length of the UDP and IP headers in bytes.
const OVERHEAD: u64 = 28;
/// Maximum delay of a reordered datagram.
const MOST_LATE: Duration = Duration::from_millis(30);

/// Address of the server.
pub const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1)), 5000);

/// Datagram with its addresses.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// Source address in its header.
    pub from: SocketAddr,
    /// Destination address in its header.
    pub to: SocketAddr,
    /// UDP payload.
    pub bytes: Vec<u8>,
}

/// Faults of a link in addition to loss and delay.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Impairments {
    /// Probability that a datagram arrives twice.
    pub doubles: f64,
    /// Probability that a datagram arrives later than datagrams sent after it.
    pub reorders: f64,
}

struct Way {
    ip: IpAddr,
    up: Link<Datagram>,
    down: Link<Datagram>,
    impairments: Impairments,
    rng: Rng,
}

/// All links. Each has one address at its far end, with any port.
pub struct Network {
    rng: Rng,
    ways: Vec<Way>,
    by_ip: BTreeMap<IpAddr, usize>,
    /// Delayed datagrams, by time and order.
    late: BTreeMap<(Instant, u64), Datagram>,
    count: u64,
    ready: VecDeque<Datagram>,
}

impl Network {
    /// Creates a network without links.
    pub fn new(rng: &Rng) -> Network {
        Network {
            rng: rng.stream("network"),
            ways: Vec::new(),
            by_ip: BTreeMap::new(),
            late: BTreeMap::new(),
            count: 0,
            ready: VecDeque::new(),
        }
    }

    /// Adds a link; returns its number and the address at its far end.
    pub fn add(&mut self, spec: &LinkSpec, impairments: Impairments) -> (usize, IpAddr) {
        let index = self.ways.len();
        let ip = IpAddr::V4(Ipv4Addr::new(10, 0, (index >> 8) as u8, index as u8));
        let rng = self.rng.stream(&format!("way {index}"));
        self.ways.push(Way {
            ip,
            up: Link::new(spec, rng.stream("up")),
            down: Link::new(spec, rng.stream("down")),
            impairments,
            rng: rng.stream("impairments"),
        });
        self.by_ip.insert(ip, index);
        (index, ip)
    }

    /// Returns the address at the far end of a link.
    pub fn ip(&self, link: usize) -> IpAddr {
        self.ways[link].ip
    }

    /// Returns the link that leads to this address.
    pub fn link_of(&self, ip: IpAddr) -> Option<usize> {
        self.by_ip.get(&ip).copied()
    }

    /// Cuts the link in both directions.
    pub fn cut(&mut self, now: Instant, link: usize) {
        self.ways[link].up.cut(now);
        self.ways[link].down.cut(now);
    }

    /// Restores the link in both directions.
    pub fn restore(&mut self, now: Instant, link: usize) {
        self.ways[link].up.restore(now);
        self.ways[link].down.restore(now);
    }

    /// Changes the capacity of the link in both directions.
    pub fn set_capacity(&mut self, now: Instant, link: usize, rate: Rate) {
        self.ways[link].up.set_capacity(now, rate);
        self.ways[link].down.set_capacity(now, rate);
    }

    /// Sends on the link of the addresses; the datagram is lost if there is none.
    pub fn send(&mut self, now: Instant, datagram: Datagram) {
        let far = match datagram.to == SERVER {
            true => datagram.from.ip(),
            false => datagram.to.ip(),
        };
        if let Some(link) = self.by_ip.get(&far) {
            self.send_by(now, *link, datagram);
        }
    }

    /// Sends on this link, regardless of the addresses: attackers forge sources.
    pub fn send_by(&mut self, now: Instant, link: usize, datagram: Datagram) {
        let way = &mut self.ways[link];
        let link = match datagram.to == SERVER {
            true => &mut way.up,
            false => &mut way.down,
        };
        let size = Bytes(datagram.bytes.len() as u64 + OVERHEAD);
        link.enqueue(now, size, datagram);
    }

    /// Returns the next datagram that has arrived.
    pub fn poll(&mut self, now: Instant) -> Option<Datagram> {
        if self.ready.is_empty() {
            self.collect(now);
        }
        self.ready.pop_front()
    }

    /// Returns the time of the next arrival.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let links = self.ways.iter().flat_map(|w| [&w.up, &w.down]);
        let next = links.filter_map(Link::poll_timeout).map(|d| d.at);
        let late = self.late.keys().next().map(|(at, _)| *at);
        next.chain(late).min()
    }

    fn collect(&mut self, now: Instant) {
        for way in &mut self.ways {
            for link in [&mut way.up, &mut way.down] {
                while let Some(departure) = link.poll(now) {
                    let Departure::Delivered { packet, .. } = departure else {
                        continue;
                    };
                    if way.impairments.doubles > 0.0 && way.rng.chance(way.impairments.doubles) {
                        let at = now + MOST_LATE.mul_f64(way.rng.unit());
                        self.count += 1;
                        self.late.insert((at, self.count), packet.clone());
                    }
                    if way.impairments.reorders > 0.0 && way.rng.chance(way.impairments.reorders) {
                        let at = now + MOST_LATE.mul_f64(way.rng.unit());
                        self.count += 1;
                        self.late.insert((at, self.count), packet);
                    } else {
                        self.ready.push_back(packet);
                    }
                }
            }
        }
        while let Some(entry) = self.late.first_entry() {
            if entry.key().0 > now {
                break;
            }
            self.ready.push_back(entry.remove());
        }
    }
}
