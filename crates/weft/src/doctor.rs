//! `weft doctor`: what works on this machine, and what to do where it does not.

use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weft_emu::{Right, Scheduling};
use weft_lab::engine::emu::Client;
use weft_media::clip::{Clip, ClipConfig};
use weft_media::{EncoderConfig, Keyframe, MicrophoneSpec, VideoEncoder};
use weft_net::{Binding, Link, LinkChoice, Target};
use weft_units::{Codec, MediaKind, Rate};

use crate::exit::{Failure, say};

/// One finding: `ok`, `note` or `no`, and what to do.
enum Finding {
    Ok(String),
    Note(String, &'static str),
    No(String, &'static str),
}

pub fn run() -> Result<(), Failure> {
    let mut findings = links();
    findings.push(relay_clock());
    findings.extend(Codec::of_kind(MediaKind::Video).map(video_codec));
    findings.extend(cameras());
    findings.push(microphone());
    findings.push(emulator());
    findings.extend(helpers());
    findings.extend([Client::Pion, Client::Aiortc].iter().map(client));
    findings.push(tcp());
    let mut unusable = 0;
    for finding in &findings {
        match finding {
            Finding::Ok(what) => say(format_args!("ok    {what}"))?,
            Finding::Note(what, remedy) => say(format_args!("note  {what}\n      -> {remedy}"))?,
            Finding::No(what, remedy) => {
                unusable += 1;
                say(format_args!("no    {what}\n      -> {remedy}"))?;
            }
        }
    }
    if unusable > 0 {
        return Err(Failure::Machine(format!(
            "{unusable} of the above keeps calls from working"
        )));
    }
    Ok(())
}

fn links() -> Vec<Finding> {
    let names = match weft_net::interface_names() {
        Ok(names) => names,
        Err(error) => {
            return vec![Finding::No(error.to_string(), "is /proc mounted?")];
        }
    };
    let mut findings: Vec<Finding> = names.into_iter().map(|name| link(&name)).collect();
    match findings.len() {
        0 => findings.push(Finding::No(
            "no interface has an address".to_owned(),
            "connect to a network; `weft demo` works without",
        )),
        1 => findings.push(Finding::Note(
            "only one link".to_owned(),
            "a second one (a phone by USB, a 4G stick) keeps the call when this one dies",
        )),
        _ => {}
    }
    findings
}

fn link(name: &str) -> Finding {
    let spec = LinkChoice::new(name, Target::Interface(name.to_owned()));
    match Link::open(&spec, 0) {
        Ok(link) => {
            let addresses: Vec<String> = link
                .addresses()
                .iter()
                .map(|a| a.ip().to_string())
                .collect();
            let addresses = addresses.join(", ");
            match link.binding {
                Binding::Interface => Finding::Ok(format!(
                    "link {name}: {addresses}; sockets tied to the interface"
                )),
                Binding::SourceAddress => Finding::Note(
                    format!("link {name}: {addresses}; only the source address can be fixed"),
                    "run as root, or `setcap cap_net_raw+ep` on the binary, or `ip rule add from ADDRESS table N`",
                ),
            }
        }
        Err(error) => Finding::Note(error.to_string(), "this link cannot be used now"),
    }
}

/// A timer that is late makes packets late: the pacer wants a few ms.
fn relay_clock() -> Finding {
    const NAP: Duration = Duration::from_millis(2);
    const ROUNDS: u32 = 50;
    let mut worst = Duration::ZERO;
    for _ in 0..ROUNDS {
        let before = Instant::now();
        std::thread::sleep(NAP);
        worst = worst.max(before.elapsed().saturating_sub(NAP));
    }
    let text = format!(
        "clock: timers at most {:.1} ms late",
        worst.as_secs_f64() * 1e3
    );
    if UdpSocket::bind("127.0.0.1:0").is_err() {
        return Finding::No("no UDP socket on loopback".to_owned(), "bring up `lo`");
    }
    if worst > Duration::from_millis(20) {
        return Finding::Note(text, "the machine is busy or throttled; calls may stutter");
    }
    Finding::Ok(text)
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
    let mut encoder = match VideoEncoder::new(codec, config) {
        Ok(encoder) => encoder,
        Err(error) => return Finding::No(error.to_string(), remedy),
    };
    let pictures: Vec<_> = (0..u64::from(FRAMES))
        .map(|n| clip.picture(n, n * 1000 / 30))
        .collect();
    let began = Instant::now();
    for (number, picture) in pictures.iter().enumerate() {
        if let Err(error) = encoder.encode(picture, number as u32 * 3000, Keyframe::Auto) {
            return Finding::No(error.to_string(), remedy);
        }
    }
    let fps = f64::from(FRAMES) / began.elapsed().as_secs_f64();
    let name = codec.encoding();
    let text = format!("{name}: 720p at {fps:.0} pictures a second on one core");
    if fps < 45.0 {
        return Finding::Note(text, "use --camera clip:360p or a 360p device mode");
    }
    Finding::Ok(text)
}

fn cameras() -> Vec<Finding> {
    let present: Vec<String> = (0..10)
        .map(|n| format!("/dev/video{n}"))
        .filter(|p| Path::new(p).exists())
        .collect();
    if present.is_empty() {
        return vec![Finding::Note(
            "no camera (/dev/video*)".to_owned(),
            "plug one in, or use --camera clip or a .y4m file",
        )];
    }
    present
        .into_iter()
        .map(|p| Finding::Ok(format!("camera {p}")))
        .collect()
}

fn microphone() -> Finding {
    let opened = "alsa".parse::<MicrophoneSpec>().map_err(|e| e.to_string());
    match opened.and_then(|spec| spec.open().map_err(|e| e.to_string())) {
        Ok(_) => Finding::Ok("microphone (ALSA default)".to_owned()),
        Err(error) => Finding::Note(error, "use --mic tone or a .wav file"),
    }
}

fn emulator() -> Finding {
    match (Right::find(), Scheduling::find()) {
        (Ok(Right::Capabilities), Scheduling::RealTime) => {
            Finding::Ok("emulator: network namespaces and real-time scheduling".to_owned())
        }
        (Ok(Right::Capabilities), Scheduling::Ordinary) => Finding::Note(
            "emulator: network namespaces, and the kernel refuses real-time scheduling".to_owned(),
            "packets may be late when the machine is busy, and such runs are rejected: give \
             CAP_SYS_NICE (in a container: `--cap-add SYS_NICE`)",
        ),
        (Ok(Right::UserNamespace), _) => Finding::Note(
            "emulator: in a user namespace, without real-time scheduling".to_owned(),
            "packets may be late when the machine is busy, and such runs are rejected: run as root",
        ),
        (Err(error), _) => Finding::Note("emulator: not here".to_owned(), error.remedy()),
    }
}

/// A program that the emulator starts.
struct Helper {
    /// Any of them will do.
    names: &'static [&'static str],
    /// What cannot be done without it.
    needed_for: &'static str,
    remedy: &'static str,
}

const HELPERS: [Helper; 4] = [
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
        needed_for: "no `--client chromium`",
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
];

fn helpers() -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let chosen = std::env::var_os("WEFT_CHROMIUM").map(PathBuf::from);
    let is_there = |helper: &&Helper| match (&chosen, helper.names) {
        (Some(chosen), ["chromium", ..]) => chosen.is_file(),
        (_, names) => is_in(&folders, names),
    };
    let (here, missing): (Vec<&Helper>, Vec<&Helper>) = HELPERS.iter().partition(is_there);
    let mut findings = Vec::new();
    if !here.is_empty() {
        let names: Vec<&str> = here.iter().map(|helper| helper.names[0]).collect();
        findings.push(Finding::Ok(format!(
            "for the emulator: {}",
            names.join(", ")
        )));
    }
    findings.extend(missing.iter().map(|helper| {
        let name = helper.names[0];
        Finding::Note(format!("no {name}: {}", helper.needed_for), helper.remedy)
    }));
    findings
}

/// A client of the lab that is built from weft's sources.
fn client(client: &Client) -> Finding {
    match client.find() {
        Ok(()) => Finding::Ok(format!("for the emulator: {client}")),
        Err(_) => Finding::Note(
            format!("no {client}: no `--client {client}`"),
            "run `make setup` in weft's sources, and weft there, or set WEFT_CLIENTS to their folder `clients`",
        ),
    }
}

fn tcp() -> Finding {
    let known = weft_lab::engine::emu::tcp_algorithms();
    let text = format!("for the emulator: TCP with {}", known.join(", "));
    match known.iter().any(|name| name == "bbr") {
        true => Finding::Ok(text),
        false => Finding::Note(format!("{text}; no bbr"), "`modprobe tcp_bbr` as root"),
    }
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
