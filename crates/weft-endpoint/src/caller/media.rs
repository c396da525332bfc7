//! Pictures and sound for every peer, at the rate that all of them can take.

use weft_net::Context;
use weft_session::Frame;
use weft_units::Duration;

use super::Caller;
use crate::sources::sound::SoundFrame;
use crate::sources::video::VideoFrame;

/// How often the encoders hear what their next pictures may have: as often as
/// feedback comes from a peer of several paths, so that no picture is made by
/// what was before the last one.
const BOUND_EVERY: Duration = Duration::from_millis(10);

impl Caller {
    pub(super) fn send_video(
        &mut self,
        context: &mut Context<'_>,
        camera: usize,
        frame: &VideoFrame,
    ) {
        let encoded = &frame.encoded;
        for (key, counterpart) in &self.peers {
            let Some(stream) = counterpart.cameras.get(camera) else {
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
            // The stream is the peer's own.
            let _ = peer.send_frame(now, *stream, &frame);
        }
    }

    /// Says to the encoders what the next pictures may have.
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
        for (key, counterpart) in &self.peers {
            let Some(stream) = counterpart.microphone else {
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
                audio_level: Some(sound.level),
            };
            // The stream is the peer's own.
            let _ = peer.send_frame(now, stream, &frame);
        }
    }

    /// Hands over to the encoders what they may do now.
    pub(super) fn allow(&self) {
        for (camera, control) in self.encoders.iter().enumerate() {
            control.set(self.publisher.allowance(camera));
        }
    }
}
