use crate::publisher::Publisher;
use crate::reception::Reception;
use std::collections::BTreeSet;
use weft_peer::{Offer, PeerKey};
use weft_units::{Duration, Instant, StreamId};

/// How long a connection may take from its first description to media: ICE
/// gives a dead path as long (RFC 7675 section 5.1).
pub(crate) const SETUP: Duration = Duration::from_secs(30);
/// Longest time until a check of the peer comes that knows our password: a client
/// sends some as soon as it has our description. Chosen by us: a bad link's
/// round trips, and a tab that is slow.
pub(crate) const UNHEARD: Duration = Duration::from_secs(8);
/// A sender that said goodbye on all its streams and is silent for so long
/// has ended; a browser says goodbye also when a camera is swapped. Chosen by
/// us.
pub(crate) const GOODBYE: Duration = Duration::from_secs(2);

/// One media connection, to publish or to play. Unguessable: who knows it
/// may end it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub String);

/// State of a media connection.
pub(crate) struct Connection {
    /// Participant who publishes, who is played, or who receives its room.
    pub(crate) participant: Publisher,
    pub(crate) state: State,
    pub(crate) since: Instant,
    pub(crate) connected: bool,
    /// Since when no path leads there.
    pub(crate) pathless: Option<Instant>,
    pub(crate) role: Role,
}

pub(crate) enum State {
    /// Our offer waits for its answer.
    Offered(Box<Offer>),
    /// Agreed on.
    Peer(PeerKey),
}

pub(crate) enum Role {
    Publish(Sender),
    /// Plays what one participant publishes.
    Play,
    /// Receives what all others in the room publish.
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
    /// Streams whose end the peer told.
    pub(crate) ended: BTreeSet<StreamId>,
    /// When the last of them ended, and how many packets had come then.
    pub(crate) goodbye: Option<(Instant, u64)>,
}

impl Sender {
    /// The peer told that a stream has ended; `packets` came so far.
    pub(crate) fn on_goodbye(&mut self, now: Instant, stream: StreamId, packets: u64) {
        self.ended.insert(stream);
        self.goodbye = Some((now, packets));
    }

    /// Whether all has ended for good; packets that came since take it back.
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
    /// Whether no path has led there for longer than `patience`.
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

/// Running counts.
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
