//! The options of what is sent, which several commands take.

use std::path::PathBuf;

use clap::Args;
use weft_cc::ControllerKind;
use weft_endpoint::SendConfig;
use weft_endpoint::sources::cameras::NamedCamera;
use weft_media::MicrophoneSpec;
use weft_net::LinkChoice;
use weft_publish::Degradation;
use weft_session::{Preference, ProtectionKind, SchedulerKind};
use weft_units::{Codec, MediaKind, Rate};

use crate::values::{rate, seconds};

const MEDIA: &str = "Cameras and sound";

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
    /// Bound on everything sent over all links together, such as 4mbit or 800kbit:
    /// copies, repair and the headers of IP and UDP included
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
    weft_rooms::participant_name(text).map_err(|_| remedy.to_owned())
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

pub fn video_codecs() -> Vec<&'static str> {
    Codec::of_kind(MediaKind::Video).map(Codec::name).collect()
}

/// Names to choose from.
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
            "`{text}` is no video codec; write {}",
            either(&video_codecs())
        )
    };
    codec.ok_or_else(remedy)
}
