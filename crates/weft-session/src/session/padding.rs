//! Probes without media of their own, and duplicates that keep idle paths measured.

use weft_units::{Bytes, Duration, Instant, PathId, StreamId};

use super::Session;
use crate::config::{Level, RETRANSMISSION_AGE, Retransmission};
use crate::path::{Path, PathState, Purpose, Waiting};

/// Largest lag behind the quickest path at which a path gets padding that shares the
/// media's numbers: receivers wait for such padding before they continue. Chosen by us: a
/// frame time and a half.
const MOST_SKEW: Duration = Duration::from_millis(50);

/// A live path that sent nothing or only copies for this long gets a duplicate, so that
/// its delay and rate are known when it is needed (Converge, section 4.2). Four per
/// second cost about 40 kbps at full packets; chosen by us.
const KEEP_MEASURED: Duration = Duration::from_millis(250);

/// Interval of duplicates on a degraded path, whose recovery should be detected quickly.
const KEEP_SICK_MEASURED: Duration = Duration::from_millis(60);

/// Content of a probe.
#[derive(Clone, Copy)]
enum Filler {
    /// Recent packet as RTX: more useful than zeros, because it helps a receiver that
    /// lost it.
    Duplicate(StreamId, u64),
    /// Zeros, under the media's numbers (libwebrtc's `RTPSender::GeneratePadding` without
    /// RTX).
    Padding(StreamId),
}

impl Session {
    /// Returns whether a probe on this path can be filled, and feedback will report on
    /// it.
    pub(super) fn can_pad(&self, path: &Path) -> bool {
        self.level != Level::Single
            && path.wants_padding()
            && self.may_probe(self.now)
            && self.scheduling.policies.may_pad(path.id)
            && self.filler(path).is_some()
    }

    fn filler(&self, path: &Path) -> Option<Filler> {
        self.streams
            .senders
            .iter()
            .find_map(|(id, stream)| match stream.config.retransmission {
                Retransmission::Rtx(..) => Some(Filler::Duplicate(*id, stream.newest_sent()?)),
                Retransmission::SamePacket => {
                    let pads = stream.may_pad() && self.is_quick_enough(path);
                    let newest = stream.newest_sent().filter(|_| pads);
                    newest.map(|_| Filler::Padding(*id))
                }
                Retransmission::None => None,
            })
    }

    fn is_quick_enough(&self, path: &Path) -> bool {
        let live = self.live_paths();
        let quickest = live.iter().map(|p| self.reach(p)).min();
        quickest.is_none_or(|least| {
            self.reach(path).saturating_sub(least) <= MOST_SKEW.as_nanos() as i64
        })
    }

    /// Sends a packet that measures this path; returns false if there is none to send.
    pub(super) fn send_padding(&mut self, now: Instant, path: PathId) -> bool {
        let filler = self.paths.get(&path).and_then(|p| self.filler(p));
        match filler {
            Some(Filler::Duplicate(stream, sequence)) => {
                self.transmit_again(now, path, stream, sequence);
                true
            }
            Some(Filler::Padding(id)) => {
                let stream = self.streams.senders.get_mut(&id);
                let Some(sequence) = stream.and_then(|s| s.store_padding(now)) else {
                    return false;
                };
                let waiting = Waiting {
                    stream: id,
                    sequence,
                    purpose: Purpose::Padding,
                    size: Bytes::ZERO,
                    copies: Vec::new(),
                };
                self.transmit(now, path, waiting);
                true
            }
            None => false,
        }
    }

    /// Sends a duplicate of a recent packet on idle live paths.
    pub(super) fn keep_paths_measured(&mut self, now: Instant) {
        let mut place = 0;
        while let Some(id) = self.paths.id_at(place) {
            place += 1;
            let due = self.paths.get(&id).and_then(|p| self.keep_alive_due(p));
            if due.is_none_or(|at| now < at) {
                continue;
            }
            self.send_padding(now, id);
            if let Some(path) = self.paths.get_mut(&id) {
                path.sending.last_measured = Some(now);
            }
        }
    }

    /// Returns when an idle path needs a duplicate: only while there is recent media and
    /// a choice of paths.
    pub(super) fn keep_alive_due(&self, path: &Path) -> Option<Instant> {
        let has_choice = self.paths.len() > 1 && self.level != Level::Single;
        let idle = path.state == PathState::Up && path.queue.is_empty();
        if !has_choice || !idle || !self.scheduling.policies.may_be_measured(path.id) {
            return None;
        }
        let newest = self
            .streams
            .senders
            .values()
            .filter_map(|s| s.newest)
            .map(|(_, at)| at)
            .max()?;
        let interval = match self.avoids(path) {
            true => KEEP_SICK_MEASURED,
            false => KEEP_MEASURED,
        };
        let due = path
            .sending
            .last_measured
            .map_or(newest, |at| at + interval);
        (due <= newest + RETRANSMISSION_AGE).then_some(due)
    }
}
