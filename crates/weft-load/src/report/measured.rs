//! Counters of a run, from which its report is computed.

use std::collections::BTreeMap;

use crate::clip::Clip;
use crate::config::LoadConfig;
use crate::machine::Usage;
use crate::member::Member;
use crate::node::NodeReport;
use crate::received::Span;

/// Counters of a run.
pub(crate) struct Measured<'a> {
    pub config: &'a LoadConfig,
    pub clip: &'a Clip,
    pub members: &'a [Member],
    pub nodes: Vec<NodeReport>,
    /// Reason for each member that failed.
    pub failed: BTreeMap<u32, String>,
    pub joined: usize,
    pub span: Span,
    /// Usage of the server before the first participant, and at the start and the end of
    /// the measurement.
    pub server: Option<[Usage; 3]>,
    /// Usage of this process at the start and at the end.
    pub own: [Usage; 2],
    pub machine_idle: f64,
}

impl Measured<'_> {
    /// Returns the length of the measurement.
    pub fn seconds(&self) -> f64 {
        let span = self.span.until.saturating_since(self.span.from);
        span.as_secs_f64().max(0.001)
    }
}
