use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::payload::Prefix;

/// Octets shared by packets: a clone counts a reference and copies nothing.
#[derive(Clone, Default)]
pub struct SharedBytes {
    /// `None` if empty.
    all: Option<Arc<Vec<u8>>>,
    /// Number of octets at the start of `all` that are not part of it.
    skipped: usize,
}

impl SharedBytes {
    /// Replaces the octets in place. Returns false without a change if there is
    /// no memory yet or another value shares it.
    pub fn refill(&mut self, octets: &[u8]) -> bool {
        let Some(own) = self.all.as_mut().and_then(Arc::get_mut) else {
            return false;
        };
        own.clear();
        own.extend_from_slice(octets);
        self.skipped = 0;
        true
    }

    /// Returns these octets without the first `skipped` ones.
    #[must_use]
    pub fn behind(&self, skipped: usize) -> SharedBytes {
        SharedBytes {
            all: self.all.clone(),
            skipped: self.skipped + skipped.min(self.len()),
        }
    }

    /// Returns the number of values that share the memory, including this one.
    #[must_use]
    pub fn references(&self) -> usize {
        self.all.as_ref().map_or(1, Arc::strong_count)
    }
}

impl Deref for SharedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.all.as_ref().map_or(&[], |all| &all[self.skipped..])
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(octets: Vec<u8>) -> SharedBytes {
        SharedBytes {
            all: Some(Arc::new(octets)),
            skipped: 0,
        }
    }
}

impl From<&[u8]> for SharedBytes {
    fn from(octets: &[u8]) -> SharedBytes {
        match octets {
            [] => SharedBytes::default(),
            octets => octets.to_vec().into(),
        }
    }
}

impl<const N: usize> From<[u8; N]> for SharedBytes {
    fn from(octets: [u8; N]) -> SharedBytes {
        octets.to_vec().into()
    }
}

impl PartialEq for SharedBytes {
    fn eq(&self, other: &SharedBytes) -> bool {
        **self == **other
    }
}

impl Eq for SharedBytes {}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Payload of a forwarded packet: a descriptor for one receiver, and octets that all
/// receivers share.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ForwardedPayload {
    /// First part; empty if the payload is forwarded unchanged.
    pub prefix: Prefix,
    /// Second part, after the prefix.
    pub body: SharedBytes,
}

impl ForwardedPayload {
    /// Returns the number of octets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.prefix.octets().len() + self.body.len()
    }

    /// Whether the packet only fills a sequence number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a copy of both parts in one piece.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        [self.prefix.octets(), &self.body].concat()
    }
}

impl From<SharedBytes> for ForwardedPayload {
    fn from(body: SharedBytes) -> ForwardedPayload {
        ForwardedPayload {
            prefix: Prefix::default(),
            body,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_only_when_nobody_else_reads_it() {
        let mut octets = SharedBytes::from([1, 2, 3]);
        let other = octets.behind(1);
        assert_eq!((octets.references(), &other[..]), (2, &[2, 3][..]));
        assert!(!octets.refill(&[4]));
        assert_eq!((&octets[..], &other[..]), (&[1, 2, 3][..], &[2, 3][..]));
        drop(other);
        assert!(octets.refill(&[4, 5]));
        assert_eq!(octets[..], [4, 5]);
        assert!(!SharedBytes::default().refill(&[1]), "there is no memory");
    }

    #[test]
    fn more_octets_than_the_length_can_be_left_out() {
        let octets = SharedBytes::from([1, 2, 3]);
        assert_eq!(octets.behind(1).behind(1)[..], [3]);
        assert_eq!(octets.behind(4).behind(1)[..], [0; 0]);
        assert_eq!(octets.behind(3), SharedBytes::default());
    }

    #[test]
    fn a_prefix_comes_before_what_is_shared() {
        let payload = ForwardedPayload {
            prefix: Prefix::new(&[9, 8, 7]),
            body: SharedBytes::from([1, 2, 3, 4]).behind(2),
        };
        assert_eq!((payload.len(), payload.to_vec()), (5, vec![9, 8, 7, 3, 4]));
        assert!(ForwardedPayload::default().is_empty());
    }
}
