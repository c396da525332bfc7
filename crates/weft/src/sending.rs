//! Options of sending, shared by several commands.

use std::path::PathBuf;

use clap::Args;
use weft_cc::ControllerKind;
use weft_endpoint::sources::cameras::NamedCamera;
use weft_endpoint::{SendConfig, TurnServer};
use weft_media::MicrophoneSpec;
use weft_net::LinkChoice;
use weft_publish::Degradation;
use weft_session::{Preference, ProtectionKind, SchedulerKind};
use weft_units::{Codec, MediaKind, Rate};

use crate::tracing::TraceArgs;
use crate::values::{rate, seconds};

const LINKS: &str = "Links";
const MEDIA: &str = "Cameras and sound";

/// Options of packet scheduling and repair, for experts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Expert")]
pub struct ExpertArgs {
    #[arg(long, value_name = "NAME", default_value_t, help = schedulers())]
    pub scheduler: SchedulerKind,
    /// Preference if the links cannot carry everything: calm (few freezes,
    /// lower resolution), pixels (high resolution, more freezes) or balanced
    #[arg(long, value_name = "WHAT", default_value_t)]
    pub prefer: Preference,
    #[arg(long, value_name = "NAME", default_value_t, help = protections())]
    pub protection: ProtectionKind,
    #[arg(long, value_name = "NAME", default_value_t, help = controllers())]
    pub controller: ControllerKind,
}

/// Links.
#[derive(Debug, Args)]
pub struct LinkArgs {
    // In a doc comment, brackets would be links to rustdoc.
    #[arg(
        help_heading = LINKS,
        long = "link",
        help = "Link: [NAME=]INTERFACE or [NAME=]ADDRESS, and after commas metered, budget=2GB, \
                weight=0.5, backup; repeat for each link (default: every interface)",
        value_name = "IF|ADDR"
    )]
    pub links: Vec<LinkChoice>,
    /// TURN server for links on which UDP does not reach the other side:
    /// turn:USER:PASSWORD@HOST:PORT?transport=tcp, or turns:… for TLS; without a transport
    /// UDP; repeat it for each. weft also uses the TURN servers that the server offers
    /// (`weft serve --turn`), but not the server's own TCP candidates
    #[arg(help_heading = LINKS, long = "ice-server", value_name = "URL")]
    pub turn_servers: Vec<TurnServer>,
}

/// Links and their use.
#[derive(Debug, Args)]
pub struct NetworkArgs {
    #[command(flatten)]
    pub links: LinkArgs,
    /// Limit on everything sent over all links together, including copies,
    /// repair packets and the headers of IP and UDP, such as 4mbit or 800kbit
    #[arg(help_heading = LINKS, long, value_name = "RATE", default_value = "4mbit", value_parser = rate)]
    pub max_rate: Rate,
    #[command(flatten)]
    pub expert: ExpertArgs,
}

/// Sources, sending parameters and links of a call.
#[derive(Debug, Args)]
pub struct MediaArgs {
    #[command(flatten)]
    pub network: NetworkArgs,
    #[arg(
        help_heading = MEDIA,
        long = "camera",
        help = "Camera: clip[:SIZE][@FPS], /dev/videoN[:SIZE][@FPS] or FILE.y4m, where SIZE is \
                360p, 720p, 1080p or WIDTHxHEIGHT; put a label in front, as in \
                rear=/dev/video1; repeat for up to four",
        value_name = "[NAME=]SRC"
    )]
    pub cameras: Vec<NamedCamera>,
    #[arg(
        help_heading = MEDIA,
        help = "Sound: alsa[:DEVICE], FILE.wav or tone",
        long,
        value_name = "SRC"
    )]
    pub mic: Option<MicrophoneSpec>,
    #[arg(
        help_heading = MEDIA,
        help = format!(
            "Video codec: {}; with vp8 a server can drop temporal layers for slow receivers",
            either(&video_codecs())
        ),
        long,
        value_name = "NAME",
        default_value_t = Codec::Vp8,
        value_parser = video_codec
    )]
    pub codec: Codec,
    /// Reduction at low rates: maintain-framerate (smaller pictures),
    /// maintain-resolution (fewer pictures), balanced or off
    #[arg(help_heading = MEDIA, long, value_name = "WHAT", default_value_t)]
    pub degradation: Degradation,
}

/// Sources, statistics and traces of `join`, `call` and `publish`.
#[derive(Debug, Args)]
pub struct SendArgs {
    /// Write statistics to this file, one line of JSON per second
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Stop after this many seconds (default: run until Ctrl-C)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<u64>,
    /// Name that the others see
    #[arg(long, value_name = "NAME", default_value = "weft", value_parser = shown_name)]
    pub name: String,
    #[command(flatten)]
    pub traces: TraceArgs,
    #[command(flatten)]
    pub media: MediaArgs,
}

impl SendArgs {
    /// Returns the configuration of sending.
    pub fn config(&self) -> SendConfig {
        SendConfig {
            name: self.name.clone(),
            ..self.media.config()
        }
    }
}

impl MediaArgs {
    /// Returns the configuration of sending, without the sender's name.
    pub fn config(&self) -> SendConfig {
        SendConfig {
            cameras: self.cameras.clone(),
            microphone: self.mic.clone(),
            codec: self.codec,
            degradation: self.degradation,
            ..self.network.config()
        }
    }
}

impl NetworkArgs {
    /// Returns the configuration of sending, without its sources.
    pub fn config(&self) -> SendConfig {
        SendConfig {
            links: self.links.links.clone(),
            turn_servers: self.links.turn_servers.clone(),
            scheduler: self.expert.scheduler,
            preference: self.expert.prefer,
            protection: self.expert.protection,
            controller: self.expert.controller,
            max_rate: self.max_rate,
            ..SendConfig::default()
        }
    }
}

fn shown_name(text: &str) -> Result<String, String> {
    let remedy = "a name has 1 to 64 printable characters; write it like --name 'Ambulance 3'";
    weft_rooms::participant_name(text).map_err(|_| remedy.to_owned())
}

fn schedulers() -> String {
    let names = SchedulerKind::ALL.map(SchedulerKind::name);
    format!(
        "Scheduler, which chooses the path of each packet: {}",
        either(&names)
    )
}

fn protections() -> String {
    let names = ProtectionKind::ALL.map(ProtectionKind::name);
    format!(
        "Amount of repair packets, for peers that support them: {}",
        either(&names)
    )
}

fn controllers() -> String {
    let adaptive = ControllerKind::ADAPTIVE.iter().map(|kind| kind.name());
    let names: Vec<&str> = adaptive.chain(["fixed:RATE"]).collect();
    format!("Congestion controller of every path: {}", either(&names))
}

pub fn video_codecs() -> Vec<&'static str> {
    Codec::of_kind(MediaKind::Video).map(Codec::name).collect()
}

/// Formats names as a list in a sentence.
pub fn either(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

pub fn video_codec(text: &str) -> Result<Codec, String> {
    let codec = Codec::named(text).filter(|c| c.kind() == MediaKind::Video);
    let remedy = || {
        format!(
            "`{text}` is not a video codec: write {}",
            either(&video_codecs())
        )
    };
    codec.ok_or_else(remedy)
}
