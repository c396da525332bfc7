//! State of a session for feedback.

use std::collections::BTreeMap;

use weft_units::{Duration, Instant, PathId, Rate, Ssrc};

use super::budget::Budget;
use super::log::ReceiveLog;
use super::numbers::Numbers;
use crate::small_map::SmallMap;

/// Reports go out this often: libwebrtc's interval for video. Chosen below the
/// five seconds of RFC 3550 so that a player can align sound and picture soon.
pub const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Paths with a log; a peer can make up as many as it likes. Chosen by us:
/// twice what a call of four links to a server of two addresses has.
const MOST_PATHS: usize = 16;

/// State of a session for feedback of both directions.
pub(in crate::session) struct Feedback {
    /// Packets sent under the numbers that feedback names.
    pub numbers: Numbers,
    /// Arrivals by each path (full level).
    pub path_logs: SmallMap<PathId, ReceiveLog>,
    /// Our path for each of the peer's, as far as is known.
    pub peer_paths: SmallMap<PathId, PathId>,
    /// Arrivals by transport-wide number (sender-side level).
    pub transport_log: ReceiveLog,
    /// Arrivals of each stream, if its own numbers name it.
    pub stream_logs: BTreeMap<Ssrc, ReceiveLog>,
    /// The peer's clock in its reports by stream, unwrapped.
    pub report_clock: Option<u64>,
    /// Messages of transport-wide feedback so far, modulo 256.
    pub count: u8,
    pub next_feedback: Option<Instant>,
    pub next_report: Instant,
    /// Most that the peer lets us send (RTCP REMB), if it said so.
    pub remote_limit: Option<Rate>,
    /// Most that we let the peer send, if we say so.
    pub told_limit: Option<Rate>,
    /// How much of the peer's RTCP is handled.
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

    /// The peer's path arrives on this one of ours. Each end gives a pair of
    /// addresses one number at a time, so an earlier one has ended.
    pub fn note_peer_path(&mut self, theirs: PathId, ours: PathId) {
        if self.peer_paths.get(&theirs) != Some(&ours) {
            self.peer_paths.retain(|_, other| *other != ours);
            self.peer_paths.insert(theirs, ours);
        }
    }

    /// The log of a path, made if there is none. Beyond [`MOST_PATHS`] it takes
    /// the place of the one that nothing came by for longest.
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
