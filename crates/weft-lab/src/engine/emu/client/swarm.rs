//! BitTorrent swarm instead of long-lived TCP: one seed at the source, and a peer at the
//! sink for each connection of the flow.

use std::path::Path;

use weft_experiment::TcpSetup;

use crate::engine::EngineError;
use crate::engine::emu::testbed::job::{End, Ends, ExitPolicy, Job, OutputFormat, StartTime};
use crate::engine::emu::traffic::kernels_name;

/// Maximum number of peers. Each is a process with its own address; chosen by us, for
/// machines that also run the client under test.
pub const MOST_PEERS: u32 = 64;

/// Returns the jobs for both ends; `program` is the command of an end.
///
/// # Errors
/// If the kernel lacks the algorithm.
pub fn jobs(
    program: &[String],
    (flow, name, tcp): (usize, &str, &TcpSetup),
    (ends, scratch): (&Ends, &Path),
) -> Result<Vec<Job>, EngineError> {
    let algorithm = kernels_name(name, tcp.congestion)?;
    let job = |end: End| {
        let role = match end {
            End::Source => "caller",
            End::Sink => "callee",
        };
        let told = [
            ("--role", role.to_owned()),
            ("--peers", tcp.connections.to_string()),
            ("--network", ends.sink_home.to_string()),
            ("--algorithm", algorithm.to_owned()),
            ("--scratch", scratch.display().to_string()),
        ];
        let told = told.map(|(name, value)| [name.to_owned(), value]);
        let mut command = program.to_vec();
        command.extend(told.into_iter().flatten());
        Job {
            flow,
            end,
            what: "swarm".to_owned(),
            command,
            environment: Vec::new(),
            start: StartTime::Before,
            output: OutputFormat::Lines,
            exit: ExitPolicy::Never,
        }
    };
    Ok([End::Sink, End::Source].map(job).to_vec())
}
