//! WHIP client (RFC 9725): publishes to any server over all links.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use weft_net::Clock;

use crate::call::event_sender::{event_channel, notices};
use crate::call::{NoEvent, Statistics};
use crate::caller::Command;
use crate::config::SendConfig;
use crate::connect::ConnectError;
use crate::error::StartError;
use crate::event::Event;
use crate::links::{self, Links};
use crate::persistent::{EndpointStopper, PersistentConnection, Purpose};
use crate::signalling::{MediaEndpoint, Server};
use crate::start::{Forwarding, start};

/// Running publication at a WHIP endpoint. It tracks the links and reconnects after
/// faults until you [leave](WhipClient::leave) it. Dropping it ends it without waiting.
pub struct WhipClient {
    events: Receiver<Event>,
    running: PersistentConnection,
}

impl WhipClient {
    /// Opens links, cameras and microphone, and starts. The `url` of the server is the
    /// full URL of the endpoint. Connects in the background; events report the outcome.
    ///
    /// # Errors
    /// If the configuration is invalid, or the machine lacks something that it names.
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
        let endpoint = MediaEndpoint::new(server, specs.clone())?;
        let links = Links::check(specs, scope, &notices)?;
        let turn_servers = send.turn_servers.clone();
        let started = start(clock, links, send, Forwarding::Whole, notices)?;
        started.driver.remote.send(Command::UseTurn {
            servers: turn_servers,
            connector: endpoint.turn_connector(),
            remote: started.driver.remote.clone(),
        });
        let purpose = Purpose::Publish(started.sections);
        let running = PersistentConnection::start(endpoint, started.driver, purpose, events);
        Ok(WhipClient {
            events: heard,
            running,
        })
    }

    /// Returns the next event; waits for it for at most `limit`. A thousand events are
    /// buffered; further ones are reported as [`Event::Missed`].
    ///
    /// # Errors
    /// If no event arrives in time, or the publication has ended.
    pub fn next_event(&self, limit: Duration) -> Result<Event, NoEvent> {
        Ok(self.events.recv_timeout(limit)?)
    }

    /// Returns the present statistics; `None` after the end.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        self.running.statistics()
    }

    /// Returns a handle that ends the publication from another thread.
    #[must_use]
    pub fn stopper(&self) -> EndpointStopper {
        self.running.stopper()
    }

    /// Ends the publication locally and on the server; waits up to half a second for the
    /// server.
    ///
    /// # Errors
    /// If it had already ended, because the server refused it permanently.
    pub fn leave(mut self) -> Result<(), ConnectError> {
        self.running.end()
    }
}
