//! Pictures and sound for every peer, at a rate that all peers can receive.

use weft_net::Context;
use weft_session::Frame;
use weft_units::Duration;

use super::{Caller, Muting};
use crate::sources::smaller::EncodingSize;
use crate::sources::sound::SoundFrame;
use crate::sources::video::VideoFrame;

/// Update interval of the encoders' budgets: the feedback interval of a multipath peer,
/// so that every picture uses the newest state.
const BOUND_EVERY: Duration = Duration::from_millis(10);

impl Caller {
    pub(super) fn send_video(
        &mut self,
        context: &mut Context<'_>,
        (camera, size): (usize, EncodingSize),
        frame: &VideoFrame,
    ) {
        let encoded = &frame.encoded;
        for (key, remote_peer) in &self.peers {
            let stream = match size {
                EncodingSize::Full => remote_peer.cameras.get(camera).copied(),
                EncodingSize::Smaller => remote_peer.smaller.get(camera).copied().flatten(),
            };
            let Some(stream) = stream else {
                continue;
            };
            let now = context.now;
            let Some(peer) = context.peer(*key) else {
                continue;
            };
            let frame = Frame {
                data: &encoded.data,
                timestamp: frame.timestamp,
                keyframe: encoded.keyframe,
                temporal_layer: encoded.temporal_layer,
                layer_sync: encoded.layer_sync,
                non_reference: encoded.non_reference,
                captured_at: frame.taken_at,
                audio_level: None,
            };
            if let Some(tracing) = &mut self.tracing {
                tracing.on_frame(now, (*key, stream), &frame);
            }
            // The stream belongs to the peer, so this cannot fail.
            let _ = peer.send_frame(now, stream, &frame);
        }
    }

    /// Encodes only what somebody watches. The smaller encoding of a camera also requires a
    /// peer that accepts it as a separate stream.
    pub(super) fn watch(&mut self) {
        for (camera, encoders) in self.encoders.iter().enumerate() {
            let watched = self.watched.get(camera);
            // The last encoding of the description is the largest one.
            let full = watched.is_none_or(|watched| watched.last() != Some(&false));
            encoders.full.set_watched(full);
            let Some(smaller) = &encoders.smaller else {
                continue;
            };
            let mut streams = self.peers.values().map(|peer| peer.smaller.get(camera));
            let taken = streams.any(|stream| stream.is_some_and(Option::is_some));
            let sent = taken && watched.is_none_or(|watched| watched.first() != Some(&false));
            smaller.control.set_watched(sent);
            let most = sent.then_some(smaller.most);
            self.publisher.handle_smaller(camera, most);
        }
        self.allow();
    }

    /// Updates the byte budgets of the next pictures.
    pub(super) fn bound_pictures(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        for key in self.peers.keys() {
            let budget = context
                .peers()
                .get(*key)
                .map(|p| p.session().frame_budget(now));
            self.publisher.handle_frame_budget(*key, budget.flatten());
        }
        self.allow();
        self.next_bound = now + BOUND_EVERY;
    }

    pub(super) fn send_sound(&mut self, context: &mut Context<'_>, sound: &SoundFrame) {
        if self.muting == Muting::On {
            return;
        }
        for (key, remote_peer) in &self.peers {
            let Some(stream) = remote_peer.microphone else {
                continue;
            };
            let now = context.now;
            let Some(peer) = context.peer(*key) else {
                continue;
            };
            let frame = Frame {
                data: &sound.data,
                timestamp: sound.timestamp,
                keyframe: true,
                temporal_layer: None,
                layer_sync: false,
                non_reference: true,
                captured_at: sound.taken_at,
                audio_level: sound.level,
            };
            if let Some(tracing) = &mut self.tracing {
                tracing.on_frame(now, (*key, stream), &frame);
            }
            // The stream belongs to the peer, so this cannot fail.
            let _ = peer.send_frame(now, stream, &frame);
        }
    }

    /// Passes the publisher's allowances to the encoders.
    pub(super) fn allow(&self) {
        for (camera, encoders) in self.encoders.iter().enumerate() {
            encoders.full.set(self.publisher.allowance(camera));
            if let Some(smaller) = &encoders.smaller {
                let allowance = self.publisher.smaller_allowance(camera);
                smaller.control.set(allowance);
            }
        }
    }
}
