//! Clients that exchange lines of JSON (`clients/README.md`): how to start an end of a
//! call.

use weft_experiment::{CallSetup, FlowSetup, SideSetup};
use weft_publish::Degradation;

use super::camera::{CallFiles, film};
use crate::engine::EngineError;
use crate::engine::emu::testbed::job::{End, ExitPolicy, Job, OutputFormat, StartTime};

/// Returns the jobs for both ends of a call; `client` is the name, and `program` the
/// command.
///
/// # Errors
/// If the client cannot make such a call.
pub fn jobs(
    (client, program): (&'static str, &[String]),
    (flow, setup, call): (usize, &FlowSetup, &CallSetup),
    files: &CallFiles<'_>,
) -> Result<Vec<Job>, EngineError> {
    let mut jobs = Vec::new();
    for end in [End::Sink, End::Source] {
        let side = match end {
            End::Source => &call.caller,
            End::Sink => &call.callee,
        };
        one_camera(client, &setup.name, side)?;
        let mut command = program.to_vec();
        command.extend(arguments(end, call, files)?);
        jobs.push(Job {
            flow,
            end,
            what: client.to_owned(),
            command,
            environment: Vec::new(),
            start: StartTime::Before,
            output: OutputFormat::Lines,
            exit: ExitPolicy::Never,
        });
    }
    Ok(jobs)
}

/// Rejects calls with several cameras, for clients that have only one.
///
/// # Errors
/// The remedy, if the call has several.
pub fn one_camera(client: &str, flow: &str, side: &SideSetup) -> Result<(), EngineError> {
    if side.cameras.len() <= 1 {
        return Ok(());
    }
    Err(EngineError::Lacking(format!(
        "flow `{flow}` has {} cameras, and the client {client} films with one: use --client weft, or \
         --set flows.{flow}.streams=1",
        side.cameras.len()
    )))
}

/// Returns the arguments of an end.
///
/// # Errors
/// If its camera has no file.
pub fn arguments(
    end: End,
    call: &CallSetup,
    files: &CallFiles<'_>,
) -> Result<Vec<String>, EngineError> {
    let (role, side) = match end {
        End::Source => ("caller", &call.caller),
        End::Sink => ("callee", &call.callee),
    };
    let mut words = vec!["--role".to_owned(), role.to_owned()];
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    add("--scratch", files.scratch.display().to_string());
    // The receiver has no camera, but it gets the expected format.
    let camera = side.cameras.first().or(call.caller.cameras.first());
    if let Some(camera) = camera {
        let ((width, height), fps) = film(&camera.source);
        add("--size", format!("{width}x{height}"));
        add("--fps", fps.to_string());
        add("--max-bps", camera.max_rate.as_bps().to_string());
        add("--degradation", w3c_name(camera.degradation).to_owned());
    }
    if let Some(camera) = side.cameras.first() {
        let (size, fps) = film(&camera.source);
        add("--video", (files.clip)(size, fps)?);
        words.push("--send".to_owned());
    }
    if !side.microphones.is_empty() {
        words.push("--sound".to_owned());
    }
    Ok(words)
}

/// W3C mst-content-hint, RTCDegradationPreference.
fn w3c_name(degradation: Degradation) -> &'static str {
    match degradation {
        Degradation::MaintainFrameRate => "maintain-framerate",
        Degradation::MaintainResolution => "maintain-resolution",
        Degradation::Balanced => "balanced",
        Degradation::Off => "maintain-framerate-and-resolution",
    }
}
