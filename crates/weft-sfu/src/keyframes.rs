use crate::TrackId;
use std::collections::{BTreeMap, VecDeque};
use weft_units::{Deadline, Duration, Instant};

#[cfg(test)]
mod tests;

/// Least time between two requests for one track. libwebrtc's encoder answers
/// at most one request in 300 ms (`KeyframeIntervalSettings`, read by
/// video/encoder_rtcp_feedback.cc); a little more, so that none is ignored.
const SPACING: Duration = Duration::from_millis(400);
/// A request that no keyframe answered is repeated after this time: well
/// over the round trip of a bad mobile link. Chosen by us.
const RETRY: Duration = Duration::from_millis(1_000);

/// Makes one upstream keyframe request out of many downstream ones.
///
/// Call [`on_keyframe`](KeyframeAggregator::on_keyframe) when a keyframe's
/// first packet comes; a request that came before it is satisfied, one that
/// came after it waits for the next.
#[derive(Debug, Default)]
pub struct KeyframeAggregator {
    tracks: BTreeMap<TrackId, State>,
    outputs: VecDeque<TrackId>,
}

#[derive(Debug, Default)]
struct State {
    sent: Option<Instant>,
    /// When the next request goes up, if one is wanted.
    due: Option<Instant>,
}

impl KeyframeAggregator {
    /// Somebody needs a keyframe of the track.
    pub fn request(&mut self, now: Instant, track: TrackId) {
        let state = self.tracks.entry(track).or_default();
        let earliest = state.sent.map_or(now, |sent| (sent + SPACING).max(now));
        let due = state.due.map_or(earliest, |due| due.min(earliest));
        state.due = Some(due);
        self.handle_timeout(now);
    }

    /// A keyframe of the track begins to come.
    pub fn on_keyframe(&mut self, track: TrackId) {
        if let Some(state) = self.tracks.get_mut(&track) {
            state.due = None;
        }
    }

    /// The track is gone.
    pub fn remove(&mut self, track: TrackId) {
        self.tracks.remove(&track);
    }

    /// Sends what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        for (track, state) in &mut self.tracks {
            if state.due.is_some_and(|due| due <= now) {
                state.sent = Some(now);
                state.due = Some(now + RETRY);
                self.outputs.push_back(*track);
            }
        }
    }

    /// The next track to ask for a keyframe.
    pub fn poll_output(&mut self) -> Option<TrackId> {
        self.outputs.pop_front()
    }

    /// When [`handle_timeout`](KeyframeAggregator::handle_timeout) is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let at = self.tracks.values().filter_map(|s| s.due).min()?;
        Some(Deadline {
            at,
            reason: "keyframe request",
        })
    }
}
