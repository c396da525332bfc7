//! Feedback state of a session.

use std::collections::BTreeMap;

use weft_units::{Duration, Instant, PathId, Rate, Ssrc};

use super::budget::Budget;
use super::log::ReceiveLog;
use super::numbers::Numbers;
use crate::small_map::SmallMap;

/// Interval between reports: libwebrtc's interval for video. It is below the five seconds
/// of RFC 3550 so that a player can align sound and picture soon.
pub const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Most paths with a log; a peer can make up any number of them. Chosen by us: twice the
/// paths of a call over four links to a server with two addresses.
const MOST_PATHS: usize = 16;

/// Feedback state of a session in both directions.
pub(in crate::session) struct Feedback {
    /// Packets sent under the numbers in feedback.
    pub numbers: Numbers,
    /// Arrivals on each path (full level).
    pub path_logs: SmallMap<PathId, ReceiveLog>,
    /// Our path for each of the peer's paths, as far as known.
    pub peer_paths: SmallMap<PathId, PathId>,
    /// Arrivals by transport-wide number (sender-side level).
    pub transport_log: ReceiveLog,
    /// Arrivals of each stream, if feedback uses its own numbers.
    pub stream_logs: BTreeMap<Ssrc, ReceiveLog>,
    /// The peer's clock in its reports by stream, unwrapped.
    pub report_clock: Option<u64>,
    /// Number of transport-wide feedback messages so far, modulo 256.
    pub count: u8,
    pub next_feedback: Option<Instant>,
    pub next_report: Instant,
    /// Highest rate that the peer allows us (RTCP REMB), if it has set one.
    pub remote_limit: Option<Rate>,
    /// Highest rate that we allow the peer, if we have set one.
    pub told_limit: Option<Rate>,
    /// Remaining work for the peer's RTCP.
    pub(super) budget: Budget,
}

impl Feedback {
    pub fn new(now: Instant) -> Feedback {
        Feedback {
            numbers: Numbers::default(),
            path_logs: SmallMap::default(),
            peer_paths: SmallMap::default(),
            transport_log: ReceiveLog::default(),
            stream_logs: BTreeMap::new(),
            report_clock: None,
            count: 0,
            next_feedback: None,
            next_report: now + REPORT_INTERVAL,
            remote_limit: None,
            told_limit: None,
            budget: Budget::new(now),
        }
    }

    /// Records that the peer's path arrives on this path of ours. Each end gives a pair
    /// of addresses one number at a time, so an earlier number has ended.
    pub fn note_peer_path(&mut self, theirs: PathId, ours: PathId) {
        if self.peer_paths.get(&theirs) != Some(&ours) {
            self.peer_paths.retain(|_, other| *other != ours);
            self.peer_paths.insert(theirs, ours);
        }
    }

    /// Returns the log of a path; creates it if it does not exist. Beyond [`MOST_PATHS`]
    /// it replaces the log of the path that has been idle for longest.
    pub fn path_log(&mut self, path: PathId) -> &mut ReceiveLog {
        let logs = &mut self.path_logs;
        if logs.len() == MOST_PATHS && logs.get(&path).is_none() {
            let idle = logs.iter().min_by_key(|(_, log)| log.last_arrival());
            if let Some(idle) = idle.map(|(path, _)| *path) {
                logs.remove(&idle);
            }
        }
        logs.get_or_insert_with(path, ReceiveLog::default)
    }
}
