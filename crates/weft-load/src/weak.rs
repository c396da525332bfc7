//! Slow link to a viewer.

use weft_links::{Capacity, Departure, Link, LinkSpec, PacketInfo};
use weft_units::{Bytes, Deadline, Duration, Ecn, FiveTuple, Instant, Rate, Rng};

/// Delay of the link. Chosen by us: a subscriber line.
const DELAY: Duration = Duration::from_millis(10);

/// Datagram on the link.
pub(crate) struct Datagram {
    pub tuple: FiveTuple,
    pub ecn: Ecn,
    pub content: Vec<u8>,
}

/// Link model between the network and one client. Datagrams wait for its rate, and those
/// beyond its queue (RFC 8867, 300 ms) are lost.
pub(crate) struct WeakLink {
    link: Link<Datagram>,
    lost: u64,
}

impl WeakLink {
    pub fn new(rate: Rate, rng: Rng) -> WeakLink {
        let spec = LinkSpec::new(Capacity::Constant(rate), DELAY);
        WeakLink {
            link: Link::new(&spec, rng),
            lost: 0,
        }
    }

    /// Sends a datagram over the link; `size` includes the headers.
    pub fn enqueue(&mut self, now: Instant, size: Bytes, datagram: Datagram) {
        let info = PacketInfo::new(size).with_ecn(datagram.ecn);
        self.link.enqueue(now, info, datagram);
    }

    /// Returns the next datagram that has arrived by `now`.
    pub fn poll(&mut self, now: Instant) -> Option<Datagram> {
        loop {
            match self.link.poll(now)? {
                Departure::Delivered { packet, ecn, .. } => {
                    return Some(Datagram { ecn, ..packet });
                }
                Departure::Dropped { .. } => self.lost += 1,
            }
        }
    }

    pub fn poll_timeout(&self) -> Option<Deadline> {
        self.link.poll_timeout()
    }

    /// Returns the number of datagrams that the link has lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_wait_for_the_rate_and_the_queue_overflows() {
        let mut weak = WeakLink::new(Rate::from_kbps(800), Rng::new(1));
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        // 1,000 bytes take 10 ms: half a second of datagrams at once.
        for number in 0..50 {
            let address = "192.0.2.1:1".parse().expect("an address");
            let datagram = Datagram {
                tuple: FiveTuple::udp(address, address),
                ecn: Ecn::NotEct,
                content: vec![number],
            };
            weak.enqueue(at(0), Bytes(1_000), datagram);
        }
        assert!(weak.poll(at(19)).is_none());
        assert_eq!(weak.poll_timeout().map(|d| d.at), Some(at(20)));
        let first = weak.poll(at(20)).expect("the first one");
        assert_eq!(first.content, [0]);
        let mut delivered = 1;
        for ms in 20..2_000 {
            while weak.poll(at(ms)).is_some() {
                delivered += 1;
            }
        }
        // 300 ms of queue, and the one in transmission.
        assert!((30..=32).contains(&delivered), "{delivered}");
        assert_eq!(weak.lost(), 50 - delivered);
    }
}
