//! Relay for a nearby encoder: receives the stream of a program such as OBS, and
//! publishes it over all links to any WHIP server, without encoding it again.

mod answer;
mod encoder;
mod run;
mod timeline;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use weft_net::{Clock, Driver, LinkChoice, Target};

use crate::call::event_sender::{event_channel, notices};
use crate::call::{NoEvent, Statistics};
use crate::caller::{self, CallError, Command};
use crate::config::SendConfig;
use crate::connect::ConnectError;
use crate::error::StartError;
use crate::event::Event;
use crate::links::{self, Links, Scope};
use crate::notice::Notices;
use crate::signalling::{MediaEndpoint, Server};

pub use answer::{RelayError, RelayEvent, Relayed};
use run::{Message, Run, Target as Endpoint};

/// Running relay. It accepts one encoder at a time, and publishes while one is connected.
/// Dropping it ends it without waiting.
pub struct Relay {
    events: Receiver<Event>,
    inlet: RelayInlet,
    threads: Option<Threads>,
}

struct Threads {
    relay: JoinHandle<Result<(), ConnectError>>,
    nearby: Driver<Command>,
}

/// Entry point of a relay for offers of encoders. Clones share it.
#[derive(Clone)]
pub struct RelayInlet(Sender<Message>);

impl Relay {
    /// Opens the links and waits for an encoder to connect to the address `here` of this
    /// machine. Publishes its stream to `server`, whose `url` is the full URL of the
    /// endpoint, with the links and parameters of `send`, whose sources must be empty.
    ///
    /// `hear` is called with the events of encoders, on a thread of the relay; it must
    /// not block.
    ///
    /// # Errors
    /// If the configuration is invalid, or the machine lacks something that it names.
    pub fn start(
        server: &Server,
        send: SendConfig,
        here: IpAddr,
        hear: impl Fn(RelayEvent) + Send + 'static,
    ) -> Result<Relay, StartError> {
        let clock = Clock::start();
        let (events, heard) = event_channel();
        let events = Arc::new(events);
        let notices = notices(&events);
        let (specs, scope) = links::links_or_all(&send.links, links::loopback(&server.url))?;
        let endpoint = Endpoint {
            endpoint: MediaEndpoint::new(server, specs.clone())?,
            links: Links::check(specs, scope, &notices)?,
            notices,
            send,
            clock,
        };
        let nearby = start_nearby(clock, here)?;
        let (messages, incoming) = channel();
        let remote = nearby.remote.clone();
        let mut run = Run::new(endpoint, remote, messages.clone(), events, hear);
        let relay = thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || run.run(&incoming))
            .expect("the system gives a thread");
        Ok(Relay {
            events: heard,
            inlet: RelayInlet(messages),
            threads: Some(Threads { relay, nearby }),
        })
    }

    /// Returns the entry point for encoders.
    #[must_use]
    pub fn inlet(&self) -> RelayInlet {
        self.inlet.clone()
    }

    /// Returns the next event; waits for it for at most `limit`. A thousand events are
    /// buffered; further ones are reported as [`Event::Missed`].
    ///
    /// # Errors
    /// If no event arrives in time, or the relay has ended.
    pub fn next_event(&self, limit: Duration) -> Result<Event, NoEvent> {
        Ok(self.events.recv_timeout(limit)?)
    }

    /// Returns the present statistics of the publication; `None` after the end.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        let (reply, answer) = channel();
        self.inlet.0.send(Message::Figures(reply)).ok()?;
        answer.recv().ok()
    }

    /// Ends the relay and its publication; waits up to half a second for the server.
    ///
    /// # Errors
    /// If the relay had already ended, because the server refused it permanently.
    pub fn leave(mut self) -> Result<(), ConnectError> {
        self.inlet.end();
        let Some(Threads { relay, nearby }) = self.threads.take() else {
            return Ok(());
        };
        let ended = relay.join().expect("the relay does not panic");
        nearby.join().expect("the network does not panic");
        ended
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.inlet.end();
    }
}

impl RelayInlet {
    /// Answers an encoder's offer in SDP, under this name.
    ///
    /// # Errors
    /// If another encoder is connected, or the offer is unusable.
    pub fn publish(&self, encoder: &str, offer: String) -> Result<Relayed, RelayError> {
        let (reply, answer) = channel();
        let encoder = encoder.to_owned();
        let publish = Message::Publish {
            encoder,
            offer,
            reply,
        };
        let ended = |_| RelayError::Call(CallError::Ended);
        self.0.send(publish).map_err(|_| CallError::Ended)?;
        answer.recv().map_err(ended)?
    }

    /// Ends an encoder's connection; ignores unknown names.
    pub fn close(&self, encoder: &str) {
        let _ = self.0.send(Message::Close(encoder.to_owned()));
    }

    /// Ends the relay; [`Relay::next_event`] then returns [`NoEvent::Ended`].
    pub fn end(&self) {
        let _ = self.0.send(Message::End);
    }
}

/// Starts the network for encoders, which has one address and sends no media.
fn start_nearby(clock: Clock, here: IpAddr) -> Result<Driver<Command>, StartError> {
    let link = LinkChoice::new(here.to_string(), Target::Address(here));
    let links = Links::check(vec![link], Scope::Named, &Notices::ignored())?;
    let sending = caller::Sending::from(&SendConfig::default());
    let started = caller::start(clock, links, sending, Vec::new(), Notices::ignored())?;
    Ok(started)
}
