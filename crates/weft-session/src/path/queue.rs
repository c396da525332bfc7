//! Packets that wait for the pacer of one path.

use std::collections::VecDeque;

use weft_units::{Bytes, PathId, StreamId};

/// Why a packet goes out; the order is the order of sending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Purpose {
    /// Audio: small, and what one misses first.
    Audio,
    /// A packet that was lost, sent again.
    Retransmission,
    /// Video for the first time.
    Video,
    /// Video that goes over another path at the same time.
    Copy,
    /// A repair packet: goes behind the video that it holds, in the same lane.
    Repair,
    /// A packet of padding only; never waits.
    Padding,
}

/// A packet to be sent, by reference into its stream's store.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub stream: StreamId,
    pub sequence: u64,
    pub purpose: Purpose,
    pub size: Bytes,
    /// Paths that get the same bytes at the same time.
    pub copies: Vec<PathId>,
}

/// One first-in-first-out queue per purpose.
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

    /// The packet that is next.
    pub fn front(&self) -> Option<&Waiting> {
        self.lanes.iter().find_map(VecDeque::front)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.lanes.iter().flatten()
    }

    /// Drops what is not to be kept.
    pub fn retain(&mut self, keep: impl Fn(&Waiting) -> bool) {
        for lane in &mut self.lanes {
            lane.retain(&keep);
        }
        self.bytes = self.iter().map(|waiting| waiting.size).sum();
    }

    /// Removes a path from those that get copies of what waits.
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

    /// Takes everything but sound.
    pub fn take_pictures(&mut self) -> Vec<Waiting> {
        let pictures = self.lanes[1..].iter_mut();
        let taken: Vec<Waiting> = pictures.flat_map(std::mem::take).collect();
        self.bytes -= taken.iter().map(|waiting| waiting.size).sum();
        taken
    }

    /// Takes everything, in sending order (the path died).
    pub fn drain(&mut self) -> Vec<Waiting> {
        self.bytes = Bytes::ZERO;
        self.lanes.iter_mut().flat_map(std::mem::take).collect()
    }
}
