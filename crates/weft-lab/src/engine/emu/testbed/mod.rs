//! Executes a run: starts, connects, monitors and ends programs.

mod iperf;
pub mod job;
pub mod line;
mod process;

use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

use weft_experiment::Setup;

use crate::engine::EngineError;
use job::{End, ExitPolicy, Job, OutputFormat, StartTime};
use line::Sample;
use process::{Process, ProcessOutput};

/// Time limit for programs to become ready: a browser takes 2 s on an idle machine with
/// two cores; chosen by us.
pub const READY_WITHIN: Duration = Duration::from_secs(40);
/// Time after which a call without a connection has failed: ICE in libwebrtc gives up
/// after 15 s (p2p/base/p2p_constants.h); chosen by us.
const CONNECTED_WITHIN: Duration = Duration::from_secs(20);
/// Silence after which a client counts as hung; clients report every 500 ms. Chosen by
/// us: longer than any pause on a busy machine.
pub const SILENT_FOR: Duration = Duration::from_secs(10);
/// Time limit for clients to exit after their input has ended.
const GRACE: Duration = Duration::from_secs(3);
/// Time limit for other programs to exit after their flow has ended.
const ASKED_FOR: Duration = Duration::from_secs(1);
/// Time limit for a client to exit after it has reported an error; its exit status shows
/// the cause.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Interval of checks of the processes.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Hosts of the programs, and times of the flows.
pub struct Testbed<'a> {
    /// Creates a command for a program on the host of a flow's end.
    pub command: &'a dyn Fn(usize, End, &str) -> Command,
    /// Setup of the run, whose flows define the start and stop of programs.
    pub setup: &'a Setup,
    /// Whether to end early.
    pub halt: &'a dyn Fn() -> bool,
}

/// Output of a program of a run.
#[derive(Clone, Debug)]
pub struct ClientLog {
    /// Position of its flow.
    pub flow: usize,
    /// End of the flow: source or sink.
    pub end: End,
    /// The client's description of itself at its start: client, version, role, settings.
    pub about: Option<serde_json::Value>,
    /// Whether its connection was lost permanently.
    pub has_failed: bool,
    /// Its statistics about sending and receiving, in order of time.
    pub samples: Vec<Sample>,
}

struct Play<'a> {
    testbed: &'a Testbed<'a>,
    processes: Vec<Process>,
    sender: Sender<ProcessOutput>,
    heard: Receiver<ProcessOutput>,
    /// Time at which each flow was released.
    open: Vec<Option<Instant>>,
    closed: Vec<bool>,
}

impl Testbed<'_> {
    /// Starts everything, calls `begin` when all programs are ready, and runs until the
    /// end. Returns the logs, and the start in milliseconds since 1970; `None` if it was
    /// stopped.
    ///
    /// # Errors
    /// If a program cannot be started, exits, hangs or never connects.
    pub fn play(
        &self,
        jobs: Vec<Job>,
        begin: impl FnOnce(),
    ) -> Result<Option<(Vec<ClientLog>, f64)>, EngineError> {
        let (sender, heard) = channel();
        let mut play = Play {
            testbed: self,
            processes: Vec::new(),
            sender,
            heard,
            open: vec![None; self.setup.flows.len()],
            closed: vec![false; self.setup.flows.len()],
        };
        let (before, later): (Vec<Job>, Vec<Job>) = jobs
            .into_iter()
            .partition(|job| job.start == StartTime::Before);
        for job in before {
            play.start(job)?;
        }
        if !play.get_ready()? {
            return Ok(None);
        }
        begin();
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let unix_ms = unix.map_or(0.0, |since| since.as_secs_f64() * 1e3);
        if !play.run(later)? {
            return Ok(None);
        }
        Ok(Some((play.end(), unix_ms)))
    }
}

impl Play<'_> {
    fn start(&mut self, job: Job) -> Result<(), EngineError> {
        let command = (self.testbed.command)(job.flow, job.end, &job.command[0]);
        let place = (self.processes.len(), self.sender.clone());
        let process = Process::start(job, command, place)?;
        self.processes.push(process);
        Ok(())
    }

    /// Waits until all programs are ready; returns `false` if it was stopped.
    fn get_ready(&mut self) -> Result<bool, EngineError> {
        let begun = Instant::now();
        while !self.processes.iter().all(|process| process.ready) {
            if (self.testbed.halt)() {
                return Ok(false);
            }
            self.listen(LOOK_EVERY);
            self.check()?;
            if begun.elapsed() > READY_WITHIN {
                let late = self.processes.iter().find(|process| !process.ready);
                let what = late.map_or(String::new(), |p| self.name(p));
                return Err(EngineError::Run(format!(
                    "{what} is not ready after {} s: the machine is too slow or too busy; end other \
                     programs, or start it by hand as clients/README.md says",
                    READY_WITHIN.as_secs()
                )));
            }
        }
        Ok(true)
    }

    /// Runs the flows; returns `false` if it was stopped.
    fn run(&mut self, mut later: Vec<Job>) -> Result<bool, EngineError> {
        let begun = Instant::now();
        let setup = self.testbed.setup;
        let real = |time: weft_units::Duration| Duration::from_nanos(time.as_nanos());
        let length = real(setup.duration);
        let times = setup.flows.iter().map(|flow| {
            let stop = flow.stops_at(setup.duration);
            (real(flow.start), real(stop))
        });
        let times: Vec<(Duration, Duration)> = times.collect();
        loop {
            let now = begun.elapsed();
            if now >= length {
                return Ok(true);
            }
            if (self.testbed.halt)() {
                return Ok(false);
            }
            for (flow, (start, stop)) in times.iter().enumerate() {
                if now >= *start && self.open[flow].is_none() {
                    self.open_flow(flow, &mut later)?;
                }
                if now >= *stop && !self.closed[flow] {
                    self.close_flow(flow);
                }
            }
            for process in &mut self.processes {
                process.insist_after(ASKED_FOR);
            }
            let next = times.iter().flat_map(|(start, stop)| [*start, *stop]);
            let next = next.chain([length]).filter(|time| *time > now).min();
            let wait = next.map_or(LOOK_EVERY, |next| next.saturating_sub(begun.elapsed()));
            self.listen(wait.min(LOOK_EVERY));
            self.check()?;
        }
    }

    fn open_flow(&mut self, flow: usize, later: &mut Vec<Job>) -> Result<(), EngineError> {
        self.open[flow] = Some(Instant::now());
        let (now, rest): (Vec<Job>, Vec<Job>) = later.drain(..).partition(|job| job.flow == flow);
        *later = rest;
        for job in now {
            self.start(job)?;
        }
        for process in &mut self.processes {
            if process.job.flow == flow {
                process.heard_at = Instant::now();
                process.flush();
            }
        }
        Ok(())
    }

    fn close_flow(&mut self, flow: usize) {
        self.closed[flow] = true;
        for process in self.processes.iter_mut().filter(|p| p.job.flow == flow) {
            process.close_input();
            if process.job.output != OutputFormat::Lines && process.job.start == StartTime::WithFlow
            {
                process.ask_to_end();
            }
        }
    }

    /// Processes the programs' output, for at most this long.
    fn listen(&mut self, wait: Duration) {
        let until = Instant::now() + wait;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left) {
                Ok(heard) => self.take(&heard),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn take(&mut self, heard: &ProcessOutput) {
        let process = &mut self.processes[heard.process];
        let (flow, other) = (process.job.flow, process.job.end.other());
        let signal = process.hear(&heard.text);
        if let Some(line) = signal {
            let speaks = |p: &&mut Process| {
                p.job.flow == flow && p.job.end == other && p.job.output == OutputFormat::Lines
            };
            if let Some(there) = self.processes.iter_mut().find(speaks) {
                there.held.push(line);
            }
        }
        // Not before the start of its flow, so that the call starts on time.
        if self.open[flow].is_some() {
            self.processes
                .iter_mut()
                .filter(|p| p.job.flow == flow)
                .for_each(Process::flush);
        }
    }

    /// Checks that all programs behave as expected.
    fn check(&mut self) -> Result<(), EngineError> {
        for at in 0..self.processes.len() {
            let process = &mut self.processes[at];
            let flow = process.job.flow;
            let closed = self.closed[flow];
            let ended = process.has_ended();
            let process = &self.processes[at];
            let is_ending =
                process.reports.error.is_some() && !process.error_is_older_than(LAST_WORDS);
            if closed || is_ending && !ended || process.has_just_ended() {
                continue;
            }
            let status = process.ended.and_then(|status| status.code());
            let bad = match process.job.exit {
                ExitPolicy::Never => ended,
                ExitPolicy::WithSuccess => ended && status != Some(0),
            };
            if bad || process.reports.error.is_some() {
                let is_client = process.job.output == OutputFormat::Lines;
                let text = format!("{}: {}", self.name(process), process.last_words());
                /// Exit status of a shell for a missing program (POSIX, 2.8.2).
                const NOT_FOUND: i32 = 127;
                /// Exit status of a client that lacks a requirement and reported it.
                const LACKING: i32 = 3;
                return Err(match status {
                    Some(NOT_FOUND) => EngineError::Lacking(format!(
                        "{text}: install it; `make setup` installs what weft uses itself"
                    )),
                    Some(LACKING) if is_client => EngineError::Lacking(text),
                    _ => EngineError::Run(text),
                });
            }
            self.check_liveness(process)?;
        }
        Ok(())
    }

    fn check_liveness(&self, process: &Process) -> Result<(), EngineError> {
        let Some(opened) =
            self.open[process.job.flow].filter(|_| process.job.output == OutputFormat::Lines)
        else {
            return Ok(());
        };
        let name = self.name(process);
        if !process.reports.connected && opened.elapsed() > CONNECTED_WITHIN {
            return Err(EngineError::Run(format!(
                "{name} has no connection after {} s: check that the link carries packets both ways \
                 from the start of the flow on",
                CONNECTED_WITHIN.as_secs()
            )));
        }
        if process.reports.connected && process.heard_at.elapsed() > SILENT_FOR {
            return Err(EngineError::Run(format!(
                "{name} hangs: it has reported nothing for {} s, expected every 500 ms; check whether \
                 the machine is too slow or out of memory",
                SILENT_FOR.as_secs()
            )));
        }
        Ok(())
    }

    fn name(&self, process: &Process) -> String {
        let flow = &self.testbed.setup.flows[process.job.flow].name;
        let end = process.job.end.name();
        format!("{} at the {end} of flow `{flow}`", process.job.what)
    }

    /// Ends the remaining programs, and returns all logs.
    fn end(mut self) -> Vec<ClientLog> {
        for flow in 0..self.closed.len() {
            if !self.closed[flow] {
                self.close_flow(flow);
            }
        }
        let until = Instant::now() + GRACE;
        let is_ending = |p: &mut Process| {
            (p.job.output == OutputFormat::Lines || p.was_asked()) && !p.has_ended()
        };
        while Instant::now() < until && self.processes.iter_mut().any(is_ending) {
            for process in &mut self.processes {
                process.insist_after(ASKED_FOR);
            }
            self.listen(LOOK_EVERY);
        }
        let logs = self.processes.iter_mut().map(|process| ClientLog {
            flow: process.job.flow,
            end: process.job.end,
            about: process.reports.about.take(),
            has_failed: process.reports.has_failed,
            samples: std::mem::take(&mut process.reports.samples),
        });
        logs.collect()
    }
}

#[cfg(test)]
mod tests;
