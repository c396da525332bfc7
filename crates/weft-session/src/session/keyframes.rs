//! Keyframes that this side's encoders are asked for.

use weft_units::{Instant, StreamId};

use super::Session;
use crate::event::Event;

impl Session {
    /// For the streams that wait for one: those that were interrupted.
    pub(super) fn ask_for_keyframes(&mut self, now: Instant) {
        for id in self.streams.senders.keys().copied().collect::<Vec<_>>() {
            self.ask_for_keyframe(now, id);
        }
    }

    /// A stream that was interrupted restarts.
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

    /// Tells the encoder, not too often.
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
