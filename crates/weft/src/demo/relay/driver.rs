//! The thread of all relays: waits for sockets and deadlines.

use super::Change;
use super::nat::Nat;
use polling::{Event, Events, PollMode, Poller};
use std::collections::BTreeMap;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use weft_links::Direction;
use weft_units::{Deadline, Instant};

/// The one thread of the process, while a relay lives.
static SHARED: Mutex<Weak<Driver>> = Mutex::new(Weak::new());

/// What a relay's handle asks of the thread.
pub(super) enum Command {
    Add(Box<Nat>),
    Change(usize, &'static [Direction], Change),
    Remove(usize),
}

/// The handles' side of the thread.
pub(super) struct Driver {
    /// Gone when the thread is told to end.
    commands: Option<Sender<Command>>,
    sockets: Sockets,
    clock: Clock,
    thread: Option<JoinHandle<()>>,
}

/// The set of sockets that wake the thread, each under a key of its own that
/// is never used again.
#[derive(Clone)]
pub(super) struct Sockets {
    poller: Arc<Poller>,
    next_key: Arc<AtomicUsize>,
}

/// Time since the thread began.
#[derive(Clone, Copy)]
pub(super) struct Clock(std::time::Instant);

impl Clock {
    pub fn now(self) -> Instant {
        Instant::ZERO + self.0.elapsed().into()
    }
}

impl Sockets {
    /// Wakes the thread whenever the socket has something to read.
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

impl Driver {
    /// The running thread, or a new one.
    pub fn shared() -> io::Result<Arc<Driver>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = shared.upgrade() {
            return Ok(driver);
        }
        let driver = Arc::new(Driver::start()?);
        *shared = Arc::downgrade(&driver);
        Ok(driver)
    }

    fn start() -> io::Result<Driver> {
        let sockets = Sockets {
            poller: Arc::new(Poller::new()?),
            next_key: Arc::default(),
        };
        let clock = Clock(std::time::Instant::now());
        let (commands, received) = channel();
        let poller = sockets.poller.clone();
        let thread = std::thread::Builder::new()
            .name("relays".into())
            .spawn(move || run(&poller, clock, &received))?;
        Ok(Driver {
            commands: Some(commands),
            sockets,
            clock,
            thread: Some(thread),
        })
    }

    pub fn sockets(&self) -> &Sockets {
        &self.sockets
    }

    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    pub fn command(&self, command: Command) {
        // Both fail only when the thread is gone, and the relays with it.
        if let Some(commands) = &self.commands {
            let _ = commands.send(command);
        }
        let _ = self.sockets.poller.notify();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.commands = None;
        let _ = self.sockets.poller.notify();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(poller: &Poller, clock: Clock, commands: &Receiver<Command>) {
    let mut nats = BTreeMap::new();
    let mut events = Events::new();
    loop {
        let next = nats.values().filter_map(Nat::poll_timeout).min();
        let wait = next.map(|Deadline { at, .. }| at.saturating_since(clock.now()).into());
        events.clear();
        poller
            .wait(&mut events, wait)
            .expect("waiting for sockets of our own does not fail");
        loop {
            match commands.try_recv() {
                Ok(command) => apply(&mut nats, clock, command),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        for event in events.iter() {
            if let Some(nat) = nats.values_mut().find(|n| n.owns(event.key)) {
                nat.receive(event.key, clock);
            }
        }
        for nat in nats.values_mut() {
            nat.forward(clock);
        }
    }
}

fn apply(nats: &mut BTreeMap<usize, Nat>, clock: Clock, command: Command) {
    match command {
        Command::Add(nat) => drop(nats.insert(nat.key(), *nat)),
        Command::Remove(key) => drop(nats.remove(&key)),
        Command::Change(key, ways, change) => {
            if let Some(nat) = nats.get_mut(&key) {
                nat.change(clock.now(), ways, change);
            }
        }
    }
}
