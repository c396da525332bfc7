//! Client under test that is any shell command.

use std::net::Ipv4Addr;

use crate::engine::emu::testbed::job::{End, Ends, ExitPolicy, Job, OutputFormat, StartTime};

/// Returns a job for each end, the sink first. Both have the same command, which
/// distinguishes the ends by its environment.
pub fn jobs(command: &str, flow: usize, ends: &Ends) -> Vec<Job> {
    let job = |end: End| {
        let (role, here, there) = match end {
            End::Source => ("caller", &ends.source, &ends.sink),
            End::Sink => ("callee", &ends.sink, &ends.source),
        };
        let all = |of: &[Ipv4Addr]| {
            let words: Vec<String> = of.iter().map(ToString::to_string).collect();
            words.join(" ")
        };
        let command = ["sh", "-c", command];
        Job {
            flow,
            end,
            what: "the command".to_owned(),
            command: command.map(str::to_owned).to_vec(),
            environment: vec![
                ("WEFT_ROLE", role.to_owned()),
                ("WEFT_ADDRESS", here[0].to_string()),
                ("WEFT_ADDRESSES", all(here)),
                ("WEFT_PEER", there[0].to_string()),
                ("WEFT_PEERS", all(there)),
            ],
            start: StartTime::WithFlow,
            output: OutputFormat::None,
            exit: ExitPolicy::WithSuccess,
        }
    };
    vec![job(End::Sink), job(End::Source)]
}
