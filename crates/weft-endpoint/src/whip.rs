//! A WHIP client (RFC 9725): publishes to any server over all links.

mod run;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use weft_net::{Clock, Driver};
use weft_peer::Section;

use crate::call::event_sender::{CallEventSender, event_channel, notices};
use crate::call::{NoEvent, Statistics};
use crate::caller::Command;
use crate::config::SendConfig;
use crate::connect::ConnectError;
use crate::error::StartError;
use crate::event::Event;
use crate::links::{self, Links};
use crate::signalling::{Server, Whip};
use crate::start::start;

use run::{Message, Publication};

/// A running publication at a WHIP endpoint. It follows the links and publishes again
/// after faults until you [leave](WhipClient::leave) it. Dropping it ends it without
/// waiting.
pub struct WhipClient {
    events: Receiver<Event>,
    running: RunningPublication,
}

/// Threads of a publication. Dropping it ends it without waiting.
pub(crate) struct RunningPublication {
    messages: Sender<Message>,
    threads: Option<Threads>,
}

struct Threads {
    publication: JoinHandle<Result<(), ConnectError>>,
    network: Driver<Command>,
}

/// Ends a publication from any thread, such as that of a signal handler.
#[derive(Clone)]
pub struct WhipStopper(Sender<Message>);

impl WhipStopper {
    /// Ends the publication: [`WhipClient::next_event`] then returns
    /// [`NoEvent::Ended`].
    pub fn stop(&self) {
        let _ = self.0.send(Message::End);
    }
}

impl WhipClient {
    /// Other servers than weft's leave no temporal layers out.
    const LAYERS: u8 = 1;

    /// Opens links, cameras and microphone, and begins. The server, whose `url` is the
    /// whole address of the endpoint, is asked in the background: events tell whether it
    /// answers.
    ///
    /// # Errors
    /// If the configuration is wrong, or the machine lacks a part of it.
    pub fn start(server: &Server, send: SendConfig) -> Result<WhipClient, StartError> {
        if !send.publishes() {
            return Err(StartError::NothingToDo);
        }
        let clock = Clock::start();
        let (events, heard) = event_channel();
        let events = Arc::new(events);
        let notices = notices(&events);
        let here = links::loopback(&server.url);
        let (specs, scope) = links::links_or_all(&send.links, here)?;
        let whip = Whip::new(server, specs.clone())?;
        let links = Links::check(specs, scope, &notices)?;
        let started = start(clock, links, send, WhipClient::LAYERS, notices)?;
        let running = RunningPublication::start(whip, started.driver, started.sections, events);
        Ok(WhipClient {
            events: heard,
            running,
        })
    }

    /// Returns the next event; waits for it no longer than `limit`. A thousand events may
    /// wait; more are told as [`Event::Missed`].
    ///
    /// # Errors
    /// If nothing happened in time, or the publication has ended.
    pub fn next_event(&self, limit: Duration) -> Result<Event, NoEvent> {
        Ok(self.events.recv_timeout(limit)?)
    }

    /// Returns the current figures; none after the end.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        self.running.statistics()
    }

    /// Returns a handle that ends the publication from another thread.
    #[must_use]
    pub fn stopper(&self) -> WhipStopper {
        WhipStopper(self.running.messages.clone())
    }

    /// Ends the publication, here and on the server, as far as that answers within half a
    /// second.
    ///
    /// # Errors
    /// If it had ended before because the server refused it for good.
    pub fn leave(mut self) -> Result<(), ConnectError> {
        self.running.end()
    }
}

impl RunningPublication {
    /// Publishes these sections from the network's peers.
    pub(crate) fn start(
        whip: Whip,
        network: Driver<Command>,
        sections: Vec<Section>,
        events: Arc<CallEventSender>,
    ) -> RunningPublication {
        let (messages, incoming) = channel();
        let remote = network.remote.clone();
        let mut publication = Publication::new(whip, remote, sections, messages.clone(), events);
        let publication = thread::Builder::new()
            .name("whip".to_owned())
            .spawn(move || {
                let ended = publication.run(&incoming);
                publication.leave();
                ended
            })
            .expect("the system gives a thread");
        RunningPublication {
            messages,
            threads: Some(Threads {
                publication,
                network,
            }),
        }
    }

    /// Returns the current figures; none after the end.
    pub(crate) fn statistics(&self) -> Option<Statistics> {
        let (reply, answer) = channel();
        self.messages.send(Message::Figures(reply)).ok()?;
        answer.recv().ok()
    }

    /// Sends a command to the network; false after its end.
    pub(crate) fn send(&self, command: Command) -> bool {
        let network = self.threads.as_ref().map(|threads| &threads.network);
        network.is_some_and(|network| network.remote.send(command))
    }

    /// Whether it has ended by itself, because the server refused it for good.
    pub(crate) fn has_ended(&self) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|threads| threads.publication.is_finished())
    }

    /// Ends the publication and waits for its threads.
    ///
    /// # Errors
    /// If it had ended before because the server refused it for good.
    pub(crate) fn end(&mut self) -> Result<(), ConnectError> {
        let _ = self.messages.send(Message::End);
        let Some(Threads {
            publication,
            network,
        }) = self.threads.take()
        else {
            return Ok(());
        };
        let ended = publication.join().expect("the publication does not panic");
        network.join().expect("the network does not panic");
        ended
    }
}

impl Drop for RunningPublication {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::End);
    }
}
