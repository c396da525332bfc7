//! Open data channels, by room and label.

use std::collections::{BTreeMap, BTreeSet};
use weft_peer::PeerKey;
use weft_peer::data::{ChannelId, Urgency};
use weft_units::{Bytes, Duration, Instant, Rate};

/// Bound on the forwarded messages of one sender, all its channels together. Chosen by
/// us: twice 50 messages of 1,200 bytes a second; each goes to the whole room.
const RATE: Rate = Rate::from_kbps(1_000);
/// Bytes that a message counts in addition to its own: this allows 250 messages of one
/// byte a second.
const HEAD: u64 = 500;
/// Burst of messages that is allowed, as a time at the rate.
const BURST: Duration = Duration::from_secs(1);

/// Label in a room, by which messages are distributed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Topic {
    pub(crate) room: String,
    pub(crate) label: String,
}

/// Open data channels of a plane.
#[derive(Default)]
pub(crate) struct Topics {
    pub(crate) channels: BTreeMap<Topic, BTreeSet<(PeerKey, ChannelId)>>,
    pub(crate) open: BTreeMap<(PeerKey, ChannelId), (Topic, Urgency)>,
    /// Time when everything that a sender has sent would have arrived at the rate.
    due: BTreeMap<PeerKey, Instant>,
    /// Messages that were forwarded, one for each receiver.
    pub(crate) passed: u64,
    /// Messages that were dropped: from senders above the rate, from viewers, and to
    /// receivers that do not accept them.
    pub(crate) dropped: u64,
}

impl Topics {
    pub(crate) fn enter(
        &mut self,
        key: PeerKey,
        channel: ChannelId,
        topic: Topic,
        urgency: Urgency,
    ) {
        let channels = self.channels.entry(topic.clone()).or_default();
        channels.insert((key, channel));
        self.open.insert((key, channel), (topic, urgency));
    }

    pub(crate) fn leave(&mut self, key: PeerKey, channel: ChannelId) {
        let Some((topic, _)) = self.open.remove(&(key, channel)) else {
            return;
        };
        if let Some(channels) = self.channels.get_mut(&topic) {
            channels.remove(&(key, channel));
            if channels.is_empty() {
                self.channels.remove(&topic);
            }
        }
    }

    /// Number of open channels: by connection, and by topic.
    pub(crate) fn count(&self) -> [usize; 2] {
        let by_topic = self.channels.values().map(BTreeSet::len);
        [self.open.len(), by_topic.sum()]
    }

    /// Forgets a connection.
    pub(crate) fn remove(&mut self, key: PeerKey) {
        let first = (key, ChannelId(0));
        let last = (key, ChannelId(u16::MAX));
        let open: Vec<_> = self.open.range(first..=last).map(|(of, _)| *of).collect();
        for (key, channel) in open {
            self.leave(key, channel);
        }
        self.due.remove(&key);
    }

    /// Counts a message from a sender; returns whether it is within the rate.
    pub(crate) fn admits(&mut self, now: Instant, key: PeerKey, length: usize) -> bool {
        let due = self.due.entry(key).or_insert(now);
        if *due > now + BURST {
            return false;
        }
        let time = RATE.time_for(Bytes(length as u64 + HEAD));
        *due = (*due).max(now) + time.unwrap_or(BURST);
        true
    }
}
