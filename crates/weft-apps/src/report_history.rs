//! Reports of the last seconds, which tell a sender about its packets.

use std::collections::VecDeque;

use weft_units::{Duration, Rate};

use crate::packet::Report;

/// Memory of reports: longer than any controller needs.
const KEPT: Duration = Duration::from_secs(12);

/// The reports of the last seconds, the newest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReportHistory {
    reports: VecDeque<Report>,
    /// Smallest transit time of the call: that of an empty queue.
    base: Option<i64>,
}

/// Arrivals of a period.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Share {
    /// Share of the sent packets that were lost, 0 to 1.
    pub loss: f64,
    /// Bytes received relative to bytes sent.
    pub arrived: f64,
    /// Rate of arriving bytes.
    pub rate: Rate,
}

impl ReportHistory {
    /// Adds a report. Returns false and ignores it if a later one has arrived or its
    /// counters decreased.
    pub fn add(&mut self, report: &Report) -> bool {
        let counts = |r: &Report| [r.highest, r.sent.0, r.packets, r.received.0];
        let follows = |last: &Report| {
            let mut counts = counts(last).into_iter().zip(counts(report));
            last.at < report.at && counts.all(|(before, now)| before <= now)
        };
        if !self.newest().is_none_or(follows) {
            return false;
        }
        if let Some(transit) = report.transit {
            self.base = Some(self.base.map_or(transit, |base| base.min(transit)));
        }
        self.reports.push_back(*report);
        while self.reports.len() > 2 && self.reports[1].at + KEPT < report.at {
            self.reports.pop_front();
        }
        true
    }

    /// Returns the newest report by the receiver's clock.
    fn newest(&self) -> Option<&Report> {
        self.reports.back()
    }

    /// Returns the queueing delay of the fastest packet of the last report.
    pub fn queueing(&self) -> Option<Duration> {
        let (transit, base) = (self.newest()?.transit?, self.base?);
        Some(Duration::from_nanos(transit.abs_diff(base)))
    }

    /// Returns the arrivals of the last `time`, or of a shorter span that is at least
    /// half of it.
    pub fn over(&self, time: Duration) -> Option<Share> {
        let newest = self.newest()?;
        let begin = newest.at.saturating_sub(time);
        let before = self.reports.iter().rev().find(|report| report.at <= begin);
        let before = before.or(self.reports.front())?;
        let length = newest.at.saturating_since(before.at);
        if length < time / 2 {
            return None;
        }
        let (sent, came) = (
            newest.highest - before.highest,
            newest.packets - before.packets,
        );
        let bytes_sent = newest.sent - before.sent;
        let bytes = newest.received - before.received;
        // No packet arrived: for the sender, all were lost.
        let share = |part: u64, whole: u64| match whole {
            0 => 0.0,
            _ => (part as f64 / whole as f64).min(1.0),
        };
        Some(Share {
            loss: 1.0 - share(came, sent),
            arrived: share(bytes.0, bytes_sent.0),
            rate: bytes / length,
        })
    }
}

#[cfg(test)]
mod tests;
