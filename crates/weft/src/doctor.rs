//! `weft doctor`: what works on this machine, and what to do where it does not.

use std::net::UdpSocket;
use std::path::Path;
use std::time::{Duration, Instant};

use weft_emu::Right;
use weft_media::clip::{Clip, ClipConfig};
use weft_media::{EncoderConfig, Keyframe, MicrophoneSpec, VideoEncoder};
use weft_net::{Binding, Link, LinkSpec, Target};
use weft_units::{Rate, VideoCodec};

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
    findings.extend(VideoCodec::ALL.map(video_codec));
    findings.extend(cameras());
    findings.push(microphone());
    findings.push(emulator());
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
    let spec = LinkSpec::new(name, Target::Interface(name.to_owned()));
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

fn video_codec(codec: VideoCodec) -> Finding {
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
        temporal_layers: match codec {
            VideoCodec::Vp8 => 3,
            VideoCodec::H264 => 1,
        },
    };
    let remedy = match codec {
        VideoCodec::Vp8 => "reinstall libvpx",
        VideoCodec::H264 => "use --codec vp8, and report this",
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
    match Right::find() {
        Ok(Right::Capabilities) => {
            Finding::Ok("emulator: network namespaces and real-time scheduling".to_owned())
        }
        Ok(Right::UserNamespace) => Finding::Note(
            "emulator: in a user namespace, without real-time scheduling".to_owned(),
            "packets may be late when the machine is busy, and such runs are rejected: run as root",
        ),
        Err(error) => Finding::Note("emulator: not here".to_owned(), error.remedy()),
    }
}
