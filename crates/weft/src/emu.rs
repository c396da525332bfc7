//! `weft emu`: the emulator by itself, for other people's programs.

pub mod args;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weft_emu::{
    Addresses, DirectionReport, EmuError, HostId, Logging, Network, Report, Right, RightError,
    Running, Side,
};

use crate::exit::Failure;
use crate::interrupt::{leave_ctrl_c_to_the_program, on_ctrl_c};
use args::{EmuArgs, EmuCommand, NamedLink, ShellArgs};

/// How soon it is seen that the program inside has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl From<RightError> for Failure {
    fn from(error: RightError) -> Failure {
        Failure::machine(error)
    }
}

impl From<EmuError> for Failure {
    fn from(error: EmuError) -> Failure {
        match error {
            EmuError::TooManyLinks(_) | EmuError::TooManyHosts(_) => Failure::usage(error),
            _ => Failure::machine(error),
        }
    }
}

pub fn run(args: EmuArgs) -> Result<(), Failure> {
    match args.command {
        EmuCommand::Shell(args) => shell(&args),
    }
}

/// The links, with the hosts at their ends.
struct Place {
    network: Network,
    inside: HostId,
    far: HostId,
    /// Inside and at the other end, link by link.
    addresses: Vec<(Addresses, Addresses)>,
}

fn shell(args: &ShellArgs) -> Result<(), Failure> {
    if !args.down.is_empty() && args.down.len() != args.links.len() {
        return Err(Failure::Usage(format!(
            "--down is given {} times and --link {}: give one --down for each --link, or none",
            args.down.len(),
            args.links.len()
        )));
    }
    let names = names(&args.links)?;
    // Before any thread: a user namespace can be entered by one alone.
    let right = Right::find()?;
    right.take()?;
    let place = place(args, &names, right);
    let running = place.network.start()?;
    for (index, (near, far)) in place.addresses.iter().enumerate() {
        let number = index + 1;
        eprintln!(
            "weft: link {number}: {} here, {} at the other end",
            near.v4, far.v4
        );
    }
    let variables = variables(&place.addresses);
    let far = args.far.as_ref().map(|command| {
        let mut shell = running.command(place.far, "sh");
        shell.args(["-c", command]).envs(variables.clone());
        shell
            .spawn()
            .map_err(|e| Failure::Run(format!("--far '{command}': sh: {e}")))
    });
    let far = far.transpose()?;
    let status = inside(args, &running, place.inside, variables)?;
    let report = running.stop();
    // It was ended with the network.
    far.map(|mut child| child.wait());
    summarise(&report);
    save(args, &report)?;
    if let Err(rejected) = report.verdict() {
        eprintln!("weft: do not trust what was measured: {rejected}");
    }
    match status {
        Some(status) if !status.success() => Err(Failure::program(status)),
        _ => Ok(()),
    }
}

/// What the links are called. Their random streams go by it, so two of one
/// name would lose the same packets.
fn names(links: &[NamedLink]) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let numbered = || format!("link{}", index + 1);
        let name = link.name.clone().unwrap_or_else(numbered);
        if names.contains(&name) {
            return Err(Failure::Usage(format!(
                "two of --link are called `{name}`, and would lose the same packets: give each a \
                 name of its own, NAME=SPEC"
            )));
        }
        names.push(name);
    }
    Ok(names)
}

fn place(args: &ShellArgs, names: &[String], right: Right) -> Place {
    let isolated = args.isolated || right == Right::UserNamespace;
    let (mut network, far) = if isolated {
        let mut network = Network::new(args.seed);
        let far = network.host("far");
        (network, far)
    } else {
        Network::with_machine(args.seed)
    };
    let inside = network.host("inside");
    if args.log.is_some() {
        network.set_logging(Logging::Packets);
    }
    let mut addresses = Vec::new();
    for (index, (link, name)) in args.links.iter().zip(names).enumerate() {
        let down = args.down.get(index).unwrap_or(&link.spec);
        let link = network.link(name, link.spec.clone(), down.clone());
        let at_far = network.attach(far, link, Side::Far);
        addresses.push((network.attach(inside, link, Side::Near), at_far));
    }
    Place {
        network,
        inside,
        far,
        addresses,
    }
}

/// What tells programs the addresses.
fn variables(addresses: &[(Addresses, Addresses)]) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut tell = |suffix: &str, (near, far): &(Addresses, Addresses)| {
        for (end, address) in [("NEAR", near), ("FAR", far)] {
            variables.push((format!("WEFT_EMU_{end}{suffix}"), address.v4.to_string()));
            variables.push((format!("WEFT_EMU_{end}6{suffix}"), address.v6.to_string()));
        }
    };
    tell("", &addresses[0]);
    for (index, pair) in addresses.iter().enumerate() {
        tell(&format!("_{}", index + 1), pair);
    }
    variables
}

/// Runs the program; `None` when it was ended by a signal to this one.
fn inside(
    args: &ShellArgs,
    running: &Running,
    host: HostId,
    variables: Vec<(String, String)>,
) -> Result<Option<ExitStatus>, Failure> {
    let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let default = [shell()];
    let [program, rest @ ..] = (match args.program.as_slice() {
        [] => &default[..],
        given => given,
    }) else {
        unreachable!("one of them has an element")
    };
    let refused = |e| Failure::Run(format!("{}: {e}", OsString::from(program).display()));
    let stopped = Arc::new(AtomicBool::new(false));
    if std::io::stdin().is_terminal() {
        leave_ctrl_c_to_the_program();
    } else {
        let flag = Arc::clone(&stopped);
        on_ctrl_c(move || flag.store(true, Ordering::Relaxed));
    }
    let mut command = running.command(host, program);
    let mut child: Child = command
        .args(rest)
        .envs(variables)
        .spawn()
        .map_err(refused)?;
    while !stopped.load(Ordering::Relaxed) {
        if let Some(status) = child.try_wait().map_err(refused)? {
            return Ok(Some(status));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(None)
}

fn summarise(report: &Report) {
    for (number, link) in report.links.iter().enumerate() {
        for (way, direction) in [("up", &link.forward), ("down", &link.backward)] {
            let DirectionReport {
                counters, queueing, ..
            } = direction;
            let queued = |q| queueing.quantile(q).unwrap_or_default().as_millis_f64();
            eprintln!(
                "weft: link {} {way}: {} packets delivered ({:.3} Mbps on average), {} dropped; \
                 queueing p50 {:.1} ms, p95 {:.1} ms",
                number + 1,
                counters.delivered.packets,
                direction.rate(report.duration).as_mbps(),
                counters.dropped().packets,
                queued(0.5),
                queued(0.95),
            );
        }
    }
}

fn save(args: &ShellArgs, report: &Report) -> Result<(), Failure> {
    let Some(path) = &args.log else {
        return Ok(());
    };
    let failed = |e: &std::io::Error| Failure::Run(format!("--log {}: {e}", path.display()));
    let Some(packets) = report.packets.as_ref().map_err(failed)? else {
        return Ok(());
    };
    packets.save(path).map_err(|e| failed(&e))?;
    match packets.lost() {
        0 => Ok(()),
        lost => Err(Failure::Run(format!(
            "--log: {lost} packets are missing: the machine was too slow to write them down"
        ))),
    }
}
