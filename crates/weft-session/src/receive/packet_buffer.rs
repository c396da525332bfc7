//! Ring buffer of received packets by extended sequence number.

use super::types::ReceivedPacket;
use std::collections::BTreeMap;
use weft_units::{Instant, PathId};

/// Longest lag of a packet behind the newest, in sequence numbers: two seconds at 10
/// Mbps, or 1,000 packets of 1,200 bytes per second. libwebrtc's SRTP window is 1,024;
/// chosen by us.
pub(super) const CAPACITY: u64 = 2048;

/// Media packet that waits for the rest of its frame.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) path: PathId,
    pub(super) arrived: Instant,
    pub(super) recovered: bool,
    /// Media bytes without the descriptor.
    pub(super) body: Vec<u8>,
}

impl Held {
    fn vacant() -> Held {
        Held {
            path: PathId(0),
            arrived: Instant::ZERO,
            recovered: false,
            body: Vec::new(),
        }
    }
}

#[derive(PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    New,
    Duplicate,
    TooOld,
}

/// Remembers which of the last [`CAPACITY`] sequence numbers arrived, and holds the
/// packets of incomplete frames.
#[derive(Debug)]
pub(super) struct PacketBuffer {
    slots: Vec<Slot>,
    /// Packets, including those that are `free` and only kept for their memory.
    held: Vec<Held>,
    free: Vec<u32>,
    first: Option<u64>,
    highest: Option<u64>,
    /// Numbers that have not arrived, as ranges: the first number of each, and the one
    /// after its last. A jump of the numbers makes one range.
    missing: BTreeMap<u64, u64>,
    bytes: usize,
}

#[derive(Clone, Copy, Default, Debug)]
struct Slot {
    /// Sequence number plus one; zero if empty.
    tag: u64,
    /// Its index among the held packets.
    held: Option<u32>,
}

impl PacketBuffer {
    pub(super) fn new() -> PacketBuffer {
        PacketBuffer {
            slots: vec![Slot::default(); CAPACITY as usize],
            held: Vec::new(),
            free: Vec::new(),
            first: None,
            highest: None,
            missing: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Records a sequence number.
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
            self.forget_missing_before(oldest);
            let first = (highest + 1).max(oldest);
            if first < sequence {
                self.missing.insert(first, sequence);
            }
            self.highest = Some(sequence);
        } else {
            self.fill(sequence);
        }
        self.first = Some(self.first.map_or(sequence, |first| first.min(sequence)));
        self.drop_held(sequence);
        self.slot_mut(sequence).tag = tag(sequence);
        Arrival::New
    }

    /// Returns whether a number is older than the ring.
    pub(super) fn is_too_old(&self, sequence: u64) -> bool {
        self.highest
            .is_some_and(|highest| sequence.saturating_add(CAPACITY) <= highest)
    }

    /// Returns whether a number is older than the newest.
    pub(super) fn is_behind(&self, sequence: u64) -> bool {
        self.highest.is_some_and(|highest| sequence < highest)
    }

    /// Returns whether this sequence number is among the last that arrived.
    pub(super) fn has_arrived(&self, sequence: u64) -> bool {
        self.slot(sequence).tag == tag(sequence)
    }

    /// Stores the media of a packet that was inserted as new; `write` appends the bytes.
    pub(super) fn hold(
        &mut self,
        now: Instant,
        packet: &ReceivedPacket<'_>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.held.push(Held::vacant());
            self.held.len() as u32 - 1
        });
        let held = &mut self.held[place as usize];
        held.path = packet.path;
        held.arrived = now;
        held.recovered = packet.recovered;
        held.body.clear();
        write(&mut held.body);
        self.bytes += held.body.len();
        self.slot_mut(packet.sequence).held = Some(place);
    }

    /// Returns the packet with number `sequence`, if it is held.
    pub(super) fn held(&self, sequence: u64) -> Option<&Held> {
        let slot = self.slot(sequence);
        let place = slot.held.filter(|_| slot.tag == tag(sequence))?;
        self.held.get(place as usize)
    }

    /// Discards the packet with number `sequence`, which still counts as arrived.
    pub(super) fn release(&mut self, sequence: u64) {
        if self.slot(sequence).tag == tag(sequence) {
            self.drop_held(sequence);
        }
    }

    /// Returns the missing sequence numbers strictly between the two.
    pub(super) fn missing_between(&self, after: u64, before: u64) -> impl Iterator<Item = u64> {
        let within = self.missing.range(..=after).next_back();
        let from = within.map_or(after, |(first, _)| *first);
        let ranges = (from < before).then(|| self.missing.range(from..before));
        let ranges = ranges.into_iter().flatten();
        ranges.flat_map(move |(first, end)| (*first).max(after + 1)..(*end).min(before))
    }

    /// Drops every held packet; the record of arrivals stays.
    pub(super) fn release_all(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.held = None);
        self.held.clear();
        self.free.clear();
        self.bytes = 0;
    }

    /// Returns the oldest sequence number that is still in the ring.
    pub(super) fn oldest(&self) -> u64 {
        self.highest.unwrap_or(0).saturating_sub(CAPACITY - 1)
    }

    /// Returns the count of sequence numbers from this one to the highest.
    pub(super) fn span(&self, sequence: u64) -> u64 {
        self.highest.map_or(0, |h| (h + 1).saturating_sub(sequence))
    }

    /// Returns the count of sequence numbers from the first to the highest.
    pub(super) fn expected(&self) -> u64 {
        match (self.first, self.highest) {
            (Some(first), Some(highest)) => highest - first + 1,
            _ => 0,
        }
    }

    /// Returns the bytes of media held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn forget_missing_before(&mut self, oldest: u64) {
        while let Some(entry) = self.missing.first_entry()
            && *entry.key() < oldest
        {
            let end = entry.remove();
            if oldest < end {
                self.missing.insert(oldest, end);
            }
        }
    }

    /// Records an arrival: the range around the number, if any, is split into the parts
    /// before and after it.
    fn fill(&mut self, sequence: u64) {
        let Some((&first, &end)) = self.missing.range(..=sequence).next_back() else {
            return;
        };
        if end <= sequence {
            return;
        }
        self.missing.remove(&first);
        if first < sequence {
            self.missing.insert(first, sequence);
        }
        if sequence + 1 < end {
            self.missing.insert(sequence + 1, end);
        }
    }

    fn drop_held(&mut self, sequence: u64) {
        if let Some(place) = self.slot_mut(sequence).held.take() {
            self.bytes -= self.held[place as usize].body.len();
            self.free.push(place);
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
