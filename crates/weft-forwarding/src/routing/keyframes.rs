use crate::routing::TrackId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use weft_units::{Deadline, Duration, Instant};

#[cfg(test)]
mod tests;

/// Minimum time between two requests for one track. libwebrtc's encoder answers at most
/// one request in 300 ms (`KeyframeIntervalSettings`, read by
/// video/encoder_rtcp_feedback.cc); ours is a little longer, so that none is ignored.
const SPACING: Duration = Duration::from_millis(400);
/// Time after which a request without a keyframe is repeated: well over the round trip of
/// a bad mobile link. Chosen by us.
const RETRY: Duration = Duration::from_millis(1_000);

/// Merges many downstream keyframe requests into one upstream request.
///
/// Call [`on_keyframe`](KeyframeAggregator::on_keyframe) when a keyframe's first packet
/// arrives: it satisfies earlier requests; later ones wait for the next keyframe.
#[derive(Debug, Default)]
pub(crate) struct KeyframeAggregator {
    tracks: BTreeMap<TrackId, State>,
    /// Tracks with a set time, the next one first: a request costs the same for any
    /// number of tracks.
    due: BTreeSet<(Instant, TrackId)>,
    outputs: VecDeque<TrackId>,
}

#[derive(Debug, Default)]
struct State {
    sent: Option<Instant>,
    /// Time of the next upstream request, if one is wanted.
    due: Option<Instant>,
}

impl KeyframeAggregator {
    /// Requests a keyframe of the track.
    pub(crate) fn request(&mut self, now: Instant, track: TrackId) {
        let state = self.tracks.entry(track).or_default();
        let earliest = state.sent.map_or(now, |sent| (sent + SPACING).max(now));
        let due = state.due.map_or(earliest, |due| due.min(earliest));
        self.set_due(track, Some(due));
        self.handle_timeout(now);
    }

    /// Whether a keyframe was requested and has not arrived.
    #[must_use]
    pub(crate) fn is_wanted(&self, track: TrackId) -> bool {
        self.tracks
            .get(&track)
            .is_some_and(|state| state.due.is_some())
    }

    /// Records that a keyframe of the track starts to arrive.
    pub(crate) fn on_keyframe(&mut self, track: TrackId) {
        self.set_due(track, None);
    }

    /// Removes the track.
    pub(crate) fn remove(&mut self, track: TrackId) {
        self.set_due(track, None);
        self.tracks.remove(&track);
    }

    /// Sends the requests that are due.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(_, track)) = self.due.first().filter(|(at, _)| *at <= now) {
            self.set_due(track, Some(now + RETRY));
            if let Some(state) = self.tracks.get_mut(&track) {
                state.sent = Some(now);
            }
            self.outputs.push_back(track);
        }
    }

    fn set_due(&mut self, track: TrackId, due: Option<Instant>) {
        let Some(state) = self.tracks.get_mut(&track) else {
            return;
        };
        if let Some(before) = std::mem::replace(&mut state.due, due) {
            self.due.remove(&(before, track));
        }
        self.due.extend(due.map(|at| (at, track)));
    }

    /// Returns the next track to request a keyframe of.
    pub(crate) fn poll_output(&mut self) -> Option<TrackId> {
        self.outputs.pop_front()
    }

    /// Deadline of the next [`handle_timeout`](KeyframeAggregator::handle_timeout).
    #[must_use]
    pub(crate) fn poll_timeout(&self) -> Option<Deadline> {
        let (at, _) = self.due.first()?;
        Some(Deadline {
            at: *at,
            reason: "keyframe request",
        })
    }
}
