//! Requests to the server, one after the other on a separate thread, so that an
//! unresponsive server blocks nothing else.

use std::sync::mpsc::{SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

type Request = Box<dyn FnOnce() + Send>;

/// Queue that runs requests in order.
pub struct RequestQueue {
    requests: SyncSender<Request>,
    refused: u64,
}

impl RequestQueue {
    /// Starts a queue that holds up to this many waiting requests.
    pub fn start(waiting: usize) -> RequestQueue {
        let (requests, incoming) = sync_channel::<Request>(waiting);
        thread::Builder::new()
            .name("signalling".to_owned())
            .spawn(move || incoming.into_iter().for_each(|request| request()))
            .expect("the system gives a thread");
        RequestQueue {
            requests,
            refused: 0,
        }
    }

    /// Adds a request; returns false, and counts it, if too many are waiting.
    pub fn push(&mut self, request: impl FnOnce() + Send + 'static) -> bool {
        let taken = self.requests.try_send(Box::new(request)).is_ok();
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
        let last: Request = Box::new(move || {
            let _ = done.send(());
        });
        match self.requests.try_send(last) {
            Ok(()) => {
                let _ = finished.recv_timeout(limit);
            }
            // The queue is full, or its thread has ended.
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
}
