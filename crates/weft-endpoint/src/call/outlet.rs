//! Events on their way to the embedding program. What happens does not wait for
//! it: it may let so many wait, and what is too much then is counted and told
//! as [`Event::Missed`] when there is room again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use super::inbox::WAITING_FRAMES;
use crate::event::Event;

/// Events other than frames that may wait at least: those of a room in which
/// everybody comes and goes, with their links. Frames have a bound of their
/// own, which leaves these room. Chosen by us.
pub const WAITING_EVENTS: usize = 1000;

/// Where events go.
pub struct Outlet {
    events: SyncSender<Event>,
    /// Not told since the last one that was.
    missed: AtomicU64,
}

/// An outlet and what comes out of it.
pub fn outlet() -> (Outlet, Receiver<Event>) {
    let (events, heard) = sync_channel(WAITING_FRAMES + WAITING_EVENTS);
    let missed = AtomicU64::new(0);
    (Outlet { events, missed }, heard)
}

impl Outlet {
    /// Tells whoever embeds the call; who does not listen any more misses
    /// nothing. False if too much waits.
    pub fn tell(&self, event: Event) -> bool {
        let events = self.missed.swap(0, Ordering::Relaxed);
        let is_told = (events == 0 || self.put(Event::Missed { events })) && self.put(event);
        if !is_told {
            // What was owed still is, unless that was told.
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        is_told
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
