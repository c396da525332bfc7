//! Pictures and sound for every peer, at the rate that all of them can take.

use weft_net::Context;
use weft_session::Frame;

use super::Caller;
use crate::sources::sound::SoundFrame;
use crate::sources::video::VideoFrame;

impl Caller {
    pub(super) fn send_video(
        &mut self,
        context: &mut Context<'_>,
        camera: usize,
        frame: &VideoFrame,
    ) {
        let encoded = &frame.encoded;
        let mut backlogs = Vec::new();
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
            };
            if peer.send_frame(now, *stream, &frame).is_ok() {
                backlogs.push(peer.session().backlog());
            }
        }
        self.publisher.handle_sent(camera, backlogs);
        self.allow();
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
