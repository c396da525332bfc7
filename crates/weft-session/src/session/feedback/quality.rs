//! Quality feedback (Converge, section 4.2), at the full level only: from the receiver's
//! measurements to messages, and from messages to the scheduler.

use weft_units::{Duration, Instant, StreamId};
use weft_wire::rtcp::{Packet, QualityFeedback, SourceDescription};

use super::super::Session;
use super::super::receive_stream::ReceiveStream;
use crate::config::Level;
use crate::receive::PathQuality;
use crate::schedule::Quality;

/// Most packets of a frame on one path; chosen by us: 1.2 MB.
const MAX_ALPHA: u16 = 1000;
/// Longest wait of a receiver for a frame; chosen by us.
const MAX_CONSTRUCTION: Duration = Duration::from_secs(10);
/// Valid frame rates of a camera or screen, in frames per 1000 s; chosen by us: 1 to 240
/// a second.
const FRAME_RATES: std::ops::RangeInclusive<u32> = 1_000..=240_000;

impl Session {
    pub(in crate::session) fn send_quality_feedback(
        &mut self,
        id: StreamId,
        quality: &PathQuality,
    ) {
        let media = self.streams.receivers.get(id).and_then(ReceiveStream::ssrc);
        let (Some(media), Level::Full) = (media, self.level) else {
            return;
        };
        self.send_rtcp(&[Packet::QualityFeedback(QualityFeedback {
            sender: self.rtcp_ssrc(),
            media,
            path: quality.path,
            alpha: quality.alpha,
            construction: quality.construction,
        })]);
    }

    /// Passes quality feedback to the scheduler. Impossible values are ignored
    /// and counted.
    pub(in crate::session) fn on_quality_feedback(
        &mut self,
        now: Instant,
        feedback: &QualityFeedback,
    ) {
        let stream = self.sender_of(feedback.media).map(|(id, _)| id);
        let claimed = feedback.alpha.unsigned_abs();
        let path = self.paths.get_mut(&feedback.path);
        let possible = |p: &&mut crate::path::Path| {
            claimed <= MAX_ALPHA
                && usize::from(claimed) <= p.history.len()
                && feedback.construction <= MAX_CONSTRUCTION
        };
        let path = path.filter(possible);
        let (Some(stream), Some(path), Level::Full) = (stream, path, self.level) else {
            self.drops.implausible += 1;
            return;
        };
        path.quality.feedback += 1;
        path.quality.alpha = feedback.alpha.into();
        path.quality.construction = feedback.construction;
        let quality = Quality {
            stream,
            path: feedback.path,
            alpha: feedback.alpha.into(),
            construction: feedback.construction,
        };
        let views = self.path_views();
        self.scheduling.scheduler.on_quality(now, &quality, &views);
    }

    /// Takes in the frame rates of the received streams; at other levels, the peer cannot
    /// use the resulting feedback.
    pub(in crate::session) fn on_source_descriptions(&mut self, list: &[SourceDescription]) {
        for description in list {
            let (Some(rate), Level::Full) = (description.frame_rate, self.level) else {
                continue;
            };
            if !FRAME_RATES.contains(&rate) {
                self.drops.implausible += 1;
                continue;
            }
            let streams = &mut self.streams.receivers;
            let stream = streams.find_mut(|s| s.ssrc() == Some(description.ssrc));
            if let Some(stream) = stream {
                let interval = Duration::from_secs(1000) / u64::from(rate);
                stream.receiver.set_frame_interval(interval);
            }
        }
    }
}
