//! What has arrived: a ring by extended sequence number.

use std::collections::BTreeSet;
use std::sync::Arc;
use weft_units::{Instant, PathId};

/// How far a packet may lag behind the newest, in sequence numbers: two
/// seconds of the 10 Mbps that 1,200-byte packets at 1,000 per second make.
/// The SRTP window of libwebrtc is 1,024; chosen by us.
pub(super) const CAPACITY: u64 = 2048;

/// A media packet that waits for the rest of its frame.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) path: PathId,
    pub(super) arrived: Instant,
    pub(super) recovered: bool,
    /// Where the media starts in the payload, behind its descriptor.
    pub(super) body: usize,
    pub(super) payload: Arc<[u8]>,
}

#[derive(PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    New,
    Duplicate,
    TooOld,
}

/// Remembers which of the last [`CAPACITY`] sequence numbers arrived, and
/// holds the packets that frames are still made of.
#[derive(Debug)]
pub(super) struct PacketBuffer {
    slots: Vec<Slot>,
    first: Option<u64>,
    highest: Option<u64>,
    missing: BTreeSet<u64>,
    bytes: usize,
}

#[derive(Default, Debug)]
struct Slot {
    /// One more than the sequence number, zero for none.
    tag: u64,
    held: Option<Box<Held>>,
}

impl PacketBuffer {
    pub(super) fn new() -> PacketBuffer {
        let slots = std::iter::repeat_with(Slot::default);
        PacketBuffer {
            slots: slots.take(CAPACITY as usize).collect(),
            first: None,
            highest: None,
            missing: BTreeSet::new(),
            bytes: 0,
        }
    }

    /// Takes note of a sequence number.
    pub(super) fn insert(&mut self, sequence: u64) -> Arrival {
        let highest = *self.highest.get_or_insert(sequence);
        if self.is_too_old(sequence) {
            return Arrival::TooOld;
        }
        if self.slot(sequence).tag == tag(sequence) {
            return Arrival::Duplicate;
        }
        if sequence > highest {
            let oldest = sequence.saturating_sub(CAPACITY - 1);
            while self.missing.first().is_some_and(|s| *s < oldest) {
                self.missing.pop_first();
            }
            self.missing.extend((highest + 1).max(oldest)..sequence);
            self.highest = Some(sequence);
        }
        self.first = Some(self.first.map_or(sequence, |first| first.min(sequence)));
        self.missing.remove(&sequence);
        self.drop_held(sequence);
        self.slot_mut(sequence).tag = tag(sequence);
        Arrival::New
    }

    /// Older than the ring reaches.
    pub(super) fn is_too_old(&self, sequence: u64) -> bool {
        self.highest
            .is_some_and(|highest| sequence.saturating_add(CAPACITY) <= highest)
    }

    /// Keeps the packet of a sequence number that was inserted as new.
    pub(super) fn hold(&mut self, sequence: u64, held: Held) {
        self.bytes += held.payload.len();
        self.slot_mut(sequence).held = Some(Box::new(held));
    }

    /// Takes out the packet of `sequence`, which stays known as arrived.
    pub(super) fn take(&mut self, sequence: u64) -> Option<Box<Held>> {
        if self.slot(sequence).tag != tag(sequence) {
            return None;
        }
        let held = self.slot_mut(sequence).held.take()?;
        self.bytes -= held.payload.len();
        Some(held)
    }

    /// Sequence numbers strictly between the two that have not arrived.
    pub(super) fn missing_between(&self, after: u64, before: u64) -> impl Iterator<Item = u64> {
        let range = (after + 1 < before).then(|| self.missing.range(after + 1..before));
        range.into_iter().flatten().copied()
    }

    /// Drops every held packet; what arrived stays known.
    pub(super) fn release_all(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.held = None);
        self.bytes = 0;
    }

    /// The oldest sequence number that still has a place in the ring.
    pub(super) fn oldest(&self) -> u64 {
        self.highest.unwrap_or(0).saturating_sub(CAPACITY - 1)
    }

    /// Sequence numbers from the first to the highest.
    pub(super) fn expected(&self) -> u64 {
        match (self.first, self.highest) {
            (Some(first), Some(highest)) => highest - first + 1,
            _ => 0,
        }
    }

    /// Payload bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn drop_held(&mut self, sequence: u64) {
        if let Some(held) = self.slot_mut(sequence).held.take() {
            self.bytes -= held.payload.len();
        }
    }

    fn slot(&self, sequence: u64) -> &Slot {
        &self.slots[(sequence % CAPACITY) as usize]
    }

    fn slot_mut(&mut self, sequence: u64) -> &mut Slot {
        &mut self.slots[(sequence % CAPACITY) as usize]
    }
}

fn tag(sequence: u64) -> u64 {
    sequence.wrapping_add(1)
}
