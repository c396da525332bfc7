//! Requests to the server, one after the other on a separate thread: a server
//! that does not answer blocks nothing else.

use std::sync::mpsc::{SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

type Errand = Box<dyn FnOnce() + Send>;

/// Queue that runs requests in order.
pub struct Desk {
    errands: SyncSender<Errand>,
    refused: u64,
}

impl Desk {
    /// Starts a queue with room for this many waiting requests.
    pub fn open(waiting: usize) -> Desk {
        let (errands, incoming) = sync_channel::<Errand>(waiting);
        thread::Builder::new()
            .name("signalling".to_owned())
            .spawn(move || incoming.into_iter().for_each(|errand| errand()))
            .expect("the system gives a thread");
        Desk {
            errands,
            refused: 0,
        }
    }

    /// Adds a request; returns false, and counts it, if too many are waiting.
    pub fn take(&mut self, errand: impl FnOnce() + Send + 'static) -> bool {
        let taken = self.errands.try_send(Box::new(errand)).is_ok();
        self.refused += u64::from(!taken);
        taken
    }

    /// Number of refused requests.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Waits up to `limit` until all requests are done. Unfinished ones end
    /// with the process.
    pub fn close(self, limit: Duration) {
        let (done, finished) = channel();
        let last: Errand = Box::new(move || {
            let _ = done.send(());
        });
        match self.errands.try_send(last) {
            Ok(()) => {
                let _ = finished.recv_timeout(limit);
            }
            // The queue is full, or its thread has ended.
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
}
