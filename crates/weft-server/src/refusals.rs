//! Counts of refused requests and connections, for the log and the metrics.

use crate::log::{Log, NotAccepted, ServerEvent};
use crate::repeated::{INTERVAL, Repeated};
use std::net::IpAddr;

/// Number of refused requests of one kind that are logged individually in an interval.
/// Chosen by us: enough to show a client's mistake.
const REQUESTS: u64 = 10;
/// Number of refused connections that are logged individually: they all look the same.
const CONNECTIONS: u64 = 1;

/// Counts of refusals.
pub(crate) struct Refusals {
    /// By status and kind, of which there are a few dozen.
    requests: Repeated<(u16, &'static str)>,
    connections: Repeated<NotAccepted>,
    log: Log,
}

impl Refusals {
    pub(crate) fn new(log: Log) -> Refusals {
        Refusals {
            requests: Repeated::new(REQUESTS),
            connections: Repeated::new(CONNECTIONS),
            log,
        }
    }

    /// Records a refused request with this error.
    pub(crate) fn request(
        &self,
        (status, kind): (u16, &'static str),
        error: impl FnOnce() -> String,
        from: Option<IpAddr>,
    ) {
        if self.requests.count((status, kind)) {
            self.log.emit(|| ServerEvent::Refused {
                status,
                error: error(),
                from,
            });
        }
    }

    /// Records a connection that was not accepted.
    pub(crate) fn connection(&self, reason: NotAccepted) {
        if self.connections.count(reason) {
            let (times, seconds) = (1, 0);
            self.log.emit(|| ServerEvent::NotAccepted {
                reason,
                times,
                seconds,
            });
        }
    }

    /// Logs the number of refusals that were not logged individually. Call it
    /// every [`INTERVAL`].
    pub(crate) fn end_interval(&self) {
        let seconds = INTERVAL.as_secs();
        for ((status, kind), times) in self.requests.end_interval() {
            self.log.emit(|| ServerEvent::RefusedMore {
                status,
                kind,
                times,
                seconds,
            });
        }
        for (reason, times) in self.connections.end_interval() {
            self.log.emit(|| ServerEvent::NotAccepted {
                reason,
                times,
                seconds,
            });
        }
    }

    /// Refused requests by status and kind.
    pub(crate) fn requests(&self) -> Vec<((u16, &'static str), u64)> {
        self.requests.totals()
    }

    /// Connections that were not accepted, by reason.
    pub(crate) fn connections(&self) -> Vec<(NotAccepted, u64)> {
        self.connections.totals()
    }
}
