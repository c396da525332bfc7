//! Pictures and sound for every peer, at the rate that all of them can take.

use weft_net::Context;
use weft_session::Frame;
use weft_units::{Duration, Rate};

use super::Caller;
use crate::sources::sound::{self, SoundFrame};
use crate::sources::video::VideoFrame;

impl Caller {
    pub(super) fn send_video(
        &mut self,
        context: &mut Context<'_>,
        camera: usize,
        frame: &VideoFrame,
    ) {
        let encoded = &frame.encoded;
        let mut backlog = Duration::ZERO;
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
                backlog = backlog.max(peer.session().backlog());
            }
        }
        if let Some(control) = self.encoders.get(camera) {
            control.set_backlog(backlog);
        }
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

    /// Every camera gets the same share of what the slowest peer can take,
    /// after the sound.
    pub(super) fn share_rate(&self) {
        let sending = self
            .peers
            .values()
            .filter(|p| !p.cameras.is_empty() && !p.failed);
        let rates = sending.map(|p| {
            let sound = if p.microphone.is_some() {
                sound::RATE
            } else {
                Rate::ZERO
            };
            p.rate.saturating_sub(sound)
        });
        // A peer that waits for a path holds up no other.
        let slowest = rates.clone().filter(|rate| *rate > Rate::ZERO).min();
        let Some(rate) = slowest.or_else(|| rates.min()) else {
            return;
        };
        let each = share(rate, self.encoders.len());
        for control in &self.encoders {
            control.set_rate(each);
        }
    }
}

/// What each of so many cameras gets of a rate.
fn share(rate: Rate, cameras: usize) -> Rate {
    Rate::from_bps(rate.as_bps() / cameras.max(1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_get_equal_shares_that_are_never_more_than_there_is() {
        let rate = Rate::from_bps(1_000_001);
        for (cameras, each) in [(1, 1_000_001), (2, 500_000), (3, 333_333), (4, 250_000)] {
            assert_eq!(share(rate, cameras), Rate::from_bps(each));
        }
        assert_eq!(share(Rate::ZERO, 4), Rate::ZERO);
        assert_eq!(share(rate, 0), rate, "nobody takes it");
    }
}
