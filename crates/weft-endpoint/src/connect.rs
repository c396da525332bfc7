//! A connection to a server: our offer, its answer.

use weft_net::Remote;
use weft_peer::{PeerKey, Section};

use super::caller::{CallError, Command, Listener, OfferId, ask};
use crate::signalling::{Created, SignallingError};

/// A connection under way; its news tell when it is up.
pub struct Connection {
    /// Our side of it.
    pub peer: PeerKey,
    /// The server's address of it, for [`Room::delete`](crate::signalling::Room::delete).
    pub location: String,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The server refuses, or does not answer.
    #[error(transparent)]
    Signalling(#[from] SignallingError),
    /// The answer is none, or the endpoint has ended.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A call has ended that was never established: the server answered requests, and
    /// nothing came back over UDP.
    #[error("the call was not established: nothing came back over UDP on any link")]
    Unanswered,
}

/// Offers these sections through `exchange` and accepts the answer; without one
/// the offer is withdrawn.
///
/// # Errors
/// If there is no answer, or none that can be accepted.
pub fn connect(
    remote: &Remote<Command>,
    sections: Vec<Section>,
    news: impl Into<Listener>,
    exchange: impl FnOnce(&str) -> Result<Created, SignallingError>,
) -> Result<Connection, ConnectError> {
    let (offer, sdp): (OfferId, String) = ask(remote, |reply| Command::Offer { sections, reply })??;
    let Created { sdp, location } = exchange(&sdp).inspect_err(|_| {
        remote.send(Command::Withdraw(offer));
    })?;
    let peer = ask(remote, |reply| Command::Accept {
        offer,
        answer: sdp,
        news: news.into(),
        reply,
    })??;
    Ok(Connection { peer, location })
}
