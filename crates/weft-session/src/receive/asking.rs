//! Requests for missing data: packets or a keyframe.

use weft_units::{Instant, MediaKind};

use super::keyframe_requests::{Outlook, Stall};
use super::{Delivery, ReceiveEvent, Receiver};

impl Receiver {
    /// Waits for repair or requests a keyframe, because no frame can be released.
    pub(super) fn check_stall(&mut self, now: Instant) {
        let oldest_frame = self.frames.oldest();
        let oldest_partial = self.assembly.partials().next();
        if self.config.codec.kind() == MediaKind::Audio
            || (oldest_frame.is_none() && oldest_partial.is_none())
        {
            self.keyframes.on_decodable();
            return;
        }
        let keyframe_at = self.assembly.keyframe_progress();
        // A complete frame that cannot be decoded is not a keyframe.
        let blocking = oldest_partial
            .filter(|(at, _)| oldest_frame.is_none_or(|frame| *at < frame.timestamp))
            .map(|(_, partial)| partial);
        let is_headless =
            self.frames.released().is_none() && blocking.is_none_or(|partial| partial.is_delta);
        let outlook = match keyframe_at {
            Some(_) => Outlook::Repairable,
            None if self.keyframes.is_unrecoverable() && oldest_frame.is_some() => Outlook::Lost,
            None if is_headless => Outlook::Headless,
            None => Outlook::Repairable,
        };
        let stall = Stall {
            outlook,
            keyframe_at,
            progress_at: keyframe_at.max(blocking.map(|partial| partial.last_arrival)),
            packet_at: self.clock.current_at,
        };
        if self.keyframes.on_stalled(now, &stall) {
            self.push_keyframe_request();
        }
    }

    pub(super) fn check_nacks(&mut self, now: Instant) {
        if self.nack.wake().is_none_or(|at| now < at) {
            return;
        }
        let findings = self.nack.check(now);
        if !findings.requested.is_empty() {
            self.counted.repair.nacks += 1;
            self.counted.repair.requested += findings.requested.len() as u64;
            self.events.push_back(ReceiveEvent::Nack {
                sequences: findings.requested.iter().map(|s| *s as u16).collect(),
            });
        }
        if !findings.abandoned.is_empty() {
            self.counted.repair.abandoned += findings.abandoned.len() as u64;
            if self.config.profile.keyframe_patience.is_none() {
                self.give_up(now);
            }
        }
    }

    /// Gives up packets that were lost for good.
    pub(super) fn give_up(&mut self, now: Instant) {
        match (self.config.delivery, self.config.codec.kind()) {
            (_, MediaKind::Audio) => {}
            (Delivery::Frames, MediaKind::Video) => {
                self.keyframes.on_unrecoverable();
                if self.release_at.is_none() {
                    self.check_stall(now);
                }
            }
            (Delivery::Packets, MediaKind::Video) => self.ask_for_keyframe(now),
        }
    }

    /// Requests a keyframe now, unless one was requested just before.
    pub(super) fn ask_for_keyframe(&mut self, now: Instant) {
        if self.config.codec.kind() == MediaKind::Video && self.keyframes.request(now) {
            self.push_keyframe_request();
        }
    }

    fn push_keyframe_request(&mut self) {
        self.counted.repair.keyframes += 1;
        self.events.push_back(ReceiveEvent::KeyframeNeeded);
    }
}
