use weft_units::{Bytes, Deadline, Duration, Instant};

use crate::family::Model;
use crate::packet::{Packet, Report};

/// The receiving end.
#[derive(Clone, Debug)]
pub struct Receiver {
    every: Duration,
    next: Instant,
    report: Report,
}

impl Receiver {
    /// Creates a receiver that reports like this model; its first report is due one
    /// period after `start`.
    #[must_use]
    pub fn new(model: &Model, start: Instant) -> Receiver {
        Receiver {
            every: model.report_every,
            next: start + model.report_every,
            report: Report {
                at: start,
                highest: 0,
                sent: Bytes(0),
                packets: 0,
                received: Bytes(0),
                transit: None,
            },
        }
    }

    /// Handles a packet. `sent_at` is the sender's time; its clock may differ from the
    /// receiver's by a constant.
    pub fn handle_packet(&mut self, now: Instant, sent_at: Instant, packet: &Packet) {
        let report = &mut self.report;
        if packet.number > report.highest {
            report.highest = packet.number;
            report.sent = packet.sent;
        }
        report.packets += 1;
        report.received += packet.size;
        let transit = now.signed_nanos_since(sent_at);
        report.transit = Some(report.transit.map_or(transit, |least| least.min(transit)));
    }

    /// Returns the report that is due, at most one per period.
    pub fn poll_report(&mut self, now: Instant) -> Option<Report> {
        if now < self.next {
            return None;
        }
        while self.next <= now {
            self.next += self.every;
        }
        let report = Report {
            at: now,
            ..self.report
        };
        self.report.transit = None;
        Some(report)
    }

    /// Returns the time of the next report.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        Some(Deadline {
            at: self.next,
            reason: "report",
        })
    }
}
