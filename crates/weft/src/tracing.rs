//! Options for traces of real calls.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use weft_trace::live::{TraceFault, TraceFiles, TraceSettings};
use weft_trace::qlog::VantagePoint;

use crate::exit::Failure;

/// Bytes after which the file of a server's events ends. Chosen by us: six million packets,
/// at 166 bytes each, which is enough to see a fault and never fills a disk.
const MOST_OF_A_SERVER: u64 = 1 << 30;

/// Traces of a call for other programs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traces")]
pub struct TraceArgs {
    /// Write the RTP and RTCP packets of this end into this file as pcapng for Wireshark,
    /// with an interface for each link. The file is not encrypted: it contains the pictures,
    /// the sound and the addresses of everybody in the call, but no keys. Only you can read
    /// it. A folder gets a new file each time
    #[arg(long, value_name = "FILE|DIR")]
    pub pcap: Option<PathBuf>,
    /// Write the events of this end into this file as qlog: states of the paths, values of
    /// the controllers, the path of each packet, frames that are encoded and shown; it
    /// contains addresses, but neither pictures nor sound. A folder gets a new file each time
    #[arg(long, value_name = "FILE|DIR")]
    pub qlog: Option<PathBuf>,
}

impl TraceArgs {
    /// Creates the requested files, named after the command if the target is a folder.
    pub fn create(
        &self,
        command: &str,
        vantage_point: VantagePoint,
    ) -> Result<TraceFiles, Failure> {
        let on_fault = Arc::new(|fault: &TraceFault| {
            complain!("weft: {fault}; media is not affected");
        });
        let wanted = (self.pcap.as_deref(), self.qlog.as_deref());
        let application = format!("weft {}", weft_lab::VERSION);
        let settings = TraceSettings {
            name: command,
            application: &application,
            vantage_point,
            // A server runs for as long as its machine.
            most_event_bytes: (vantage_point == VantagePoint::Server).then_some(MOST_OF_A_SERVER),
        };
        let files = TraceFiles::create(wanted, &settings, &(on_fault as _));
        let files = files.map_err(|error| Failure::Usage(error.to_string()))?;
        for path in files.paths() {
            complain!("weft: writing {}", path.display());
        }
        Ok(files)
    }
}

/// Completes the files; returns an error if one is incomplete.
pub fn finish(files: TraceFiles) -> Result<(), Failure> {
    let finished = files.finish();
    finished.map_err(|fault| Failure::Run(format!("a trace is incomplete: {fault}")))
}
