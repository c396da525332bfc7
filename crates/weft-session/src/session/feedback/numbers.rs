//! Numbers by which feedback names sent packets, and the packet sent under each.

use std::collections::VecDeque;

use weft_units::{PathId, Ssrc};
use weft_wire::rtp::{Extensions, PathExtension};
use weft_wire::sequence;

use crate::config::{FeedbackFormat, Level};
use crate::path::Path;

/// Path of a packet, and its number there.
type Sent = (PathId, u64);

/// Sent packets, by the numbers used with peers that do not support paths.
#[derive(Debug, Default)]
pub(in crate::session) struct Numbers {
    pub transport: TransportNumbers,
    pub streams: StreamNumbers,
}

impl Numbers {
    /// Returns the next path number, and the extensions that carry it to the peer; `None`
    /// if the peer reports no numbers.
    pub fn assign(
        &mut self,
        (level, format): (Level, FeedbackFormat),
        path: &mut Path,
        ssrc: Ssrc,
        sequence: u16,
    ) -> Option<(u64, Extensions)> {
        let number = path.history.next_number();
        let mut extensions = Extensions::default();
        match (level, format) {
            (Level::Full, _) => {
                extensions.path = Some(PathExtension {
                    path: path.id,
                    stream_sequence: path.next_stream_sequence(ssrc),
                    transport_sequence: number as u16,
                });
            }
            (Level::SenderSide, FeedbackFormat::Transport) => {
                let transport = self.transport.push((path.id, number));
                extensions.transport_sequence = Some(transport as u16);
            }
            (Level::SenderSide, FeedbackFormat::Stream) => {
                self.streams.insert(ssrc, sequence, (path.id, number));
            }
            (Level::Single, _) => return None,
        }
        Some((number, extensions))
    }
}

/// Packets sent under transport-wide numbers.
#[derive(Debug)]
pub(in crate::session) struct TransportNumbers {
    sent: VecDeque<Sent>,
    first: u64,
}

impl Default for TransportNumbers {
    fn default() -> TransportNumbers {
        TransportNumbers {
            sent: VecDeque::new(),
            first: 1 << 16,
        }
    }
}

impl TransportNumbers {
    /// TWCC numbers are compared within half of their space; this is twice what any
    /// feedback spans.
    const MEMORY: usize = 16_384;

    pub fn next(&self) -> u64 {
        self.first + self.sent.len() as u64
    }

    fn push(&mut self, sent: Sent) -> u64 {
        let transport = self.next();
        self.sent.push_back(sent);
        if self.sent.len() > Self::MEMORY {
            self.sent.pop_front();
            self.first += 1;
        }
        transport
    }

    pub fn find(&self, transport: u64) -> Option<Sent> {
        self.sent
            .get(usize::try_from(transport.checked_sub(self.first)?).ok()?)
            .copied()
    }
}

/// Packets sent under each stream's sequence numbers (RFC 8888). Numbers leave out of
/// order, because each path has its own queue.
#[derive(Debug, Default)]
pub(in crate::session) struct StreamNumbers {
    streams: Vec<StreamLog>,
}

#[derive(Debug)]
struct StreamLog {
    ssrc: Ssrc,
    /// Sent packets from `first` on, without those that are not accounted for.
    sent: VecDeque<Option<Sent>>,
    first: u64,
    highest: u64,
}

/// Packet for a number that a peer reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::session) enum Found {
    Sent(PathId, u64),
    /// It was sent but not accounted for: copies that cannot be distinguished.
    Unaccounted,
    /// It was never sent, or was forgotten long ago.
    Unknown,
}

impl StreamNumbers {
    /// Most packets of one stream: three seconds at 2,700 packets/s, as the paths
    /// remember no more either.
    const MEMORY: usize = 8192;

    fn insert(&mut self, ssrc: Ssrc, number: u16, sent: Sent) {
        let known = self.streams.iter().position(|s| s.ssrc == ssrc);
        let index = known.unwrap_or_else(|| {
            let first = sequence::extend(None, number);
            self.streams.push(StreamLog {
                ssrc,
                sent: VecDeque::new(),
                first,
                highest: first,
            });
            self.streams.len() - 1
        });
        self.streams[index].insert(number, sent);
    }

    /// Forgets the SSRCs of a removed stream.
    pub fn remove(&mut self, ssrcs: &[Ssrc]) {
        self.streams.retain(|s| !ssrcs.contains(&s.ssrc));
    }

    pub fn find(&self, ssrc: Ssrc, number: u16) -> Found {
        let stream = self.streams.iter().find(|s| s.ssrc == ssrc);
        stream.map_or(Found::Unknown, |s| s.find(number))
    }
}

impl StreamLog {
    fn insert(&mut self, number: u16, sent: Sent) {
        let number = sequence::extend(Some(self.highest), number);
        self.highest = self.highest.max(number);
        if number < self.first {
            let missing = (self.first - number) as usize;
            if self.sent.len() + missing > StreamNumbers::MEMORY {
                return;
            }
            (0..missing).for_each(|_| self.sent.push_front(None));
            self.first = number;
        }
        let missing = (number - self.first) as usize;
        if missing >= 2 * StreamNumbers::MEMORY {
            self.sent.clear();
            self.first = number;
        }
        let index = (number - self.first) as usize;
        if index >= self.sent.len() {
            self.sent.resize(index + 1, None);
        }
        self.sent[index] = Some(sent);
        while self.sent.len() > StreamNumbers::MEMORY {
            self.sent.pop_front();
            self.first += 1;
        }
    }

    fn find(&self, number: u16) -> Found {
        let number = sequence::extend(Some(self.highest), number);
        let index = number.checked_sub(self.first);
        match index.and_then(|i| self.sent.get(i as usize)) {
            Some(Some((path, number))) => Found::Sent(*path, *number),
            Some(None) => Found::Unaccounted,
            None => Found::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
