//! Wake-up sources and clock of the relays' thread.

use polling::{Event, PollMode, Poller};
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft_units::Instant;

/// Set of sockets that wake the thread. Each has its own key, which is never
/// reused.
#[derive(Clone)]
pub struct Sockets {
    poller: Arc<Poller>,
    next_key: Arc<AtomicUsize>,
}

/// Time since the start of the thread.
#[derive(Clone, Copy)]
pub struct Clock(std::time::Instant);

impl Clock {
    pub fn start() -> Clock {
        Clock(std::time::Instant::now())
    }

    pub fn now(self) -> Instant {
        Instant::ZERO + self.0.elapsed().into()
    }
}

impl Sockets {
    pub fn new() -> io::Result<Sockets> {
        Ok(Sockets {
            poller: Arc::new(Poller::new()?),
            next_key: Arc::default(),
        })
    }

    /// Poller that waits for the sockets.
    pub fn poller(&self) -> Arc<Poller> {
        self.poller.clone()
    }

    /// Interrupts a wait.
    pub fn wake(&self) {
        // Fails only if the thread has ended, together with the relays.
        let _ = self.poller.notify();
    }

    /// Wakes the thread whenever the socket is readable.
    pub fn add(&self, socket: &UdpSocket) -> io::Result<usize> {
        let key = self.next_key.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the socket stays open until it is removed: its owner, a
        // `Nat`, calls `remove` before it drops a socket.
        unsafe {
            let interest = Event::readable(key);
            self.poller
                .add_with_mode(socket, interest, PollMode::Level)?;
        }
        Ok(key)
    }

    pub fn remove(&self, socket: &UdpSocket) {
        // Fails only for a socket that is not in the set.
        let _ = self.poller.delete(socket);
    }
}
