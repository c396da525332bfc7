//! weft as the client under test: the real binary. The sink's host also runs a server and
//! a receiver, so the traffic on the network is the sender's call to that server over all
//! of its links.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use weft_experiment::{CallSetup, SideSetup};

use super::camera::{codec, film};
use super::shortage::Shortage;
use crate::engine::EngineError;
use crate::engine::emu::testbed::job::{End, Ends, ExitPolicy, Job, OutputFormat, StartTime};
use crate::engine::emu::testbed::line::{Received, Sample, Sent};
use crate::engine::emu::testbed::{ClientLog, SILENT_FOR};

const PORT: u16 = 8080;
const ROOM: &str = "lab";

/// Returns the jobs of a call.
pub fn jobs(
    (flow, call): (usize, &CallSetup),
    ends: &Ends,
    scratch: &Path,
) -> Result<Vec<Job>, EngineError> {
    let weft = binary()?;
    for end in [End::Source, End::Sink] {
        // A file of the previous run must not be mistaken for this run's.
        let _ = std::fs::remove_file(file(scratch, flow, end));
    }
    let job = |end: End, words: Vec<String>| Job {
        flow,
        end,
        what: "weft".to_owned(),
        command: [weft.clone()].into_iter().chain(words).collect(),
        environment: Vec::new(),
        start: StartTime::Before,
        output: OutputFormat::None,
        exit: ExitPolicy::Never,
    };
    let words = |text: String| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let server = Job {
        output: OutputFormat::FirstLine,
        ..job(
            End::Sink,
            words(format!("serve --listen 0.0.0.0:{PORT} --insecure-http")),
        )
    };
    let mut receiver = words(format!(
        "join http://{}:{PORT} --room {ROOM} --name sink",
        ends.sink_home
    ));
    receiver.extend(sending(&call.callee, &[ends.sink_home.to_string()]));
    receiver.extend([
        "--watch".to_owned(),
        "--stats".to_owned(),
        file(scratch, flow, End::Sink).display().to_string(),
    ]);
    let links: Vec<String> = ends.source.iter().map(ToString::to_string).collect();
    let mut sender = words(format!(
        "join http://{}:{PORT} --room {ROOM} --name source",
        ends.sink_home
    ));
    sender.extend(sending(&call.caller, &links));
    sender.extend([
        "--stats".to_owned(),
        file(scratch, flow, End::Source).display().to_string(),
    ]);
    Ok(vec![
        server,
        Job {
            start: StartTime::WithFlow,
            ..job(End::Sink, receiver)
        },
        Job {
            start: StartTime::WithFlow,
            ..job(End::Source, sender)
        },
    ])
}

/// Returns the path of this program if it is weft, or of the program in `WEFT_BIN`.
pub fn binary() -> Result<String, EngineError> {
    let named = std::env::var_os("WEFT_BIN").map(PathBuf::from);
    let this = std::env::current_exe().unwrap_or_default();
    let own = Some(&this).filter(|path| path.file_stem().is_some_and(|name| name == "weft"));
    let found = named.as_ref().or(own);
    let path = found.and_then(|path| path.canonicalize().ok()).ok_or_else(|| {
        let what = match &named {
            Some(path) => format!("there is no program {}, which WEFT_BIN names", path.display()),
            None => format!(
                "calls are made with a program called weft, and this one is {}: set WEFT_BIN to weft",
                this.display()
            ),
        };
        EngineError::Lacking(what)
    })?;
    Ok(path.display().to_string())
}

/// Returns the options for the sent media and the links.
pub fn sending(side: &SideSetup, links: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    links.iter().for_each(|link| add("--link", link.clone()));
    add("--scheduler", side.scheduler.to_string());
    add("--prefer", side.preference.to_string());
    add("--protection", side.protection.to_string());
    add("--controller", side.controller.to_string());
    add("--max-rate", format!("{}bit", side.max_rate.as_bps()));
    for camera in &side.cameras {
        let ((width, height), fps) = film(&camera.source);
        add("--camera", format!("clip:{width}x{height}@{fps}"));
    }
    // The scenario's setting applies to all cameras together.
    if let Some(camera) = side.cameras.first() {
        add("--degradation", camera.degradation.to_string());
        add("--codec", codec(&camera.source).to_string());
    }
    if !side.microphones.is_empty() {
        add("--mic", "tone".to_owned());
    }
    words
}

fn file(scratch: &Path, flow: usize, end: End) -> PathBuf {
    scratch.join(format!("weft-{flow}-{}.jsonl", end.name()))
}

/// Used fields of a line of `weft join --stats`.
#[derive(Deserialize)]
struct Line {
    unix_ms: f64,
    #[serde(default)]
    peers: Vec<Peer>,
    /// Keyed by participant.
    #[serde(default)]
    received: std::collections::BTreeMap<String, From>,
}

#[derive(Deserialize)]
struct Peer {
    #[serde(default)]
    target_mbps: f64,
    #[serde(default)]
    paths: Vec<PathLine>,
    #[serde(default)]
    cameras: Vec<CameraLine>,
    #[serde(default)]
    received: Vec<ReceiverLine>,
}

#[derive(Deserialize)]
struct PathLine {
    rtt_ms: f64,
    sent_bytes: f64,
}

#[derive(Deserialize)]
struct CameraLine {
    width: f64,
    height: f64,
    fps: f64,
    encoded: f64,
    dropped: f64,
    skipped: f64,
}

#[derive(Deserialize)]
struct ReceiverLine {
    playout_ms: f64,
    #[serde(default)]
    keyframe_requests: f64,
}

#[derive(Deserialize)]
struct From {
    bytes: f64,
    #[serde(default)]
    cameras: Vec<ReceivedCamera>,
}

/// A camera at its receiver, with decoded pictures.
#[derive(Deserialize)]
struct ReceivedCamera {
    bytes: f64,
    freezes: f64,
    freeze_s: f64,
    #[serde(default)]
    shown: f64,
    #[serde(default)]
    height: Option<f64>,
    #[serde(default)]
    latencies_ms: Vec<f64>,
    #[serde(default)]
    brisque: Vec<f64>,
}

/// Returns the logs of both ends of the flow. `ended_ms` is the end of the flow, in
/// milliseconds since 1970.
///
/// # Errors
/// If there was no call: an end reported nothing, stopped reporting, or received no media
/// from the other end.
pub fn logs(
    scratch: &Path,
    (flow, name): (usize, &str),
    call: &CallSetup,
    ended_ms: f64,
) -> Result<Vec<ClientLog>, EngineError> {
    let both = [
        (End::Source, &call.caller, &call.callee),
        (End::Sink, &call.callee, &call.caller),
    ];
    let ends = both.map(|(end, here, there)| {
        let text = std::fs::read_to_string(file(scratch, flow, end)).unwrap_or_default();
        let lines = text.lines();
        let lines = lines.filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let lines: Vec<Line> = lines.collect();
        let was_there = check(&lines, there, ended_ms);
        was_there.map_err(|what| {
            EngineError::Run(format!(
                "weft at the {} of flow `{name}` {what}",
                end.name()
            ))
        })?;
        let mut samples: Vec<Sample> = lines.iter().map(sample).collect();
        if end == End::Sink {
            // The server runs on this host, so its path crosses no link.
            samples.iter_mut().for_each(|sample| sample.rtt_ms = None);
        }
        add_rates(&mut samples);
        if let Some(camera) = here.cameras.first() {
            add_shortage(&mut samples, &lines, film(&camera.source).1);
        }
        Ok(ClientLog {
            flow,
            end,
            about: None,
            has_failed: false,
            samples,
        })
    });
    ends.into_iter().collect()
}

/// Checks that an end stayed in the call until its end, by its reports and the media from
/// `there`.
fn check(lines: &[Line], there: &SideSetup, ended_ms: f64) -> Result<(), &'static str> {
    let Some(last) = lines.last() else {
        return Err(
            "has reported no statistics, expected every second: it has not joined the room, or \
             hangs; use a faster machine or a longer run",
        );
    };
    let times = lines.iter().map(|line| line.unix_ms);
    let next = times.clone().skip(1).chain([ended_ms.max(last.unix_ms)]);
    let longest = times.zip(next).map(|(at, next)| next - at);
    if longest.fold(0.0, f64::max) > SILENT_FOR.as_secs_f64() * 1e3 {
        return Err(
            "hangs: it has reported no statistics for more than 10 s, expected every second; check \
             whether the machine is too slow or out of memory",
        );
    }
    let is_sent = !there.cameras.is_empty() || !there.microphones.is_empty();
    let mut received = lines.iter().flat_map(|line| line.received.values());
    if is_sent && !received.any(|from| from.bytes > 0.0) {
        return Err(
            "has received no media: check that every link carries packets both ways from the \
             start of the flow on, and that the run is long enough to connect",
        );
    }
    Ok(())
}

/// Adds the time for which the processor was too slow for the first camera.
fn add_shortage(samples: &mut [Sample], lines: &[Line], fps: u32) {
    let mut shortage = Shortage::of(f64::from(fps));
    for (sample, line) in samples.iter_mut().zip(lines) {
        let camera = line.peers.iter().flat_map(|peer| &peer.cameras).next();
        let (Some(camera), Some(sent)) = (camera, sample.sent.as_mut()) else {
            continue;
        };
        let pictures = camera.encoded + camera.dropped + camera.skipped;
        sent.cpu_limited_s = Some(shortage.on_count(line.unix_ms, pictures));
    }
}

/// Computes rates from the differences to the previous sample.
fn add_rates(samples: &mut [Sample]) {
    for at in (1..samples.len()).rev() {
        let (before, here) = samples.split_at_mut(at);
        let (then, now) = (&before[at - 1], &mut here[0]);
        let seconds = (now.unix_ms - then.unix_ms) / 1e3;
        let Some(received) = now.received.as_mut() else {
            continue;
        };
        let frames = then.received.as_ref().and_then(|then| then.frames);
        let grown = received.frames.zip(frames).map(|(now, then)| now - then);
        received.fps = grown.filter(|_| seconds > 0.0).map(|n| n / seconds);
    }
}

fn sample(line: &Line) -> Sample {
    let peers = || line.peers.iter();
    let paths = || peers().flat_map(|peer| &peer.paths);
    let camera = peers().flat_map(|peer| &peer.cameras).next();
    let sent = camera.map(|camera| Sent {
        bytes: Some(paths().map(|path| path.sent_bytes).sum()),
        frames: Some(camera.encoded),
        fps: Some(camera.fps),
        width: Some(camera.width),
        height: Some(camera.height),
        target_mbps: Some(peers().map(|peer| peer.target_mbps).sum()),
        ..Sent::default()
    });
    let from = line.received.values().next();
    let receivers = || peers().flat_map(|peer| &peer.received);
    let received = from.filter(|from| !from.cameras.is_empty()).map(|from| {
        let cameras = || from.cameras.iter();
        let mean = |of: fn(&ReceivedCamera) -> f64| {
            cameras().map(of).sum::<f64>() / from.cameras.len() as f64
        };
        Received {
            bytes: Some(from.bytes),
            frames: Some(mean(|camera| camera.shown)),
            freezes: Some(mean(|camera| camera.freezes)),
            freeze_s: Some(mean(|camera| camera.freeze_s)),
            height: cameras()
                .filter_map(|camera| camera.height)
                .reduce(f64::min),
            jitter_buffer_ms: receivers().map(|r| r.playout_ms).reduce(f64::max),
            latencies_ms: cameras().flat_map(|s| s.latencies_ms.clone()).collect(),
            brisque: cameras().flat_map(|s| s.brisque.clone()).collect(),
            goodput_bytes: Some(cameras().map(|camera| camera.bytes).sum()),
            ..Received::default()
        }
    });
    let requests = receivers().map(|r| r.keyframe_requests);
    let requests = requests.reduce(|sum, more| sum + more);
    let rtt = paths().map(|path| path.rtt_ms).filter(|rtt| *rtt > 0.0);
    Sample {
        unix_ms: line.unix_ms,
        rtt_ms: rtt.reduce(f64::min),
        sent: (sent.is_some() || requests.is_some()).then(|| Sent {
            plis: requests,
            ..sent.unwrap_or_default()
        }),
        received,
    }
}

#[cfg(test)]
mod tests;
