//! weft's own sender, connected directly to a browser without a server: `weft emu call`
//! over all links of the call at one end, Chromium at the other.

use weft_experiment::{CallSetup, FlowSetup};

use super::camera::CallFiles;
use super::lines;
use super::weft::{binary, sending};
use crate::engine::EngineError;
use crate::engine::emu::testbed::job::{End, Ends, ExitPolicy, Job, OutputFormat, StartTime};

/// Returns the jobs for both ends of a call; `browser` is the command of Chromium.
///
/// # Errors
/// If such a call is impossible, or a program is not installed.
pub fn jobs(
    browser: &[String],
    (flow, setup, call): (usize, &FlowSetup, &CallSetup),
    ends: &Ends,
    files: &CallFiles<'_>,
) -> Result<Vec<Job>, EngineError> {
    let name = &setup.name;
    if !call.callee.cameras.is_empty() || !call.callee.microphones.is_empty() {
        return Err(EngineError::Lacking(format!(
            "flow `{name}` goes both ways, and the client weft-call sends to a browser that only \
             watches: use --client weft, or --set flows.{name}.media=one-way"
        )));
    }
    let links: Vec<String> = ends.source.iter().map(ToString::to_string).collect();
    let mut sender = vec![binary()?, "emu".to_owned(), "call".to_owned()];
    sender.extend(sending(&call.caller, &links));
    let mut watcher = browser.to_vec();
    watcher.extend(lines::arguments(End::Sink, call, files)?);
    let job = |end: End, what: &str, command: Vec<String>| Job {
        flow,
        end,
        what: what.to_owned(),
        command,
        environment: Vec::new(),
        start: StartTime::Before,
        output: OutputFormat::Lines,
        exit: ExitPolicy::Never,
    };
    lines::one_camera("weft-call", name, &call.caller)?;
    Ok(vec![
        job(End::Sink, "chromium", watcher),
        job(End::Source, "weft", sender),
    ])
}
