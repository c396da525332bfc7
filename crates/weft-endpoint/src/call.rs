//! A call in a room, on its own threads.
//!
//! One thread ([`run`]) makes all decisions; it never waits for the network.
//! Requests run in request queues ([`request_queue`]), a separate thread reads the
//! room's events, and all of them send messages to one mailbox ([`inbox`]).

mod call_loop;
mod diagnosis;
pub(crate) mod event_sender;
pub(crate) mod fault;
mod handover;
pub(crate) mod inbox;
mod listening;
mod moving;
mod publication;
mod publishing;
mod receiving;
mod reception;
mod request_queue;
mod room;
mod run;
mod statistics;
mod switching;
#[cfg(test)]
mod tests;
pub(crate) mod troubles;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use weft_cc::ControllerKind;
use weft_net::{Clock, Driver, Remote};
use weft_peer::data::{ChannelConfig, MAX_CHANNELS, Message, Urgency};
use weft_session::{Preference, ProtectionKind, SchedulerKind};

use crate::caller::{ChannelError, Command, Said, ask};
use crate::config::{CallConfig, Receiving};
use crate::connect::ConnectError;
use crate::error::StartError;
use crate::event::Event;
use crate::links::{self, LinkUse, Links};
use crate::playout::{Playout, cancel_echo};
use crate::signalling::Room;
use crate::sources::feed::Preview;
use crate::start::{Forwarding, start};
use crate::switches::{Switch, Switches};

use call_loop::{CallLoop, LocalParticipant, Outlets};
use inbox::{CallMessage, Frames, Mailbox};
pub use statistics::Statistics;

/// Running call: it publishes its sources, receives the other participants, tracks the
/// links and recovers from faults until you [leave](Call::leave) it. Dropping it also
/// ends it, without waiting.
pub struct Call {
    events: Receiver<Event>,
    mailbox: Mailbox,
    frames: Arc<Frames>,
    clock: Clock,
    remote: Remote<Command>,
    previews: Vec<Preview>,
    threads: Option<Threads>,
}

/// Threads to join at the end.
struct Threads {
    call: JoinHandle<Result<(), ConnectError>>,
    network: Driver<Command>,
}

/// Reason why no event is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEvent {
    /// No event arrived in time.
    TimedOut,
    /// The call has ended; [`Call::leave`] returns the reason.
    Ended,
}

impl From<RecvTimeoutError> for NoEvent {
    fn from(error: RecvTimeoutError) -> NoEvent {
        match error {
            RecvTimeoutError::Timeout => NoEvent::TimedOut,
            RecvTimeoutError::Disconnected => NoEvent::Ended,
        }
    }
}

/// Handle that controls a call from anywhere, such as a signal handler.
#[derive(Clone)]
pub struct Stopper(Mailbox);

impl Stopper {
    /// Ends the call: [`Call::next_event`] returns [`NoEvent::Ended`]
    /// afterwards.
    pub fn stop(&self) {
        self.0.send(CallMessage::End);
    }

    /// See [`Call::unmute`].
    pub fn unmute(&self) {
        self.0.send(CallMessage::Unmute);
    }

    /// Requests a keyframe of every received camera; a new recording or decoder needs one.
    pub fn request_keyframes(&self) {
        self.0.send(CallMessage::RequestKeyframes);
    }

    /// Switches the microphone's sound; the room sees the state. Switching it on also
    /// ends a moderator's mute.
    pub fn switch_microphone(&self, switch: Switch) {
        self.0.send(CallMessage::Microphone(switch));
    }

    /// Switches the cameras' pictures; the room sees the state.
    pub fn switch_cameras(&self, switch: Switch) {
        self.0.send(CallMessage::Cameras(switch));
    }

    /// Changes the use of the link with this name, now and later in the call. An unknown
    /// name has no effect.
    pub fn use_link(&self, link: &str, usage: LinkUse) {
        let link = link.to_owned();
        self.0.send(CallMessage::UseLink(link, usage));
    }
}

impl Call {
    /// Opens links, cameras and microphone, and starts the call. The call connects to the
    /// server in the background; [events](Event) report the outcome.
    ///
    /// # Errors
    /// If the configuration is invalid, or the machine lacks something that it names.
    pub fn start(config: CallConfig) -> Result<Call, StartError> {
        let clock = Clock::start();
        if config.receiving == Receiving::Nobody && !config.send.publishes() {
            return Err(StartError::NothingToDo);
        }
        check_channels(&config)?;
        let (events, heard) = event_sender::event_channel();
        let events = Arc::new(events);
        let notices = event_sender::notices(&events);
        let here = links::loopback(&config.server.url);
        let (specs, scope) = links::links_or_all(&config.send.links, here)?;
        let room = Room::new(&config.server, specs.clone(), &config.room)?;
        let links = Links::check(specs, scope, &notices)?;
        let mut send = config.send;
        let playout = match config.speaker {
            Some(open) => {
                let reference = cancel_echo(&mut send, config.echo)?;
                Some(Playout::start(open, reference, clock, notices.clone())?)
            }
            None => None,
        };
        let name = send.name.clone();
        let servers = send.turn_servers.clone();
        let started = start(clock, links, send, Forwarding::Room, notices)?;
        let driver = started.driver;
        driver.remote.send(Command::UseChannels(config.channels));
        driver.remote.send(Command::UseTurn {
            servers,
            connector: room.turn_connector(),
            remote: driver.remote.clone(),
        });
        let own = LocalParticipant {
            name,
            sections: started.sections,
            receiving: config.receiving,
            identity: None,
            waits: false,
            muted: false,
            switches: Switches::default(),
        };
        let (mailbox, inbox) = inbox::mail();
        let remote = driver.remote.clone();
        let outlets = Outlets { events, playout };
        let mut call_loop = CallLoop::new(room, remote.clone(), mailbox.clone(), own, outlets);
        let frames = inbox.frames();
        let call = thread::Builder::new()
            .name("call".to_owned())
            .spawn(move || {
                let ended = call_loop.run(&inbox);
                call_loop.leave();
                ended
            })
            .expect("the system gives a thread");
        Ok(Call {
            events: heard,
            mailbox,
            frames,
            clock,
            remote,
            previews: started.previews,
            threads: Some(Threads {
                call,
                network: driver,
            }),
        })
    }

    /// Returns the next event; waits for it for at most `limit`.
    ///
    /// The call never waits for its reader. Frames of a few seconds are
    /// buffered; further ones are dropped and counted in
    /// [`Statistics::dropped_frames`]. A thousand other events are buffered;
    /// further ones are reported as [`Event::Missed`].
    ///
    /// # Errors
    /// If no event arrives in time, or the call has ended.
    pub fn next_event(&self, limit: Duration) -> Result<Event, NoEvent> {
        let event = self.events.recv_timeout(limit)?;
        if let Event::Frame(played) = &event {
            self.frames.release(played.frame.data.len());
        }
        Ok(event)
    }

    /// Returns the present statistics; `None` after the end of the call.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        let (reply, answer) = channel();
        self.mailbox.send(CallMessage::Figures(reply));
        answer.recv().ok()
    }

    /// Sets the scheduler from now on.
    pub fn set_scheduler(&self, scheduler: SchedulerKind) {
        self.remote.send(Command::Schedule(scheduler));
    }

    /// Sets the preference from now on.
    pub fn set_preference(&self, preference: Preference) {
        self.remote.send(Command::Prefer(preference));
    }

    /// Sets the protection from now on.
    pub fn set_protection(&self, protection: ProtectionKind) {
        self.remote.send(Command::Protect(protection));
    }

    /// Sets the congestion controller of every path from now on. The state of
    /// the previous controllers is lost.
    pub fn set_controller(&self, controller: ControllerKind) {
        self.remote.send(Command::Control(controller));
    }

    /// Sends a message on a data channel of the configuration to all participants in the
    /// room that have one with the same label. Normal messages use one path, and another
    /// one if that fails; urgent ones use two paths at once.
    ///
    /// # Errors
    /// If the channel does not exist or is not open ([`Event::ChannelOpened`]), the
    /// message is too long, or too many are waiting.
    pub fn send_message(
        &self,
        label: &str,
        message: Message,
        urgency: Urgency,
    ) -> Result<(), ChannelError> {
        let said = |reply| Said {
            label: label.to_owned(),
            message,
            urgency,
            reply,
        };
        let sent = ask(&self.remote, |reply| Command::Say(said(reply)));
        sent.unwrap_or(Err(ChannelError::Ended))
    }

    /// Ends a moderator's mute ([`Event::Muted`]); [`Event::Unmuted`] confirms it. Does
    /// nothing if we are not muted.
    pub fn unmute(&self) {
        self.mailbox.send(CallMessage::Unmute);
    }

    /// Returns the latest picture of each of our cameras, in order, before encoding.
    #[must_use]
    pub fn previews(&self) -> &[Preview] {
        &self.previews
    }

    /// Returns the clock of the frames' timestamps.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns a handle that controls the call from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(self.mailbox.clone())
    }

    /// Ends the call, and waits up to half a second for the last requests to the server.
    ///
    /// # Errors
    /// If the call had already ended, because the server refused it
    /// permanently.
    pub fn leave(mut self) -> Result<(), ConnectError> {
        self.mailbox.send(CallMessage::End);
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
        self.mailbox.send(CallMessage::End);
        self.remote.send(Command::Stop);
    }
}

/// Checks that the data channels can be opened.
fn check_channels(config: &CallConfig) -> Result<(), StartError> {
    if !config.channels.is_empty() && !config.send.publishes() {
        return Err(StartError::ChannelsWithoutSource);
    }
    let labels: BTreeSet<&str> = config.channels.iter().map(|c| &*c.label).collect();
    let is_long = |channel: &ChannelConfig| !channel.is_valid();
    if labels.len() < config.channels.len()
        || labels.len() > MAX_CHANNELS
        || config.channels.iter().any(is_long)
    {
        return Err(StartError::Channels);
    }
    Ok(())
}
