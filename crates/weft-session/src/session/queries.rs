//! Queries on settings and streams that several parts of a session need.

use weft_units::{Duration, Instant, MediaKind, Rate, Ssrc, StreamId};
use weft_wire::rtcp::Allowance;

use super::Session;
use crate::ablation::Ablation;
use crate::event::{Event, Output};
use crate::protection::ProtectionKind;
use crate::schedule::SOUND;
use crate::send::REPAIR_HEADROOM;

/// Converts a duration to NTP time, as 32.32 fixed point.
pub(super) fn ntp_span(d: Duration) -> u64 {
    ((u128::from(d.as_nanos()) << 32) / 1_000_000_000) as u64
}

impl Session {
    pub(super) fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    /// Returns whether the session has this part.
    pub(super) fn has(&self, part: Ablation) -> bool {
        !self.config.ablations.contains(part)
    }

    /// Returns the SSRC of this end as the sender of RTCP.
    pub(super) fn rtcp_ssrc(&self) -> Ssrc {
        self.streams
            .senders
            .values()
            .next()
            .map_or(self.config.feedback_ssrc, |s| s.config.ssrc)
    }

    /// Returns the largest payload that fits a packet with all headers, and also the
    /// repair packet that may protect it.
    pub(super) fn max_payload(&self) -> usize {
        let is_protected = self.streams.senders.values().any(|s| s.repair.is_some())
            && self.protecting.kind != ProtectionKind::None;
        let repair = if is_protected { REPAIR_HEADROOM } else { 0 };
        (self.config.max_packet.0 as usize)
            .saturating_sub(crate::send::HEADROOM + repair)
            .max(100)
    }

    pub(super) fn sender_of(&self, ssrc: Ssrc) -> Option<(StreamId, &crate::send::SendStream)> {
        let matches = |s: &crate::send::SendStream| {
            let rtx = s.config.retransmission.rtx();
            s.config.ssrc == ssrc || rtx.is_some_and(|(rtx, _)| rtx == ssrc)
        };
        self.streams
            .senders
            .iter()
            .find(|(_, s)| matches(s))
            .map(|(id, s)| (*id, s))
    }

    /// Returns the bounds on the contents of reports, unless that part is left out.
    pub(super) fn allowance(&self, most: Allowance) -> Allowance {
        match self.has(Ablation::Budgets) {
            true => most,
            false => Allowance {
                missing: usize::MAX,
                blocks: usize::MAX,
            },
        }
    }

    /// Returns whether losses are detected on each path and not in the stream.
    pub(super) fn repairs_by_path(&self) -> bool {
        self.has(Ablation::PathRepair)
    }

    /// Returns the NTP time of `at` (32.32 bits).
    pub(super) fn ntp(&self, at: Instant) -> u64 {
        self.config
            .ntp_at_zero
            .wrapping_add(ntp_span(at.saturating_since(Instant::ZERO)))
    }

    /// Returns the highest rate that the application sends, within the peer's limit: a
    /// call without pictures needs little.
    pub(super) fn wanted_rate(&self) -> Rate {
        let mut kinds = self.streams.senders.values().map(|s| s.config.codec.kind());
        let most = match self.streams.senders.is_empty() || kinds.any(|k| k == MediaKind::Video) {
            true => self.config.max_rate,
            false => SOUND
                .mul_f64(self.streams.senders.len() as f64)
                .min(self.config.max_rate),
        };
        self.feedback
            .remote_limit
            .map_or(most, |limit| limit.min(most))
    }
}
