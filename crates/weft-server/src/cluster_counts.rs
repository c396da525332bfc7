use std::sync::atomic::{AtomicU64, Ordering};

/// Statistics of a server's cluster, for metrics.
#[derive(Debug, Default)]
pub(crate) struct ClusterCounts {
    /// Other servers that are alive.
    pub(crate) servers: Count,
    /// Publications that come from other servers, or are being negotiated.
    pub(crate) pulls: Count,
    /// Connections to other servers that were not established, or ended early.
    pub(crate) failed: Count,
    /// Requests from other servers for publications that were refused.
    pub(crate) refused: Count,
}

/// Number that one task changes and others read.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn set(&self, value: usize) {
        self.0.store(value as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
