//! The command line (a contract with scripts).

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use weft_cc::ControllerKind;
use weft_endpoint::SendConfig;
use weft_media::MicrophoneSpec;
use weft_net::LinkChoice;
use weft_publish::Degradation;
use weft_session::{Preference, ProtectionKind, SchedulerKind};
use weft_units::{Codec, MediaKind, Rate};

use weft_endpoint::sources::cameras::NamedCamera;

use crate::serve::args::{PageArgs, ServeArgs};
use crate::token::TokenArgs;
use crate::values::{listen, rate, token};

/// A video call over every link a machine has at once.
#[derive(Debug, Parser)]
#[command(name = "weft", version = weft_lab::VERSION, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Two emulated links, one call over both, a plain WebRTC call beside it
    Demo(DemoArgs),
    /// Conference server and page
    Serve(ServeArgs),
    /// Sign a token for one room and a time, for guests of a server with --token or --token-key
    Token(TokenArgs),
    /// Join a room over all links: publish cameras and sound, receive the others
    Join(JoinArgs),
    /// Call straight to a browser: serves its own page, no media server between
    Call(CallArgs),
    /// Experiments in virtual time: what would this call do on that network
    Lab(crate::lab::args::LabArgs),
    /// Links for other programs: a shell behind them, real packets
    Emu(crate::emu::args::EmuArgs),
    /// Links, privileges, codecs, clock: what works here and what to do
    Doctor(crate::doctor::DoctorArgs),
    /// A script that lets a shell complete commands and options
    Completions(crate::manual::CompletionsArgs),
    /// The pages for man, one for each command
    Manual(crate::manual::ManualArgs),
}

const MEDIA: &str = "Cameras and sound";
const RECEIVING: &str = "Receiving";
const SERVER: &str = "Server";

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// No browser: receive the calls here, and print what was measured (as JSON)
    #[arg(long)]
    pub headless: bool,
    /// End after so many seconds (default: run until Ctrl-C; headless: 60)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<u64>,
    /// Write the measurements to this file at the end
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Where the page is served
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = listen)]
    pub listen: SocketAddr,
    #[arg(
        help = format!("Video codec of both calls: {}", either(&video_codecs())),
        long,
        value_name = "NAME",
        default_value_t = Codec::Vp8,
        value_parser = video_codec
    )]
    pub codec: Codec,
    /// Size of the pictures: 360p, 720p or 1080p
    #[arg(long, value_name = "SIZE", default_value = "720p")]
    pub size: String,
    #[command(flatten)]
    pub expert: ExpertArgs,
}

/// What decides about packets, for who knows why.
#[derive(Debug, Args)]
#[command(next_help_heading = "Expert")]
pub struct ExpertArgs {
    #[arg(long, value_name = "NAME", default_value_t, help = schedulers())]
    pub scheduler: SchedulerKind,
    /// What the call is spared first where its links cannot give everything: calm (still
    /// pictures), pixels (coarse ones) or balanced
    #[arg(long, value_name = "WHAT", default_value_t)]
    pub prefer: Preference,
    #[arg(long, value_name = "NAME", default_value_t, help = protections())]
    pub protection: ProtectionKind,
    #[arg(long, value_name = "NAME", default_value_t, help = controllers())]
    pub controller: ControllerKind,
}

/// What a call sends, how, and over what.
#[derive(Debug, Args)]
pub struct MediaArgs {
    // Brackets would be links to rustdoc.
    #[arg(
        help_heading = "Links",
        long = "link",
        help = "A link: [NAME=]INTERFACE or [NAME=]ADDRESS, and after commas metered, budget=2GB, \
                weight=0.5, backup; repeat for each (default: every interface)",
        value_name = "IF|ADDR"
    )]
    pub links: Vec<LinkChoice>,
    #[arg(
        help_heading = MEDIA,
        long = "camera",
        help = "A camera: clip[:SIZE][@FPS], /dev/videoN[:SIZE][@FPS] or FILE.y4m, SIZE being \
                360p, 720p, 1080p or WIDTHxHEIGHT; with a name for the others in front as in \
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
            "Video codec: {}; of vp8 a server can leave out temporal layers for slow receivers",
            either(&video_codecs())
        ),
        long,
        value_name = "NAME",
        default_value_t = Codec::Vp8,
        value_parser = video_codec
    )]
    pub codec: Codec,
    /// What gives way when the rate is low: maintain-framerate (smaller pictures),
    /// maintain-resolution (fewer), balanced or off
    #[arg(help_heading = MEDIA, long, value_name = "WHAT", default_value_t)]
    pub degradation: Degradation,
    /// Most that is sent over all links together, such as 4mbit or 800kbit
    #[arg(help_heading = MEDIA, long, value_name = "RATE", default_value = "4mbit", value_parser = rate)]
    pub max_rate: Rate,
    #[command(flatten)]
    pub expert: ExpertArgs,
}

/// What `join` and `call` send, and what is said of it.
#[derive(Debug, Args)]
pub struct SendArgs {
    /// Write statistics, a line of JSON each second, to this file
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// End after so many seconds (default: run until Ctrl-C)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<u64>,
    /// The name that the others see
    #[arg(long, value_name = "NAME", default_value = "weft", value_parser = shown_name)]
    pub name: String,
    #[command(flatten)]
    pub media: MediaArgs,
}

#[derive(Debug, Args)]
pub struct JoinArgs {
    /// The server, such as https://HOST:PORT, or the address of an invitation, with room and token
    #[arg(value_name = "URL")]
    pub url: String,
    /// The room, where the address has none
    #[arg(long, value_name = "R")]
    pub room: Option<String>,
    #[command(flatten)]
    pub send: SendArgs,
    /// Record what is received to this .webm file; further participants and further cameras get
    /// files beside it, each camera one with the sound. A file that is there already is left alone:
    /// the next free name is taken. Of those who send H.264, which WebM cannot
    /// hold, only the sound
    #[arg(help_heading = RECEIVING, long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The server's bearer token
    #[arg(help_heading = SERVER, long, value_name = "TOKEN", env = "WEFT_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Option<String>,
    /// Trust the certificates in this file (PEM): of an authority, or a copy of the server's own
    #[arg(
        help_heading = SERVER,
        long,
        value_name = "FILE",
        conflicts_with = "insecure"
    )]
    pub ca: Option<PathBuf>,
    /// Trust whoever answers, whatever the certificate: others on the way can listen in
    #[arg(help_heading = SERVER, long)]
    pub insecure: bool,
    /// Decode the pictures received, as a screen would show them: the statistics file then has
    /// their size and how long they took from the camera
    #[arg(
        help_heading = RECEIVING,
        long,
        requires = "stats",
        conflicts_with = "send_only"
    )]
    pub watch: bool,
    /// Only publish, receive nobody
    #[arg(help_heading = RECEIVING, long, conflicts_with = "record")]
    pub send_only: bool,
}

#[derive(Debug, Args)]
pub struct CallArgs {
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub send: SendArgs,
}

impl SendArgs {
    /// What is sent, how, and over what.
    pub fn config(&self) -> SendConfig {
        SendConfig {
            name: self.name.clone(),
            ..self.media.config()
        }
    }
}

impl MediaArgs {
    /// What is sent, how, and over what, without the name of who sends.
    pub fn config(&self) -> SendConfig {
        SendConfig {
            links: self.links.clone(),
            cameras: self.cameras.clone(),
            microphone: self.mic.clone(),
            codec: self.codec,
            degradation: self.degradation,
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
    let name = weft_rooms::participant_name(text).map_err(|_| remedy)?;
    Ok(name.to_owned())
}

fn schedulers() -> String {
    let names = SchedulerKind::ALL.map(SchedulerKind::name);
    format!("Which packets go over which path: {}", either(&names))
}

fn protections() -> String {
    let names = ProtectionKind::ALL.map(ProtectionKind::name);
    format!(
        "How many repair packets there are, for peers that know them: {}",
        either(&names)
    )
}

fn controllers() -> String {
    let adaptive = ControllerKind::ADAPTIVE.iter().map(|kind| kind.name());
    let names: Vec<&str> = adaptive.chain(["fixed:RATE"]).collect();
    format!("Congestion controller of every path: {}", either(&names))
}

fn video_codecs() -> Vec<&'static str> {
    Codec::of_kind(MediaKind::Video).map(Codec::name).collect()
}

/// Names to choose from.
fn either(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

fn seconds(text: &str) -> Result<u64, String> {
    let remedy = "write whole seconds, such as 60";
    let whole: Option<u64> = text.parse().ok();
    whole.filter(|s| *s > 0).ok_or_else(|| remedy.to_owned())
}

fn video_codec(text: &str) -> Result<Codec, String> {
    let codec = Codec::named(text).filter(|c| c.kind() == MediaKind::Video);
    let remedy = || {
        format!(
            "`{text}` is no video codec; write {}",
            either(&video_codecs())
        )
    };
    codec.ok_or_else(remedy)
}

#[cfg(test)]
mod tests;
