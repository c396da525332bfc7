//! `weft emu`: the emulator alone, for other programs and for two built-in ones: a
//! modelled application and a caller of browsers.

mod app;
pub mod args;
mod call;
mod far;

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal as _};
use std::process::Child;

use weft_emu::{
    Addresses, EmuError, FAR, HostId, Logging, NEAR, Network, Privilege, PrivilegeError, Report,
    Running, StationReport,
};
use weft_links::MediumSpec;

use crate::exit::Failure;
use crate::interrupt::{asked, note_signals};
use args::{EmuArgs, EmuCommand, NamedLink, ShellArgs};
use far::{Far, LOOK_EVERY};

impl From<PrivilegeError> for Failure {
    fn from(error: PrivilegeError) -> Failure {
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
        EmuCommand::App(args) => app::app(args),
        EmuCommand::Call(args) => call::call(&args.media),
    }
}

/// Emulated links with the hosts at their ends.
struct EmulatedLinks {
    network: Network,
    inside: HostId,
    far: HostId,
    /// Addresses inside and at the other end, by link.
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
    let links = names.into_iter().zip(media(args)?).collect();
    let log = args.log.as_ref().map(|path| {
        let refused = |e| {
            let path = path.display();
            Failure::Usage(format!(
                "--log {path}: {e}: name a file in a folder that you may write to"
            ))
        };
        File::create(path).map_err(refused)
    });
    let log = log.transpose()?;
    // Before any thread starts, because only a single-threaded process can enter a user
    // namespace.
    let right = Privilege::find()?;
    right.take()?;
    note_signals();
    let emulated = emulated_links(args, links, right);
    let running = emulated.network.start()?;
    for (index, (near, far)) in emulated.addresses.iter().enumerate() {
        let number = index + 1;
        complain!(
            "weft: link {number}: {} here, {} at the other end",
            near.v4,
            far.v4
        );
    }
    let variables = variables(&emulated.addresses);
    let far = args.far.as_ref().map(|command| {
        let mut shell = running.command(emulated.far, "sh");
        shell.args(["-c", command]).envs(variables.clone());
        Far::start(shell).map_err(|e| Failure::Run(format!("--far '{command}': sh: {e}")))
    });
    let far = far.transpose()?;
    let status = match inside(args, &running, emulated.inside, variables) {
        // The program could not be started.
        Err(failure @ (Failure::Run(_) | Failure::Machine(_))) => return Err(failure),
        ended => ended,
    };
    let report = running.stop();
    drop(far);
    summarise(&report);
    if let Err(rejected) = report.verdict() {
        complain!("weft: do not trust what was measured: {rejected}");
    }
    match (status, log.map_or(Ok(()), |log| save(log, &report))) {
        (Ok(()), saved) => saved,
        (Err(ended), saved) => {
            saved.unwrap_or_else(|failure| complain!("weft: {failure}"));
            Err(ended)
        }
    }
}

/// Returns the names of the links. They select the random streams, so equal names would
/// cause identical losses.
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

/// Medium of each link.
fn media(args: &ShellArgs) -> Result<Vec<MediumSpec>, Failure> {
    let medium = |(index, link): (usize, &NamedLink)| {
        let down = args.down.get(index).map(String::as_str);
        let wrong = |error| Failure::Usage(format!("--down {}: {error}", down.unwrap_or_default()));
        link.spec.medium(down).map_err(wrong)
    };
    args.links.iter().enumerate().map(medium).collect()
}

fn emulated_links(
    args: &ShellArgs,
    links: Vec<(String, MediumSpec)>,
    right: Privilege,
) -> EmulatedLinks {
    let isolated = args.isolated || right == Privilege::UserNamespace;
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
    for (name, medium) in links {
        let link = network.link(&name, medium);
        let at_far = network.attach(far, link, FAR);
        addresses.push((network.attach(inside, link, NEAR), at_far));
    }
    EmulatedLinks {
        network,
        inside,
        far,
        addresses,
    }
}

/// Environment variables that give the addresses to programs.
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

/// Runs the program until it exits, or until this process gets a signal.
fn inside(
    args: &ShellArgs,
    running: &Running,
    host: HostId,
    variables: Vec<(String, String)>,
) -> Result<(), Failure> {
    let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let default = [shell()];
    let [program, rest @ ..] = (match args.program.as_slice() {
        [] => &default[..],
        given => given,
    }) else {
        unreachable!("one of them has an element")
    };
    if let Some(signal) = asked() {
        return Err(Failure::Stopped(signal));
    }
    let mut command = running.command(host, program);
    let mut child: Child = command
        .args(rest)
        .envs(variables)
        .spawn()
        .map_err(|error| not_started(program, &error))?;
    // Ctrl-C reaches every process of the terminal, and is meant for the program.
    let is_shared = std::io::stdin().is_terminal();
    loop {
        let ended = child.try_wait();
        let ended = ended.map_err(|e| Failure::Run(format!("{}: {e}", program.display())))?;
        if let Some(status) = ended {
            return match status.success() {
                true => Ok(()),
                false => Err(Failure::program(status)),
            };
        }
        if let Some(signal) = asked().filter(|signal| *signal != libc::SIGINT || !is_shared) {
            return Err(Failure::Stopped(signal));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Error for a program that is missing or cannot be run.
fn not_started(program: &OsString, error: &std::io::Error) -> Failure {
    let name = program.display();
    Failure::Machine(match error.kind() {
        ErrorKind::NotFound => format!(
            "{name}: program not found: install it, or give its path (after `--` comes a program and \
             its arguments; for a line of shell write -- sh -c '...')"
        ),
        ErrorKind::PermissionDenied => {
            format!("{name}: not executable: run `chmod +x {name}`, or name its interpreter first")
        }
        _ => format!("{name}: cannot be started: {error}: name a program for this machine"),
    })
}

fn summarise(report: &Report) {
    if let Some(refused) = report.refused() {
        complain!("weft: {refused}");
    }
    for (number, link) in report.links.iter().enumerate() {
        for (way, sent) in [("up", link.forward()), ("down", link.backward())] {
            let StationReport {
                counters, queueing, ..
            } = sent;
            let queued = |q| queueing.quantile(q).unwrap_or_default().as_millis_f64();
            complain!(
                "weft: link {} {way}: {} packets delivered ({:.3} Mbps on average), {} dropped; \
                 queueing p50 {:.1} ms, p95 {:.1} ms",
                number + 1,
                counters.delivered.packets,
                sent.rate(report.duration).as_mbps(),
                counters.dropped().packets,
                queued(0.5),
                queued(0.95),
            );
        }
    }
}

fn save(file: File, report: &Report) -> Result<(), Failure> {
    let failed = |e: &std::io::Error| {
        Failure::Run(format!(
            "--log: {e}: packets are kept in memory first: make room, or run for less long"
        ))
    };
    let Some(packets) = report.packets.as_ref().map_err(failed)? else {
        return Ok(());
    };
    packets.write(file).map_err(|e| failed(&e))?;
    match packets.lost() {
        0 => Ok(()),
        lost => Err(Failure::Run(format!(
            "--log: {lost} packets are missing: the machine was too slow to write them down"
        ))),
    }
}
