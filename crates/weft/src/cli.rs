//! Command line (a contract with scripts).

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use weft_endpoint::Switch;
use weft_units::Codec;

use crate::access::ServerArgs;
use crate::rooms::RoomsArgs;
use crate::sending::{
    ExpertArgs, LinkArgs, NetworkArgs, SendArgs, either, video_codec, video_codecs,
};
use crate::serve::args::{PageArgs, ServeArgs};
use crate::token::TokenArgs;
use crate::values::{listen, seconds, token};
use crate::vehicle::args::{RECEIVING, VehicleArgs};

/// A video call over every link a machine has at once.
#[derive(Debug, Parser)]
#[command(name = "weft", version = weft_lab::VERSION, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show a call over two emulated links, next to a plain WebRTC call
    Demo(DemoArgs),
    /// Run the conference server with its page
    Serve(Box<ServeArgs>),
    /// Sign a token for one room and a limited time, for a server with --token
    /// or --token-key
    Token(TokenArgs),
    /// Compose one film of a recording of a room: pictures with names side by side, mixed sound
    Compose(crate::compose::ComposeArgs),
    /// Manage the rooms of a server on this machine: list rooms, remove a
    /// participant, close a room, revoke a token
    Rooms(RoomsArgs),
    /// Join a room over all links: publish cameras and sound, receive the
    /// others
    Join(JoinArgs),
    /// Publish over all links to any server that speaks WHIP, such as MediaMTX
    Publish(PublishArgs),
    /// Play a stream over all links from any server that speaks WHEP, such as MediaMTX:
    /// into a file, a player or figures
    Play(PlayArgs),
    /// Forward the stream of another program on this machine, such as OBS, GStreamer or
    /// ffmpeg, over all links: it publishes here by WHIP, and this command publishes to
    /// any WHIP server
    Relay(RelayArgs),
    /// Call browsers directly: serves its own page, without a media server
    Call(CallArgs),
    /// Measure a server under load: publishers and viewers as WebRTC clients, join storms,
    /// weak viewers
    Load(Box<crate::load::LoadArgs>),
    /// Run experiments, in virtual time or with real packets
    Lab(crate::lab::args::LabArgs),
    /// Run other programs behind emulated links, with real packets
    Emu(crate::emu::args::EmuArgs),
    /// Check links, permissions, codecs and clock of this machine, and suggest remedies
    Doctor(crate::doctor::DoctorArgs),
    /// Print a shell script that completes commands and options
    Completions(crate::manual::CompletionsArgs),
    /// Write manual pages, one for each command
    Manual(crate::manual::ManualArgs),
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Receive the calls here, without a browser, and print the measurements as
    /// JSON
    #[arg(long)]
    pub headless: bool,
    /// Stop after this many seconds (default: run until Ctrl-C; headless: 60)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<u64>,
    /// Write the measurements to this file at the end
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Address of the page
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

#[derive(Debug, Args)]
pub struct JoinArgs {
    /// URL of the server, such as https://HOST:PORT, or an invitation link with
    /// room and token
    #[arg(value_name = "URL")]
    pub url: String,
    /// Room, if the URL has none
    #[arg(long, value_name = "R")]
    pub room: Option<String>,
    #[command(flatten)]
    pub send: SendArgs,
    /// Record received media to this .webm file; each further camera gets a separate file
    /// with the sound, next to it. Existing files are kept: the recording uses the next
    /// free name. WebM cannot contain H.264: from H.264 senders, only the sound is
    /// recorded
    #[arg(help_heading = RECEIVING, long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Start the recording with the page's switch (--page), not with the call
    #[arg(help_heading = RECEIVING, long, requires_all = ["record", "page"])]
    pub record_on_demand: bool,
    #[command(flatten)]
    pub vehicle: VehicleArgs,
    #[command(flatten)]
    pub server: ServerArgs,
    /// Decode the received pictures (up to 1920x1080), and add their size,
    /// their latency from the camera and, with Debian's `opencv-data`
    /// installed, their quality (BRISQUE, 0 to 100, lower is better; one
    /// picture every two seconds) to the statistics file
    #[arg(
        help_heading = RECEIVING,
        long,
        requires = "stats",
        conflicts_with = "send_only"
    )]
    pub watch: bool,
    /// Only publish; receive nothing
    #[arg(help_heading = RECEIVING, long, conflicts_with_all = ["record", "speaker"])]
    pub send_only: bool,
}

impl JoinArgs {
    /// State of the recording at the start.
    pub fn recording(&self) -> Switch {
        match self.record_on_demand {
            true => Switch::Off,
            false => Switch::On,
        }
    }
}

#[derive(Debug, Args)]
pub struct PublishArgs {
    /// Full URL of the endpoint, such as https://server:8889/live/whip
    #[arg(value_name = "URL")]
    pub url: String,
    #[command(flatten)]
    pub send: SendArgs,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
pub struct PlayArgs {
    /// Full URL of the endpoint, such as https://server:8889/live/whep
    #[arg(value_name = "URL")]
    pub url: String,
    /// Write the stream to this .webm file, or to standard output with `-`, for a player;
    /// without --output and --stats, a line of figures is printed each second. Each further
    /// camera gets a separate file with the sound, next to it. Existing files are kept: the
    /// recording uses the next free name. WebM cannot contain H.264: a file gets only the
    /// sound; standard output gets only the pictures, as a byte stream
    #[arg(long, value_name = "FILE|-")]
    pub output: Option<PathBuf>,
    /// Write statistics to this file, one line of JSON per second
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Stop after this many seconds (default: run until Ctrl-C)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<u64>,
    #[command(flatten)]
    pub links: LinkArgs,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
pub struct RelayArgs {
    /// Full URL of the endpoint to publish to, such as https://server:8889/live/whip
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// Address that the encoder publishes to
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = listen)]
    pub listen: SocketAddr,
    /// Bearer token that the encoder must send (default: none on loopback; on other
    /// addresses, a token is generated and printed)
    #[arg(long, value_name = "TOKEN", value_parser = token)]
    pub encoder_token: Option<String>,
    /// Write statistics to this file, one line of JSON per second
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Stop after this many seconds (default: run until Ctrl-C)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<u64>,
    #[command(flatten)]
    pub network: NetworkArgs,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
pub struct CallArgs {
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub send: SendArgs,
    #[command(flatten)]
    pub vehicle: VehicleArgs,
}

#[cfg(test)]
mod tests;
