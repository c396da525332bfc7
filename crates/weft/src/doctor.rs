//! `weft doctor`: checks this machine and suggests remedies.

use std::net::{IpAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use weft_emu::{Privilege, Scheduling};
use weft_lab::engine::emu::Client;
use weft_media::clip::{Clip, ClipConfig};
use weft_media::{EncoderConfig, Keyframe, MicrophoneSpec, VideoEncoder};
use weft_net::{Binding, Link, LinkChoice, RouteFault, Target};
use weft_units::{Codec, MediaKind, Rate};

use crate::exit::{Failure, say, say_json};

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print the result as JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// Result of one check. Its field names are a contract with programs
/// (docs/use/install.md).
#[derive(Serialize)]
struct Finding {
    name: &'static str,
    /// Object of the check, if the check has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    state: State,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// Measured or found value, as in the text form.
    #[serde(skip_serializing_if = "Value::is_null")]
    value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// Calls work in spite of it.
    Note,
    /// It prevents calls.
    No,
}

impl Finding {
    fn ok(name: &'static str, text: impl Into<String>) -> Finding {
        Finding {
            name,
            of: None,
            state: State::Ok,
            text: text.into(),
            remedy: None,
            value: Value::Null,
        }
    }

    fn note(name: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding {
            state: State::Note,
            remedy: Some(remedy.into()),
            ..Finding::ok(name, text)
        }
    }

    fn no(name: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding {
            state: State::No,
            ..Finding::note(name, text, remedy)
        }
    }

    fn of(mut self, which: impl Into<String>) -> Finding {
        self.of = Some(which.into());
        self
    }

    fn value(mut self, value: Value) -> Finding {
        self.value = value;
        self
    }
}

pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let mut findings = links();
    findings.push(relay_clock());
    findings.extend(date(SystemTime::now()));
    findings.extend(Codec::of_kind(MediaKind::Video).map(video_codec));
    findings.extend(cameras());
    findings.push(microphone());
    findings.push(emulator());
    findings.extend(helpers());
    findings.extend([Client::Pion, Client::Aiortc].iter().map(client));
    findings.push(tcp());
    let unusable = findings.iter().filter(|f| f.state == State::No).count();
    match args.json {
        true => say_json(json!({ "version": weft_lab::VERSION, "findings": findings }))?,
        false => findings.iter().try_for_each(tell)?,
    }
    if unusable > 0 {
        return Err(Failure::Machine(format!(
            "{unusable} of the above keeps calls from working"
        )));
    }
    Ok(())
}

fn tell(finding: &Finding) -> Result<(), Failure> {
    let state = match finding.state {
        State::Ok => "ok",
        State::Note => "note",
        State::No => "no",
    };
    say(format_args!("{state:<4}  {}", finding.text))?;
    match &finding.remedy {
        Some(remedy) => say(format_args!("      -> {remedy}")),
        None => Ok(()),
    }
}

fn links() -> Vec<Finding> {
    let names = match weft_net::interface_names() {
        Ok(names) => names,
        Err(error) => {
            return vec![Finding::no("links", error.to_string(), "is /proc mounted?")];
        }
    };
    let mut findings: Vec<Finding> = names.into_iter().map(|name| link(&name)).collect();
    match findings.len() {
        0 => findings.push(Finding::no(
            "links",
            "no interface has an address",
            "connect to a network; `weft demo` works without",
        )),
        1 => findings.push(Finding::note(
            "links",
            "only one link",
            "a second one (a phone by USB, a 4G stick) keeps the call when this one dies",
        )),
        _ => {}
    }
    findings
}

fn link(name: &str) -> Finding {
    let spec = LinkChoice::new(name, Target::Interface(name.to_owned()));
    let finding = match Link::open(&spec, 0) {
        Ok(link) => {
            let addresses: Vec<String> = link
                .addresses()
                .iter()
                .map(|a| a.ip().to_string())
                .collect();
            let tied = link.binding == Binding::Interface;
            let fault = route_fault(&spec);
            let value = json!({
                "addresses": addresses,
                "tied": tied,
                "routed": fault.is_none(),
            });
            let addresses = addresses.join(", ");
            match (fault, tied) {
                (Some(fault), _) => Finding::note(
                    "link",
                    format!("link {name}: {addresses}; {fault}"),
                    fault.remedy(),
                ),
                (None, true) => Finding::ok(
                    "link",
                    format!("link {name}: {addresses}; sockets tied to the interface"),
                ),
                (None, false) => Finding::note(
                    "link",
                    format!("link {name}: {addresses}; only the source address can be fixed"),
                    "run as root, or `setcap cap_net_raw+ep` on the binary, or `ip rule add from ADDRESS table N`",
                ),
            }
            .value(value)
        }
        Err(error) => Finding::note("link", error.to_string(), "this link cannot be used now"),
    };
    finding.of(name)
}

/// Returns the routing fault that separates a link from external servers. Documentation
/// addresses (RFC 5737, RFC 3849) are routed like any external network. A route to one
/// address is enough.
fn route_fault(link: &LinkChoice) -> Option<RouteFault> {
    let elsewhere = |own: IpAddr| match own {
        IpAddr::V4(_) => IpAddr::from([192, 0, 2, 1]),
        IpAddr::V6(_) => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]),
    };
    let places = weft_net::attachments(link).unwrap_or_default();
    let mut faults = places
        .iter()
        .map(|place| weft_net::route_fault(link, elsewhere(place.address)));
    let first = faults.next()??;
    faults.all(|fault| fault.is_some()).then_some(first)
}

/// Checks timers. A late timer delays packets, and the pacer needs a resolution of a few
/// ms.
fn relay_clock() -> Finding {
    const NAP: Duration = Duration::from_millis(2);
    const ROUNDS: u32 = 50;
    let mut worst = Duration::ZERO;
    for _ in 0..ROUNDS {
        let before = Instant::now();
        std::thread::sleep(NAP);
        worst = worst.max(before.elapsed().saturating_sub(NAP));
    }
    if UdpSocket::bind("127.0.0.1:0").is_err() {
        return Finding::no("clock", "no UDP socket on loopback", "bring up `lo`");
    }
    let late_ms = (worst.as_secs_f64() * 1e4).round() / 10.0;
    let text = format!("clock: timers at most {late_ms:.1} ms late");
    let finding = match worst > Duration::from_millis(20) {
        true => Finding::note(
            "clock",
            text,
            "the machine is busy or throttled; calls may stutter",
        ),
        false => Finding::ok("clock", text),
    };
    finding.value(json!({ "late_ms": late_ms }))
}

/// Checks the date. A machine without a battery-backed clock starts in the past, when no
/// certificate is valid yet.
fn date(now: SystemTime) -> Option<Finding> {
    /// Start of 2026, before weft's first release, in seconds of Unix time.
    const EARLIEST: Duration = Duration::from_secs(1_767_225_600);
    (now < UNIX_EPOCH + EARLIEST).then(|| {
        Finding::no(
            "date",
            "the clock is before 2026, where no certificate is valid yet",
            "set it, for example with `timedatectl set-ntp true`",
        )
    })
}

fn video_codec(codec: Codec) -> Finding {
    const FRAMES: u32 = 30;
    let config = ClipConfig {
        width: 1280,
        height: 720,
        fps: 30,
        seed: 1,
    };
    let mut clip = Clip::new(config);
    let config = EncoderConfig {
        width: 1280,
        height: 720,
        fps: 30,
        rate: Rate::from_kbps(2500),
        temporal_layers: codec.temporal_layers(),
    };
    let remedy = match codec {
        Codec::Vp8 => "reinstall libvpx",
        _ => "use --codec vp8, and report this",
    };
    let no = |error: String| Finding::no("codec", error, remedy).of(codec.name());
    let mut encoder = match VideoEncoder::new(codec, config) {
        Ok(encoder) => encoder,
        Err(error) => return no(error.to_string()),
    };
    let pictures: Vec<_> = (0..u64::from(FRAMES))
        .map(|n| clip.picture(n, n * 1000 / 30))
        .collect();
    let began = Instant::now();
    for (number, picture) in pictures.iter().enumerate() {
        if let Err(error) = encoder.encode(picture, number as u32 * 3000, Keyframe::Auto) {
            return no(error.to_string());
        }
    }
    let fps = f64::from(FRAMES) / began.elapsed().as_secs_f64();
    let name = codec.encoding();
    let text = format!("{name}: 720p at {fps:.0} pictures a second on one core");
    let finding = match fps < 45.0 {
        true => Finding::note(
            "codec",
            text,
            "use --camera clip:360p or a 360p device mode",
        ),
        false => Finding::ok("codec", text),
    };
    let value = json!({ "pictures_per_second": fps.round() });
    finding.of(codec.name()).value(value)
}

fn cameras() -> Vec<Finding> {
    let present: Vec<String> = (0..10)
        .map(|n| format!("/dev/video{n}"))
        .filter(|p| Path::new(p).exists())
        .collect();
    if present.is_empty() {
        return vec![Finding::note(
            "camera",
            "no camera (/dev/video*)",
            "plug one in, or use --camera clip or a .y4m file",
        )];
    }
    present
        .into_iter()
        .map(|p| Finding::ok("camera", format!("camera {p}")).of(p))
        .collect()
}

fn microphone() -> Finding {
    let opened = "alsa".parse::<MicrophoneSpec>().map_err(|e| e.to_string());
    match opened.and_then(|spec| spec.open().map_err(|e| e.to_string())) {
        Ok(_) => Finding::ok("microphone", "microphone (ALSA default)"),
        Err(error) => Finding::note("microphone", error, "use --mic tone or a .wav file"),
    }
}

fn emulator() -> Finding {
    const NAME: &str = "emulator";
    match (Privilege::find(), Scheduling::find()) {
        (Ok(Privilege::Capabilities), Scheduling::RealTime) => Finding::ok(
            NAME,
            "emulator: network namespaces and real-time scheduling",
        ),
        (Ok(Privilege::Capabilities), Scheduling::Ordinary) => Finding::note(
            NAME,
            "emulator: network namespaces, and the kernel refuses real-time scheduling",
            "packets may be late when the machine is busy, and such runs are rejected: give \
             CAP_SYS_NICE (in a container: `--cap-add SYS_NICE`)",
        ),
        (Ok(Privilege::UserNamespace), _) => Finding::note(
            NAME,
            "emulator: in a user namespace, without real-time scheduling",
            "packets may be late when the machine is busy, and such runs are rejected: run as root",
        ),
        (Err(error), _) => Finding::note(NAME, "emulator: unavailable", error.remedy()),
    }
}

/// Program that the emulator starts.
struct Helper {
    /// Alternative names.
    names: &'static [&'static str],
    /// Feature that needs it.
    needed_for: &'static str,
    remedy: &'static str,
}

const HELPERS: [Helper; 6] = [
    Helper {
        names: &["ip"],
        needed_for: "no emulated network at all: neither `weft emu` nor `--engine emu`",
        remedy: "install iproute2",
    },
    Helper {
        names: &["iperf3"],
        needed_for: "with `--engine emu`, no flows of TCP or UDP beside the calls",
        remedy: "install iperf3",
    },
    Helper {
        names: &["node"],
        needed_for: "no `--client chromium`, `baresip` or `srtla`, and no swarm",
        remedy: "install Node.js",
    },
    Helper {
        names: &[
            "chromium",
            "chromium-browser",
            "google-chrome",
            "google-chrome-stable",
        ],
        needed_for: "no `--client chromium`",
        remedy: "install chromium, or set WEFT_CHROMIUM to the program",
    },
    Helper {
        names: &["baresip"],
        needed_for: "no `--client baresip`, which nothing else needs",
        remedy: "install baresip-core and baresip-ffmpeg",
    },
    Helper {
        names: &["rtorrent"],
        needed_for: "no swarm for a flow of TCP (`--client weft,FLOW=swarm`), and nothing else",
        remedy: "install rtorrent",
    },
];

fn helpers() -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let chosen = std::env::var_os("WEFT_CHROMIUM").map(PathBuf::from);
    let is_there = |helper: &Helper| match (&chosen, helper.names) {
        (Some(chosen), ["chromium", ..]) => chosen.is_file(),
        (_, names) => is_in(&folders, names),
    };
    let finding = |helper: &Helper| {
        let name = helper.names[0];
        let finding = match is_there(helper) {
            true => Finding::ok("program", format!("for the emulator: {name}")),
            false => {
                let text = format!("no {name}: {}", helper.needed_for);
                Finding::note("program", text, helper.remedy)
            }
        };
        finding.of(name)
    };
    HELPERS.iter().map(finding).collect()
}

/// Checks whether the program of a lab client is built or installed.
fn client(client: &Client) -> Finding {
    let finding = match client.find() {
        Ok(()) => Finding::ok("client", format!("for the emulator: {client}")),
        Err(error) => {
            let text = format!("no {client}: no `--client {client}`");
            Finding::note("client", text, error.to_string())
        }
    };
    finding.of(client.name())
}

fn tcp() -> Finding {
    let known = weft_lab::engine::emu::tcp_algorithms();
    let text = format!("for the emulator: TCP with {}", known.join(", "));
    let finding = match known.iter().any(|name| name == "bbr") {
        true => Finding::ok("tcp", text),
        false => Finding::note(
            "tcp",
            format!("{text}; no bbr"),
            "`modprobe tcp_bbr` as root",
        ),
    };
    finding.value(json!({ "algorithms": known }))
}

fn is_in(folders: &[PathBuf], names: &[&str]) -> bool {
    let all = folders
        .iter()
        .flat_map(|folder| names.iter().map(|name| folder.join(name)));
    all.into_iter().any(|path| {
        let metadata = path.metadata();
        metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock of a Raspberry Pi before NTP.
    #[test]
    fn a_clock_in_1973_is_named_with_the_remedy() {
        let early = date(UNIX_EPOCH + Duration::from_secs(100_000_000)).expect("a finding");
        assert!(early.state == State::No && early.remedy.is_some_and(|r| r.contains("set-ntp")));
        assert!(date(UNIX_EPOCH + Duration::from_secs(1_800_000_000)).is_none());
    }
}
