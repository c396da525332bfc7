//! Thread of all relays: waits for sockets and deadlines.

use super::nat::Nat;
use super::shared::Change;
use super::sockets::{Clock, Sockets};
use polling::{Events, Poller};
use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use weft_links::WiredDirection;
use weft_units::{Deadline, Instant};

/// The thread of the process, while a relay lives.
static SHARED: Mutex<Weak<Driver>> = Mutex::new(Weak::new());

/// Command to the thread from a relay's handle.
pub(super) enum Command {
    Add(Box<Nat>),
    Change(usize, &'static [WiredDirection], Change),
    Remove(usize),
}

/// Handle of the thread.
pub(super) struct Driver {
    /// Dropped to end the thread.
    commands: Option<Sender<Command>>,
    sockets: Sockets,
    clock: Clock,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    /// Returns the running thread, or starts one.
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
        let sockets = Sockets::new()?;
        let clock = Clock::start();
        let (commands, received) = channel();
        let poller = sockets.poller();
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
        // Fails only if the thread has ended, together with the relays.
        if let Some(commands) = &self.commands {
            let _ = commands.send(command);
        }
        self.sockets.wake();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.commands = None;
        self.sockets.wake();
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
