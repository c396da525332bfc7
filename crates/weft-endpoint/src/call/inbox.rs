//! Messages to the call's thread. The number of those that other machines can cause is
//! bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::statistics::Statistics;
use crate::caller::{Listener, News};
use crate::connect::{ConnectError, Connection};
use crate::links::{LinkTrouble, LinkUse};
use crate::signalling::{RoomEvent, SignallingError, Viewing};
use crate::switches::Switch;

/// Maximum number of frames that wait for the application: a few seconds from a few
/// participants. Chosen by us.
pub const WAITING_FRAMES: usize = 1000;

/// Maximum size of these frames in octets, except the last one: 8 s of four cameras at 4
/// Mbit/s each. Chosen by us.
const WAITING_BYTES: usize = 16 << 20;

/// Number of a connection request; never reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub u64);

/// Message to the call's thread.
pub enum CallMessage {
    /// Event from the event stream with this number; its thread waits to learn whether to
    /// continue.
    Room(u32, RoomEvent, Sender<bool>),
    RoomLost(u32, SignallingError),
    /// Result of a connection request.
    Made(Ticket, Result<Connection, ConnectError>),
    /// The user's switch of the microphone.
    Microphone(Switch),
    /// The user's switch of the cameras.
    Cameras(Switch),
    /// The user's choice for a link.
    UseLink(String, LinkUse),
    /// Request for a keyframe of every received camera.
    RequestKeyframes,
    /// Request to end a moderator's mute.
    Unmute,
    /// Refusal of that request.
    UnmuteFailed(SignallingError),
    /// State of the reception after a view was sent.
    Viewed(Ticket, Result<Viewing, SignallingError>),
    /// Result of an answer to a later offer of the server.
    Answered(Ticket, Result<(), ConnectError>),
    /// News of a connection.
    News(Ticket, News),
    /// Reason why a link carries no packets.
    Diagnosed(String, LinkTrouble),
    /// Request for the statistics.
    Figures(Sender<Statistics>),
    End,
}

/// Sender of messages to the call's thread.
#[derive(Clone)]
pub struct Mailbox {
    messages: Sender<CallMessage>,
    frames: Arc<Frames>,
}

/// Number and size of the waiting frames.
#[derive(Default)]
pub struct Frames {
    waiting: AtomicUsize,
    bytes: AtomicUsize,
    dropped: AtomicU64,
}

impl Frames {
    /// Admits a frame of this size; if it does not fit, counts it as dropped
    /// and returns false.
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

    /// Admits the frame of these news, if they contain one.
    pub fn admit_news(&self, news: &News) -> bool {
        match news {
            News::Frame { frame, .. } => self.admit(frame.data.len()),
            _ => true,
        }
    }

    /// Removes an admitted frame of this size from the count.
    pub fn release(&self, bytes: usize) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Removes an admitted frame of this size and counts it as dropped.
    pub fn drop_one(&self, bytes: usize) {
        self.release(bytes);
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Frames dropped before delivery.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// Receiver of the call's messages.
pub struct Inbox {
    incoming: Receiver<CallMessage>,
    frames: Arc<Frames>,
}

/// Creates the two ends of a mailbox.
pub fn mail() -> (Mailbox, Inbox) {
    let (messages, incoming) = channel();
    let frames = Arc::<Frames>::default();
    let mailbox = Mailbox {
        messages,
        frames: Arc::clone(&frames),
    };
    (mailbox, Inbox { incoming, frames })
}

impl Mailbox {
    /// Sends a message; returns false if the receiver is gone. Frames beyond
    /// the bound are dropped and counted.
    pub fn send(&self, message: CallMessage) -> bool {
        if let CallMessage::News(_, news) = &message
            && !self.frames.admit_news(news)
        {
            return true;
        }
        self.messages.send(message).is_ok()
    }

    /// Returns the bound on waiting frames.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Creates a listener for the news of a connection.
    pub fn listener(&self, ticket: Ticket) -> Listener {
        let mailbox = self.clone();
        Listener::new(move |news| {
            mailbox.send(CallMessage::News(ticket, news));
        })
    }
}

impl Inbox {
    /// Returns the next message. A frame counts as waiting until it is
    /// released.
    pub fn next(&self, limit: Duration) -> Result<CallMessage, RecvTimeoutError> {
        self.incoming.recv_timeout(limit)
    }

    /// Returns the bound on waiting frames, for the final consumer.
    pub fn frames(&self) -> Arc<Frames> {
        Arc::clone(&self.frames)
    }

    /// Frames dropped because too many were waiting.
    pub fn dropped_frames(&self) -> u64 {
        self.frames.dropped()
    }
}
