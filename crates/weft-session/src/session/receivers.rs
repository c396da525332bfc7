//! Streams that this side receives, with the deadline of each.

use std::collections::VecDeque;

use smallvec::SmallVec;
use weft_units::{Instant, Ssrc, StreamId};

use super::receive_stream::{Purpose, ReceiveStream};
use crate::receive::ReceiveEvent;

/// Receiving streams in the order of their ids.
///
/// A participant of a room receives dozens of streams, and every packet needs its stream
/// and the earliest deadline of all. Therefore the SSRCs are sorted, the deadlines are
/// stored next to each other and apart from the streams, and only changed streams are
/// polled for deadlines and events.
#[derive(Default)]
pub(super) struct Receivers {
    ids: Vec<StreamId>,
    streams: Vec<ReceiveStream>,
    /// SSRCs with the index of their stream, in ascending order.
    ssrcs: Vec<(Ssrc, usize)>,
    /// Deadlines of the streams; `None` for changed streams.
    due: Vec<Option<Instant>>,
    /// Earliest of these deadlines.
    earliest: Option<Instant>,
    /// Indices of the streams that changed since their events were taken.
    changed: SmallVec<[usize; 4]>,
    events: VecDeque<(StreamId, ReceiveEvent)>,
}

impl Receivers {
    /// Adds a stream, whose id is above all others.
    pub fn push(&mut self, id: StreamId, stream: ReceiveStream) {
        debug_assert!(self.ids.last().is_none_or(|last| *last < id));
        self.ids.push(id);
        self.streams.push(stream);
        self.due.push(None);
        self.changed.push(self.ids.len() - 1);
        self.index();
    }

    pub fn remove(&mut self, id: StreamId) -> Option<ReceiveStream> {
        let place = self.place(id)?;
        self.ids.remove(place);
        self.due.remove(place);
        self.changed.retain(|changed| *changed != place);
        for changed in self.changed.iter_mut().filter(|changed| **changed > place) {
            *changed -= 1;
        }
        let removed = self.streams.remove(place);
        self.index();
        self.earliest = self.due.iter().copied().flatten().min();
        Some(removed)
    }

    /// Sorts the SSRCs of all streams.
    fn index(&mut self) {
        let all = self.streams.iter().enumerate();
        let ssrcs = all.flat_map(|(place, s)| s.ssrcs().map(move |ssrc| (ssrc, place)));
        self.ssrcs = ssrcs.collect();
        self.ssrcs.sort_unstable();
    }

    /// Returns the first stream whose packets, retransmissions or repair packets have this
    /// SSRC.
    pub fn of_ssrc(&self, ssrc: Ssrc) -> Option<StreamId> {
        let place = self.ssrcs.partition_point(|(known, _)| *known < ssrc);
        let found = self.ssrcs.get(place).filter(|(known, _)| *known == ssrc);
        let id = found.map(|(_, place)| self.ids[*place]);
        let is_of = |(_, stream): &(StreamId, &ReceiveStream)| stream.ssrcs().any(|s| s == ssrc);
        debug_assert_eq!(id, self.iter().find(is_of).map(|(id, _)| id));
        id
    }

    /// Learns the SSRC of a stream's packets of one purpose.
    pub fn learn(&mut self, id: StreamId, purpose: Purpose, ssrc: Ssrc) {
        let Some(place) = self.place(id) else {
            return;
        };
        if self.streams[place].learn(purpose, ssrc) {
            self.index();
        }
    }

    pub fn get(&self, id: StreamId) -> Option<&ReceiveStream> {
        Some(&self.streams[self.place(id)?])
    }

    pub fn get_mut(&mut self, id: StreamId) -> Option<&mut ReceiveStream> {
        let place = self.place(id)?;
        Some(self.change(place))
    }

    /// Returns the first stream for which `is` returns true.
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
        self.earliest = None;
        self.changed = (0..self.streams.len()).collect();
        self.streams.iter_mut()
    }

    /// Returns the earliest deadline of all streams.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let changed = self.changed.iter().filter_map(|place| self.due_at(*place));
        let earliest = changed.chain(self.earliest).min();
        let all = || (0..self.streams.len()).filter_map(|place| self.due_at(place));
        debug_assert_eq!(earliest, all().min());
        earliest
    }

    /// Runs the streams that are due, and takes the events of all, in the order of the
    /// streams.
    pub fn advance(&mut self, now: Instant) {
        if self.earliest.is_some_and(|at| at <= now) {
            self.earliest = None;
            for (place, due) in self.due.iter_mut().enumerate() {
                match *due {
                    Some(at) if at <= now => {
                        *due = None;
                        self.changed.push(place);
                    }
                    later => self.earliest = later.into_iter().chain(self.earliest).min(),
                }
            }
        }
        if self.changed.is_empty() {
            return;
        }
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        for place in changed {
            let (id, receiver) = (self.ids[place], &mut self.streams[place].receiver);
            if receiver.poll_timeout().is_some_and(|due| due.at <= now) {
                receiver.handle_timeout(now);
            }
            while let Some(event) = receiver.poll_event() {
                self.events.push_back((id, event));
            }
            let due = self.due_at(place);
            self.due[place] = due;
            self.earliest = due.into_iter().chain(self.earliest).min();
        }
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<(StreamId, ReceiveEvent)> {
        self.events.pop_front()
    }

    fn place(&self, id: StreamId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    fn due_at(&self, place: usize) -> Option<Instant> {
        let due = self.streams[place].receiver.poll_timeout();
        due.map(|due| due.at)
    }

    fn change(&mut self, place: usize) -> &mut ReceiveStream {
        if !self.changed.contains(&place) {
            self.changed.push(place);
            let due = self.due[place].take();
            if due.is_some() && due == self.earliest {
                self.earliest = self.due.iter().copied().flatten().min();
            }
        }
        &mut self.streams[place]
    }
}
