//! Streams that this side receives, with the deadline of each.

use smallvec::SmallVec;
use weft_units::{Instant, StreamId};

use super::receive_stream::ReceiveStream;
use crate::receive::ReceiveEvent;

/// Receiving streams in the order of their ids.
///
/// A participant of a room receives dozens of streams, and every packet asks for the earliest
/// deadline of all. So deadlines are beside each other, apart from the streams, and only
/// streams that were changed are asked for theirs and for events.
#[derive(Default)]
pub(super) struct Receivers {
    ids: Vec<StreamId>,
    streams: Vec<ReceiveStream>,
    /// Deadlines of the streams; `None` of those that were changed.
    due: Vec<Option<Instant>>,
    /// Places of the streams that were changed since their events were taken.
    changed: SmallVec<[usize; 4]>,
}

impl Receivers {
    /// Adds a stream, whose id is above all others.
    pub fn push(&mut self, id: StreamId, stream: ReceiveStream) {
        debug_assert!(self.ids.last().is_none_or(|last| *last < id));
        self.ids.push(id);
        self.streams.push(stream);
        self.due.push(None);
        self.changed.push(self.ids.len() - 1);
    }

    pub fn remove(&mut self, id: StreamId) -> Option<ReceiveStream> {
        let place = self.place(id)?;
        self.ids.remove(place);
        self.due.remove(place);
        self.changed.retain(|changed| *changed != place);
        for changed in self.changed.iter_mut().filter(|changed| **changed > place) {
            *changed -= 1;
        }
        Some(self.streams.remove(place))
    }

    pub fn get(&self, id: StreamId) -> Option<&ReceiveStream> {
        Some(&self.streams[self.place(id)?])
    }

    pub fn get_mut(&mut self, id: StreamId) -> Option<&mut ReceiveStream> {
        let place = self.place(id)?;
        Some(self.change(place))
    }

    /// Returns the first stream of which this is true.
    pub fn find_mut(&mut self, is: impl Fn(&ReceiveStream) -> bool) -> Option<&mut ReceiveStream> {
        let place = self.streams.iter().position(is)?;
        Some(self.change(place))
    }

    pub fn iter(&self) -> impl Iterator<Item = (StreamId, &ReceiveStream)> {
        self.ids.iter().copied().zip(&self.streams)
    }

    pub fn values(&self) -> impl Iterator<Item = &ReceiveStream> {
        self.streams.iter()
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut ReceiveStream> {
        self.due.fill(None);
        self.changed = (0..self.streams.len()).collect();
        self.streams.iter_mut()
    }

    /// Returns the earliest deadline of a stream.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let changed = self.changed.iter().map(|place| self.due_at(*place));
        let known = self.due.iter().copied();
        let earliest = known.chain(changed).flatten().min();
        let all = || (0..self.streams.len()).filter_map(|place| self.due_at(place));
        debug_assert_eq!(earliest, all().min());
        earliest
    }

    /// Runs the streams that are due, and returns the events of all, in the streams' order.
    pub fn advance(&mut self, now: Instant) -> SmallVec<[(StreamId, ReceiveEvent); 4]> {
        for place in 0..self.due.len() {
            if self.due[place].is_some_and(|at| at <= now) {
                self.change(place);
            }
        }
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        let mut events = SmallVec::new();
        for place in changed {
            let (id, receiver) = (self.ids[place], &mut self.streams[place].receiver);
            if receiver.poll_timeout().is_some_and(|due| due.at <= now) {
                receiver.handle_timeout(now);
            }
            while let Some(event) = receiver.poll_event() {
                events.push((id, event));
            }
            self.due[place] = self.due_at(place);
        }
        events
    }

    fn place(&self, id: StreamId) -> Option<usize> {
        self.ids.iter().position(|known| *known == id)
    }

    fn due_at(&self, place: usize) -> Option<Instant> {
        let due = self.streams[place].receiver.poll_timeout();
        due.map(|due| due.at)
    }

    fn change(&mut self, place: usize) -> &mut ReceiveStream {
        if !self.changed.contains(&place) {
            self.changed.push(place);
            self.due[place] = None;
        }
        &mut self.streams[place]
    }
}
