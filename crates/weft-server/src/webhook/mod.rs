//! Events of rooms for a target of the operator: signed HTTP requests, in
//! order ([Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md)
//! 1.0). A separate thread sends them from a bounded queue, so a target that
//! hangs delays nothing else.

mod counts;
mod delivery;
mod event;
mod queue;
mod target;
#[cfg(test)]
pub(crate) mod tests;
mod watch;

pub(crate) use counts::Counts;
pub(crate) use event::WebhookEvent;
pub use target::{WebhookError, WebhookSecret, WebhookTarget, WebhookUrl};

use crate::log::Log;
use delivery::Delivery;
use queue::Queue;
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};
use watch::RoomWatch;
use weft_rooms::Change;

/// Time for waiting events when the server ends. Chosen by us.
const AT_THE_END: Duration = Duration::from_secs(2);

/// Sender of events. Dropping it finishes the queue.
pub(crate) struct Webhooks {
    queue: Arc<Queue>,
    rooms: Mutex<RoomWatch>,
    ended: Mutex<Receiver<()>>,
}

impl Webhooks {
    /// Starts the thread that sends to the target.
    ///
    /// # Errors
    /// If the system provides no thread.
    pub(crate) fn start(target: WebhookTarget, log: Log) -> io::Result<Webhooks> {
        let queue = Arc::new(Queue::new(log));
        let delivery = Delivery::new(target, Arc::clone(&queue));
        let (end, ended) = channel();
        let thread = thread::Builder::new().name("weft-webhook".to_owned());
        thread.spawn(move || {
            delivery.run();
            // The server may be gone.
            let _ = end.send(());
        })?;
        let webhooks = Webhooks {
            queue,
            rooms: Mutex::default(),
            ended: Mutex::new(ended),
        };
        webhooks.send(WebhookEvent::ServerStarted {});
        Ok(webhooks)
    }

    /// Queues an event; drops it if the queue is full. Never blocks.
    pub(crate) fn send(&self, event: WebhookEvent) {
        self.queue.push(event, SystemTime::now());
    }

    /// Queues the events of a change in a room.
    pub(crate) fn note(&self, room: &str, change: &Change) {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        for event in rooms.events(room, change) {
            self.send(event);
        }
    }

    /// Gives waiting events their last attempt, for up to [`AT_THE_END`].
    pub(crate) fn finish(&self) {
        self.queue.close();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // An error means that the thread has ended.
        let _ = ended.recv_timeout(AT_THE_END);
    }

    pub(crate) fn counts(&self) -> Counts {
        self.queue.counts()
    }
}

impl Drop for Webhooks {
    fn drop(&mut self) {
        self.finish();
    }
}
