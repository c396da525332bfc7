//! The engine `emu`: a scenario with real packets, real TCP and real clients.
//!
//! Each flow has two hosts of its own on the scenario's links. Calls are the
//! client's, other flows iperf3's; what the links saw becomes the same record
//! that the simulator leaves behind, so metrics, self-check, series and report
//! are the same. `docs/experiment/real-clients.md` is the chapter.

mod client;
mod error;
mod latency;
mod record;
mod supported;
mod testbed;
mod traffic;
mod values;

use std::process::Command;

use weft_emu::{HostId, LinkId, Logging, Network, PacketLog, Report, Right, Running, Side};
use weft_experiment::{Direction, FlowKind, FlowSetup, Setup};
use weft_links::Tally;

use crate::measure::capacity::{Capacities, seeded};
use crate::measure::check::{self, Check};
use crate::measure::metrics;
use crate::measure::run::{self as measured, Value};
use crate::measure::series::Series;
use crate::run::{self, Failed, Run};
use crate::scenario::{Scenario, Variant};

pub use client::{Client, UnknownClient};
pub use error::EmuError;
pub use supported::supported;
pub use traffic::tcp_algorithms;

use client::camera::CallFiles;
use client::scratch::{self, Clips};
use record::Recorder;
use testbed::job::{End, Ends, Job};
use testbed::{ClientLog, Testbed};
use values::ClientLogs;

/// How runs are made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The client under test.
    pub client: Client,
    /// What becomes of a run in which the machine was too slow.
    pub late: Late,
}

/// What becomes of a run whose packets came too late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Late {
    /// It has failed.
    #[default]
    Rejected,
    /// It counts, with a note.
    Noted,
}

/// Takes the right to make networks. To be called first, while the process
/// has one thread.
///
/// # Errors
/// When the machine does not give it.
pub fn take_right() -> Result<(), EmuError> {
    let lacking = |error: weft_emu::RightError| EmuError::Lacking(error.to_string());
    Right::find().and_then(Right::take).map_err(lacking)
}

/// Runs every variant with every seed, one after the other, since all of them
/// need the machine for themselves. `each` is called for every run that
/// ended. Ends early, without an error, when `halt` says so.
///
/// # Errors
/// What the machine lacks, and then nothing more was run; or the error of
/// `each`.
pub fn run<E: From<EmuError>>(
    scenario: &Scenario,
    settings: &Settings,
    halt: &dyn Fn() -> bool,
    mut each: impl FnMut(run::Ended) -> Result<(), E>,
) -> Result<(), E> {
    let scratch = scratch::folder()?;
    let clips = Clips::new(scratch.path());
    for seed in 1..=u64::from(scenario.seeds) {
        for variant in 0..scenario.variants.len() {
            let run = Emulated {
                scenario,
                variant: &scenario.variants[variant],
                settings,
                seed,
                clips: &clips,
            };
            let ended = match run.run(halt) {
                Ok(None) => return Ok(()),
                Ok(Some(run)) => Ok(Run {
                    variant,
                    seed,
                    ..run
                }),
                Err(EmuError::Run(message)) => Err(Failed {
                    variant,
                    seed,
                    message,
                }),
                Err(lacking) => return Err(lacking.into()),
            };
            each(ended)?;
        }
    }
    Ok(())
}

/// One variant with one seed.
struct Emulated<'a> {
    scenario: &'a Scenario,
    variant: &'a Variant,
    settings: &'a Settings,
    seed: u64,
    clips: &'a Clips<'a>,
}

/// Who is where in the emulated network.
struct Plan {
    links: Vec<LinkId>,
    /// By flow: source and sink.
    hosts: Vec<[HostId; 2]>,
    ends: Vec<Ends>,
}

impl Emulated<'_> {
    fn run(&self, halt: &dyn Fn() -> bool) -> Result<Option<Run>, EmuError> {
        let setup = self.variant.traces.of(&self.variant.setup, self.seed);
        let setup = seeded(setup, self.seed);
        let (plan, network) = plan(&setup, self.seed);
        let jobs = self.jobs(&setup, &plan)?;
        let running = network.start();
        let running: Running = running.map_err(|error| EmuError::Lacking(error.to_string()))?;
        let command = |flow: usize, end: End, program: &str| -> Command {
            running.command(plan.hosts[flow][usize::from(end == End::Sink)], program)
        };
        let testbed = Testbed {
            command: &command,
            setup: &setup,
            halt,
        };
        let played = testbed.play(jobs, || running.begin());
        let report = running.stop();
        let Some((mut logs, began_ms)) = played? else {
            return Ok(None);
        };
        let log = report.packets.as_ref().map_err(|error| {
            EmuError::Run(format!(
                "the packets could not be written down: {error}: they are kept in memory: end other \
                 programs, or make the run shorter"
            ))
        });
        let log = log?.as_ref();
        let mut notes = Vec::new();
        if let Err(rejected) = report.verdict() {
            match self.settings.late {
                Late::Rejected => {
                    return Err(EmuError::Run(format!("the run is rejected: {rejected}")));
                }
                Late::Noted => notes.push(format!("not to be believed: {rejected}")),
            }
        }
        if self.settings.client == Client::Weft {
            for (flow, each) in setup.flows.iter().enumerate() {
                if let FlowKind::Call(call) = &each.kind {
                    let ended_ms = began_ms + each.stops_at(setup.duration).as_secs_f64() * 1e3;
                    let flow = (flow, each.name.as_str());
                    logs.extend(client::weft::logs(self.clips.folder, flow, call, ended_ms)?);
                }
            }
        }
        let mut run = self.measured(&setup, &plan, (&report, log), (&logs, began_ms));
        run.notes.append(&mut notes);
        Ok(Some(run))
    }

    fn jobs(&self, setup: &Setup, plan: &Plan) -> Result<Vec<Job>, EmuError> {
        let files = CallFiles {
            scratch: self.clips.folder,
            clip: &|size, fps| self.clips.file(size, fps),
        };
        let mut jobs = Vec::new();
        for (flow, each) in setup.flows.iter().enumerate() {
            let ends = &plan.ends[flow];
            jobs.extend(match &each.kind {
                FlowKind::Call(call) => {
                    self.settings
                        .client
                        .jobs((flow, each, call), ends, &files)?
                }
                FlowKind::Tcp(_) | FlowKind::Udp(_) => {
                    traffic::jobs(flow, each, ends, (setup.duration, self.seed))?
                }
            });
        }
        Ok(jobs)
    }

    fn measured(
        &self,
        setup: &Setup,
        plan: &Plan,
        (report, log): (&Report, Option<&PacketLog>),
        (logs, began_ms): (&[ClientLog], f64),
    ) -> Run {
        let mut recorder = Recorder::new(setup);
        for record in log.iter().flat_map(|log| log.iter()) {
            let link = plan
                .links
                .iter()
                .position(|id| *id == record.link)
                .unwrap_or_default();
            let flow = plan
                .hosts
                .iter()
                .position(|hosts| hosts.contains(&record.from));
            let flow = flow.map(|flow| match plan.hosts[flow][0] == record.from {
                true => (flow, End::Source),
                false => (flow, End::Sink),
            });
            recorder.add(&record::packet(&record, link, flow));
        }
        let left = plan.links.iter().map(|link| {
            let link = report.link(*link);
            [link.forward.in_flight, link.backward.in_flight]
        });
        let record = recorder.finish(&left.collect::<Vec<[Tally; 2]>>());
        let capacities = Capacities::of(setup);
        let run = measured::Run {
            setup,
            focus: &self.variant.focus,
            from: self.scenario.measure_from,
            capacities: &capacities,
            record: &record,
        };
        let clients = ClientLogs {
            setup,
            focus: &self.variant.focus,
            from: self.scenario.measure_from,
            logs,
            began_ms,
        };
        let mut values: Vec<Value> = metrics::measure(&run);
        values.extend(clients.values());
        values.sort_by_key(|(name, _)| metrics::position(name));
        let mut series = Series::of(&run);
        clients.add_series(&mut series);
        let mut notes = clients.notes();
        notes.extend(log.and_then(missing));
        notes.extend(report.refused());
        Run {
            variant: 0,
            seed: self.seed,
            values,
            series,
            checks: check::checks(&run)
                .into_iter()
                .chain(own_checks(report, log))
                .collect(),
            events: record.events,
            notes,
        }
    }
}

/// Whether the emulator itself kept up.
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

/// Two hosts for each flow, on the links that it takes.
fn plan(setup: &Setup, seed: u64) -> (Plan, Network) {
    let mut network = Network::new(seed);
    network.set_logging(Logging::Packets);
    let links = setup.links.iter();
    let links = links.map(|l| network.link(&l.name, l.forward.clone(), l.backward.clone()));
    let links: Vec<LinkId> = links.collect();
    let (mut hosts, mut ends) = (Vec::new(), Vec::new());
    for flow in &setup.flows {
        let source = network.host(&format!("{} source", flow.name));
        let sink = network.host(&format!("{} sink", flow.name));
        let home = network.home_address(sink).v4;
        let mut of = Ends {
            source: Vec::new(),
            sink: Vec::new(),
            sink_home: home,
        };
        for hop in hops(flow) {
            let (near, far) = match hop.direction {
                Direction::Forward => (source, sink),
                Direction::Backward => (sink, source),
            };
            let near_address = network.attach(near, links[hop.link], Side::Near).v4;
            let far_address = network.attach(far, links[hop.link], Side::Far).v4;
            let (from, to) = match hop.direction {
                Direction::Forward => (near_address, far_address),
                Direction::Backward => (far_address, near_address),
            };
            of.source.push(from);
            of.sink.push(to);
        }
        hosts.push([source, sink]);
        ends.push(of);
    }
    (Plan { links, hosts, ends }, network)
}

/// The one link of each route (`supported` has made sure).
fn hops(flow: &FlowSetup) -> impl Iterator<Item = weft_experiment::Hop> {
    flow.routes
        .iter()
        .filter_map(|route| route.hops.first().copied())
}

#[cfg(test)]
mod tests;
