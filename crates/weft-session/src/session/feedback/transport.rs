//! Feedback by transport-wide numbers, at the sender-side level
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01).

use std::collections::BTreeMap;

use weft_units::{Ecn, Instant, PathId, Ssrc};
use weft_wire::rtcp::{Allowance, Packet, split_arrivals};
use weft_wire::sequence;

use super::super::Session;
use super::super::receive_stream::ReceiveStream;
use crate::arrival::Arrival;

impl Session {
    /// Returns the due report as messages of at most `max_len` bytes, within the
    /// allowance.
    pub(in crate::session) fn transport_feedback(
        &mut self,
        max_len: usize,
        left: &mut Allowance,
        packets: &mut Vec<Packet>,
    ) {
        if !self.feedback.transport_log.has_fresh() {
            return;
        }
        let sender = self.rtcp_ssrc();
        let media = self
            .streams
            .receivers
            .values()
            .find_map(ReceiveStream::ssrc);
        let report = self.feedback.transport_log.take_report();
        for block in split_arrivals(report.first, &report.arrivals, max_len, left) {
            let count = self.feedback.count;
            self.feedback.count = count.wrapping_add(1);
            packets.push(Packet::TransportFeedback(block.into_transport_feedback(
                sender,
                media.unwrap_or(Ssrc(0)),
                count,
            )));
        }
    }

    pub(super) fn on_transport_feedback(
        &mut self,
        now: Instant,
        base: u16,
        arrivals: &[Option<Instant>],
    ) {
        let base = sequence::extend(Some(self.feedback.numbers.transport.next()), base);
        let mut reports: BTreeMap<PathId, Vec<(u64, Option<Arrival>)>> = BTreeMap::new();
        for (offset, arrival) in arrivals.iter().enumerate() {
            match self.feedback.numbers.transport.find(base + offset as u64) {
                Some((path, number)) => {
                    let arrival = arrival.map(|at| Arrival {
                        at,
                        ecn: Ecn::NotEct,
                    });
                    let reports = reports.entry(path);
                    let reports = reports.or_insert_with(|| Vec::with_capacity(arrivals.len()));
                    reports.push((number, arrival));
                }
                None => self.drops.stale_feedback += 1,
            }
        }
        for (path, reports) in reports {
            self.on_path_reports(now, path, reports.into_iter());
        }
    }
}
