//! WHEP client (draft-ietf-wish-whep-03): plays a stream of any server over all links.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use weft_net::{Clock, LinkChoice};

use crate::call::event_sender::{event_channel, notices};
use crate::call::inbox::Frames;
use crate::call::{NoEvent, Statistics};
use crate::caller::{self, Command, Sending};
use crate::config::SendConfig;
use crate::connect::ConnectError;
use crate::error::StartError;
use crate::event::Event;
use crate::links::{self, Links};
use crate::persistent::{EndpointStopper, PersistentConnection, Purpose};
use crate::signalling::{MediaEndpoint, Server};
use crate::turn::TurnServer;

/// Running playback from a WHEP endpoint. It tracks the links and reconnects after faults
/// until you [leave](WhepClient::leave) it. Dropping it ends it without waiting.
pub struct WhepClient {
    events: Receiver<Event>,
    frames: Arc<Frames>,
    clock: Clock,
    running: PersistentConnection,
}

impl WhepClient {
    /// Opens the links, in the forms of [`SendConfig::links`], and starts. Links over which UDP
    /// does not reach the server use these TURN servers or those that it offers. The `url` of
    /// the server is the full URL of the endpoint. Connects in the background; events report
    /// the outcome.
    ///
    /// # Errors
    /// If the links or the URL are invalid, or the machine lacks a link.
    pub fn start(
        server: &Server,
        chosen: &[LinkChoice],
        turn_servers: Vec<TurnServer>,
    ) -> Result<WhepClient, StartError> {
        let clock = Clock::start();
        let (events, heard) = event_channel();
        let events = Arc::new(events);
        let notices = notices(&events);
        let here = links::loopback(&server.url);
        let (specs, scope) = links::links_or_all(chosen, here)?;
        let endpoint = MediaEndpoint::new(server, specs.clone())?;
        let links = Links::check(specs, scope, &notices)?;
        let sending = Sending::from(&SendConfig::default());
        let network = caller::start(clock, links, sending, Vec::new(), notices)?;
        network.remote.send(Command::UseTurn {
            servers: turn_servers,
            connector: endpoint.turn_connector(),
            remote: network.remote.clone(),
        });
        let frames = Arc::<Frames>::default();
        let purpose = Purpose::Play(Arc::clone(&frames));
        let running = PersistentConnection::start(endpoint, network, purpose, events);
        Ok(WhepClient {
            events: heard,
            frames,
            clock,
            running,
        })
    }

    /// Returns the next event; waits for it for at most `limit`. The stream is participant
    /// `stream` in its events. Frames of a few seconds are buffered; further ones are
    /// dropped and counted in [`Statistics::dropped_frames`].
    ///
    /// # Errors
    /// If no event arrives in time, or the playback has ended.
    pub fn next_event(&self, limit: Duration) -> Result<Event, NoEvent> {
        let event = self.events.recv_timeout(limit)?;
        if let Event::Frame(played) = &event {
            self.frames.release(played.frame.data.len());
        }
        Ok(event)
    }

    /// Returns the present statistics; `None` after the end.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        self.running.statistics()
    }

    /// Clock of the frames' timestamps.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns a handle that ends the playback from another thread.
    #[must_use]
    pub fn stopper(&self) -> EndpointStopper {
        self.running.stopper()
    }

    /// Ends the playback locally and on the server; waits up to half a second for the
    /// server.
    ///
    /// # Errors
    /// If it had already ended, because the server refused it permanently.
    pub fn leave(mut self) -> Result<(), ConnectError> {
        self.running.end()
    }
}
