//! A WHIP client (RFC 9725): publishes to any server over all links.

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

/// A running publication at a WHIP endpoint. It follows the links and publishes again
/// after faults until you [leave](WhipClient::leave) it. Dropping it ends it without
/// waiting.
pub struct WhipClient {
    events: Receiver<Event>,
    running: PersistentConnection,
}

impl WhipClient {
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
    pub fn stopper(&self) -> EndpointStopper {
        self.running.stopper()
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
