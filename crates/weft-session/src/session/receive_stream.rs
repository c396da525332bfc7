//! Incoming stream.

use weft_units::{Instant, PathId, Ssrc};
use weft_wire::rtp::Header;

use crate::config::ReceiveStreamConfig;
use crate::receive::{ReceiveConfig, Receiver, ReceiverProfile, ReceiverStats, Recovery};

/// Purpose of a stream's packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Media,
    Retransmission,
    Repair,
}

/// Incoming stream.
pub(crate) struct ReceiveStream {
    pub config: ReceiveStreamConfig,
    pub receiver: Receiver,
    /// SSRC as signalled, or as learned from the first packet.
    ssrc: Option<Ssrc>,
    rtx_ssrc: Option<Ssrc>,
    fec_ssrc: Option<Ssrc>,
    pub recovery: Recovery,
    pub highest: Option<u64>,
    /// Middle 32 bits of the NTP time of the last sender report, and its arrival (RFC
    /// 3550 section 6.4.1).
    pub last_sender_report: Option<(u32, Instant)>,
}

impl ReceiveStream {
    pub fn new(config: ReceiveStreamConfig, profile: ReceiverProfile) -> ReceiveStream {
        let receiver = Receiver::new(ReceiveConfig {
            codec: config.codec,
            delivery: config.delivery,
            profile,
        });
        ReceiveStream {
            ssrc: config.ssrc,
            rtx_ssrc: config.rtx.and_then(|(ssrc, _)| ssrc),
            fec_ssrc: config.fec.and_then(|(ssrc, _)| ssrc),
            recovery: Recovery::default(),
            receiver,
            highest: None,
            last_sender_report: None,
            config,
        }
    }

    /// Returns the SSRC of its media.
    pub fn ssrc(&self) -> Option<Ssrc> {
        self.ssrc
    }

    /// Returns all known SSRCs.
    pub fn ssrcs(&self) -> impl Iterator<Item = Ssrc> {
        let all = [self.ssrc, self.rtx_ssrc, self.fec_ssrc];
        all.into_iter().flatten()
    }

    /// Learns the SSRC of packets of one purpose; returns whether it is new.
    pub(super) fn learn(&mut self, purpose: Purpose, ssrc: Ssrc) -> bool {
        let known = match purpose {
            Purpose::Media => &mut self.ssrc,
            Purpose::Retransmission => &mut self.rtx_ssrc,
            Purpose::Repair => &mut self.fec_ssrc,
        };
        known.replace(ssrc) != Some(ssrc)
    }

    /// Returns the counters and statistics so far.
    pub fn stats(&self) -> ReceiverStats {
        ReceiverStats {
            protection: self.recovery.counters,
            ..self.receiver.stats()
        }
    }

    pub fn is_repair(&self, header: &Header) -> bool {
        self.config
            .fec
            .is_some_and(|(_, payload_type)| payload_type == header.payload_type)
    }

    pub fn is_rtx(&self, header: &Header) -> bool {
        self.config
            .rtx
            .is_some_and(|(_, payload_type)| payload_type == header.payload_type)
    }

    pub fn claims(&self, header: &Header) -> bool {
        let ours = header.payload_type == self.config.payload_type
            || self.is_rtx(header)
            || self.is_repair(header);
        let bound = if self.is_rtx(header) {
            self.rtx_ssrc
        } else if self.is_repair(header) {
            self.fec_ssrc
        } else {
            self.ssrc
        };
        let mid = match (self.config.mid, header.extensions.mid) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => true,
        };
        let named = match self.is_rtx(header) {
            true => header.extensions.repaired_rid,
            false => header.extensions.rid,
        };
        // A packet that names no encoding could belong to any.
        let rid = self.config.rid.is_none_or(|rid| named == Some(rid));
        ours && mid && rid && bound.is_none_or(|ssrc| ssrc == header.ssrc)
    }
}

/// Path of a packet relative to the path it names.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// It arrived on the path that it names, as far as known, or it names none.
    Named,
    /// It arrived on another path, given in the peer's numbering if known.
    Copy(PathId),
}
