//! A call in a room, on threads of its own.
//!
//! One thread ([`run`]) decides; it never waits for the network. Requests run
//! at desks ([`desk`]), the room's events are read on a thread of their own,
//! and all of them tell it through one mailbox ([`inbox`]).

mod desk;
mod fault;
mod inbox;
mod playing;
mod publishing;
mod room;
mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use weft_net::{Clock, Driver, Remote};
use weft_peer::PeerKey;

use crate::caller::{Command, PeerReport, Sending};
use crate::config::{CallConfig, Receiving};
use crate::connect::ConnectError;
use crate::error::StartError;
use crate::event::Event;
use crate::links::{self, Links};
use crate::notice::Notices;
use crate::signalling::Room;
use crate::sources::{self, Sources};

use inbox::{Frames, Mailbox, Wish};
use run::{Conduct, Myself};

/// A call that is going on: it publishes what it was given, receives the
/// others, follows the links and comes back after faults by itself until it is
/// [left](Call::leave). Dropping it ends it as well, and does not wait for that.
pub struct Call {
    events: Receiver<Event>,
    mailbox: Mailbox,
    frames: Arc<Frames>,
    clock: Clock,
    remote: Remote<Command>,
    threads: Option<Threads>,
}

/// Until they are waited for.
struct Threads {
    call: JoinHandle<Result<(), ConnectError>>,
    network: Driver<Command>,
}

/// Why there is no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEvent {
    /// Nothing has happened in time.
    TimedOut,
    /// The call has ended; [`Call::leave`] says why.
    Ended,
}

/// Ends a call from anywhere, a signal's handler for example.
#[derive(Clone)]
pub struct Stopper(Mailbox);

impl Stopper {
    /// The call ends: [`Call::next_event`] says [`NoEvent::Ended`] when it has.
    pub fn stop(&self) {
        self.0.send(Wish::End);
    }
}

/// Figures of a call at one moment.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Since the call began.
    pub elapsed: Duration,
    /// Every connection that there is.
    pub peers: Vec<PeerReport>,
    /// Which of them publishes.
    pub publication: Option<PeerKey>,
    /// Which of them play whom: participants' ids.
    pub players: BTreeMap<PeerKey, String>,
    /// Frames that came while too many waited for [`Call::next_event`].
    pub dropped_frames: u64,
    /// Requests that were not made, since earlier ones hung.
    pub refused_requests: u64,
}

impl Statistics {
    /// The connection that publishes.
    #[must_use]
    pub fn published(&self) -> Option<&PeerReport> {
        let key = self.publication?;
        self.peers.iter().find(|report| report.peer == key)
    }
}

impl Call {
    /// Temporal layers of VP8: a server may leave out two thirds or a half of
    /// the pictures for slow receivers.
    const LAYERS: u8 = 3;

    /// Opens links, cameras and microphone, and begins. The server is asked
    /// in the background: whether it answers is told by [events](Event).
    ///
    /// # Errors
    /// If the configuration is wrong or the machine has not what it asks for.
    pub fn start(config: CallConfig) -> Result<Call, StartError> {
        let clock = Clock::start();
        let publishes = config.publishes();
        if config.receiving == Receiving::Nobody && !publishes {
            return Err(StartError::NothingToDo);
        }
        let (events, heard) = channel();
        let events = Arc::new(events);
        // A camera that hangs holds its notices for ever, but not the call's end.
        let notices = Notices::new({
            let events = Arc::downgrade(&events);
            move |notice| {
                if let Some(events) = events.upgrade() {
                    let _ = events.send(Event::Notice(notice));
                }
            }
        });
        let here = links::loopback(&config.server.url);
        let (specs, scope) = links::links_or_all(&config.links, here)?;
        let room = Room::new(&config.server, specs.clone(), &config.room)?;
        let links = Links::check(specs, scope, &notices)?;
        let mut sources = Sources::open(&config.cameras, config.own, clock)?;
        if let Some(microphone) = &config.microphone
            && sources.microphone.is_none()
        {
            sources.microphone = Some(microphone.open()?);
        }
        let encoding = sources::Encoding {
            codec: config.codec,
            layers: Call::LAYERS,
            degradation: config.degradation,
        };
        let own = Myself {
            name: config.name.clone(),
            sections: sources.sections(),
            receiving: config.receiving,
            identity: None,
        };
        let sending = Sending {
            scheduler: config.scheduler,
            protection: config.protection,
            controller: config.controller,
            codec: config.codec,
            max_rate: config.max_rate,
            cname: config.name,
        };
        let driver = sources::start(clock, links, sending, sources, encoding, notices)?;
        let (mailbox, inbox) = inbox::mail();
        let remote = driver.remote.clone();
        let mut conduct = Conduct::new(room, remote.clone(), mailbox.clone(), own, events);
        let frames = inbox.frames();
        let call = thread::Builder::new()
            .name("call".to_owned())
            .spawn(move || {
                let ended = conduct.run(&inbox);
                conduct.leave();
                ended
            })
            .expect("the system gives a thread");
        Ok(Call {
            events: heard,
            mailbox,
            frames,
            clock,
            remote,
            threads: Some(Threads {
                call,
                network: driver,
            }),
        })
    }

    /// What has happened; waits for it no longer than `limit`. Frames wait for
    /// some seconds' worth and are dropped, and counted, beyond that.
    ///
    /// # Errors
    /// If nothing happened in time, or the call has ended.
    pub fn next_event(&self, limit: Duration) -> Result<Event, NoEvent> {
        match self.events.recv_timeout(limit) {
            Ok(event) => {
                if matches!(event, Event::Frame(_)) {
                    self.frames.release();
                }
                Ok(event)
            }
            Err(RecvTimeoutError::Timeout) => Err(NoEvent::TimedOut),
            Err(RecvTimeoutError::Disconnected) => Err(NoEvent::Ended),
        }
    }

    /// The figures of this moment; none when the call has ended.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        let (reply, answer) = channel();
        self.mailbox.send(Wish::Figures(reply));
        answer.recv().ok()
    }

    /// The clock by which frames are timed.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Something that ends the call from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(self.mailbox.clone())
    }

    /// Ends the call, with a goodbye as far as that is heard in half a second.
    ///
    /// # Errors
    /// If the call had ended by itself: what the server refuses for good.
    pub fn leave(mut self) -> Result<(), ConnectError> {
        self.mailbox.send(Wish::End);
        let Some(Threads { call, network }) = self.threads.take() else {
            return Ok(());
        };
        let ended = call.join().expect("the call does not panic");
        network.join();
        ended
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.mailbox.send(Wish::End);
        self.remote.send(Command::Stop);
    }
}
