//! A call in a room, on threads of its own.
//!
//! One thread ([`run`]) decides; it never waits for the network. Requests run
//! at desks ([`desk`]), the room's events are read on a thread of their own,
//! and all of them tell it through one mailbox ([`inbox`]).

mod attempts;
mod desk;
mod diagnosis;
mod fault;
mod inbox;
mod listening;
mod outlet;
mod player;
mod playing;
mod publication;
mod publishing;
mod room;
mod run;
mod statistics;
#[cfg(test)]
mod tests;
mod troubles;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use weft_cc::ControllerKind;
use weft_net::{Clock, Driver, Remote};
use weft_session::{Preference, ProtectionKind, SchedulerKind};

use crate::caller::Command;
use crate::config::{CallConfig, Receiving};
use crate::connect::ConnectError;
use crate::error::StartError;
use crate::event::Event;
use crate::links::{self, Links};
use crate::notice::Notices;
use crate::signalling::Room;
use crate::start::start;

use inbox::{Frames, Mailbox, Wish};
use run::{Conduct, Myself};
pub use statistics::Statistics;

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
        if config.receiving == Receiving::Nobody && !config.send.publishes() {
            return Err(StartError::NothingToDo);
        }
        let (events, heard) = outlet::outlet();
        let events = Arc::new(events);
        // A camera that hangs holds its notices for ever, but not the call's end.
        let notices = Notices::new({
            let events = Arc::downgrade(&events);
            move |notice| {
                if let Some(events) = events.upgrade() {
                    events.tell(Event::Notice(notice));
                }
            }
        });
        let here = links::loopback(&config.server.url);
        let (specs, scope) = links::links_or_all(&config.send.links, here)?;
        let room = Room::new(&config.server, specs.clone(), &config.room)?;
        let links = Links::check(specs, scope, &notices)?;
        let name = config.send.name.clone();
        let started = start(clock, links, config.send, Call::LAYERS, notices)?;
        let driver = started.driver;
        let own = Myself {
            name,
            sections: started.sections,
            receiving: config.receiving,
            identity: None,
        };
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

    /// What has happened; waits for it no longer than `limit`.
    ///
    /// The call does not wait for who asks. Frames wait for some seconds' worth
    /// and are dropped beyond that, counted in
    /// [`Statistics::dropped_frames`]. Of everything else a thousand wait; what
    /// is too much then is told as [`Event::Missed`].
    ///
    /// # Errors
    /// If nothing happened in time, or the call has ended.
    pub fn next_event(&self, limit: Duration) -> Result<Event, NoEvent> {
        match self.events.recv_timeout(limit) {
            Ok(event) => {
                if let Event::Frame(played) = &event {
                    self.frames.release(played.frame.data.len());
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

    /// Schedules with this one from now on.
    pub fn set_scheduler(&self, scheduler: SchedulerKind) {
        self.remote.send(Command::Schedule(scheduler));
    }

    /// Spares the call this first from now on.
    pub fn set_preference(&self, preference: Preference) {
        self.remote.send(Command::Prefer(preference));
    }

    /// Protects with this from now on.
    pub fn set_protection(&self, protection: ProtectionKind) {
        self.remote.send(Command::Protect(protection));
    }

    /// Controls every path's rate with this from now on. What the controllers
    /// so far know of their paths is lost.
    pub fn set_controller(&self, controller: ControllerKind) {
        self.remote.send(Command::Control(controller));
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
        network.join().expect("the network does not panic");
        ended
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.mailbox.send(Wish::End);
        self.remote.send(Command::Stop);
    }
}
