//! Phases of a run: publishers, newcomers, measurement, report.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use weft_endpoint::connect::ConnectError;
use weft_endpoint::signalling::SignallingError;
use weft_net::{Clock, Driver, ProcessUsage};
use weft_secure::Certificate;
use weft_units::Duration;

use crate::clip::{Clip, ClipError};
use crate::config::{Arrival, ConfigError, LoadConfig, Sound, Target};
use crate::machine::{MachineTime, Usage, UsageError, UsageSource};
use crate::member::{Member, Outcome, Part, Shared};
use crate::node::{Command, Common, LoadNode, NodeReport, RoleReport};
use crate::received::Span;
use crate::report::{LoadReport, Measured, build};

/// Time for the publishers' rate to rise before viewers join, and between the last viewer
/// and the measurement. Chosen by us: congestion control needs 2 s for 2.5 Mbit/s.
const SETTLE: StdDuration = StdDuration::from_secs(3);
/// Maximum wait for the last responses. Chosen by us: longer than a request with all its
/// attempts.
const PATIENCE: StdDuration = StdDuration::from_secs(15);
/// Pause between two publishers that join before the viewers.
const BETWEEN_PUBLISHERS: StdDuration = StdDuration::from_millis(50);
/// Time after the measurement for pictures in flight.
const ON_THE_WAY: StdDuration = StdDuration::from_secs(1);
/// Time limit for an address of the server to accept a connection. Chosen by us.
const REACH: StdDuration = StdDuration::from_secs(5);
/// Interval at which a wait checks for Ctrl-C.
const LOOK: StdDuration = StdDuration::from_millis(50);

/// Reason why a run cannot start, or has no figures.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The description is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The first participant cannot join, so nobody can.
    #[error(transparent)]
    Join(#[from] ConnectError),
    /// The clip cannot be encoded.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// The server's usage cannot be read.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A thread, readiness queue or certificate is unavailable.
    #[error("{0}")]
    Machine(String),
    /// The run was stopped before the measurement.
    #[error("stopped before the measurement began")]
    Stopped,
}

/// Stage of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// The clip is being encoded.
    Encoding,
    /// This many participants of all have joined or failed.
    Joining(usize, usize),
    /// The measurement has started, with this duration.
    Measuring(StdDuration),
}

/// Runs the load and returns its figures. `stop` ends it early: before the measurement
/// without figures, later with the figures until then.
///
/// # Errors
/// If the run cannot start, its first participant cannot join, or `stop` comes too early.
pub fn run(
    config: LoadConfig,
    stop: &AtomicBool,
    mut progress: impl FnMut(Progress),
) -> Result<LoadReport, LoadError> {
    config.check()?;
    let source = usage_source(&config);
    // Reports a wrong option at once instead of after the run.
    let before = source.as_ref().map(UsageSource::read).transpose()?;
    let local = local_address(&config)?;
    progress(Progress::Encoding);
    let clip = Arc::new(Clip::encode(&config.video)?);
    let clock = Clock::start();
    let common = Common {
        clip: clip.clone(),
        certificate: Certificate::generate().map_err(machine)?,
        local,
        clients: config.clients,
        sound: config.sound == Sound::On,
    };
    let node = |index: usize| {
        let node = LoadNode::new(common.clone(), clock.now());
        Driver::run(&format!("load-{index}"), clock, Vec::new(), node).map_err(machine)
    };
    let nodes: Vec<Driver<Command>> = (0..config.threads.max(1))
        .map(node)
        .collect::<Result<_, _>>()?;
    let (outcomes, received) = channel();
    let config = Arc::new(config);
    let course = Course {
        members: members(&config),
        shared: Shared {
            config: config.clone(),
            clock,
            nodes: nodes.iter().map(|node| node.remote.clone()).collect(),
            outcomes,
        },
        received,
        stop,
        joined: 0,
        failed: BTreeMap::new(),
    };
    let report = course.follow(&clip, (source, before), &mut progress);
    for node in nodes {
        node.remote.send(Command::Stop);
        node.join().map_err(machine)?;
    }
    report
}

fn machine(error: impl std::fmt::Display) -> LoadError {
    LoadError::Machine(error.to_string())
}

fn usage_source(config: &LoadConfig) -> Option<UsageSource> {
    let metrics = config.metrics.clone();
    let metrics = metrics.map(|url| UsageSource::Metrics(url, config.token.clone()));
    config.server_pid.map(UsageSource::Process).or(metrics)
}

/// Returns all members, the publishers first unless all publish.
fn members(config: &LoadConfig) -> Vec<Member> {
    let mut members = Vec::new();
    let people = config.people;
    let weak_of = |place: u32, all: u32| {
        let weak = config.weak.filter(|weak| place >= all - weak.count);
        weak.map(|weak| weak.rate)
    };
    let mut add = |room, name, part, weak| {
        let id = members.len() as u32;
        members.push(Member {
            id,
            room,
            name,
            part,
            weak,
        });
    };
    let publisher = |room: u32, place: u32| format!("load-{}-{}", room + 1, place + 1);
    for place in 0..people.publishers {
        for room in 0..config.rooms {
            let (part, weak) = match people.everybody {
                true => (Part::Both, weak_of(place, people.publishers)),
                false => (Part::Publish, None),
            };
            add(room, publisher(room, place), part, weak);
        }
    }
    for place in 0..people.viewers {
        for room in 0..config.rooms {
            // A connection to an endpoint carries one publisher.
            let publisher = match config.target {
                Target::Room { .. } => String::new(),
                Target::Endpoints { .. } => publisher(room, place % people.publishers),
            };
            let name = format!("viewer-{}-{}", room + 1, place + 1);
            let weak = weak_of(place, people.viewers);
            add(room, name, Part::View { publisher }, weak);
        }
    }
    members
}

/// Returns the address of this machine from which packets reach the server. The server
/// must accept connections; this is checked first, because encoding the clip takes long.
fn local_address(config: &LoadConfig) -> Result<IpAddr, LoadError> {
    let url = match &config.target {
        Target::Room { url } => url.clone(),
        Target::Endpoints { whep, .. } => config.address(whep, 0, "load-1-1"),
    };
    let failed = |error: SignallingError| LoadError::Join(ConnectError::Signalling(error));
    let (scheme, rest) = url
        .split_once("://")
        .filter(|(scheme, rest)| ["http", "https"].contains(scheme) && !rest.is_empty())
        .ok_or_else(|| failed(SignallingError::Url(url.clone())))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "https" { 443 } else { 80 };
    let address = match has_port {
        true => host.to_owned(),
        false => format!("{host}:{port}"),
    };
    let unknown = |error: String| {
        let url = format!("{scheme}://{host}");
        failed(SignallingError::UnknownHost { url, error })
    };
    let resolved = address.to_socket_addrs();
    let resolved = resolved.map_err(|error| unknown(error.to_string()))?;
    let mut last = None;
    for server in resolved {
        let reached = TcpStream::connect_timeout(&server, REACH);
        match reached.and_then(|stream| stream.local_addr()) {
            Ok(local) => return Ok(local.ip()),
            Err(error) => last = Some(error),
        }
    }
    let error = last.ok_or_else(|| unknown("it has no address".into()))?;
    Err(failed(SignallingError::Unreachable {
        url: format!("{scheme}://{host}"),
        error: error.to_string(),
    }))
}

struct Course<'a> {
    members: Vec<Member>,
    shared: Shared,
    received: Receiver<Outcome>,
    stop: &'a AtomicBool,
    joined: usize,
    failed: BTreeMap<u32, String>,
}

impl Course<'_> {
    fn follow(
        mut self,
        clip: &Clip,
        (source, before): (Option<UsageSource>, Option<Usage>),
        progress: &mut impl FnMut(Progress),
    ) -> Result<LoadReport, LoadError> {
        let early = self.members.iter().filter(|m| m.part == Part::Publish);
        let early = early.count();
        self.join_first(progress)?;
        for index in 1..early {
            self.wait_until(StdInstant::now() + BETWEEN_PUBLISHERS)?;
            self.join(index)?;
        }
        if early > 0 {
            self.wait_for_all(early, progress)?;
            self.wait_until(StdInstant::now() + SETTLE)?;
        }
        let first = early.max(1);
        let begun = StdInstant::now();
        let newcomers = self.members.len() - first;
        for place in 0..newcomers {
            self.wait_until(begun + arrival(self.shared.config.arrival, place, newcomers))?;
            self.join(first + place)?;
            progress(Progress::Joining(self.ended(), self.members.len()));
        }
        self.wait_for_all(self.members.len(), progress)?;
        self.wait_until(StdInstant::now() + SETTLE)?;
        self.measure(clip, (source, before), progress)
    }

    /// Returns the number of members that have joined or failed.
    fn ended(&self) -> usize {
        self.joined + self.failed.len()
    }

    fn join(&self, index: usize) -> Result<(), LoadError> {
        let member = self.members[index].clone();
        self.shared.join(member).map_err(machine)
    }

    /// Joins as the first member and waits for the outcome. If it is refused, so are all
    /// others, and its reason becomes that of the run.
    fn join_first(&mut self, progress: &mut impl FnMut(Progress)) -> Result<(), LoadError> {
        progress(Progress::Joining(0, self.members.len()));
        self.join(0)?;
        let outcome = self.received.recv_timeout(PATIENCE + SETTLE);
        match outcome {
            Ok(Outcome { joined: Ok(()), .. }) => {
                self.joined += 1;
                Ok(())
            }
            Ok(Outcome {
                joined: Err(error), ..
            }) => Err(LoadError::Join(error.into())),
            Err(_) => Err(LoadError::Join(ConnectError::Early)),
        }
    }

    fn take(&mut self, outcome: Outcome) {
        match outcome.joined {
            Ok(()) => self.joined += 1,
            Err(error) => {
                self.failed
                    .entry(outcome.member)
                    .or_insert_with(|| error.to_string());
            }
        }
    }

    /// Waits until `at`, and handles outcomes in the meantime.
    fn wait_until(&mut self, at: StdInstant) -> Result<(), LoadError> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(LoadError::Stopped);
            }
            let left = at.saturating_duration_since(StdInstant::now());
            match self.received.recv_timeout(left.min(LOOK)) {
                Ok(outcome) => self.take(outcome),
                Err(_) if left <= LOOK => return Ok(()),
                Err(_) => {}
            }
        }
    }

    fn wait_for_all(
        &mut self,
        count: usize,
        progress: &mut impl FnMut(Progress),
    ) -> Result<(), LoadError> {
        let end = StdInstant::now() + PATIENCE;
        while self.ended() < count && StdInstant::now() < end {
            self.wait_until(StdInstant::now() + LOOK)?;
            progress(Progress::Joining(self.ended(), self.members.len()));
        }
        Ok(())
    }

    fn measure(
        mut self,
        clip: &Clip,
        (source, before): (Option<UsageSource>, Option<Usage>),
        progress: &mut impl FnMut(Progress),
    ) -> Result<LoadReport, LoadError> {
        let config = self.shared.config.clone();
        let own = || ProcessUsage::own().unwrap_or_default().into();
        let read = || source.as_ref().map(UsageSource::read).transpose();
        let machine_time = || MachineTime::read().unwrap_or_default();
        progress(Progress::Measuring(config.duration));
        let (begin, own_begin, idle_begin) = (read()?, own(), machine_time());
        let from = self.shared.clock.now();
        let mut span = Span {
            from,
            until: from + Duration::from(config.duration),
        };
        self.send_all(|| Command::Measure(span));
        // Ctrl-C ends the measurement early.
        if self
            .wait_until(StdInstant::now() + config.duration)
            .is_err()
        {
            span.until = self.shared.clock.now();
            self.send_all(|| Command::Measure(span));
        }
        let (end, own_end, idle_end) = (read()?, own(), machine_time());
        thread::sleep(ON_THE_WAY);
        let nodes = self.reports()?;
        while let Ok(outcome) = self.received.try_recv() {
            self.take(outcome);
        }
        self.note_broken(&nodes);
        Ok(build(Measured {
            config: &config,
            clip,
            members: &self.members,
            nodes,
            joined: self.joined,
            failed: self.failed,
            span,
            server: before.zip(begin).zip(end).map(|((a, b), c)| [a, b, c]),
            own: [own_begin, own_end],
            machine_idle: idle_end.idle_since(idle_begin),
        }))
    }

    fn send_all(&self, command: impl Fn() -> Command) {
        for node in &self.shared.nodes {
            node.send(command());
        }
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LoadError> {
        let report = |node: &weft_net::Remote<Command>| {
            let (reply, answer) = channel();
            node.send(Command::Report(reply));
            let ended = |_| machine("a network thread has ended because of a bug");
            answer.recv().map_err(ended)
        };
        self.shared.nodes.iter().map(report).collect()
    }

    /// Records the members whose connection failed or was never established, and those
    /// without an outcome.
    fn note_broken(&mut self, nodes: &[NodeReport]) {
        for connection in nodes.iter().flat_map(|node| &node.connections) {
            let silent =
                "nothing came back over UDP: does a firewall block the server's media port?";
            let reason = match (&connection.failed, connection.connected_at) {
                (Some(reason), _) => reason.clone(),
                (None, None) => silent.to_owned(),
                (None, Some(_)) => continue,
            };
            let part = match connection.role {
                RoleReport::Publisher { .. } => "publishing",
                RoleReport::Viewer { .. } => "receiving",
            };
            let member = connection.new.member;
            self.failed
                .entry(member)
                .or_insert(format!("{part}: {reason}"));
        }
        let missing = self.members.len().saturating_sub(self.ended());
        let heard = |id: &u32| {
            let mut connections = nodes.iter().flat_map(|node| &node.connections);
            connections.any(|connection| connection.new.member == *id)
        };
        let silent: Vec<u32> = (0..self.members.len() as u32)
            .filter(|id| !heard(id) && !self.failed.contains_key(id))
            .take(missing)
            .collect();
        for id in silent {
            let seconds = PATIENCE.as_secs();
            let reason = format!("the server did not answer within {seconds} s");
            self.failed.insert(id, reason);
        }
    }
}

/// Returns the time of a newcomer after the first one.
fn arrival(arrival: Arrival, place: usize, all: usize) -> StdDuration {
    match arrival {
        Arrival::PerSecond(rate) => StdDuration::from_secs_f64(place as f64 / rate.max(0.01)),
        Arrival::Within(time) => time.mul_f64(place as f64 / all.max(1) as f64),
    }
}

#[cfg(test)]
mod tests;
