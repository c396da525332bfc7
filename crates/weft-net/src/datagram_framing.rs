//! Datagrams in a stream of octets, each after its length in two octets (RFC 4571 section 2).

use weft_peer::MAX_DATAGRAM;

/// Octets of a stream that have not been handled yet.
#[derive(Debug, Default)]
pub struct DatagramFraming {
    octets: Vec<u8>,
    /// Number of octets at the beginning that were handled.
    handled: usize,
}

/// The stream announces a datagram that is longer than peers accept.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream announces a datagram of {0} octets")]
pub struct TooLong(usize);

impl DatagramFraming {
    /// Adds octets that were read. Call `next_datagram` until `None`
    /// before you add more, so that less than one datagram waits.
    pub fn extend(&mut self, octets: &[u8]) {
        self.octets.drain(..self.handled);
        self.handled = 0;
        self.octets.extend_from_slice(octets);
    }

    /// Returns the next complete datagram. Empty ones are skipped.
    ///
    /// # Errors
    /// If it is too long: then the stream cannot be read any further.
    pub fn next_datagram(&mut self) -> Result<Option<&[u8]>, TooLong> {
        loop {
            let rest = &self.octets[self.handled..];
            let Some((header, rest)) = rest.split_first_chunk() else {
                return Ok(None);
            };
            let length = usize::from(u16::from_be_bytes(*header));
            if length > MAX_DATAGRAM {
                return Err(TooLong(length));
            }
            if rest.len() < length {
                return Ok(None);
            }
            let start = self.handled + header.len();
            self.handled = start + length;
            if length > 0 {
                return Ok(Some(&self.octets[start..self.handled]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagrams(framing: &mut DatagramFraming) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut all = Vec::new();
        while let Some(datagram) = framing.next_datagram()? {
            all.push(datagram.to_vec());
        }
        Ok(all)
    }

    #[test]
    fn datagrams_are_whole_however_the_stream_is_cut() {
        let stream = [0, 3, 1, 2, 3, 0, 0, 0, 1, 9];
        let wanted = vec![vec![1, 2, 3], vec![9]];
        for cut in 0..=stream.len() {
            let mut framing = DatagramFraming::default();
            framing.extend(&stream[..cut]);
            let mut found = datagrams(&mut framing).unwrap();
            framing.extend(&stream[cut..]);
            found.extend(datagrams(&mut framing).unwrap());
            assert_eq!(found, wanted, "cut after {cut}");
            framing.extend(&[]);
            assert_eq!(framing.octets.len(), 0);
        }
    }

    #[test]
    fn a_length_that_no_peer_accepts_ends_the_stream_before_its_octets_come() {
        let most = MAX_DATAGRAM as u16;
        for (length, accepted) in [(most, true), (most + 1, false), (u16::MAX, false)] {
            let mut framing = DatagramFraming::default();
            framing.extend(&length.to_be_bytes());
            let next = framing.next_datagram();
            assert_eq!(next.is_ok(), accepted, "{length}: {next:?}");
        }
    }
}
