//! The arguments of `weft lab` (a contract with scripts).

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
    /// What there is to run: sets of scenarios, or those of one set
    List(ListArgs),
    /// Run scenarios: every system with every seed, then a table and a report
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Compare systems on links of your own, without a scenario file
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Write report.html anew from what a run has left in a folder, or lay the results of two
    /// folders over each other
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// How fast the simulator is here: simulated seconds per second
    Bench(BenchArgs),
}

const RUN_EXAMPLES: &str = "Examples:
  weft lab run demo/aqm                          one scenario that weft brings along
  weft lab run demo --out results                a whole set, with reports
  weft lab run my.toml --seeds 20 --out results  a file of your own
  weft lab run my.toml --set links.wifi.queue=2bdp --set flows.tcp.algorithm=reno
  weft lab run my.toml --engine emu --client chromium   two real browsers, real packets
  weft lab run my.toml --engine both --seeds 3   simulator against emulator
  weft lab run campaigns/real-clients.toml --out real   many scenarios and clients; goes on
                                                 with what is in the folder

Ctrl-C ends early: what is finished is kept and reported as partial; with --out the
same command goes on from there.
Exit status: 0 done, 1 a run failed or is missing, 2 bad arguments or file,
3 this machine or version cannot do it.";

const COMPARE_EXAMPLES: &str = "Examples:
  weft lab compare --link wifi=rate=10mbit,delay=15ms --link lte=rate=5mbit,delay=40ms
  weft lab compare --link a=rate=3mbit,delay=25ms,loss=2% --systems webrtc@a,weft --out results";

const REPORT_EXAMPLES: &str = "Examples:
  weft lab report results                        writes results/report.html anew
  weft lab report before=old after=new           writes compared.html: both over each other, and
                                                 what the second changes, seed by seed";

#[derive(Debug, Args)]
pub struct ListArgs {
    /// The set
    #[arg(value_name = "SET")]
    pub set: Option<String>,
}

/// What `run` and `compare` have in common.
#[derive(Debug, Args)]
pub struct Common {
    /// Only these systems, such as webrtc@wifi,weft,floor
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub systems: Vec<String>,
    /// Run seeds 1 to N (default: as the scenario says; of `compare` 5)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: Option<u32>,
    /// Simulated runs at the same time (default: as many as there are processors)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// How long each run lasts, in seconds (default: as the scenario says; of `compare` 60)
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Write summary.json, report.html and tables into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print every metric, not only what people ask first
    #[arg(long)]
    pub all: bool,
    /// Print the summary as JSON, and nothing else; of several scenarios an array
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario files, SET/NAME, or whole sets; or the file of one campaign
    #[arg(value_name = "FILE|SET", required = true)]
    pub scenarios: Vec<String>,
    /// Where it runs: in virtual time, or with real packets
    #[arg(long, value_name = "ENGINE", value_parser = engines(), default_value_t = Engines::default())]
    pub engine: Engines,
    /// What is tested: weft, weft-call (straight to a browser), chromium, pion, aiortc, baresip or exec:CMD (a shell command); model
    /// where all calls are of applications that have one. Real programs need the engine emu.
    /// weft,FLOW=pion has another one for a flow, weft,FLOW=swarm a swarm of BitTorrent for one of TCP
    #[arg(long, value_name = "CLIENT", default_value = "weft")]
    pub client: Client,
    /// Keep emulated runs in which the machine was too slow: they count, with a note
    #[arg(long)]
    pub keep_rejected: bool,
    /// Of a campaign only these runs, or these of their clients: against-tcp/chromium
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    #[command(flatten)]
    pub common: Common,
    /// Change a field of the scenario by its dotted path; repeat for more
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// A link and its SPEC, such as wifi=rate=10mbit,delay=15ms,loss=1%, or a cell, such as
    /// home=medium=wifi,rate=mcs7 or town=medium=lte,bandwidth=5MHz,cqi=7; repeat for each
    #[arg(long = "link", value_name = "NAME=SPEC", required = true)]
    pub links: Vec<String>,
    /// Camera streams of the call
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub streams: u32,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// What `weft lab run --out` has written; of two, each with a name if you like
    #[arg(value_name = "[NAME=]DIR", required = true, num_args = 1..=2)]
    pub folders: Vec<String>,
    /// Of two folders: the file to write
    #[arg(long, value_name = "FILE", default_value = "compared.html")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Print {workload: {sim_s_per_s: ...}} and nothing else
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
        .filter(|s| s.is_finite() && *s > 0.0 && *s <= 86_400.0);
    fits.ok_or_else(|| "write seconds above zero, such as 60 (at most a day)".to_owned())
}
