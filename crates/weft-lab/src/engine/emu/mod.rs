//! Engine `emu`: real packets, the kernel's TCP and real clients.
//!
//! Each flow has two separate hosts on the links. The client makes calls, models make the
//! calls of applications, and iperf3 makes the other flows. Packets on the links and
//! counters of the clients form a record, which is measured like any other.
//! `docs/experiment/real-clients.md` describes it.

mod application;
mod client;
mod latency;
mod limits;
mod model;
mod network;
mod record;
mod testbed;
mod traffic;

use std::process::Command;

use weft_emu::{PacketLog, Privilege, Report, Running};
use weft_experiment::{FlowDetail, FlowKind, Record, Setup};
use weft_media::metrics::Brisque;

use super::{Engine, EngineError, EngineKind, Halt, RunOutput};
use crate::measure::check::Check;

pub use client::shortage::Shortage;
pub use client::{Client, UnknownClient};
pub use model::{ModelEnd, ModelEndError, Role, UnknownRole};
pub use weft_apps::App;

pub(crate) use client::camera::{Film, film};
pub use traffic::tcp_algorithms;

use client::camera::CallFiles;
use client::scratch::{self, Clips};
use network::{FlowHosts, flow_hosts};
use record::Recorder;
use testbed::job::{End, Job};
use testbed::{ClientLog, Testbed};

/// Settings of the emulator.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The client under test.
    pub client: Client,
    /// Treatment of a run in which the machine was too slow.
    pub late: Late,
}

/// Treatment of a run whose packets were late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Late {
    /// The run fails.
    #[default]
    Rejected,
    /// The run counts, with a note.
    Noted,
}

/// Acquires the permission to create networks. Call it first, while the process has one
/// thread.
///
/// # Errors
/// If the machine does not grant it.
pub fn take_privilege() -> Result<(), EngineError> {
    let lacking = |error: weft_emu::PrivilegeError| EngineError::Lacking(error.to_string());
    Privilege::find().and_then(Privilege::take).map_err(lacking)
}

/// Runs a setup with real packets and programs, in its own namespaces.
#[derive(Debug)]
pub struct Emulator {
    settings: Settings,
    clips: Clips,
}

impl Emulator {
    /// Creates an emulator with these settings.
    ///
    /// # Errors
    /// If the folder for the clients' files cannot be created.
    pub fn new(settings: Settings) -> Result<Emulator, EngineError> {
        let clips = Clips::new(scratch::folder()?);
        Ok(Emulator { settings, clips })
    }
}

impl Engine for Emulator {
    fn kind(&self) -> EngineKind {
        EngineKind::Emu
    }

    /// One at a time, because each run needs the whole machine.
    fn at_a_time(&self, _: usize) -> usize {
        1
    }

    fn check(&self, setup: &Setup) -> Result<(), EngineError> {
        limits::check(setup, &self.settings.client)
    }

    fn run(
        &self,
        _: &str,
        setup: &Setup,
        seed: u64,
        halt: &Halt<'_>,
    ) -> Result<Option<RunOutput>, EngineError> {
        let (flow_hosts, network) = flow_hosts(setup, seed);
        let jobs = self.jobs(setup, &flow_hosts, seed)?;
        let running = network.start();
        let running: Running = running.map_err(|error| EngineError::Lacking(error.to_string()))?;
        let command = |flow: usize, end: End, program: &str| -> Command {
            running.command(
                flow_hosts.hosts[flow][usize::from(end == End::Sink)],
                program,
            )
        };
        let testbed = Testbed {
            command: &command,
            setup,
            halt,
        };
        let played = testbed.play(jobs, || running.begin());
        let report = running.stop();
        let Some((mut logs, began_ms)) = played? else {
            return Ok(None);
        };
        let packets = report.packets.as_ref().map_err(|error| {
            EngineError::Run(format!(
                "the packets could not be written down: {error}: they are kept in memory: end other \
                 programs, or make the run shorter"
            ))
        });
        let packets = packets?.as_ref();
        let doubt = self.doubt(&report)?;
        logs.extend(self.statistics(setup, began_ms)?);
        let mut notes = application::notes(setup, &logs);
        notes.extend(setup.flows.iter().filter_map(traffic::note));
        notes.extend(packets.and_then(missing));
        notes.extend(report.refused());
        notes.extend(doubt);
        let judge = application::has_pictures(&logs).then(Brisque::installed);
        if let Some(Err(error)) = &judge {
            notes.push(format!("`brisque` is not measured: {error}"));
        }
        let judge = judge.and_then(Result::ok);
        let details = application::details(setup, &logs, began_ms, judge.as_ref());
        Ok(Some(RunOutput {
            record: recorded(setup, &flow_hosts, (&report, packets), details),
            checks: own_checks(&report, packets).to_vec(),
            notes,
        }))
    }
}

impl Emulator {
    fn jobs(
        &self,
        setup: &Setup,
        flow_hosts: &FlowHosts,
        seed: u64,
    ) -> Result<Vec<Job>, EngineError> {
        let files = CallFiles {
            scratch: self.clips.folder(),
            clip: &|size, fps| self.clips.file(size, fps),
        };
        let mut jobs = Vec::new();
        for (flow, each) in setup.flows.iter().enumerate() {
            let ends = &flow_hosts.ends[flow];
            jobs.extend(match &each.kind {
                FlowKind::Call(call) => {
                    let client = &self.settings.client;
                    client.jobs((flow, each, call), ends, &files)?
                }
                FlowKind::App(app) => model::jobs(flow, (each, app), ends, seed)?,
                _ => match self.settings.client.named_for(&each.name) {
                    Some(program) => program.traffic_jobs((flow, each), ends, files.scratch)?,
                    None => traffic::jobs(flow, each, ends, (setup.duration, seed))?,
                },
            });
        }
        Ok(jobs)
    }

    /// Returns the reason to doubt a run that counts nevertheless.
    fn doubt(&self, report: &Report) -> Result<Option<String>, EngineError> {
        match (report.verdict(), self.settings.late) {
            (Ok(()), _) => Ok(None),
            (Err(rejected), Late::Rejected) => {
                Err(EngineError::Run(format!("the run is rejected: {rejected}")))
            }
            (Err(rejected), Late::Noted) => Ok(Some(format!("unreliable: {rejected}"))),
        }
    }

    /// Reads the statistics that weft has written, if it is the client.
    fn statistics(&self, setup: &Setup, began_ms: f64) -> Result<Vec<ClientLog>, EngineError> {
        let mut logs = Vec::new();
        for (flow, each) in setup.flows.iter().enumerate() {
            let is_weft = *self.settings.client.of_flow(&each.name) == Client::Weft;
            if let Some(call) = each.traffic().media().filter(|_| is_weft) {
                let ended_ms = began_ms + each.stops_at(setup.duration).as_secs_f64() * 1e3;
                let flow = (flow, each.name.as_str());
                logs.extend(client::weft::logs(
                    self.clips.folder(),
                    flow,
                    call,
                    ended_ms,
                )?);
            }
        }
        Ok(logs)
    }
}

fn recorded(
    setup: &Setup,
    flow_hosts: &FlowHosts,
    (report, packets): (&Report, Option<&PacketLog>),
    details: Vec<FlowDetail>,
) -> Record {
    let mut recorder = Recorder::new(setup);
    for packet in packets.iter().flat_map(|packets| packets.iter()) {
        let mut links = flow_hosts.links.iter();
        let link = links.position(|id| *id == packet.link).unwrap_or_default();
        let mut hosts = flow_hosts.hosts.iter();
        let flow = hosts.position(|hosts| hosts.contains(&packet.from));
        let flow = flow.map(|flow| match flow_hosts.hosts[flow][0] == packet.from {
            true => (flow, End::Source),
            false => (flow, End::Sink),
        });
        recorder.add(&record::packet(&packet, link, flow));
    }
    recorder.finish(&report.links, details)
}

/// Checks that the emulator itself was fast enough.
fn own_checks(report: &Report, log: Option<&PacketLog>) -> [Check; 2] {
    let [.., late] = report.lateness_percentiles();
    let lost = log.map_or(0, PacketLog::lost);
    let check = |what, configured, measured| Check {
        of: "emulator".to_owned(),
        what,
        configured,
        measured,
        ok: measured <= configured,
    };
    let limit = report.lateness_limit.as_millis_f64();
    [
        check("late_ms", limit, late.as_millis_f64()),
        check("unlogged", 0.0, lost as f64),
    ]
}

fn missing(log: &PacketLog) -> Option<String> {
    let lost = log.lost();
    (lost > 0).then(|| format!("{lost} packets are missing from the log: rates are too low"))
}

#[cfg(test)]
mod tests;
