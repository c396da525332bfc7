use super::window::Event;
use crate::Limits;
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rate};

/// `RATE_ADJUST_INTERVAL` (section 4.1.1.1); rates are measured at this interval too
/// (section 4.1.3).
const INTERVAL: Duration = Duration::from_millis(200);
/// `BETA_R` and, for marks, `BETA_ECN` (section 4.1.1.1).
const BETA_RATE: f64 = 0.9;
const BETA_ECN: f64 = 0.9;
/// `RAMP_UP_SPEED` in bit/s per second (ibid.), limited to this share of the target
/// (section 4.1.3).
const RAMP_UP: f64 = 200_000.0;
const RAMP_UP_SHARE: f64 = 0.5;
/// Scale of the distance to the last maximum, and the smallest factor there (ibid.).
const MAX_SCALE: f64 = 4.0;
const MAX_LEAST: f64 = 0.2;
/// `PRE_CONGESTION_GUARD`, `TX_QUEUE_SIZE_FACTOR`, `RTP_QDELAY_TH` in
/// seconds, `TARGET_RATE_SCALE_RTP_QDELAY` (section 4.1.1.1).
const GUARD: f64 = 0.1;
const QUEUE_FACTOR: f64 = 1.0;
const QUEUE_SECONDS: f64 = 0.02;
const QUEUE_SCALE: f64 = 0.95;
/// Number of samples of the encoder's rate in the median: 10 s (ibid.).
const MEDIA_SAMPLES: usize = 50;

/// Media rate control (section 4.1.3).
#[derive(Debug)]
pub(super) struct MediaRate {
    limits: Limits,
    /// `target_bitrate` and `target_bitrate_last_max` in bit/s.
    target: f64,
    last_max: f64,
    adjusted: Option<Instant>,
    /// Bytes in the current interval.
    sent: Bytes,
    acked: Bytes,
    /// `rtp_queue_size`, now and at the start of the interval.
    backlog: Bytes,
    backlog_before: Bytes,
    /// `rate_media` of the last intervals in bit/s.
    media: VecDeque<f64>,
}

impl MediaRate {
    pub(super) fn new(limits: Limits) -> MediaRate {
        MediaRate {
            limits,
            target: limits.start.as_bps() as f64,
            last_max: 1.0,
            adjusted: None,
            sent: Bytes::ZERO,
            acked: Bytes::ZERO,
            backlog: Bytes::ZERO,
            backlog_before: Bytes::ZERO,
            media: VecDeque::with_capacity(MEDIA_SAMPLES),
        }
    }

    pub(super) fn target(&self) -> Rate {
        self.limits.clamp(Rate::from_bps(self.target as u64))
    }

    pub(super) fn on_sent(&mut self, size: Bytes) {
        self.sent += size;
    }

    pub(super) fn on_acked(&mut self, size: Bytes) {
        self.acked += size;
    }

    pub(super) fn set_backlog(&mut self, waiting: Bytes) {
        self.backlog = waiting;
    }

    pub(super) fn shrink(&mut self, event: Event) {
        self.last_max = self.target;
        self.scale(match event {
            Event::Loss => BETA_RATE,
            Event::Mark => BETA_ECN,
        });
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.set_target(self.target * factor);
    }

    fn set_target(&mut self, bps: f64) {
        let (min, max) = (self.limits.min.as_bps(), self.limits.max.as_bps());
        self.target = bps.clamp(min as f64, max as f64);
    }

    /// Processes feedback without an event.
    pub(super) fn update(&mut self, now: Instant, is_fast: bool, trend: f64, memory: f64) {
        let adjusted = *self.adjusted.get_or_insert(now);
        let elapsed = now.saturating_since(adjusted);
        if elapsed < INTERVAL {
            return;
        }
        self.adjusted = Some(now);
        let seconds = elapsed.as_secs_f64();
        let bps = |size: Bytes| size.0 as f64 * 8.0 / seconds;
        let sent = std::mem::take(&mut self.sent);
        let current = bps(sent).max(bps(std::mem::take(&mut self.acked)));
        let made = (sent + self.backlog).saturating_sub(self.backlog_before);
        self.backlog_before = self.backlog;
        if self.media.len() == MEDIA_SAMPLES {
            self.media.pop_front();
        }
        self.media.push_back(bps(made));
        let ramp_up = RAMP_UP.min(self.target * RAMP_UP_SHARE) * INTERVAL.as_secs_f64();
        let near = (self.target - self.last_max) / self.last_max * MAX_SCALE;
        let near = (near * near).clamp(MAX_LEAST, 1.0);
        let target = match is_fast {
            true => self.target + ramp_up * near,
            false => self.adjust(current, trend, ramp_up, near),
        };
        let limit = current.max(bps(made)).max(self.median()) * (2.0 - memory);
        self.set_target(target.min(limit));
    }

    fn adjust(&self, current: f64, trend: f64, ramp_up: f64, near: f64) -> f64 {
        let queue_bits = self.backlog.0 as f64 * 8.0;
        let mut change = current * (1.0 - GUARD * trend) - QUEUE_FACTOR * queue_bits;
        if change > 0.0 {
            change = (change * near).min(ramp_up);
        }
        let target = self.target + change;
        match queue_bits > QUEUE_SECONDS * current {
            true => target * QUEUE_SCALE,
            false => target,
        }
    }

    /// Returns `rate_media_median`.
    fn median(&self) -> f64 {
        let mut sorted: Vec<f64> = self.media.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests;
