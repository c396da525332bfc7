//! Event queue: one deadline for each of a fixed set of slots.

use weft_units::Instant;

/// Heap of deadlines, at most one for each slot, the earliest on top. Ties break by the
/// order in which the deadlines were set.
///
/// Every event belongs to a component with one next deadline (a link, a timer of a
/// connection), so the heap stays as small as the network, contains no stale entries, and
/// allocates nothing after construction.
pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    /// Position of each slot in the heap.
    places: Vec<u32>,
    order: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    at: Instant,
    order: u64,
    slot: Slot,
}

/// Slot of a component in the event queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot(pub u32);

const ABSENT: u32 = u32::MAX;

impl Entry {
    fn before(&self, other: &Entry) -> bool {
        (self.at, self.order) < (other.at, other.order)
    }
}

impl EventQueue {
    pub fn new() -> EventQueue {
        EventQueue {
            heap: Vec::new(),
            places: Vec::new(),
            order: 0,
        }
    }

    /// Adds a slot without a deadline.
    pub fn add(&mut self) -> Slot {
        let slot = Slot(self.places.len() as u32);
        self.places.push(ABSENT);
        self.heap.reserve(self.places.len() - self.heap.len());
        slot
    }

    /// Returns the slot with the earliest deadline, and its time.
    pub fn first(&self) -> Option<(Slot, Instant)> {
        self.heap.first().map(|e| (e.slot, e.at))
    }

    /// Sets the deadline of `slot` to `at`. Setting an equal deadline changes nothing,
    /// not even its position among ties.
    pub fn set(&mut self, slot: Slot, at: Option<Instant>) {
        let place = self.places[slot.0 as usize];
        match (place, at) {
            (ABSENT, None) => {}
            (ABSENT, Some(at)) => {
                let place = self.heap.len();
                self.heap.push(Entry {
                    at,
                    order: self.order,
                    slot,
                });
                self.order += 1;
                self.rise(place);
            }
            (place, None) => self.remove(place as usize),
            (place, Some(at)) => self.change(place as usize, at),
        }
    }

    /// Moves the deadline of `slot` to `at` unless it is already earlier. Use this for a
    /// component that accepts being called too early.
    pub fn hasten(&mut self, slot: Slot, at: Instant) {
        let place = self.places[slot.0 as usize];
        if place == ABSENT || self.heap[place as usize].at > at {
            self.set(slot, Some(at));
        }
    }

    fn change(&mut self, place: usize, at: Instant) {
        let entry = &mut self.heap[place];
        if entry.at == at {
            return;
        }
        let earlier = at < entry.at;
        entry.at = at;
        entry.order = self.order;
        self.order += 1;
        if earlier {
            self.rise(place);
        } else {
            self.sink(place);
        }
    }

    fn remove(&mut self, place: usize) {
        self.places[self.heap[place].slot.0 as usize] = ABSENT;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.rise(place);
            self.sink(place);
        }
    }

    /// Moves the entry up to its place, and records its position.
    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Moves the entry down to its place, and records its position.
    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1].before(&self.heap[child]) {
                child += 1;
            }
            if !self.heap[child].before(&entry) {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.slot.0 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests;
