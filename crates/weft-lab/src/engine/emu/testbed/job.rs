//! Programs of a run: their hosts, start times and expected behaviour.

use std::net::Ipv4Addr;

/// An end of a flow; each end is a separate host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// Source of the flow's data; the caller of a call.
    Source,
    /// Destination of the data.
    Sink,
}

/// Addresses of a flow's two hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ends {
    /// Addresses of the source, one for each of the flow's routes.
    pub source: Vec<Ipv4Addr>,
    /// Addresses of the sink, one for each of the flow's routes.
    pub sink: Vec<Ipv4Addr>,
    /// Address of the sink that every route reaches.
    pub sink_home: Ipv4Addr,
}

/// Start time of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartTime {
    /// Before the run, which waits until it is ready.
    Before,
    /// At the start of its flow.
    WithFlow,
}

/// Format of a program's output, and how it signals readiness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputFormat {
    /// Lines of JSON, as in `clients/README.md`; ready when a line says so.
    Lines,
    /// Output is ignored; ready with the first line.
    FirstLine,
    /// Table of a receiving iperf3; ready with the first line.
    Iperf,
    /// Output is ignored; ready at once.
    None,
}

/// Meaning of a program's exit before the end of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitPolicy {
    /// An error.
    Never,
    /// Accepted with exit status 0.
    WithSuccess,
}

/// Program to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Position of its flow.
    pub flow: usize,
    /// Host on which it runs.
    pub end: End,
    /// Description for messages.
    pub what: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(&'static str, String)>,
    /// Start time.
    pub start: StartTime,
    /// Format of its output.
    pub output: OutputFormat,
    /// Whether it may end by itself.
    pub exit: ExitPolicy,
}

impl End {
    /// Returns the name in messages and file names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            End::Source => "source",
            End::Sink => "sink",
        }
    }

    /// Returns the other end.
    #[must_use]
    pub const fn other(self) -> End {
        match self {
            End::Source => End::Sink,
            End::Sink => End::Source,
        }
    }
}
