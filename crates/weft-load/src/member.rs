//! Participants; each joins by HTTP on its own thread.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use weft_endpoint::connect::{ConnectError, more_candidates};
use weft_endpoint::signalling::{Created, MediaEndpoint, SdpRole, Server, SignallingError};
use weft_net::{Clock, Remote};
use weft_units::Rate;

use crate::config::{LoadConfig, Target};
use crate::node::{ClientError, Command, NewClient, Reply, Sections};

mod person;

/// Stack size of a participant's thread; HTTP with TLS needs a fraction. Chosen by us.
const STACK: usize = 512 << 10;

/// Participant of the run.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Number, unique in the run.
    pub id: u32,
    /// Room, from 0.
    pub room: u32,
    /// Name in the room.
    pub name: String,
    pub part: Part,
    /// Rate of the slow link to it, if there is one.
    pub weak: Option<Rate>,
}

/// Role of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Publishes only.
    Publish,
    /// Receives only: this publisher from a server of endpoints, all publishers from a
    /// room.
    View { publisher: String },
    /// Publishes and receives all others.
    Both,
}

/// Outcome of a member's attempt to join.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub member: u32,
    pub joined: Result<(), JoinError>,
}

/// Reason why a member did not join, or was lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JoinError {
    /// The server refused, or cannot be reached.
    #[error(transparent)]
    Signalling(#[from] SignallingError),
    /// The server's description is unusable.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The room has a waiting room.
    #[error(
        "the participant is in the room's waiting room; switch it off, or use a token that moderates"
    )]
    Waiting,
    /// The server ended the connection later.
    #[error("the server ended the connection")]
    Ended,
    /// A network thread has ended.
    #[error("a network thread has ended because of a bug")]
    Thread,
}

impl From<JoinError> for ConnectError {
    fn from(error: JoinError) -> ConnectError {
        match error {
            JoinError::Signalling(error) => ConnectError::Signalling(error),
            error => ConnectError::Failed(error.to_string()),
        }
    }
}

/// State shared by all members.
#[derive(Clone)]
pub(crate) struct Shared {
    pub config: Arc<LoadConfig>,
    pub clock: Clock,
    pub nodes: Vec<Remote<Command>>,
    pub outcomes: Sender<Outcome>,
}

impl Shared {
    /// Starts the thread that joins as this member.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn join(&self, member: Member) -> std::io::Result<()> {
        let shared = self.clone();
        let builder = thread::Builder::new().stack_size(STACK);
        builder
            .name(member.name.clone())
            .spawn(move || match &shared.config.target {
                Target::Room { url } => person::run(&shared, url, &member),
                Target::Endpoints { whip, whep } => {
                    let joined = shared.connect(&member, whip, whep);
                    shared.tell(member.id, joined);
                }
            })?;
        Ok(())
    }

    fn tell(&self, member: u32, joined: Result<(), JoinError>) {
        // The run may have ended.
        let _ = self.outcomes.send(Outcome { member, joined });
    }

    fn server(&self, url: &str) -> Server {
        Server {
            url: url.to_owned(),
            token: self.config.token.clone(),
            trust: self.config.trust.clone(),
        }
    }

    /// Returns the new client of a member who starts to join now.
    fn new_client(&self, member: &Member) -> NewClient {
        NewClient {
            member: member.id,
            requested_at: self.clock.now(),
            weak: member.weak,
        }
    }

    fn node(&self, member: &Member) -> &Remote<Command> {
        &self.nodes[member.id as usize % self.nodes.len()]
    }

    /// Publishes or plays at an endpoint.
    fn connect(&self, member: &Member, whip: &str, whep: &str) -> Result<(), JoinError> {
        let new = self.new_client(member);
        let node = self.node(member);
        let endpoint = |template, publisher: &str| {
            let url = self.config.address(template, member.room, publisher);
            MediaEndpoint::new(&self.server(&url), Vec::new())
        };
        match &member.part {
            Part::View { publisher } => {
                let endpoint = endpoint(whep, publisher)?;
                let (offer, sdp) =
                    ask(node, |reply| Command::Offer(Sections::Receive, new, reply))?;
                let created = endpoint.play(&sdp).inspect_err(|_| {
                    node.send(Command::Withdraw(offer));
                })?;
                let more = more_candidates(&created.sdp, &created.reached);
                match created.role {
                    SdpRole::Answer => {
                        ask(node, |reply| {
                            Command::Accept(offer, created.sdp, more, reply)
                        })?;
                    }
                    SdpRole::Offer => {
                        node.send(Command::Withdraw(offer));
                        let location = created.location.clone();
                        let (_, answer) = answer(node, new, created)?;
                        endpoint.answer(&location, &answer)?;
                    }
                }
            }
            Part::Publish | Part::Both => {
                let endpoint = endpoint(whip, &member.name)?;
                publish(node, new, |offer| endpoint.publish(offer))?;
            }
        }
        Ok(())
    }
}

/// Sends a command and waits for its reply.
fn ask<T>(
    node: &Remote<Command>,
    command: impl FnOnce(Reply<T>) -> Command,
) -> Result<T, JoinError> {
    let (reply, answer) = channel();
    node.send(command(reply));
    Ok(answer.recv().map_err(|_| JoinError::Thread)??)
}

/// Publishes through `exchange`; returns the client and the URL of its resource.
fn publish(
    node: &Remote<Command>,
    new: NewClient,
    exchange: impl FnOnce(&str) -> Result<Created, SignallingError>,
) -> Result<(weft_peer::PeerKey, String), JoinError> {
    let (offer, sdp) = ask(node, |reply| Command::Offer(Sections::Send, new, reply))?;
    let created = exchange(&sdp).inspect_err(|_| {
        node.send(Command::Withdraw(offer));
    })?;
    let more = more_candidates(&created.sdp, &created.reached);
    let key = ask(node, |reply| {
        Command::Accept(offer, created.sdp, more, reply)
    })?;
    Ok((key, created.location))
}

/// Creates a client that receives the server's offer; returns it with its answer.
fn answer(
    node: &Remote<Command>,
    new: NewClient,
    created: Created,
) -> Result<(weft_peer::PeerKey, String), JoinError> {
    let more = more_candidates(&created.sdp, &created.reached);
    ask(node, |reply| Command::Answer(new, created.sdp, more, reply))
}
