//! Cross traffic by iperf3, always with a time limit: the kernel's own TCP, and
//! constant-rate UDP.

use std::fmt::Write as _;

use weft_emu::MTU;
use weft_experiment::{
    Application, CongestionKind, EcnMode, FlowKind, FlowSetup, TcpSetup, UdpSetup,
};
use weft_units::{Bytes, Duration, Rng};

use super::testbed::READY_WITHIN;
use super::testbed::job::{End, Ends, ExitPolicy, Job, OutputFormat, StartTime};
use crate::engine::EngineError;

/// Default port of iperf3.
const PORT: u16 = 5201;
/// IPv4 and UDP headers (RFC 791 section 3.1, RFC 768).
const UDP_HEADERS: u64 = 28;
/// Maximum number of streams of one iperf3 process (its MAX_STREAMS).
const MOST_STREAMS: u32 = 128;
/// Maximum number of connections with transfers, each of which needs a server; chosen by
/// us, for machines that also run the client under test.
const MOST_TRANSFERS: u32 = 64;
/// Files below `/proc/sys/net/ipv4` that list the kernel's algorithms.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// Prints rates with a precision of 1 kbit/s (iperf3(1), `--format`).
const FORMAT: &str = "k";
/// Block size of transfers: the precision of their sizes.
const BLOCK: &str = "4K";

/// Returns the jobs of a flow that is not a call, in a run of this length.
///
/// # Errors
/// If iperf3 or the kernel does not support it.
pub fn jobs(
    flow: usize,
    setup: &FlowSetup,
    ends: &Ends,
    (duration, seed): (Duration, u64),
) -> Result<Vec<Job>, EngineError> {
    let until = setup.stops_at(duration);
    let traffic = Traffic {
        flow,
        ends,
        until: until.as_secs_f64().ceil(),
        limit: until.saturating_sub(setup.start).as_secs_f64().ceil(),
    };
    match &setup.kind {
        FlowKind::Tcp(tcp) => {
            let rng = Rng::new(seed).stream("emu").stream(&setup.name);
            traffic.tcp(&setup.name, tcp, &rng)
        }
        FlowKind::Udp(udp) => Ok(traffic.udp(*udp)),
        // The client and the models make calls; `lacking` has rejected the rest.
        _ => Ok(Vec::new()),
    }
}

/// Returns a property of this flow that iperf3 or the network does not support.
#[must_use]
pub fn lacking(kind: &FlowKind) -> Option<&'static str> {
    match kind {
        FlowKind::Tcp(tcp) => (tcp.ecn == EcnMode::On).then_some("uses TCP with ECN"),
        FlowKind::Udp(udp) => {
            (udp.packet > Bytes(MTU as u64)).then_some("sends packets of more than 1500 bytes")
        }
        FlowKind::Floor(_) => {
            Some("is the floor, an oracle that knows its links beforehand and sends no packets")
        }
        FlowKind::Conference(_) | FlowKind::Interconnect(_) => {
            Some("is a conference, which only the simulator has: use `--engine sim`")
        }
        FlowKind::App(_) => None,
        FlowKind::Call(_) => Some("is of a kind that has no program"),
    }
}

/// Returns a note about settings of the flow that the kernel ignores.
#[must_use]
pub fn note(setup: &FlowSetup) -> Option<String> {
    let queues = match &setup.kind {
        FlowKind::Tcp(tcp) => tcp.small_queues,
        _ => None,
    };
    queues.map(|_| {
        format!(
            "flow `{}`: small-queues applies to the simulator's TCP only; the kernel limits its \
             queues by its own rules",
            setup.name
        )
    })
}

struct Traffic<'a> {
    flow: usize,
    ends: &'a Ends,
    /// End of the flow in seconds after the start of the run.
    until: f64,
    /// Maximum duration in seconds.
    limit: f64,
}

impl Traffic<'_> {
    fn tcp(&self, name: &str, tcp: &TcpSetup, rng: &Rng) -> Result<Vec<Job>, EngineError> {
        let algorithm = kernels_name(name, tcp.congestion)?;
        let many = |most: u32| {
            let text = format!(
                "flow `{name}` has {} connections, and the engine emu makes at most {most} of this \
                 kind: give it fewer, or use --engine sim",
                tcp.connections
            );
            match tcp.connections <= most {
                true => Ok(()),
                false => Err(EngineError::Lacking(text)),
            }
        };
        if tcp.application == Application::LongLived {
            many(MOST_STREAMS)?;
            let client = format!("-C {algorithm} -P {}", tcp.connections);
            return Ok(self.pair(PORT, &client, OutputFormat::Iperf));
        }
        many(MOST_TRANSFERS)?;
        let mut jobs = Vec::new();
        for (connection, port) in (0..tcp.connections).zip(PORT..) {
            let mut rng = rng.stream(&connection.to_string());
            jobs.push(self.server(port, OutputFormat::Iperf));
            let list = self.transfers(&tcp.application, &mut rng);
            let client = self.client(port, &format!("-C {algorithm} -l {BLOCK} -n \"$size\""));
            let script = format!(
                "while read -r pause size; do sleep \"$pause\"; {client}; done <<'END'\n{list}END\n"
            );
            jobs.push(self.job(End::Source, vec!["sh".into(), "-c".into(), script]));
        }
        Ok(jobs)
    }

    fn udp(&self, udp: UdpSetup) -> Vec<Job> {
        let payload = udp.packet.0.saturating_sub(UDP_HEADERS).max(16);
        let rate = udp.rate.as_bps() as f64 * payload as f64 / udp.packet.0 as f64;
        let client = format!("-u -b {rate:.0} -l {payload}");
        self.pair(PORT, &client, OutputFormat::FirstLine)
    }

    /// Returns a server, and a client that sends until it is stopped.
    fn pair(&self, port: u16, arguments: &str, output: OutputFormat) -> Vec<Job> {
        let client = self.client(port, &format!("-t {} {arguments}", self.limit));
        let client = format!("exec {client}");
        vec![
            self.server(port, output),
            self.job(End::Source, vec!["sh".into(), "-c".into(), client]),
        ]
    }

    fn server(&self, port: u16, output: OutputFormat) -> Job {
        let here = self.ends.sink[0];
        let command = format!(
            "timeout -s KILL {} iperf3 -s -B {here} -p {port} -f {FORMAT} --forceflush",
            self.until + READY_WITHIN.as_secs_f64() + 60.0
        );
        Job {
            start: StartTime::Before,
            output,
            exit: ExitPolicy::Never,
            ..self.job(End::Sink, command.split(' ').map(str::to_owned).collect())
        }
    }

    fn client(&self, port: u16, arguments: &str) -> String {
        let (here, there) = (self.ends.source[0], self.ends.sink[0]);
        let limit = self.limit + 10.0;
        // In the process group of the script, so that it ends with the script.
        format!(
            "timeout --foreground -s KILL {limit} iperf3 -c {there} -B {here} -p {port} {arguments}"
        )
    }

    fn job(&self, end: End, command: Vec<String>) -> Job {
        Job {
            flow: self.flow,
            end,
            what: "iperf3".to_owned(),
            command,
            environment: Vec::new(),
            start: StartTime::WithFlow,
            output: OutputFormat::None,
            exit: ExitPolicy::WithSuccess,
        }
    }

    /// Returns lines of pauses in seconds and sizes in bytes that last longer than the
    /// run.
    fn transfers(&self, application: &Application, rng: &mut Rng) -> String {
        let mut list = String::new();
        match application {
            Application::LongLived => {}
            Application::Upload(size) => {
                let _ = writeln!(list, "0 {}", size.0);
            }
            Application::OnOff { size, mean_pause } => {
                /// Minimum duration of a connection with a transfer; chosen by us.
                const LEAST_S: f64 = 0.05;
                let mut time = 0.0;
                while time <= self.limit {
                    // Exponential, by inversion.
                    let pause = -mean_pause.as_secs_f64() * (1.0 - rng.unit()).ln();
                    let bytes = size.0.0 + rng.below(size.1.0 - size.0.0 + 1);
                    let _ = writeln!(list, "{pause:.3} {bytes}");
                    time += pause + LEAST_S;
                }
            }
        }
        list
    }
}

/// Returns the kernel's name of the algorithm.
///
/// # Errors
/// If the kernel does not support it.
pub fn kernels_name(flow: &str, congestion: CongestionKind) -> Result<&'static str, EngineError> {
    let name = match congestion {
        CongestionKind::Reno => "reno",
        CongestionKind::Cubic => "cubic",
        // Linux's `bbr` is version 1; the others are not in any release.
        CongestionKind::Bbr1 => "bbr",
        CongestionKind::Bbr2 => "bbr2",
        CongestionKind::Bbr3 => "bbr3",
    };
    let known = tcp_algorithms();
    if known.iter().any(|each| each == name) {
        return Ok(name);
    }
    Err(EngineError::Lacking(format!(
        "flow `{flow}`: this kernel's TCP has no {name} (it has {}): `modprobe tcp_{name}`, choose \
         another with --set flows.{flow}.algorithm=cubic, or use --engine sim",
        known.join(" ")
    )))
}

/// Returns the algorithms of this kernel's TCP, by its names.
#[must_use]
pub fn tcp_algorithms() -> Vec<String> {
    let known = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
    known.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
