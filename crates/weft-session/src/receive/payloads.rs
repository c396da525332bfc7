use std::collections::VecDeque;

use weft_wire::media::SharedBytes;

/// Payloads of forwarded packets, the oldest first. Their memory is reused as soon as no
/// sender needs them, so packets need no allocation.
#[derive(Default, Debug)]
pub(super) struct Payloads {
    handed_on: VecDeque<SharedBytes>,
}

/// Maximum number of payloads kept for reuse. Chosen by us: a quarter of a second
/// at 20 Mbit/s; senders need a payload until its arrival is reported.
const MOST: usize = 512;

impl Payloads {
    /// Returns a shared copy of the octets.
    pub fn share(&mut self, octets: &[u8]) -> SharedBytes {
        let is_free = self.handed_on.front_mut().is_some_and(|p| p.refill(octets));
        let oldest = match is_free || self.handed_on.len() == MOST {
            true => self.handed_on.pop_front(),
            false => None,
        };
        let shared = oldest.filter(|_| is_free);
        let shared = shared.unwrap_or_else(|| octets.into());
        self.handed_on.push_back(shared.clone());
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_nobody_reads_is_used_again() {
        let mut payloads = Payloads::default();
        let first = payloads.share(&[1; 100]);
        let second = payloads.share(&[2; 100]);
        assert_eq!(payloads.handed_on.len(), 2);
        let place = first.as_ptr();
        drop(first);
        let third = payloads.share(&[3; 50]);
        assert_eq!((third.as_ptr(), &third[..]), (place, &[3; 50][..]));
        assert_eq!(second[..], [2; 100]);
        assert_eq!(payloads.handed_on.len(), 2);
    }

    #[test]
    fn memory_is_bounded_however_long_payloads_are_needed() {
        let mut payloads = Payloads::default();
        let needed: Vec<SharedBytes> = (0..2_000).map(|_| payloads.share(&[7; 10])).collect();
        assert_eq!(payloads.handed_on.len(), MOST);
        drop(needed);
        payloads.share(&[8; 10]);
        assert_eq!(payloads.handed_on.len(), MOST);
    }
}
