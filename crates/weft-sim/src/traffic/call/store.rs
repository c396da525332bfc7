//! Datagrams of a call in flight.

use weft_session::Protocol;

/// Contents of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    Rtp,
    Rtcp,
    Stun,
}

impl Content {
    /// Returns the protocol of the session's packets.
    pub fn protocol(self) -> Option<Protocol> {
        match self {
            Content::Rtp => Some(Protocol::Rtp),
            Content::Rtcp => Some(Protocol::Rtcp),
            Content::Stun => None,
        }
    }
}

/// Holds each datagram once, for any number of paths, until its last copy has ended.
#[derive(Default)]
pub(super) struct Store {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

struct Entry {
    content: Content,
    bytes: Vec<u8>,
    copies: u32,
    has_arrived: bool,
}

/// Copy of a datagram that passed SRTP.
pub(super) struct Arrived<'a> {
    pub content: Content,
    pub bytes: &'a [u8],
    /// Whether another copy arrived before (RFC 3711 section 3.3.2).
    pub again: bool,
}

impl Store {
    /// Stores a datagram that is sent `copies` times.
    pub fn keep(&mut self, content: Content, bytes: Vec<u8>, copies: u32) -> u32 {
        let entry = Entry {
            content,
            bytes,
            copies,
            has_arrived: false,
        };
        match self.free.pop() {
            Some(key) => {
                self.entries[key as usize] = entry;
                key
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        }
    }

    /// Records that one copy has arrived; it must still be released.
    pub fn arrive(&mut self, key: u32) -> Arrived<'_> {
        let entry = &mut self.entries[key as usize];
        Arrived {
            content: entry.content,
            again: std::mem::replace(&mut entry.has_arrived, true),
            bytes: &entry.bytes,
        }
    }

    /// Releases one copy. Returns the datagram's memory with the last one.
    pub fn release(&mut self, key: u32) -> Option<(Content, Vec<u8>)> {
        let entry = &mut self.entries[key as usize];
        entry.copies -= 1;
        (entry.copies == 0).then(|| {
            self.free.push(key);
            (entry.content, std::mem::take(&mut entry.bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_copy_comes_first_and_the_last_one_gives_the_memory_back() {
        let mut store = Store::default();
        let key = store.keep(Content::Rtcp, vec![1, 2], 2);
        assert!(!store.arrive(key).again);
        assert_eq!(store.release(key), None);
        let second = store.arrive(key);
        assert!(second.again);
        assert_eq!((second.content, second.bytes), (Content::Rtcp, &[1, 2][..]));
        assert_eq!(store.release(key), Some((Content::Rtcp, vec![1, 2])));
        let next = store.keep(Content::Rtp, vec![3], 1);
        assert_eq!(next, key, "its place is taken again");
        assert!(!store.arrive(next).again);
    }
}
