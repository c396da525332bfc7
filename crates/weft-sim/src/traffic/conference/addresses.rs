//! Addresses of servers and people, and the legs between them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::super::flow::Legs;
use crate::packet::LegId;

/// Owner of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Server, at its address for people.
    Server(usize),
    /// Person at the end of a route.
    Person(usize),
    /// Server at one end of a route between two servers: 0 for the first of them, or 1.
    Between(usize, usize),
    /// No owner.
    Nowhere,
}

/// First octets of the addresses: of people, and of the servers at the ends of the links
/// between them.
const PERSON: u8 = 10;
const ENDS: [u8; 2] = [11, 12];
/// Network of the servers for people (RFC 5737), and the port of all servers.
const SERVERS: [u8; 3] = [198, 51, 100];
const SERVER_PORT: u16 = 5_000;

/// Returns the address of a server for people.
pub(super) fn of_server(server: usize) -> SocketAddr {
    let [a, b, c] = SERVERS;
    let last = u8::try_from(server + 1).expect("few servers");
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(a, b, c, last)), SERVER_PORT)
}

/// Returns the address of a server at one end of a route to another one.
pub(super) fn of_end(route: usize, end: usize, port: Option<u16>) -> SocketAddr {
    at(ENDS[end], route, port.unwrap_or(SERVER_PORT))
}

/// Returns the address of a person at the end of a route.
pub(super) fn of_person(route: usize, port: u16) -> SocketAddr {
    at(PERSON, route, port)
}

fn at(first: u8, route: usize, port: u16) -> SocketAddr {
    let [_, high, middle, low] = (route as u32).to_be_bytes();
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(first, high, middle, low)), port)
}

/// Returns the owner of an address.
pub(super) fn place_of(address: SocketAddr) -> Place {
    let IpAddr::V4(ip) = address.ip() else {
        return Place::Nowhere;
    };
    let [first, a, b, c] = ip.octets();
    let route = u32::from_be_bytes([0, a, b, c]) as usize;
    match first {
        PERSON => Place::Person(route),
        _ if [first, a, b] == SERVERS && c > 0 => Place::Server(usize::from(c) - 1),
        _ => match ENDS.iter().position(|end| *end == first) {
            Some(end) => Place::Between(route, end),
            None => Place::Nowhere,
        },
    }
}

/// Returns the leg from one address to the other, if a network connects them.
pub(super) fn leg(legs: &[Legs], from: SocketAddr, to: SocketAddr) -> Option<LegId> {
    match (place_of(from), place_of(to)) {
        (Place::Server(_), Place::Person(route)) => Some(legs.get(route)?.there),
        (Place::Person(route), Place::Server(_)) => Some(legs.get(route)?.back),
        (Place::Between(route, 0), Place::Between(to, 1)) if route == to => {
            Some(legs.get(route)?.there)
        }
        (Place::Between(route, 1), Place::Between(to, 0)) if route == to => {
            Some(legs.get(route)?.back)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_at_one_place_and_networks_are_apart() {
        assert_eq!(place_of(of_server(1)), Place::Server(1));
        assert_eq!(place_of(of_person(70_000, 6_000)), Place::Person(70_000));
        assert_eq!(place_of(of_end(3, 1, Some(20_000))), Place::Between(3, 1));
        let legs = [0, 2].map(|first| Legs {
            there: LegId(first),
            back: LegId(first + 1),
        });
        let person = of_person(1, 6_000);
        let [near, far, other] = [(0, 0), (0, 1), (1, 1)].map(|(r, end)| of_end(r, end, None));
        assert_eq!(leg(&legs, of_server(0), person), Some(LegId(2)));
        assert_eq!(leg(&legs, person, of_server(0)), Some(LegId(3)));
        assert_eq!(leg(&legs, near, far), Some(LegId(0)));
        assert_eq!(leg(&legs, far, near), Some(LegId(1)));
        for (from, to) in [(near, other), (near, near), (near, person), (person, far)] {
            assert_eq!(leg(&legs, from, to), None, "{from} to {to}");
        }
    }
}
