//! Repair packets of one sending stream: the packets they protect, and whether both
//! arrived.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_units::{Bytes, Duration, Instant, PathId, Ssrc};

use crate::protection::Unprotected;

/// Bytes that a repair packet needs in addition to a protected packet: a contributing
/// source (4 bytes) and the header with the longest mask (24), minus the fixed header
/// that it replaces (12). RFC 8627 section 4.2.
pub(crate) const REPAIR_HEADROOM: usize = 4 + 24 - 12;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    OnItsWay,
    Arrived,
    Lost,
}

/// Repair packet and the state of the packets it protects.
#[derive(Debug)]
pub(crate) struct StoredRepair {
    pub made_at: Instant,
    pub timestamp: u32,
    pub payload: Arc<[u8]>,
    fate: Fate,
    /// Number of its packets whose outcome is unknown.
    open: usize,
    /// Its packets that are lost and not sent again.
    lost: Vec<u64>,
}

/// Repair packets of one stream, under their own SSRC.
#[derive(Debug)]
pub(crate) struct RepairStream {
    pub ssrc: Ssrc,
    pub payload_type: u8,
    pub sent: u64,
    unprotected: VecDeque<Unprotected>,
    /// Index of the current frame's first packet in `unprotected`.
    begin: usize,
    repairs: VecDeque<StoredRepair>,
    /// Number of the first of `repairs`.
    first: u64,
    /// Repair packet of each media packet whose outcome is unknown.
    holders: Holders,
}

/// Age from which packets get into no further repair packet: half of the longest round
/// trip worth beating. Chosen by us.
const LONGEST_WAIT: Duration = Duration::from_millis(250);
const MAX_UNPROTECTED: usize = 512;
/// Number of remembered repair packets. Older ones are useless: this is one second at 20
/// Mbps with an overhead of one half.
const MAX_REPAIRS: usize = 1024;

/// Repair packet of each of the last media packets.
#[derive(Default, Debug)]
struct Holders {
    /// Media packet and repair packet, each in the slot given by its number; allocated
    /// when the first is added.
    slots: Vec<Option<(u64, u64)>>,
}

impl Holders {
    const CAPACITY: usize = 4096;

    fn place(sequence: u64) -> usize {
        sequence as usize % Holders::CAPACITY
    }

    fn insert(&mut self, sequence: u64, repair: u64) {
        if self.slots.is_empty() {
            self.slots.resize(Holders::CAPACITY, None);
        }
        self.slots[Holders::place(sequence)] = Some((sequence, repair));
    }

    fn has(&self, sequence: u64) -> bool {
        let slot = self.slots.get(Holders::place(sequence));
        matches!(slot, Some(Some((held, _))) if *held == sequence)
    }

    fn remove(&mut self, sequence: u64) -> Option<u64> {
        let slot = self.slots.get_mut(Holders::place(sequence))?;
        let (_, repair) = slot.take_if(|(held, _)| *held == sequence)?;
        Some(repair)
    }

    fn clear(&mut self) {
        self.slots.clear();
    }
}

impl RepairStream {
    /// `first_sequence` must be random (RFC 3550 section 5.1).
    pub fn new((ssrc, payload_type): (Ssrc, u8), first_sequence: u16) -> RepairStream {
        RepairStream {
            ssrc,
            payload_type,
            sent: 0,
            unprotected: VecDeque::new(),
            begin: 0,
            repairs: VecDeque::new(),
            first: u64::from(first_sequence & 0x7fff),
            holders: Holders::default(),
        }
    }

    /// Records that a packet of the current frame was assigned to a path.
    pub fn on_scheduled(&mut self, now: Instant, sequence: u64, path: PathId, goes_once: bool) {
        if self.holders.has(sequence) {
            // Its first path died before it could leave.
            return;
        }
        if self.unprotected.len() >= MAX_UNPROTECTED {
            self.forget_oldest();
        }
        self.unprotected.push_back(Unprotected {
            sequence,
            path,
            at: now,
            goes_once,
        });
    }

    fn forget_oldest(&mut self) {
        self.unprotected.pop_front();
        self.begin = self.begin.saturating_sub(1);
    }

    /// Returns the packets that may be protected now, in sending order, and the index of
    /// the current frame's first packet.
    pub fn unprotected(&mut self, now: Instant) -> (&[Unprotected], usize) {
        let old = |p: &Unprotected| now.saturating_since(p.at) >= LONGEST_WAIT;
        while self.begin > 0 && self.unprotected.front().is_some_and(old) {
            self.forget_oldest();
        }
        (self.unprotected.make_contiguous(), self.begin)
    }

    /// Returns the current frame's packets.
    pub fn frame(&self) -> impl Iterator<Item = &Unprotected> {
        self.unprotected.range(self.begin..)
    }

    /// Ends the current frame; `held` are the packets that are now in repair packets, in
    /// ascending order.
    pub fn end_frame(&mut self, held: &[u64]) {
        let goes_once = |p: &Unprotected| p.goes_once;
        // The packets of earlier frames are all sent once.
        if !held.is_empty() || !self.frame().all(goes_once) {
            let is_held = |p: &Unprotected| held.binary_search(&p.sequence).is_ok();
            self.unprotected.retain(|p| p.goes_once && !is_held(p));
        }
        self.begin = self.unprotected.len();
    }

    /// Stores a repair packet for these packets; returns its number.
    pub fn store(
        &mut self,
        now: Instant,
        timestamp: u32,
        payload: Arc<[u8]>,
        members: &[u64],
    ) -> u64 {
        let number = self.first + self.repairs.len() as u64;
        self.repairs.push_back(StoredRepair {
            made_at: now,
            timestamp,
            payload,
            fate: Fate::OnItsWay,
            open: members.len(),
            lost: Vec::new(),
        });
        if self.repairs.len() > MAX_REPAIRS {
            self.repairs.pop_front();
            self.first += 1;
        }
        for member in members {
            self.holders.insert(*member, number);
        }
        number
    }

    pub fn get(&self, number: u64) -> Option<&StoredRepair> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.repairs.get(index)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut StoredRepair> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.repairs.get_mut(index)
    }

    pub fn size(&self, number: u64) -> Bytes {
        let payload = self.get(number).map_or(0, |r| r.payload.len());
        Bytes((payload + super::HEADROOM + 4) as u64)
    }

    /// Records that a packet of the stream arrived.
    pub fn on_arrived(&mut self, sequence: u64) {
        if let Some(number) = self.holders.remove(sequence)
            && let Some(repair) = self.get_mut(number)
        {
            repair.open -= 1;
        }
    }

    /// Records that a packet of the stream is lost. Returns the packets to send again
    /// now: none while a repair packet may recover it.
    pub fn on_lost(&mut self, sequence: u64) -> Vec<u64> {
        let number = self.holders.remove(sequence);
        let Some(repair) = number.and_then(|number| self.get_mut(number)) else {
            return vec![sequence];
        };
        repair.open -= 1;
        repair.lost.push(sequence);
        repair.beyond_repair()
    }

    /// Records that a repair packet arrived.
    pub fn on_repair_arrived(&mut self, number: u64) {
        if let Some(repair) = self.get_mut(number) {
            repair.fate = Fate::Arrived;
        }
    }

    /// Records that a repair packet is lost. Returns the packets to send again, because
    /// it will not recover them.
    pub fn on_repair_lost(&mut self, number: u64) -> Vec<u64> {
        let Some(repair) = self.get_mut(number) else {
            return Vec::new();
        };
        if repair.fate == Fate::OnItsWay {
            repair.fate = Fate::Lost;
        }
        repair.beyond_repair()
    }

    /// Gives up the repair of everything sent so far, because there was no path.
    pub fn interrupt(&mut self) {
        self.unprotected.clear();
        self.begin = 0;
        self.holders.clear();
        self.first += self.repairs.len() as u64;
        self.repairs.clear();
    }
}

impl StoredRepair {
    /// Takes the lost packets that this one cannot recover, because it is lost too or
    /// because there are two or more.
    fn beyond_repair(&mut self) -> Vec<u64> {
        if self.fate == Fate::Lost || self.lost.len() > 1 {
            self.fate = Fate::Lost;
            return std::mem::take(&mut self.lost);
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> (RepairStream, u64) {
        let mut stream = RepairStream::new((Ssrc(1), 98), 7);
        let number = stream.store(Instant::ZERO, 0, Arc::from([0; 20]), &[10, 11, 12]);
        (stream, number)
    }

    #[test]
    fn one_loss_is_left_to_the_repair_packet_and_two_are_not() {
        let (mut stream, number) = stream();
        stream.on_arrived(10);
        assert_eq!(stream.on_lost(12), [0; 0]);
        stream.on_repair_arrived(number);
        assert_eq!(stream.on_lost(11), [12, 11]);
        assert_eq!(stream.on_lost(13), [13], "in no repair packet");
    }

    #[test]
    fn a_lost_repair_packet_brings_nothing_back() {
        let (mut stream, number) = stream();
        assert_eq!(stream.on_lost(12), [0; 0]);
        assert_eq!(stream.on_repair_lost(number), [12]);
        assert_eq!(stream.on_lost(11), [11]);
        assert_eq!(stream.on_repair_lost(99), [0; 0], "never sent");
    }

    #[test]
    fn memory_is_bounded() {
        let mut stream = RepairStream::new((Ssrc(1), 98), 7);
        let now = Instant::ZERO;
        for sequence in 0..10_000 {
            stream.on_scheduled(now, sequence, PathId(0), true);
            stream.store(now, 0, Arc::from([0; 20]), &[sequence + 10_000]);
        }
        assert_eq!(stream.unprotected(now).0.len(), MAX_UNPROTECTED);
        assert_eq!(stream.repairs.len(), MAX_REPAIRS);
        assert_eq!(stream.holders.slots.len(), Holders::CAPACITY);
        stream.end_frame(&[]);
        assert_eq!(stream.unprotected(now + LONGEST_WAIT).0.len(), 0);
    }
}
