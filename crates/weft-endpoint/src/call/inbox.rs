//! What the call's thread is told, by whom ever: bounded, where others decide how
//! much comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::statistics::Statistics;
use crate::caller::{Listener, News};
use crate::connect::{ConnectError, Connection};
use crate::signalling::{RoomEvent, SignallingError};

/// Frames that may wait to be taken: some seconds of a few participants.
/// Chosen by us.
pub const WAITING_FRAMES: usize = 1000;

/// What a connection was asked for with; each is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub u64);

/// What the call's thread is told.
pub enum Wish {
    /// From the room's event stream with this number.
    Room(u32, RoomEvent),
    RoomLost(u32, SignallingError),
    /// What became of a connection that was asked for.
    Made(Ticket, Result<Connection, ConnectError>),
    /// A connection has something to say.
    News(Ticket, News),
    /// Somebody wants the figures.
    Figures(Sender<Statistics>),
    End,
}

/// The way to the call's thread, for any other.
#[derive(Clone)]
pub struct Mailbox {
    wishes: Sender<Wish>,
    frames: Arc<Frames>,
}

/// How many frames wait.
#[derive(Default)]
pub struct Frames {
    waiting: AtomicUsize,
    dropped: AtomicU64,
}

impl Frames {
    /// Whether another may wait; if not, it is counted as dropped.
    pub fn admit(&self) -> bool {
        if self.waiting.load(Ordering::Relaxed) >= WAITING_FRAMES {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// One that was admitted waits no more.
    pub fn release(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// One that was admitted is dropped.
    pub fn drop_one(&self) {
        self.release();
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Those that nobody gets.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// The call's end of it.
pub struct Inbox {
    incoming: Receiver<Wish>,
    frames: Arc<Frames>,
}

/// A mailbox and what comes out of it.
pub fn mail() -> (Mailbox, Inbox) {
    let (wishes, incoming) = channel();
    let frames = Arc::<Frames>::default();
    let mailbox = Mailbox {
        wishes,
        frames: Arc::clone(&frames),
    };
    (mailbox, Inbox { incoming, frames })
}

impl Mailbox {
    /// Hands over a wish; false if nobody takes it any more. A frame too many
    /// is a counted drop.
    pub fn send(&self, wish: Wish) -> bool {
        if is_frame(&wish) && !self.frames.admit() {
            return true;
        }
        self.wishes.send(wish).is_ok()
    }

    /// How many frames wait.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Hears of a connection.
    pub fn listener(&self, ticket: Ticket) -> Listener {
        let mailbox = self.clone();
        Listener::new(move |news| {
            mailbox.send(Wish::News(ticket, news));
        })
    }
}

impl Inbox {
    /// A frame counts as waiting until it is released.
    pub fn next(&self, limit: Duration) -> Result<Wish, RecvTimeoutError> {
        self.incoming.recv_timeout(limit)
    }

    /// How many frames wait, for who takes them in the end.
    pub fn frames(&self) -> Arc<Frames> {
        Arc::clone(&self.frames)
    }

    /// Frames that came while too many waited.
    pub fn dropped_frames(&self) -> u64 {
        self.frames.dropped()
    }
}

fn is_frame(wish: &Wish) -> bool {
    matches!(wish, Wish::News(_, News::Frame { .. }))
}
