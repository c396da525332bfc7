//! Number of connections per address: an IPv4 address, or an IPv6 network.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// IPv6 networks by prefix length, with the factor on the limit of an IPv4 address. One
/// subscriber has 64 bits, or 56 or 48 (RFC 6177 section 2), but a prefix of 56 or 48
/// bits may also cover many subscribers, as in mobile networks. The factor of four for
/// them is chosen by us.
const NETWORKS: [(u32, usize); 3] = [(64, 1), (56, 2), (48, 4)];

/// Address prefix that may belong to one subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AddressPrefix {
    first: IpAddr,
    bits: u32,
}

impl AddressPrefix {
    /// Prefixes that the address may belong to, each with its factor on the
    /// limit of one address.
    pub fn of(address: IpAddr) -> impl Iterator<Item = (AddressPrefix, usize)> {
        let networks = match address {
            IpAddr::V4(_) => &[(32, 1)][..],
            IpAddr::V6(_) => &NETWORKS,
        };
        networks.iter().map(move |&(bits, times)| {
            let first = masked(address, bits);
            (AddressPrefix { first, bits }, times)
        })
    }

    /// Whether the prefix contains the address.
    pub fn has(&self, address: IpAddr) -> bool {
        masked(address, self.bits) == self.first
    }
}

/// First address of the IPv6 network of this prefix length; IPv4 addresses are
/// unchanged.
fn masked(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & !(u128::MAX >> bits)).into()),
        v4 => v4,
    }
}

/// Limit on the number of connections per prefix.
#[derive(Clone)]
pub(crate) struct ConnectionLimiter {
    counts: Arc<Mutex<BTreeMap<AddressPrefix, usize>>>,
    most: usize,
}

/// Slot of a connection, freed on drop.
pub(crate) struct ConnectionSlot {
    limiter: ConnectionLimiter,
    from: Option<IpAddr>,
}

impl ConnectionLimiter {
    pub fn new(most: usize) -> ConnectionLimiter {
        ConnectionLimiter {
            counts: Arc::default(),
            most,
        }
    }

    /// Takes a slot for a connection from this address, unless its prefix has
    /// too many. Loopback is not counted.
    pub fn enter(&self, from: IpAddr) -> Option<ConnectionSlot> {
        let from = network(from.to_canonical());
        if let Some(from) = from {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let has = |prefix| counts.get(&prefix).copied().unwrap_or(0);
            if AddressPrefix::of(from).any(|(prefix, times)| has(prefix) >= times * self.most) {
                return None;
            }
            for (prefix, _) in AddressPrefix::of(from) {
                *counts.entry(prefix).or_default() += 1;
            }
        }
        let limiter = self.clone();
        Some(ConnectionSlot { limiter, from })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let Some(from) = self.from else { return };
        let counts = &self.limiter.counts;
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (prefix, _) in AddressPrefix::of(from) {
            if let Some(count) = counts.get_mut(&prefix) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&prefix);
                }
            }
        }
    }
}

/// Counted part of an address: 64 bits of IPv6, the smallest prefix of a
/// subscriber; `None` for loopback, where a proxy may serve many clients.
pub(crate) fn network(address: IpAddr) -> Option<IpAddr> {
    (!address.is_loopback()).then(|| masked(address, 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_share_and_gets_it_back() {
        let limiter = ConnectionLimiter::new(2);
        let from = |text: &str| text.parse::<IpAddr>().unwrap();
        let one = limiter.enter(from("192.0.2.1"));
        let other = limiter.enter(from("::ffff:192.0.2.1"));
        assert!(one.is_some() && other.is_some());
        assert!(limiter.enter(from("192.0.2.1")).is_none());
        assert!(limiter.enter(from("192.0.2.2")).is_some());
        drop(other);
        assert!(limiter.enter(from("192.0.2.1")).is_some());
        // One network of a subscriber.
        let v6: Vec<_> = (1..=3)
            .map(|i| limiter.enter(from(&format!("2001:db8::{i}"))))
            .collect();
        assert_eq!(v6.iter().flatten().count(), 2);
        assert!(limiter.enter(from("2001:db8:0:1::1")).is_some());
        let own: Vec<_> = (0..9).map(|_| limiter.enter(from("127.0.0.1"))).collect();
        assert_eq!(own.iter().flatten().count(), 9);
        drop((one, v6));
        assert!(limiter.counts.lock().unwrap().is_empty());
    }

    #[test]
    fn many_ipv6_networks_do_not_have_as_many_shares() {
        let limiter = ConnectionLimiter::new(10);
        let enter = |networks: std::ops::Range<u32>| -> Vec<_> {
            let one = |n| limiter.enter(format!("2001:db8:7:{n:x}::1").parse().unwrap());
            networks.filter_map(one).collect()
        };
        // A subscriber with 56 bits, then one with 48.
        let site = enter(0..0x100);
        assert_eq!(site.len(), 20);
        let sites = enter(0x100..0x1000);
        assert_eq!(site.len() + sites.len(), 40);
        assert!(limiter.enter("2001:db8:8::1".parse().unwrap()).is_some());
        drop((site, sites));
        assert!(limiter.counts.lock().unwrap().is_empty());
    }
}
