//! Events for the embedding program. The call never waits for the program: the queue is
//! bounded, and events that do not fit are counted, and reported as [`Event::Missed`]
//! once there is space.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use super::inbox::WAITING_FRAMES;
use crate::event::Event;
use crate::notice::Notices;

/// Guaranteed space for events other than frames: all participants of a full room join
/// and leave, with their links. Frames have a separate bound, which leaves this space.
/// Chosen by us.
pub const WAITING_EVENTS: usize = 1000;

/// Bounded sender of events.
pub struct CallEventSender {
    events: SyncSender<Event>,
    /// Events dropped since the last [`Event::Missed`].
    missed: AtomicU64,
}

/// Creates a sender and its receiver.
pub fn event_channel() -> (CallEventSender, Receiver<Event>) {
    let (events, heard) = sync_channel(WAITING_FRAMES + WAITING_EVENTS);
    let missed = AtomicU64::new(0);
    (CallEventSender { events, missed }, heard)
}

/// Returns notices that become events. A blocked camera keeps its `Notices` forever, so
/// they must not keep the sender alive and delay the end.
pub fn notices(events: &Arc<CallEventSender>) -> Notices {
    let events = Arc::downgrade(events);
    Notices::new(move |notice| {
        if let Some(events) = events.upgrade() {
            events.send(Event::Notice(notice));
        }
    })
}

impl CallEventSender {
    /// Sends an event; returns false if the queue is full. Once the receiver is gone,
    /// events are discarded without counting.
    pub fn send(&self, event: Event) -> bool {
        let events = self.missed.swap(0, Ordering::Relaxed);
        let is_sent = (events == 0 || self.put(Event::Missed { events })) && self.put(event);
        if !is_sent {
            // Counts this event; `put` has restored the earlier count if needed.
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        is_sent
    }

    fn put(&self, event: Event) -> bool {
        match self.events.try_send(event) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => true,
            Err(TrySendError::Full(Event::Missed { events })) => {
                self.missed.fetch_add(events, Ordering::Relaxed);
                false
            }
            Err(TrySendError::Full(_)) => false,
        }
    }
}
