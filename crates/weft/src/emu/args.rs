//! Arguments of `weft emu`.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use weft_lab::engine::emu::{App, Role};
use weft_links::{LinkSpec, MediumSpec};
use weft_units::Rate;

use crate::sending::MediaArgs;

#[derive(Debug, Args)]
pub struct EmuArgs {
    #[command(subcommand)]
    pub command: EmuCommand,
}

#[derive(Debug, Subcommand)]
pub enum EmuCommand {
    /// Run a shell, or any program, behind emulated links
    #[command(after_help = SHELL_HELP, after_long_help = SHELL_HELP)]
    Shell(ShellArgs),
    /// Run one end of an application's model over UDP, as `weft lab run` does
    #[command(after_help = APP_HELP, after_long_help = APP_HELP)]
    App(AppArgs),
    /// Run the sender of a direct call to another program, as `weft lab run`
    /// does
    #[command(after_help = CALL_HELP, after_long_help = CALL_HELP)]
    Call(CallerArgs),
}

const CALL_HELP: &str = "\
It uses the line protocol of clients/README.md: it makes the offer, takes the answer of the other \
end, and exits at the end of its input. To call a browser by hand:

  node clients/pair.mjs 10 weft emu call --link 127.0.0.1 --camera clip:360p \
    -- node clients/chromium/main.mjs --role callee";

#[derive(Debug, Args)]
pub struct CallerArgs {
    #[command(flatten)]
    pub media: MediaArgs,
}

const APP_HELP: &str = "\
It uses the line protocol of clients/README.md: it reports that it is ready, waits for a line of the \
other end, starts, and exits at the end of its input. To let two of them call each other by hand:

  node clients/pair.mjs 10 weft emu app skype --role caller --here 127.0.0.2 --peer 127.0.0.3 \
    -- weft emu app skype --role callee --here 127.0.0.3 --peer 127.0.0.2

docs/models/applications.md describes the applications.";

#[derive(Debug, Args)]
pub struct AppArgs {
    /// Application: whatsapp, zoom-backend, zoom-client, skype, live-messenger,
    /// eyebeam, x-lite
    pub app: App,
    /// Role of this end: the caller sends media, the callee receives it
    #[arg(long, value_name = "caller|callee")]
    pub role: Role,
    /// Also send media from the callee
    #[arg(long)]
    pub both_ways: bool,
    /// Address of this end
    #[arg(long, value_name = "ADDRESS")]
    pub here: Ipv4Addr,
    /// Address of the other end
    #[arg(long, value_name = "ADDRESS")]
    pub peer: Ipv4Addr,
    /// Highest rate, such as 560kbit (default: that of the application)
    #[arg(long, value_name = "RATE", value_parser = crate::values::rate)]
    pub max_rate: Option<Rate>,
    /// Seed of the model's random numbers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::values::number::<u64>)]
    pub seed: u64,
    /// Name of the flow, which also affects the random numbers
    #[arg(long, value_name = "NAME", default_value = "call")]
    pub flow: String,
}

const SHELL_HELP: &str = "\
As root, the other end of the links is this machine. From inside you reach its services at \
$WEFT_EMU_FAR (IPv4) and $WEFT_EMU_FAR6, and the machine reaches programs inside at \
$WEFT_EMU_NEAR. Programs inside cannot reach other machines or resolve names unless you forward \
packets (docs/experiment/emulator.md). Without root, or with --isolated, the other end is a \
separate network that answers pings; --far starts a program there.

With several links, each has its own addresses ($WEFT_EMU_NEAR_1, $WEFT_EMU_FAR_1 and so on; \
those without a number belong to the first link), and a socket bound to one of them uses that link.

The exit status is the program's; 2 if an argument is invalid, 3 if this machine lacks something or \
the program is not found, and 128 plus the signal's number after a signal. SIGTERM and SIGHUP end \
everything; Ctrl-C on a terminal goes to the program.

Examples:
  weft emu shell --link rate=5mbit,delay=25ms,queue=2bdp
  weft emu shell --link trace=lte.up,delay=40ms --down trace=lte.down,delay=40ms -- ping -c 10 198.18.0.1
  weft emu shell --link wifi=rate=20mbit,delay=10ms --link lte=rate=5mbit,delay=40ms
  weft emu shell --link medium=wifi,standard=g,rate=54mbit -- ping -c 10 198.18.0.1
  weft emu shell --link medium=lte,bandwidth=5MHz,cqi=12 --down cqi=14,rank=2
  weft emu shell --isolated --far 'iperf3 -s' --link rate=10mbit,delay=20ms -- sh -c 'iperf3 -c $WEFT_EMU_FAR'";

#[derive(Debug, Args)]
pub struct ShellArgs {
    // In a doc comment, brackets would be links to rustdoc.
    #[arg(
        long = "link",
        help = "Link, alike in both directions: [NAME=]SPEC, such as rate=5mbit,delay=25ms,loss=1%, \
                queue=2bdp,aqm=codel (docs/models/links.md), or a cell such as medium=wifi,standard=n,rate=mcs7 (docs/models/wifi.md) or medium=lte,bandwidth=10MHz,cqi=12 (docs/models/lte.md); repeat for more",
        value_name = "SPEC",
        required = true,
        value_parser = link
    )]
    pub links: Vec<NamedLink>,
    /// Reverse direction (towards the inside), one for each --link in the same order: for
    /// a wire, the complete SPEC; for a cell, only the keys that differ, such as
    /// cqi=14,rank=2
    #[arg(long = "down", value_name = "SPEC")]
    pub down: Vec<String>,
    /// Place the other end in a separate network, not on this machine
    #[arg(long)]
    pub isolated: bool,
    /// Run this command at the other end with `sh -c`; it ends with the shell,
    /// including all processes that it has started
    #[arg(long, value_name = "COMMAND")]
    pub far: Option<String>,
    /// Write a line per packet to this file (CSV); created at the start,
    /// written at the end
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Seed of losses, jitter and generated traces
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::values::number::<u64>)]
    pub seed: u64,
    /// Program and its arguments (default: $SHELL)
    #[arg(last = true, value_name = "CMD")]
    pub program: Vec<OsString>,
}

/// Link with its optional name.
#[derive(Clone, Debug)]
pub struct NamedLink {
    pub name: Option<String>,
    pub spec: Spec,
}

/// Value of `--link`.
#[derive(Clone, Debug)]
pub enum Spec {
    /// Wire with equal directions.
    Wired(Box<LinkSpec>),
    /// Cell with the inside as its only station.
    Cell(String),
}

/// Parses `NAME=SPEC` or `SPEC`. The first item of a specification has a second `=` only
/// after a name.
fn link(text: &str) -> Result<NamedLink, String> {
    let first = text.split(',').next().unwrap_or_default();
    let (name, rest) = match text.split_once('=') {
        Some((name, rest)) if first.matches('=').count() > 1 => (Some(name.to_owned()), rest),
        _ => (None, text),
    };
    if name.as_deref() == Some("") {
        return Err("the name before `=` is empty: write NAME=SPEC, or SPEC alone".to_owned());
    }
    let spec = match MediumSpec::cell(rest).map_err(|e| e.to_string())? {
        Some(_) => Spec::Cell(rest.to_owned()),
        None => Spec::Wired(Box::new(wire(rest)?)),
    };
    Ok(NamedLink { name, spec })
}

impl Spec {
    /// Returns the medium; `down` is the value of `--down`.
    ///
    /// # Errors
    /// The problem in words.
    pub fn medium(&self, down: Option<&str>) -> Result<MediumSpec, String> {
        match self {
            Spec::Wired(there) => {
                let back = down.map_or_else(|| Ok(there.as_ref().clone()), wire)?;
                Ok(MediumSpec::wired(there.as_ref().clone(), back))
            }
            Spec::Cell(cell) => {
                let cell = MediumSpec::cell_with_way_back(cell, down.unwrap_or_default());
                let cell = cell.map_err(|error| error.to_string())?;
                cell.ok_or_else(|| "this is not a cell: name its medium".to_owned())
            }
        }
    }
}

fn wire(text: &str) -> Result<LinkSpec, String> {
    let spec = LinkSpec::parse(text, |file| std::fs::read_to_string(file));
    let spec = spec.map_err(|e| e.to_string())?;
    match spec.capacity.is_zero() {
        true => Err(LinkSpec::NEVER_CARRIES.to_owned()),
        false => Ok(spec),
    }
}
