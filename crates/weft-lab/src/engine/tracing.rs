//! The simulator with traces of its calls for other programs: packets as pcapng, events as
//! qlog.

mod calls;
mod events;
mod files;
mod packets;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use weft_experiment::Setup;
use weft_sim::{CapturedPacket, Observer};
use weft_units::Instant;

use super::sim::{Simulator, simulate};
use super::{Engine, EngineError, EngineKind, Halt, RunOutput};
use calls::calls;
use files::TraceFile;
use packets::Capture;

pub use files::TraceError;

/// Runs a setup in virtual time like [`Simulator`], and writes traces of its calls:
/// `NAME.FLOW.END.pcapng` and `NAME.FLOW.END.sqlog`, where `NAME` is that of the run.
#[derive(Clone, Debug)]
pub struct Tracing {
    pcap: Option<PathBuf>,
    qlog: Option<PathBuf>,
}

impl Tracing {
    /// Creates the requested folders for packets and events.
    ///
    /// # Errors
    /// If a folder cannot be created.
    pub fn new(pcap: Option<&Path>, qlog: Option<&Path>) -> Result<Tracing, TraceError> {
        for folder in [pcap, qlog].into_iter().flatten() {
            files::create_folder(folder)?;
        }
        Ok(Tracing {
            pcap: pcap.map(Path::to_owned),
            qlog: qlog.map(Path::to_owned),
        })
    }

    /// Whether a setup has something to trace.
    #[must_use]
    pub fn covers(setup: &Setup) -> bool {
        calls(setup).next().is_some()
    }
}

impl Engine for Tracing {
    fn kind(&self) -> EngineKind {
        EngineKind::Sim
    }

    fn at_a_time(&self, wanted: usize) -> usize {
        wanted
    }

    fn check(&self, setup: &Setup) -> Result<(), EngineError> {
        Simulator.check(setup)
    }

    fn run(
        &self,
        name: &str,
        setup: &Setup,
        seed: u64,
        halt: &Halt<'_>,
    ) -> Result<Option<RunOutput>, EngineError> {
        let captures = self
            .pcap
            .as_deref()
            .map(|pcap| packets::captures(pcap, name, setup));
        let captures = captures.transpose().map_err(lacking)?.unwrap_or_default();
        let mut observer = Observing {
            halt,
            captures,
            failed: None,
        };
        let output = simulate(setup, seed, halt, &mut observer)?;
        if let Some(error) = observer.failed {
            return Err(lacking(error));
        }
        let Some(output) = output else {
            // The drafts are removed.
            return Ok(None);
        };
        let files = observer.captures.into_iter().map(Capture::finish);
        let qlog = self.qlog.as_deref();
        let logs = qlog.map(|qlog| events::logs(qlog, name, setup, &output.record));
        let files = files.chain(logs.into_iter().flatten());
        let files = files.collect::<Result<Vec<TraceFile>, TraceError>>();
        let kept = files.and_then(|files| files.into_iter().try_for_each(TraceFile::keep));
        kept.map_err(lacking)?;
        Ok(Some(output))
    }
}

/// Returns an error that ends all runs, because the next one would fail too.
fn lacking(error: TraceError) -> EngineError {
    EngineError::Lacking(error.to_string())
}

/// Writes the packets of a run until an error, which ends the run.
struct Observing<'a> {
    halt: &'a Halt<'a>,
    captures: Vec<Capture>,
    failed: Option<TraceError>,
}

impl Observer for Observing<'_> {
    fn on_sample(&mut self, _: Instant) -> ControlFlow<()> {
        match self.failed.is_some() || (self.halt)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn wants_packets(&self) -> bool {
        !self.captures.is_empty()
    }

    fn on_packet(&mut self, packet: &CapturedPacket<'_>) {
        if self.failed.is_some() {
            return;
        }
        let mut captures = self.captures.iter_mut();
        if let Some(capture) = captures.find(|capture| capture.is_of(packet)) {
            self.failed = capture.add(packet).err();
        }
    }
}

#[cfg(test)]
mod tests;
