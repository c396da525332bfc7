//! Data channels: their packets take the best path, urgent ones two paths.

use std::time::Instant as StdInstant;

use weft_data::{Config, DataChannels};
use weft_units::{Deadline, Duration, Instant, PathId};
use weft_wire::sdp::Media;

/// Advantage in round trip, in addition to half of the other path's, for which messages change to
/// another path. Chosen by us: a change reorders messages, and SCTP mistakes that for loss.
const ADVANTAGE: Duration = Duration::from_millis(30);

/// Time in addition to the round trip after which a message should be acknowledged. Chosen by us:
/// a receiver delays acknowledgements by up to 200 ms (RFC 9260 section 6.2).
const PATIENCE: Duration = Duration::from_millis(300);

/// Data channels of a peer and the path that their messages take.
pub(crate) struct DataLink {
    pub channels: DataChannels,
    path: Option<PathId>,
    /// Time at which the path becomes suspect, unless a packet from the other side
    /// arrives earlier.
    suspicion_due: Option<Instant>,
}

impl DataLink {
    /// Creates data channels with the terms in the other side's section; `None` if it has none.
    pub fn new(media: &Media, is_dtls_client: bool, epoch: StdInstant) -> Option<DataLink> {
        let (remote_port, max_message) = media.data_channel_terms()?;
        let channels = DataChannels::new(Config {
            is_dtls_client,
            remote_port,
            max_message,
            epoch,
        });
        Some(DataLink {
            channels,
            path: None,
            suspicion_due: None,
        })
    }

    /// Deadline of the next [`DataLink::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let suspicion = self.suspicion_due.map(|at| Deadline {
            at,
            reason: "data path",
        });
        Deadline::earlier(self.channels.poll_timeout(), suspicion)
    }

    /// Handles the passing of time; returns the path if it has just become suspect.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<PathId> {
        self.channels.handle_timeout(now);
        let is_due = self.suspicion_due.is_some_and(|due| due <= now);
        self.suspicion_due = self.suspicion_due.filter(|_| !is_due);
        self.path.filter(|_| is_due)
    }

    /// Handles a packet from the other side, which shows that the path works.
    pub fn handle_packet(&mut self, now: Instant, packet: &[u8]) {
        self.suspicion_due = None;
        self.channels.handle_packet(now, packet);
    }

    /// Chooses the paths of a packet from these, which start with the best. It keeps the last
    /// path while that is nearly as good as the best, and adds a second path for a copy.
    pub fn choose(
        &mut self,
        now: Instant,
        ranked: &[(PathId, Duration)],
        (has_message, is_copied): (bool, bool),
    ) -> Vec<PathId> {
        let Some(&(best, rtt)) = ranked.first() else {
            return Vec::new();
        };
        let last = ranked.iter().find(|(path, _)| Some(*path) == self.path);
        let last = last.filter(|(_, last)| *last <= rtt * 2 + ADVANTAGE);
        let path = last.map_or(best, |(path, _)| *path);
        if self.path != Some(path) {
            self.path = Some(path);
            self.suspicion_due = None;
        }
        if has_message {
            self.suspicion_due.get_or_insert(now + rtt + PATIENCE);
        }
        let others = ranked.iter().map(|(other, _)| *other);
        let copy = others.filter(|other| is_copied && *other != path).take(1);
        std::iter::once(path).chain(copy).collect()
    }
}
