//! Ring buffer of received packets by extended sequence number.

use super::types::ReceivedPacket;
use std::collections::{BTreeMap, VecDeque};
use weft_units::{Instant, PathId};

/// Longest lag of a packet behind the newest, in sequence numbers: two seconds at 10
/// Mbps, or 1,000 packets of 1,200 bytes per second. libwebrtc's SRTP window is 1,024;
/// chosen by us.
pub(super) const CAPACITY: u64 = 2048;
const WORDS: usize = (CAPACITY / 64) as usize;

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
    /// A bit for each of the last numbers. A participant has dozens of receivers, whose
    /// packets alternate, so what each packet reads should be small.
    arrived: [u64; WORDS],
    /// Places of packets among those held, from the number `oldest_held` on.
    places: VecDeque<Option<u32>>,
    oldest_held: u64,
    /// Also those that are `free`, for the memory that they have.
    held: Vec<Held>,
    free: Vec<u32>,
    first: Option<u64>,
    highest: Option<u64>,
    /// Numbers that have not arrived, as ranges: the first number of each, and the one
    /// after its last. A jump of the numbers makes one range.
    missing: BTreeMap<u64, u64>,
    bytes: usize,
}

impl PacketBuffer {
    pub(super) fn new() -> PacketBuffer {
        PacketBuffer {
            arrived: [0; WORDS],
            places: VecDeque::new(),
            oldest_held: 0,
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
        if self.has_arrived(sequence) {
            return Arrival::Duplicate;
        }
        if sequence > highest {
            let oldest = sequence.saturating_sub(CAPACITY - 1);
            self.forget_missing_before(oldest);
            let first = (highest + 1).max(oldest);
            if first < sequence {
                self.missing.insert(first, sequence);
            }
            for number in first..sequence {
                self.mark(number, false);
            }
            self.highest = Some(sequence);
            self.drop_held_before(oldest);
        } else {
            self.fill(sequence);
        }
        self.first = Some(self.first.map_or(sequence, |first| first.min(sequence)));
        self.mark(sequence, true);
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
        let is_known = self.highest.is_some_and(|highest| sequence <= highest);
        let (word, bit) = bit(sequence);
        is_known && !self.is_too_old(sequence) && self.arrived[word] & bit != 0
    }

    fn mark(&mut self, sequence: u64, has_arrived: bool) {
        let (word, bit) = bit(sequence);
        match has_arrived {
            true => self.arrived[word] |= bit,
            false => self.arrived[word] &= !bit,
        }
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
        if self.places.is_empty() {
            self.oldest_held = packet.sequence;
        }
        while packet.sequence < self.oldest_held {
            self.places.push_front(None);
            self.oldest_held -= 1;
        }
        let index = (packet.sequence - self.oldest_held) as usize;
        self.places.resize(self.places.len().max(index + 1), None);
        self.places[index] = Some(place);
    }

    /// Returns the packet with number `sequence`, if it is held.
    pub(super) fn held(&self, sequence: u64) -> Option<&Held> {
        let index = sequence.checked_sub(self.oldest_held)?;
        let place = *self.places.get(usize::try_from(index).ok()?)?;
        self.held.get(place? as usize)
    }

    /// Discards the packet with number `sequence`, which still counts as arrived.
    pub(super) fn release(&mut self, sequence: u64) {
        let index = sequence.checked_sub(self.oldest_held);
        let index = index.and_then(|index| usize::try_from(index).ok());
        if let Some(place) = index.and_then(|index| self.places.get_mut(index)) {
            let place = place.take();
            self.release_place(place);
        }
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.oldest_held += 1;
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
        self.places.clear();
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

    fn drop_held_before(&mut self, oldest: u64) {
        while self.oldest_held < oldest
            && let Some(place) = self.places.pop_front()
        {
            self.release_place(place);
            self.oldest_held += 1;
        }
    }

    fn release_place(&mut self, place: Option<u32>) {
        if let Some(place) = place {
            self.bytes -= self.held[place as usize].body.len();
            self.free.push(place);
        }
    }
}

/// Word and bit of a sequence number.
fn bit(sequence: u64) -> (usize, u64) {
    let at = sequence % CAPACITY;
    ((at / 64) as usize, 1 << (at % 64))
}
