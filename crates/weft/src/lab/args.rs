//! Arguments of `weft lab` (a contract with scripts).

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use weft_lab::engine::Engines;
use weft_lab::engine::emu::Client;

#[derive(Debug, Args)]
pub struct LabArgs {
    #[command(subcommand)]
    pub command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// List the available scenarios: all, or those of one set
    List(ListArgs),
    /// Run scenarios: each system with each seed, then print a table and write a report
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Compare systems on your own links, without a scenario file, and report which is better
    /// and by how much
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Write report.html again from the results in a folder, or compare the results of two folders
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Read recordings of real calls and draw them in a report, alone or beside simulated runs
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(ImportArgs),
    /// Print the tables of a set of scenarios from the results in a folder, as Markdown
    #[command(after_help = TABLE_EXAMPLES)]
    Table(TableArgs),
    /// Measure the speed of the simulator: simulated seconds per second
    Bench(BenchArgs),
}

const RUN_EXAMPLES: &str = "Examples:
  weft lab run demo/aqm                          a scenario that comes with the program
  weft lab run demo --out results                a whole set, with reports
  weft lab run my.toml --seeds 20 --out results  your own file
  weft lab run my.toml --set links.wifi.queue=2bdp --set flows.tcp.algorithm=reno
  weft lab run my.toml --set links.wifi.delay=10ms,50ms --set links.wifi.loss=0%,2%,5%
                                                 a sweep: 2 x 3 runs for each system and seed
  weft lab run my.toml --seeds 1 --pcap packets   the packets of both ends for Wireshark
  weft lab run my.toml --engine emu --client chromium   two real browsers, real packets
  weft lab run my.toml --engine both --seeds 3   simulator against emulator
  weft lab run campaigns/real-clients.toml --out real   many scenarios and clients; continues
                                                 from the results in the folder

Ctrl-C ends early: finished runs are kept and reported as partial; with --out the
same command continues from there.
Exit status: 0 done, 1 a run failed or is missing, 2 an argument or file is invalid,
3 this machine or version lacks something.";

const COMPARE_EXAMPLES: &str = "Examples:
  weft lab compare --link wifi=rate=10mbit,delay=15ms --link lte=rate=5mbit,delay=40ms
  weft lab compare --link wifi=trace=generated:walking/wifi --link lte=trace=generated:walking/lte2
  weft lab compare --link wifi=trace='*_wifi.csv' --link lte=trace='*_lte.csv' --out results
  weft lab compare --link a=rate=3mbit,delay=25ms,loss=2% --systems webrtc@a,weft
  weft lab compare --link a=rate=3mbit --link b=rate=2mbit --set links.a.loss=0%,1%,2%,5%

The last lines say which system was better and by how much, with a 95 % confidence interval.";

const REPORT_EXAMPLES: &str = "Examples:
  weft lab report results                        writes results/report.html again
  weft lab report before=old after=new           writes compared.html: both in one report, with
                                                 the difference of the second, seed by seed";

const IMPORT_EXAMPLES: &str = "Examples:
  weft lab import call.pcapng                    prints rates, losses and round-trip times
  weft lab import dump.gz --out imported         writes imported/report.html
  weft lab import home=dump.gz train=join-1.sqlog --out imported
                                                 two recordings with names, in one report
  weft lab import call.pcapng --beside results --out imported
                                                 in the report that `lab run --out results` wrote
  weft lab import call.pcap --local 203.0.113.7  says which end recorded the packets

Formats, detected by content: dumps of chrome://webrtc-internals, pcap and pcapng with RTP
(encrypted or not), qlog of weft (--qlog), results of flent.
A recording has only metrics that its file shows; notes say what is missing.
Exit status: 0 done, 1 a file ends early, and what precedes the end is in the report,
2 a file or argument is invalid.";

const TABLE_EXAMPLES: &str = "Examples:
  weft lab run zoom --seeds 10 --out results     runs the set
  weft lab table zoom results                    prints its tables
  weft lab table zoom results --only checks      prints one of them
  weft lab table zoom results --into page.md     writes them into a page

Every summary.json in the folder and below it counts. scenarios/SET/tables.toml
declares the tables; a set without it gets the most important metrics.
Exit status: 0 done, 2 bad arguments, no results or a bad file.";

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Name of a set, such as demo
    #[arg(value_name = "SET")]
    pub set: Option<String>,
}

/// Arguments shared by `run` and `compare`.
#[derive(Debug, Args)]
pub struct Common {
    /// Run only these systems, such as webrtc@wifi,weft,floor
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub systems: Vec<String>,
    /// Run seeds 1 to N (default: those of the scenario; compare: 20, or one
    /// for each trace of a pattern)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: Option<u32>,
    /// Change a field of the scenario by its dotted path; repeat for more fields. Several
    /// values, KEY=A,B,C, run every system with each value, in every combination with the
    /// values of other fields
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Number of parallel simulated runs (default: one for each processor)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Length of each run in seconds, at least 1 (default: that of the
    /// scenario; compare: 60)
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Write summary.json, report.html and tables into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the RTP and RTCP packets of simulated calls into this folder, without
    /// encryption, as pcapng for Wireshark: a file for each end of each call,
    /// with an interface for each path
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<PathBuf>,
    /// Write the events of simulated calls into this folder, as qlog: states of the
    /// paths, values of the controllers, frames that are encoded and shown
    #[arg(long, value_name = "DIR")]
    pub qlog: Option<PathBuf>,
    /// Print every metric, not only the main ones
    #[arg(long)]
    pub all: bool,
    /// Print only the summary as JSON; an array for several scenarios
    #[arg(long)]
    pub json: bool,
}

impl Common {
    /// Returns the given options that concern traces.
    pub fn traces(&self) -> impl Iterator<Item = &'static str> {
        let both = [("--pcap", &self.pcap), ("--qlog", &self.qlog)];
        both.into_iter()
            .filter(|(_, folder)| folder.is_some())
            .map(|(flag, _)| flag)
    }
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario files, scenarios as SET/NAME, or whole sets; or one campaign file
    #[arg(value_name = "FILE|SET", required = true)]
    pub scenarios: Vec<String>,
    /// Engine: virtual time, or real packets
    #[arg(long, value_name = "ENGINE", value_parser = engines(), default_value_t = Engines::default())]
    pub engine: Engines,
    /// Program under test: weft, weft-call (direct call to a browser), chromium, pion,
    /// aiortc, baresip, srtla, srtla-500ms or exec:CMD (a shell command); model, if every
    /// call is of an application that has a model. Real programs need --engine emu.
    /// weft,FLOW=pion uses another program for one flow, and weft,FLOW=swarm replaces a
    /// TCP flow by a BitTorrent swarm
    #[arg(long, value_name = "CLIENT", default_value = "weft")]
    pub client: Client,
    /// Keep emulated runs in which the machine was too slow, with a note
    #[arg(long)]
    pub keep_rejected: bool,
    /// Run only these runs of a campaign, or of one of its clients:
    /// against-tcp/chromium
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Link with its SPEC, such as wifi=rate=10mbit,delay=15ms,loss=1%, or a
    /// cell, such as home=medium=wifi,rate=mcs7 or
    /// town=medium=lte,bandwidth=5MHz,cqi=7; repeat for each
    #[arg(long = "link", value_name = "NAME=SPEC", required = true)]
    pub links: Vec<String>,
    /// Number of camera streams in the call
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub streams: u32,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folder written by `weft lab run --out`; two folders are compared, and
    /// may have names
    #[arg(value_name = "[NAME=]DIR", required = true, num_args = 1..=2)]
    pub folders: Vec<String>,
    /// Output file for the comparison of two folders
    #[arg(long, value_name = "FILE", default_value = "compared.html")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Recordings; each is a system in the report, with the name of its file unless NAME
    /// is given
    #[arg(value_name = "[NAME=]FILE", required = true)]
    pub files: Vec<String>,
    /// Show the recordings beside the report in this folder, written by `weft lab run
    /// --out` or `weft lab compare --out`; the folder is not changed
    #[arg(long, value_name = "DIR", requires = "out")]
    pub beside: Option<PathBuf>,
    /// Write report.html and report.json into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Address of the machine that recorded a capture, if the file does not show it;
    /// repeat for each link
    #[arg(long, value_name = "ADDRESS")]
    pub local: Vec<IpAddr>,
    /// Print only the metrics as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct TableArgs {
    /// Name of a set, such as demo
    #[arg(value_name = "SET")]
    pub set: String,
    /// Folder that `weft lab run --out` has written
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Print only these tables
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Write each table into this page, between the lines `<!-- table NAME -->` and `<!-- end -->`
    #[arg(long, value_name = "FILE")]
    pub into: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Print only JSON: {workload: {sim_s_per_s: ...}}
    #[arg(long)]
    pub json: bool,
}

fn engines() -> impl TypedValueParser<Value = Engines> {
    let value = |engines: Engines| PossibleValue::new(engines.name()).help(engines.about());
    PossibleValuesParser::new(Engines::all().map(value)).try_map(|name| name.parse::<Engines>())
}

fn seconds(text: &str) -> Result<f64, String> {
    let value = text.strip_suffix('s').unwrap_or(text).parse::<f64>();
    let fits = value
        .ok()
        .filter(|s| s.is_finite() && *s >= 1.0 && *s <= 86_400.0);
    fits.ok_or_else(|| {
        "write seconds, such as 60, from 1 to a day: in less nothing can be measured".to_owned()
    })
}
