use super::publication::Publisher;
use std::collections::BTreeSet;
use weft_peer::{Offer, PeerKey};
use weft_units::{Duration, Instant, StreamId};

/// How long a connection may take from its first description to media: ICE
/// gives a dead path as long (RFC 7675 section 5.1).
pub(super) const SETUP: Duration = Duration::from_secs(30);
/// A sender that said goodbye on all its streams and is silent for so long
/// has ended; a browser says goodbye also when a camera is swapped. Chosen by
/// us.
pub(super) const GOODBYE: Duration = Duration::from_secs(2);

/// One media connection.
pub(super) struct Connection {
    pub(super) publisher: Publisher,
    pub(super) state: State,
    pub(super) since: Instant,
    pub(super) connected: bool,
    /// Since when no path leads there.
    pub(super) pathless: Option<Instant>,
    pub(super) role: Role,
}

pub(super) enum State {
    /// Our offer waits for its answer.
    Offered(Box<Offer>),
    /// Agreed on.
    Peer(PeerKey),
}

pub(super) enum Role {
    Publish(Sender),
    Play,
}

/// What is known of a connection that publishes.
#[derive(Default)]
pub(super) struct Sender {
    pub(super) streams: Vec<StreamId>,
    /// Streams whose end the peer told.
    pub(super) ended: BTreeSet<StreamId>,
    /// When the last of them ended, and how many packets had come then.
    pub(super) goodbye: Option<(Instant, u64)>,
}

impl Sender {
    /// The peer told that a stream has ended; `packets` came so far.
    pub(super) fn on_goodbye(&mut self, now: Instant, stream: StreamId, packets: u64) {
        self.ended.insert(stream);
        self.goodbye = Some((now, packets));
    }

    /// Whether all has ended for good; packets that came since take it back.
    pub(super) fn is_over(&mut self, now: Instant, packets: u64) -> bool {
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
    pub(super) fn is_lost(&mut self, now: Instant, has_path: bool, patience: Duration) -> bool {
        if has_path {
            self.pathless = None;
            return false;
        }
        let since = *self.pathless.get_or_insert(now);
        now.saturating_since(since) >= patience
    }

    pub(super) fn peer(&self) -> Option<PeerKey> {
        match self.state {
            State::Peer(key) => Some(key),
            State::Offered(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
