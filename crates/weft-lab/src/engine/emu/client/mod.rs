//! Program under test, and its jobs at the ends of a call.

pub mod camera;
mod exec;
mod lines;
mod programs;
pub mod scratch;
mod several;
pub mod shortage;
mod swarm;
pub mod weft;
mod weft_call;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use weft_experiment::{Application, CallSetup, FlowKind, FlowSetup, Setup};

use super::testbed::job::{Ends, Job};
use crate::engine::EngineError;
use camera::CallFiles;
use programs::{built, folder, in_node};
use several::Several;

/// Program at the ends of the calls under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Client {
    /// weft itself: `weft join` at both ends, with a server at the far end.
    Weft,
    /// weft's sender, connected directly to a browser that only receives.
    WeftCall,
    /// Two browsers.
    Chromium,
    /// Two endpoints of Pion, with its congestion control.
    Pion,
    /// Two endpoints of aiortc.
    Aiortc,
    /// Two SIP phones whose pictures have a fixed rate.
    Baresip,
    /// A stream over SRTLA, which bonds links below SRT.
    Srtla(SrtLatency),
    /// No client: for runs whose calls are all made by models of applications.
    Model,
    /// A BitTorrent swarm, which replaces a flow of kind `tcp` and makes no calls.
    Swarm,
    /// A shell command, started at both ends.
    Exec(String),
    /// Several clients for the flows of one run.
    Several(Box<Several<Client>>),
}

/// Time that SRT's receiver holds the stream, so that lost packets can be sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SrtLatency {
    /// 2000 ms: the default of belacoder, the sender.
    Usual,
    /// 500 ms.
    Short,
}

/// Error: unknown client.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "there is no client `{0}`: write weft, weft-call, chromium, pion, aiortc, baresip, srtla, srtla-500ms, model \
     or exec:COMMAND; \
     with another one for a flow, chromium,FLOW=pion; for one of kind tcp or udp exec:COMMAND, of kind tcp swarm"
)]
pub struct UnknownClient(String);

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(text: &str) -> Result<Client, UnknownClient> {
        let command = text.strip_prefix("exec:").map(str::trim);
        if let (None, Some((main, others))) = (command, text.split_once(',')) {
            return several(main, others);
        }
        match (text, command) {
            ("weft", _) => Ok(Client::Weft),
            ("weft-call", _) => Ok(Client::WeftCall),
            ("chromium", _) => Ok(Client::Chromium),
            ("pion", _) => Ok(Client::Pion),
            ("aiortc", _) => Ok(Client::Aiortc),
            ("baresip", _) => Ok(Client::Baresip),
            ("srtla", _) => Ok(Client::Srtla(SrtLatency::Usual)),
            ("srtla-500ms", _) => Ok(Client::Srtla(SrtLatency::Short)),
            ("model", _) => Ok(Client::Model),
            ("swarm", _) => Ok(Client::Swarm),
            (_, Some(command)) if !command.is_empty() => Ok(Client::Exec(command.to_owned())),
            _ => Err(UnknownClient(text.to_owned())),
        }
    }
}

/// Reads `CLIENT,FLOW=CLIENT,...`.
fn several(main: &str, others: &str) -> Result<Client, UnknownClient> {
    let other = |text: &str| {
        let pair = text.split_once('=').filter(|(flow, _)| !flow.is_empty());
        let (flow, client) = pair.ok_or_else(|| UnknownClient(text.to_owned()))?;
        Ok((flow.to_owned(), client.parse()?))
    };
    Ok(Client::Several(Box::new(Several {
        main: main.parse()?,
        others: others.split(',').map(other).collect::<Result<_, _>>()?,
    })))
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::Exec(command) => write!(f, "exec:{command}"),
            Client::Several(all) => write!(f, "{all}"),
            _ => f.write_str(self.name()),
        }
    }
}

impl Client {
    /// Returns the name in results.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Client::Weft => "weft",
            Client::WeftCall => "weft-call",
            Client::Chromium => "chromium",
            Client::Pion => "pion",
            Client::Aiortc => "aiortc",
            Client::Baresip => "baresip",
            Client::Srtla(SrtLatency::Usual) => "srtla",
            Client::Srtla(SrtLatency::Short) => "srtla-500ms",
            Client::Model => "model",
            Client::Swarm => "swarm",
            Client::Exec(_) => "exec",
            Client::Several(all) => all.main.name(),
        }
    }

    /// Returns the client that names a run with several clients; otherwise this one.
    #[must_use]
    pub fn main(&self) -> &Client {
        match self {
            Client::Several(all) => &all.main,
            _ => self,
        }
    }

    /// Whether weft sends. It receives all settings of a system, so it is run with each
    /// of them.
    #[must_use]
    pub fn is_weft(&self) -> bool {
        matches!(self.main(), Client::Weft | Client::WeftCall)
    }

    /// Returns the client of this flow, if it is a call.
    pub(super) fn of_flow(&self, name: &str) -> &Client {
        match self {
            Client::Several(all) => all.of_flow(name),
            _ => self,
        }
    }

    /// Returns the client given for this flow.
    pub(super) fn named_for(&self, name: &str) -> Option<&Client> {
        match self {
            Client::Several(all) => all.named_for(name),
            _ => None,
        }
    }

    /// Returns the reason why a client cannot make the flows assigned to it.
    pub(super) fn misfit(&self, setup: &Setup) -> Option<String> {
        match self {
            Client::Several(all) => {
                let (flow, client, why) = all.misfit(setup, Client::misfit_of)?;
                Some(format!(
                    "--client has {client} for flow `{flow}`, which {why}"
                ))
            }
            _ => None,
        }
    }

    /// Returns the reason why it cannot make this flow.
    fn misfit_of(&self, flow: &FlowSetup) -> Option<String> {
        let why = match (self, &flow.kind) {
            (Client::Swarm, FlowKind::Tcp(tcp)) if tcp.application != Application::LongLived => {
                Some("makes transfers of a given size, but a swarm sends continuously")
            }
            (Client::Swarm, FlowKind::Tcp(tcp)) => {
                let most = swarm::MOST_PEERS;
                return (tcp.connections > most).then(|| {
                    format!("has more connections than the {most} peers of a swarm: give it fewer")
                });
            }
            (Client::Swarm, _) => Some("is not of kind tcp, which a swarm requires"),
            (Client::Exec(_), FlowKind::Tcp(_) | FlowKind::Udp(_)) => None,
            _ if flow.traffic().media().is_some() => None,
            _ => Some("is not a call: use exec:COMMAND for kind tcp or udp, or swarm for kind tcp"),
        };
        why.map(str::to_owned)
    }

    /// Checks that its programs are installed.
    ///
    /// # Errors
    /// The missing program, with the remedy.
    pub fn find(&self) -> Result<(), EngineError> {
        match self {
            Client::Several(all) => all.all().try_for_each(Client::find),
            _ => self.program().map(drop),
        }
    }

    /// Returns the command of an end, for clients that exchange lines of JSON
    /// (`clients/README.md`).
    ///
    /// # Errors
    /// The missing part, with the remedy.
    fn program(&self) -> Result<Option<Vec<String>>, EngineError> {
        let words = match self {
            Client::Weft | Client::Model | Client::Exec(_) | Client::Several(_) => return Ok(None),
            Client::WeftCall => {
                weft::binary()?;
                return Client::Chromium.program();
            }
            Client::Chromium | Client::Baresip | Client::Swarm => in_node(self.name())?,
            Client::Srtla(latency) => {
                let mut words = in_node("srtla")?;
                if latency == &SrtLatency::Short {
                    // At 0.5 Mbit/s the usual 40 packets take longer than SRT waits.
                    let options = ["--latency", "500", "--reordered", "10"];
                    words.extend(options.map(str::to_owned));
                }
                words
            }
            Client::Pion => vec![built(
                &folder()?.join("pion"),
                "pion",
                "go build -o pion ./lab",
            )?],
            Client::Aiortc => {
                let folder = folder()?.join("aiortc");
                vec![
                    built(
                        &folder,
                        "venv/bin/python",
                        "python3 -m venv venv && venv/bin/pip install -r requirements.txt",
                    )?,
                    folder.join("main.py").display().to_string(),
                ]
            }
        };
        Ok(Some(words))
    }

    /// Returns the jobs of a call.
    ///
    /// # Errors
    /// If the client cannot make such a call, or is not installed.
    pub(super) fn jobs(
        &self,
        (flow, setup, call): (usize, &FlowSetup, &CallSetup),
        ends: &Ends,
        files: &CallFiles<'_>,
    ) -> Result<Vec<Job>, EngineError> {
        match self {
            Client::Several(all) => all
                .of_flow(&setup.name)
                .jobs((flow, setup, call), ends, files),
            Client::Weft => weft::jobs((flow, call), ends, files.scratch),
            Client::WeftCall => {
                let browser = self.program()?.unwrap_or_default();
                weft_call::jobs(&browser, (flow, setup, call), ends, files)
            }
            Client::Exec(command) => Ok(exec::jobs(command, flow, ends)),
            // Rejected earlier.
            Client::Model | Client::Swarm => Ok(Vec::new()),
            Client::Chromium
            | Client::Pion
            | Client::Aiortc
            | Client::Baresip
            | Client::Srtla(_) => {
                let program = self.program()?.unwrap_or_default();
                lines::jobs((self.name(), &program), (flow, setup, call), files)
            }
        }
    }

    /// Returns the jobs of a flow that is not a call and has its own client.
    ///
    /// # Errors
    /// If the client is not installed, or cannot make such a flow.
    pub(super) fn traffic_jobs(
        &self,
        (flow, setup): (usize, &FlowSetup),
        ends: &Ends,
        scratch: &Path,
    ) -> Result<Vec<Job>, EngineError> {
        match (self, &setup.kind) {
            (Client::Exec(command), _) => Ok(exec::jobs(command, flow, ends)),
            (Client::Swarm, FlowKind::Tcp(tcp)) => {
                let program = self.program()?.unwrap_or_default();
                swarm::jobs(&program, (flow, &setup.name, tcp), (ends, scratch))
            }
            // Rejected earlier.
            _ => Ok(Vec::new()),
        }
    }
}
