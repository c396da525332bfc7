//! How many connections each address has: an IPv4 address, or an IPv6 network
//! of 64 bits, which is what one subscriber has.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts connections by where they come from.
#[derive(Clone)]
pub(crate) struct Crowd {
    counts: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
    most: usize,
}

/// A connection's place, as long as it lasts.
pub(crate) struct Place {
    crowd: Crowd,
    from: Option<IpAddr>,
}

impl Crowd {
    pub fn new(most: usize) -> Crowd {
        Crowd {
            counts: Arc::default(),
            most,
        }
    }

    /// A place for one more from there, unless there are too many. Loopback is
    /// not counted.
    pub fn enter(&self, from: IpAddr) -> Option<Place> {
        let from = network(from.to_canonical());
        if let Some(from) = from {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(from).or_default();
            if *count >= self.most {
                return None;
            }
            *count += 1;
        }
        let crowd = self.clone();
        Some(Place { crowd, from })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(from) = self.from else { return };
        let counts = &self.crowd.counts;
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&from) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&from);
            }
        }
    }
}

/// What is counted of an address; none of loopback, where a proxy may speak for
/// everybody.
pub(crate) fn network(address: IpAddr) -> Option<IpAddr> {
    match address {
        own if own.is_loopback() => None,
        IpAddr::V6(v6) => Some(IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into())),
        v4 => Some(v4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_share_and_gets_it_back() {
        let crowd = Crowd::new(2);
        let from = |text: &str| text.parse::<IpAddr>().unwrap();
        let one = crowd.enter(from("192.0.2.1"));
        let other = crowd.enter(from("::ffff:192.0.2.1"));
        assert!(one.is_some() && other.is_some());
        assert!(crowd.enter(from("192.0.2.1")).is_none());
        assert!(crowd.enter(from("192.0.2.2")).is_some());
        drop(other);
        assert!(crowd.enter(from("192.0.2.1")).is_some());
        // One network of a subscriber's.
        let v6: Vec<_> = (1..=3)
            .map(|i| crowd.enter(from(&format!("2001:db8::{i}"))))
            .collect();
        assert_eq!(v6.iter().flatten().count(), 2);
        assert!(crowd.enter(from("2001:db8:0:1::1")).is_some());
        let own: Vec<_> = (0..9).map(|_| crowd.enter(from("127.0.0.1"))).collect();
        assert_eq!(own.iter().flatten().count(), 9);
        drop((one, v6));
        assert!(crowd.counts.lock().unwrap().is_empty());
    }
}
