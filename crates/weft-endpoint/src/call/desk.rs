//! Requests to the server, one after the other on a thread of their own: a
//! server that does not answer holds up nothing else.

use std::sync::mpsc::{SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

type Errand = Box<dyn FnOnce() + Send>;

/// Takes errands and does them in order.
pub struct Desk {
    errands: SyncSender<Errand>,
    refused: u64,
}

impl Desk {
    /// A desk where so many errands may wait.
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

    /// Takes an errand; false, and counted, if too many wait already.
    pub fn take(&mut self, errand: impl FnOnce() + Send + 'static) -> bool {
        let taken = self.errands.try_send(Box::new(errand)).is_ok();
        self.refused += u64::from(!taken);
        taken
    }

    /// Errands that were not taken.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Waits until everything is done, at most for `limit`. What is not done
    /// then ends with the process.
    pub fn close(self, limit: Duration) {
        let (done, finished) = channel();
        let last: Errand = Box::new(move || {
            let _ = done.send(());
        });
        match self.errands.try_send(last) {
            Ok(()) => {
                let _ = finished.recv_timeout(limit);
            }
            // It is busy beyond hope, or its thread is gone.
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
}
