//! Running program and its output.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use serde_json::Value;

use super::iperf::Meter;
use super::job::{Job, OutputFormat};
use super::line::{Line, Sample};
use crate::engine::EngineError;

/// Maximum size in bytes of the kept error output of a program; chosen by us: a few
/// lines.
const COMPLAINTS: usize = 2_000;
/// Time for reading a program's output after its exit, even on a busy machine; chosen by
/// us.
const LAST_LINES: Duration = Duration::from_millis(200);
/// Maximum length of a client's line: a picture of 1080p without colours has 2.8 MB in
/// Base64.
const LONGEST_LINE: u64 = 1 << 22;
/// Number of characters of an invalid line to quote; chosen by us: the start shows its
/// purpose.
const QUOTED: usize = 200;

/// Output of the process with this index.
pub struct ProcessOutput {
    pub process: usize,
    pub text: String,
}

/// Running program with all its children, in its own process group.
pub struct Process {
    pub job: Job,
    child: Child,
    input: Option<ChildStdin>,
    complaints: Arc<Mutex<Vec<u8>>>,
    /// Whether it accepts lines.
    pub ready: bool,
    /// Lines that it has not accepted yet.
    pub held: Vec<String>,
    /// Bytes that it has received, if it is iperf3.
    meter: Meter,
    /// Time of the last output.
    pub heard_at: Instant,
    /// All reports so far.
    pub reports: ProcessReports,
    /// Exit status.
    pub ended: Option<ExitStatus>,
    /// Time at which its exit was noticed.
    ended_at: Option<Instant>,
    /// Time at which it was asked to exit.
    asked_at: Option<Instant>,
    /// Whether the process was waited for, so that its id may be reused.
    is_over: bool,
}

/// Reports of a program about itself and its call.
#[derive(Default)]
pub struct ProcessReports {
    /// The program's description of itself at its start: client, version, role, settings.
    pub about: Option<Value>,
    /// Whether the connection was ever established.
    pub connected: bool,
    /// Whether its connection was lost permanently.
    pub has_failed: bool,
    /// Statistics so far.
    pub samples: Vec<Sample>,
    /// Error.
    pub error: Option<String>,
    /// Time when it first reported the error.
    error_at: Option<Instant>,
}

impl Process {
    /// Starts `command` for the job. Its output is labelled with `process`.
    pub fn start(
        job: Job,
        mut command: Command,
        (process, sender): (usize, Sender<ProcessOutput>),
    ) -> Result<Process, EngineError> {
        command.args(&job.command[1..]);
        command.envs(job.environment.iter().map(|(k, v)| (*k, v.as_str())));
        command.process_group(0).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            let program = &job.command[0];
            EngineError::Lacking(format!(
                "{program}: {error}: install it; `weft doctor` has all that is missing"
            ))
        })?;
        let complaints = Arc::new(Mutex::new(Vec::new()));
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || listen(output, process, &sender));
        }
        if let Some(errors) = child.stderr.take() {
            let kept = complaints.clone();
            thread::spawn(move || keep_tail(errors, &kept));
        }
        Ok(Process {
            ready: job.output == OutputFormat::None,
            input: child.stdin.take(),
            job,
            child,
            complaints,
            held: Vec::new(),
            meter: Meter::default(),
            heard_at: Instant::now(),
            reports: ProcessReports::default(),
            ended: None,
            ended_at: None,
            asked_at: None,
            is_over: false,
        })
    }

    /// Processes a line; returns the message for the other end.
    pub fn hear(&mut self, text: &str) -> Option<String> {
        self.heard_at = Instant::now();
        match self.job.output {
            OutputFormat::None => return None,
            OutputFormat::FirstLine => {
                self.ready = true;
                return None;
            }
            OutputFormat::Iperf => {
                self.ready = true;
                self.reports.samples.extend(self.meter.hear(text));
                return None;
            }
            OutputFormat::Lines => {}
        }
        let line = match serde_json::from_str::<Line>(text) {
            Ok(line) => line,
            Err(error) => {
                let text: String = text.chars().take(QUOTED).collect();
                self.go_wrong(format!(
                    "it wrote \"{text}\", which is not a line of a client ({error}): see clients/README.md"
                ));
                return None;
            }
        };
        self.ready |= line.ready;
        // W3C webrtc, RTCPeerConnectionState.
        match line.state.as_deref() {
            Some("connected") => (self.reports.connected, self.reports.has_failed) = (true, false),
            Some("failed") => self.reports.has_failed = true,
            _ => {}
        }
        self.reports.samples.extend(line.sample);
        if let Some(about) = line.about {
            self.reports.about = Some(Value::Object(about));
        }
        if let Some(error) = line.error {
            let remedy = line.remedy.map_or(String::new(), |r| format!(": {r}"));
            self.go_wrong(format!("{error}{remedy}"));
        }
        line.signal.is_some().then(|| text.to_owned())
    }

    /// Records the first error.
    fn go_wrong(&mut self, error: String) {
        self.reports.error.get_or_insert(error);
        self.reports.error_at.get_or_insert_with(Instant::now);
    }

    /// Whether it reported an error more than this long ago.
    pub fn error_is_older_than(&self, time: Duration) -> bool {
        self.reports.error_at.is_some_and(|at| at.elapsed() >= time)
    }

    /// Sends the lines that were kept.
    pub fn flush(&mut self) {
        let Some(input) = self.input.as_mut().filter(|_| self.ready) else {
            return;
        };
        for line in self.held.drain(..) {
            // A process that accepts no more lines has exited, which is noticed
            // elsewhere.
            let _ = writeln!(input, "{line}");
        }
    }

    /// Tells a client that its time is over.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Checks whether it has exited. Its id stays reserved for children that remain in
    /// its group.
    pub fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            let at_once = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let state = waitid(WaitId::Pid(self.id()), at_once).ok().flatten();
            self.ended = state.map(exit_status);
            self.ended_at = self.ended.map(|_| Instant::now());
        }
        self.ended.is_some()
    }

    /// Whether it has just exited, so that its last lines may not have arrived yet.
    pub fn has_just_ended(&self) -> bool {
        let since = self.ended_at.map(|at| at.elapsed());
        since.is_some_and(|since| since < LAST_LINES)
    }

    /// Asks it and all its children to exit.
    pub fn ask_to_end(&mut self) {
        self.asked_at = Some(Instant::now());
        self.signal(Signal::TERM);
    }

    /// Whether it was asked to exit.
    pub fn was_asked(&self) -> bool {
        self.asked_at.is_some()
    }

    /// Kills it if it was asked to exit this long ago.
    pub fn insist_after(&mut self, grace: Duration) {
        if self.asked_at.is_some_and(|at| at.elapsed() > grace) {
            self.kill();
        }
    }

    /// Kills it and all its children.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        if !self.is_over {
            self.ended = self.child.wait().ok().or(self.ended);
            self.is_over = true;
        }
    }

    fn signal(&self, signal: Signal) {
        if !self.is_over {
            // They may have exited by themselves.
            let _ = kill_process_group(self.id(), signal);
        }
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns the reason of its exit, from its own output if possible.
    pub fn last_words(&self) -> String {
        let kept = self
            .complaints
            .lock()
            .map(|k| k.clone())
            .unwrap_or_default();
        let kept = String::from_utf8_lossy(&kept);
        let line = kept.lines().rfind(|line| !line.trim().is_empty());
        let how = self.ended.map_or("running".to_owned(), |e| e.to_string());
        match (&self.reports.error, line) {
            (Some(error), _) => error.clone(),
            (None, Some(line)) => format!("{how}: {}", line.trim()),
            (None, None) => how,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Converts the status of wait(2).
fn exit_status(state: WaitIdStatus) -> ExitStatus {
    let code = state.exit_status().unwrap_or_default();
    ExitStatus::from_raw(code << 8 | state.terminating_signal().unwrap_or_default())
}

fn listen(output: impl Read, process: usize, sender: &Sender<ProcessOutput>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match output
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if !text.is_empty() && sender.send(ProcessOutput { process, text }).is_err() {
            return;
        }
    }
}

fn keep_tail(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let Ok(mut kept) = kept.lock() else { return };
        kept.extend_from_slice(&buffer[..length]);
        let excess = kept.len().saturating_sub(COMPLAINTS);
        kept.drain(..excess);
    }
}
