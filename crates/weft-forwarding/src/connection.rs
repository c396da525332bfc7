use crate::publisher::Publisher;
use crate::reception::Reception;
use std::collections::BTreeSet;
use weft_peer::{Offer, PeerKey};
use weft_units::{Duration, Instant, StreamId};

/// Time limit from a connection's first description to media, the same as ICE's for a
/// dead path (RFC 7675 section 5.1).
pub(crate) const SETUP: Duration = Duration::from_secs(30);
/// Time limit for the first check of the peer with our password: a client sends some as soon as
/// it has our description. Chosen by us: the round trips of a bad link, and a slow browser tab.
pub(crate) const UNHEARD: Duration = Duration::from_secs(8);
/// Time of silence after which a sender that said goodbye on all its streams has ended; a
/// browser also says goodbye when it replaces a camera. Chosen by us.
pub(crate) const GOODBYE: Duration = Duration::from_secs(2);

/// Id of a media connection for publishing or playing. It is unguessable, because anyone
/// who knows it may end the connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub String);

/// State of a media connection.
pub(crate) struct Connection {
    /// Participant who publishes, who is played, or who receives the room.
    pub(crate) participant: Publisher,
    pub(crate) state: State,
    pub(crate) since: Instant,
    pub(crate) connected: bool,
    /// Time since which it has no path.
    pub(crate) pathless: Option<Instant>,
    pub(crate) role: Role,
}

pub(crate) enum State {
    /// Our offer waits for its answer.
    Offered(Box<Offer>),
    /// Offer and answer are exchanged.
    Peer(PeerKey),
}

pub(crate) enum Role {
    Publish(Sender),
    /// Plays the publication of one participant.
    Play,
    /// Receives the publications of all others in the room.
    Receive(Box<Reception>),
}

impl Role {
    pub(crate) fn purpose(&self) -> Purpose {
        match self {
            Role::Publish(_) => Purpose::Publish,
            Role::Play => Purpose::Play,
            Role::Receive(_) => Purpose::Receive,
        }
    }
}

/// Purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// It sends media to the server.
    Publish,
    /// It plays one participant.
    Play,
    /// It receives all others in the room.
    Receive,
}

impl Purpose {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Publish => "publish",
            Purpose::Play => "play",
            Purpose::Receive => "receive",
        }
    }
}

/// State of a connection that publishes.
#[derive(Default)]
pub(crate) struct Sender {
    pub(crate) streams: Vec<StreamId>,
    /// Whether its owner shares a screen.
    pub(crate) screen: bool,
    /// Streams whose end the peer reported.
    pub(crate) ended: BTreeSet<StreamId>,
    /// Time when the last of them ended, and the number of packets received by then.
    pub(crate) goodbye: Option<(Instant, u64)>,
}

impl Sender {
    /// Records the peer's report that a stream has ended; `packets` is the number
    /// received so far.
    pub(crate) fn on_goodbye(&mut self, now: Instant, stream: StreamId, packets: u64) {
        self.ended.insert(stream);
        self.goodbye = Some((now, packets));
    }

    /// Whether all streams have ended for good; later packets revoke the end.
    pub(crate) fn is_over(&mut self, now: Instant, packets: u64) -> bool {
        let Some((at, before)) = self.goodbye else {
            return false;
        };
        if packets > before {
            self.goodbye = None;
            self.ended.clear();
            return false;
        }
        self.ended.len() == self.streams.len() && now.saturating_since(at) >= GOODBYE
    }
}

impl Connection {
    /// Whether it has had no path for longer than `patience`.
    pub(crate) fn is_lost(&mut self, now: Instant, has_path: bool, patience: Duration) -> bool {
        if has_path {
            self.pathless = None;
            return false;
        }
        let since = *self.pathless.get_or_insert(now);
        now.saturating_since(since) >= patience
    }

    pub(crate) fn peer(&self) -> Option<PeerKey> {
        match self.state {
            State::Peer(key) => Some(key),
            State::Offered(_) => None,
        }
    }
}

/// Numbers of connections.
#[derive(Default)]
pub(crate) struct Connected {
    pub(crate) publications: u64,
    pub(crate) playbacks: u64,
}

impl Connected {
    pub(crate) fn of(&mut self, role: &Role) -> &mut u64 {
        match role {
            Role::Publish(_) => &mut self.publications,
            Role::Play | Role::Receive(_) => &mut self.playbacks,
        }
    }
}

#[cfg(test)]
mod tests;
