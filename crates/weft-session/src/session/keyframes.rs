//! Keyframe requests to this side's encoders.

use weft_units::{Instant, StreamId};

use super::Session;
use crate::event::Event;

impl Session {
    /// Requests keyframes for the interrupted streams, which wait for one.
    pub(super) fn ask_for_keyframes(&mut self, now: Instant) {
        for id in self.streams.senders.keys().copied().collect::<Vec<_>>() {
            self.ask_for_keyframe(now, id);
        }
    }

    /// Restarts an interrupted stream.
    pub(super) fn ask_for_keyframe(&mut self, now: Instant, id: StreamId) {
        if self
            .streams
            .senders
            .get(&id)
            .is_some_and(|s| s.awaits_keyframe)
        {
            self.request_keyframe_of(now, id);
        }
    }

    /// Sends the request to the encoder, but not too often.
    pub(super) fn request_keyframe_of(&mut self, now: Instant, id: StreamId) {
        let Some(stream) = self.streams.senders.get_mut(&id) else {
            return;
        };
        if stream.may_ask_for_keyframe(now) {
            stream.last_keyframe_request = Some(now);
            self.event(Event::KeyframeRequested { stream: id });
        }
    }
}
