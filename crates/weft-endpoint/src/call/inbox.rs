//! What the call's thread is told, by whom ever: bounded, where others decide how
//! much comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::statistics::Statistics;
use crate::caller::{Listener, News};
use crate::connect::{ConnectError, Connection};
use crate::links::LinkTrouble;
use crate::signalling::{RoomEvent, SignallingError};

/// Frames that may wait to be taken: some seconds of a few participants.
/// Chosen by us.
pub const WAITING_FRAMES: usize = 1000;

/// Most octets of these frames, but for the last one: 8 s of four cameras at 4 Mbit/s
/// each. Chosen by us.
const WAITING_BYTES: usize = 16 << 20;

/// What a connection was asked for with; each is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub u64);

/// What the call's thread is told.
pub enum Wish {
    /// From the room's event stream with this number, which waits to be told
    /// whether to continue.
    Room(u32, RoomEvent, Sender<bool>),
    RoomLost(u32, SignallingError),
    /// What became of a connection that was asked for.
    Made(Ticket, Result<Connection, ConnectError>),
    /// A connection has something to say.
    News(Ticket, News),
    /// Why a link carries nothing.
    Diagnosed(String, LinkTrouble),
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

/// How many frames wait, and how large they are together.
#[derive(Default)]
pub struct Frames {
    waiting: AtomicUsize,
    bytes: AtomicUsize,
    dropped: AtomicU64,
}

impl Frames {
    /// Whether another of so many octets may wait; if not, it is counted as
    /// dropped.
    pub fn admit(&self, bytes: usize) -> bool {
        let is_full = self.waiting.load(Ordering::Relaxed) >= WAITING_FRAMES
            || self.bytes.load(Ordering::Relaxed) >= WAITING_BYTES;
        if is_full {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    /// One that was admitted, of so many octets, waits no more.
    pub fn release(&self, bytes: usize) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// One that was admitted, of so many octets, is dropped.
    pub fn drop_one(&self, bytes: usize) {
        self.release(bytes);
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
        if let Wish::News(_, News::Frame { frame, .. }) = &wish
            && !self.frames.admit(frame.data.len())
        {
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
