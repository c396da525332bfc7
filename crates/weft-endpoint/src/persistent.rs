//! Connection to a WHIP or WHEP endpoint over all links, re-established after faults.

mod playback;
mod run;

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use weft_net::Driver;
use weft_peer::Section;

use crate::call::Statistics;
use crate::call::event_sender::CallEventSender;
use crate::call::inbox::Frames;
use crate::caller::Command;
use crate::connect::ConnectError;
use crate::signalling::MediaEndpoint;

use playback::Playback;
use run::{ConnectionLoop, Message};

/// Purpose of a connection.
pub(crate) enum Purpose {
    /// Publishes these sections.
    Publish(Vec<Section>),
    /// Plays a stream, with this bound on its waiting frames.
    Play(Arc<Frames>),
}

/// Threads of a persistent connection. Dropping it ends it without waiting.
pub(crate) struct PersistentConnection {
    messages: Sender<Message>,
    threads: Option<Threads>,
}

struct Threads {
    connection: JoinHandle<Result<(), ConnectError>>,
    network: Driver<Command>,
}

/// Ends a [`WhipClient`](crate::WhipClient) or [`WhepClient`](crate::WhepClient) from any
/// thread, such as that of a signal handler.
#[derive(Clone)]
pub struct EndpointStopper(Sender<Message>);

impl EndpointStopper {
    /// Ends the connection; the client's `next_event` then returns
    /// [`NoEvent::Ended`](crate::NoEvent::Ended).
    pub fn stop(&self) {
        let _ = self.0.send(Message::End);
    }
}

impl PersistentConnection {
    /// Connects the network's peers to the endpoint.
    pub(crate) fn start(
        endpoint: MediaEndpoint,
        network: Driver<Command>,
        purpose: Purpose,
        events: Arc<CallEventSender>,
    ) -> PersistentConnection {
        let (messages, incoming) = channel();
        let remote = network.remote.clone();
        let (sections, playback) = match purpose {
            Purpose::Publish(sections) => (sections, None),
            Purpose::Play(frames) => (playback::sections(), Some(Playback::new(frames))),
        };
        let own = messages.clone();
        let mut connection =
            ConnectionLoop::new(endpoint, remote, (sections, playback), own, events);
        let connection = thread::Builder::new()
            .name("endpoint".to_owned())
            .spawn(move || {
                let ended = connection.run(&incoming);
                connection.leave();
                ended
            })
            .expect("the system gives a thread");
        PersistentConnection {
            messages,
            threads: Some(Threads {
                connection,
                network,
            }),
        }
    }

    /// Returns the present statistics; `None` after the end.
    pub(crate) fn statistics(&self) -> Option<Statistics> {
        let (reply, answer) = channel();
        self.messages.send(Message::Figures(reply)).ok()?;
        answer.recv().ok()
    }

    /// Returns a handle that ends the connection from another thread.
    pub(crate) fn stopper(&self) -> EndpointStopper {
        EndpointStopper(self.messages.clone())
    }

    /// Sends a command to the network; false after its end.
    pub(crate) fn send(&self, command: Command) -> bool {
        let network = self.threads.as_ref().map(|threads| &threads.network);
        network.is_some_and(|network| network.remote.send(command))
    }

    /// Whether it has ended because the server refused it permanently.
    pub(crate) fn has_ended(&self) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|threads| threads.connection.is_finished())
    }

    /// Ends the connection and waits for its threads.
    ///
    /// # Errors
    /// If it had already ended, because the server refused it permanently.
    pub(crate) fn end(&mut self) -> Result<(), ConnectError> {
        let _ = self.messages.send(Message::End);
        let Some(Threads {
            connection,
            network,
        }) = self.threads.take()
        else {
            return Ok(());
        };
        let ended = connection.join().expect("the connection does not panic");
        network.join().expect("the network does not panic");
        ended
    }
}

impl Drop for PersistentConnection {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::End);
    }
}
