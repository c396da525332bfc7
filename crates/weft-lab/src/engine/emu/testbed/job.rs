//! Programs that a run starts: where, when, and what is expected of them.

use std::net::Ipv4Addr;

/// An end of a flow, each a host of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// Where the flow's data comes from; the caller of a call.
    Source,
    /// Where it goes.
    Sink,
}

/// The addresses of a flow's two hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ends {
    /// Of the source, one for each of the flow's routes.
    pub source: Vec<Ipv4Addr>,
    /// Of the sink, likewise.
    pub sink: Vec<Ipv4Addr>,
    /// An address of the sink that every route leads to.
    pub sink_home: Ipv4Addr,
}

/// When a program is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begins {
    /// Before the run, which waits until it is ready.
    Before,
    /// When its flow starts.
    WithFlow,
}

/// What is read of a program's output, and when it is ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speech {
    /// Lines of JSON, as `clients/README.md` has them; ready when it says so.
    Lines,
    /// Nothing is read; ready with its first line of output.
    FirstLine,
    /// The table of an iperf3 that receives; ready with its first line.
    Iperf,
    /// Nothing is read; ready at once.
    None,
}

/// What it means when a program ends before its flow does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It must not.
    Never,
    /// It may, with exit status 0.
    Well,
}

/// A program to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Position of its flow.
    pub flow: usize,
    /// The host it runs on.
    pub end: End,
    /// What it is, for messages.
    pub what: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Variables of its environment.
    pub environment: Vec<(&'static str, String)>,
    /// When it is started.
    pub begins: Begins,
    /// What is read of its output.
    pub speech: Speech,
    /// Whether it may end by itself.
    pub ending: Ending,
}

impl End {
    /// In messages and names of files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            End::Source => "source",
            End::Sink => "sink",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> End {
        match self {
            End::Source => End::Sink,
            End::Sink => End::Source,
        }
    }
}
