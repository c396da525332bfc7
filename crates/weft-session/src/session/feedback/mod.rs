//! Feedback in both directions, with both ends of each kind of report side by side.

mod budget;
mod dispatch;
mod log;
mod numbers;
mod paths;
mod quality;
mod reports;
mod requests;
mod state;
mod streams;
mod transport;

use weft_units::{Bytes, Duration, Ecn, Instant, PathId};
use weft_wire::media::SharedBytes;
use weft_wire::rtcp::{Allowance, Packet};
use weft_wire::rtp::Header;

use super::Session;
use super::receive_stream::Origin;
use crate::ablation::Ablation;
use crate::arrival::Arrival;
use crate::config::{Level, Reporting};
use crate::event::{Output, Protocol, Retention, Transmit};
use crate::path::Path;

pub(super) use state::Feedback;

/// Time between feedback messages while packets arrive. It is short enough that a loss is
/// known within a frame time, and long enough to be cheap: 40 reports a second of about
/// 60 bytes are 20 kbps. Chosen by us; libwebrtc sends one every 50 to 250 ms.
const FEEDBACK_INTERVAL: Duration = Duration::from_millis(25);

/// Time between feedback messages if there is a choice of paths, which depends on
/// feedback: a growing queue is detected within a frame's time. It costs about 3 % of the
/// received rate. Chosen by us.
const QUICK_FEEDBACK_INTERVAL: Duration = Duration::from_millis(10);

/// Time between a browser's feedback messages. Measured with Chromium 156: 16 a second;
/// libwebrtc uses 5 % of its sending rate for feedback, one message every 50 to 250 ms.
const BROWSER_FEEDBACK_INTERVAL: Duration = Duration::from_micros(62_500);

/// Largest content of one interval's reports, for any numbering by the peer: a gap as
/// wide as one report of transport-wide numbers can express, and messages for ten
/// thousand packets. Chosen by us; `tests/budgets.rs` tests what a peer can cause.
const MOST_REPORTED: Allowance = Allowance {
    missing: 8192,
    blocks: 64,
};
impl Session {
    /// Records the arrival of a packet of a negotiated stream.
    pub(in crate::session) fn log_arrival(
        &mut self,
        arrival: Arrival,
        header: &Header,
        origin: Origin,
    ) {
        match self.level {
            Level::Full => {
                if let Some(extension) = header.extensions.path {
                    let log = self.feedback.path_log(extension.path);
                    let number = extension.transport_sequence;
                    match origin {
                        Origin::Named => log.on_packet(number, arrival),
                        Origin::Copy(_) => log.on_copy(number, arrival.at),
                    }
                }
            }
            Level::SenderSide => {
                if let Some(number) = header.extensions.transport_sequence {
                    self.feedback.transport_log.on_packet(number, arrival);
                }
            }
            Level::Single => {}
        }
        self.log_of_stream(header, arrival);
        self.want_feedback(arrival.at);
    }

    pub(in crate::session) fn want_feedback(&mut self, now: Instant) {
        if self.feedback.next_feedback.is_none() && self.level != Level::Single {
            let is_quick = self.paths.len() > 1 && self.has(Ablation::QuickFeedback);
            let interval = match (self.config.reporting, is_quick) {
                (Reporting::Browser, _) => BROWSER_FEEDBACK_INTERVAL,
                (Reporting::Quick, true) => QUICK_FEEDBACK_INTERVAL,
                (Reporting::Quick, false) => FEEDBACK_INTERVAL,
            };
            self.feedback.next_feedback = Some(now + interval);
        }
    }

    pub(in crate::session) fn send_due_feedback(&mut self, now: Instant) {
        if self.feedback.next_feedback.is_none_or(|at| now < at) {
            return;
        }
        self.feedback.next_feedback = None;
        let sender = self.rtcp_ssrc();
        let max_len = self.max_payload();
        let (mut packets, mut left) = (Vec::new(), self.allowance(MOST_REPORTED));
        for (path, log) in self.feedback.path_logs.iter_mut() {
            if log.has_fresh() {
                let report = log.take_report();
                packets.extend(paths::messages(sender, *path, report, max_len, &mut left));
            }
        }
        self.transport_feedback(max_len, &mut left, &mut packets);
        self.stream_feedback(now, max_len, &mut packets);
        for packet in packets {
            self.send_rtcp(&[packet]);
        }
    }

    /// Sends a compound packet on the quickest live path and also on the second: its
    /// content matters most when a path is dying. A path that is down may be dead in the
    /// other direction only, and still deliver what the only path that brings media
    /// cannot return.
    pub(in crate::session) fn send_rtcp(&mut self, packets: &[Packet]) {
        let may_report = |path: &&Path| path.may_report(self.now);
        let mut paths: Vec<_> = self.paths.values().filter(may_report).collect();
        paths.sort_by_key(|p| (p.state, p.rtt.smoothed(), p.id));
        let Some(best) = paths.first().map(|p| p.id) else {
            return;
        };
        let second = paths.get(1).map(|p| p.id);
        let second = second.filter(|_| self.config.reporting == Reporting::Quick);
        let copies: Vec<PathId> = second.into_iter().collect();
        let mut packet = self.buffers.take(256);
        for part in packets {
            part.write(&mut packet);
        }
        let protocol = Protocol::Rtcp;
        let size = Bytes(packet.len() as u64);
        self.spend(self.now, size, 1 + copies.len(), None);
        self.outputs.push_back(Output::Transmit(Transmit {
            path: best,
            ecn: Ecn::NotEct,
            copies,
            packet,
            rest: SharedBytes::default(),
            protocol,
            retention: Retention::None,
        }));
    }
}
