//! Packets that wait for the pacer of one path.

use std::collections::VecDeque;

use weft_units::{Bytes, PathId, StreamId};

/// Purpose of a queued packet, in the order of sending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Purpose {
    /// Audio: small, and its loss is noticed first.
    Audio,
    /// Retransmission of a lost packet.
    Retransmission,
    /// Video, sent for the first time.
    Video,
    /// Video that another path sends at the same time.
    Copy,
    /// Repair packet: follows the video that it protects, in the same queue.
    Repair,
    /// Padding only, which never waits.
    Padding,
}

/// Packet to send, by reference into its stream's store.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub stream: StreamId,
    pub sequence: u64,
    pub purpose: Purpose,
    pub size: Bytes,
    /// Further paths that send the same bytes at the same time.
    pub copies: Vec<PathId>,
}

/// First-in-first-out queue for each purpose.
#[derive(Default, Debug)]
pub(crate) struct PathQueue {
    lanes: [VecDeque<Waiting>; 3],
    bytes: Bytes,
}

impl PathQueue {
    pub fn push(&mut self, waiting: Waiting) {
        self.bytes += waiting.size;
        let lane = waiting.purpose.min(Purpose::Video);
        self.lanes[lane as usize].push_back(waiting);
    }

    pub fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.lanes.iter_mut().find_map(VecDeque::pop_front)?;
        self.bytes -= waiting.size;
        Some(waiting)
    }

    /// Returns the next packet without removing it.
    pub fn front(&self) -> Option<&Waiting> {
        self.lanes.iter().find_map(VecDeque::front)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.lanes.iter().flatten()
    }

    /// Keeps only the packets for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(&Waiting) -> bool) {
        for lane in &mut self.lanes {
            lane.retain(&keep);
        }
        self.bytes = self.iter().map(|waiting| waiting.size).sum();
    }

    /// Removes a path from those that send copies of waiting packets.
    pub fn remove_copies_on(&mut self, path: PathId) {
        for waiting in self.lanes.iter_mut().flatten() {
            waiting.copies.retain(|copy| *copy != path);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(VecDeque::is_empty)
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Removes and returns everything in sending order, because the path died.
    pub fn drain(&mut self) -> Vec<Waiting> {
        self.bytes = Bytes::ZERO;
        self.lanes.iter_mut().flat_map(std::mem::take).collect()
    }
}
