//! Data of the events that simulated and real calls share.

use serde_json::{Map, Value, json};
use weft_units::{Bytes, Duration, Rate};

/// Values of a path and its controller at one time: `call:path_metrics_updated`.
#[derive(Clone, Debug)]
pub struct PathMetrics {
    /// Number of the path in its call.
    pub path: u64,
    /// Target rate of the controller.
    pub target_rate: Rate,
    /// Smoothed round-trip time.
    pub rtt: Duration,
    /// Share of lost packets, 0 to 1.
    pub loss: f64,
    /// Bytes that wait for the pacer.
    pub queued: Bytes,
    /// Packets that arrived with a congestion mark so far.
    pub marked_packets: u64,
    /// State of ECN on the path.
    pub ecn: String,
    /// State of the controller in one word.
    pub controller_state: &'static str,
}

impl PathMetrics {
    /// Returns the data of the event; `internals` are the controller's own values by name.
    #[must_use]
    pub fn data(&self, internals: impl Iterator<Item = (&'static str, f64)>) -> Value {
        let internals: Map<String, Value> = internals
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        json!({
            "path": self.path,
            "target_rate": self.target_rate.as_bps(),
            "smoothed_rtt": self.rtt.as_millis_f64(),
            "loss": self.loss,
            "bytes_queued": self.queued.0,
            "ecn_ce_packets": self.marked_packets,
            "ecn": self.ecn,
            "controller_state": self.controller_state,
            "controller": internals,
        })
    }
}

/// Returns the data of `call:path_state_updated`: the state of a path, and the one before it.
#[must_use]
pub fn path_state(path: u64, new: &str, old: Option<&str>) -> Value {
    let mut data = json!({ "path": path, "new": new });
    if let Some(old) = old {
        data["old"] = old.into();
    }
    data
}
