//! Calls under test: what is started at their ends.

use std::net::Ipv4Addr;
use std::path::Path;

use weft_publish::Degradation;
use weft_sim::encoder::{Codec, ModelSetup};
use weft_sim::{CallSetup, FlowSetup, SideSetup, SourceKind};

use super::job::{Begins, End, Ending, Ends, Job, Speech};
use super::{Client, EmuError, weft};

/// Where programs may write, and what cameras film.
pub struct CallFiles<'a> {
    /// A folder that is removed after the run.
    pub scratch: &'a Path,
    /// The file with the pictures of this size and frame rate.
    pub clip: &'a dyn Fn((u32, u32), u32) -> Result<String, EmuError>,
}

/// Width, height and frame rate of a camera.
pub type Film = ((u32, u32), u32);

/// The programs of a call.
///
/// # Errors
/// When the client cannot make such a call, or is not there.
pub fn jobs(
    client: &Client,
    (flow, setup, call): (usize, &FlowSetup, &CallSetup),
    ends: &Ends,
    files: &CallFiles<'_>,
) -> Result<Vec<Job>, EmuError> {
    match client {
        Client::Weft => weft::jobs((flow, call), ends, files.scratch),
        Client::Exec(command) => Ok(shell(command, flow, ends)),
        Client::Chromium | Client::Pion | Client::Aiortc => {
            let program = client.program()?.unwrap_or_default();
            let mut jobs = Vec::new();
            for end in [End::Sink, End::Source] {
                let side = match end {
                    End::Source => &call.caller,
                    End::Sink => &call.callee,
                };
                one_camera(client, &setup.name, side)?;
                let mut command = program.clone();
                command.extend(arguments(end, side, &call.caller, files)?);
                jobs.push(Job {
                    flow,
                    end,
                    what: client.name().to_owned(),
                    command,
                    environment: Vec::new(),
                    begins: Begins::Before,
                    speech: Speech::Lines,
                    ending: Ending::Never,
                });
            }
            Ok(jobs)
        }
    }
}

/// The same command at both ends, the sink's first. It tells them apart by its
/// environment.
fn shell(command: &str, flow: usize, ends: &Ends) -> Vec<Job> {
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
            begins: Begins::WithFlow,
            speech: Speech::None,
            ending: Ending::Well,
        }
    };
    vec![job(End::Sink), job(End::Source)]
}

fn one_camera(client: &Client, flow: &str, side: &SideSetup) -> Result<(), EmuError> {
    if side.cameras.len() <= 1 {
        return Ok(());
    }
    Err(EmuError::Lacking(format!(
        "flow `{flow}` has {} cameras, and the client {client} films with one: use --client weft, or \
         --set flows.{flow}.streams=1",
        side.cameras.len()
    )))
}

fn arguments(
    end: End,
    side: &SideSetup,
    caller: &SideSetup,
    files: &CallFiles<'_>,
) -> Result<Vec<String>, EmuError> {
    let role = match end {
        End::Source => "caller",
        End::Sink => "callee",
    };
    let mut words = vec!["--role".to_owned(), role.to_owned()];
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    add("--scratch", files.scratch.display().to_string());
    // What receives has no camera of its own, and says what it expects.
    let camera = side.cameras.first().or(caller.cameras.first());
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

/// What the camera films.
#[must_use]
pub fn film(source: &SourceKind) -> Film {
    match source {
        SourceKind::Model(ModelSetup {
            width, height, fps, ..
        }) => ((*width, *height), fps.round().max(1.0) as u32),
        // The synthetic codec has frames without pictures.
        SourceKind::Synthetic(setup) => ((1280, 720), setup.frame_rate.round().max(1.0) as u32),
    }
}

/// What the camera's pictures are encoded with.
#[must_use]
pub fn codec(source: &SourceKind) -> Codec {
    match source {
        SourceKind::Model(setup) => setup.codec,
        SourceKind::Synthetic(_) => Codec::Vp8,
    }
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
