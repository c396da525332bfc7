//! The command line (a contract with scripts).

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use weft_units::Codec;

use crate::rooms::RoomsArgs;
use crate::sending::{ExpertArgs, SendArgs, either, video_codec, video_codecs};
use crate::serve::args::{PageArgs, ServeArgs};
use crate::token::TokenArgs;
use crate::values::{listen, seconds, token};

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
    /// Rooms of a server that runs on this machine: list them, remove somebody, close one, revoke a
    /// token
    Rooms(RoomsArgs),
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
    /// Decode the pictures received (up to 1920x1080), as a screen would show them: the statistics
    /// file then has their size, how long they took from the camera and, with Debian's
    /// `opencv-data` installed, how bad they look by themselves (BRISQUE, 0 to 100; one picture
    /// every two seconds)
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

#[cfg(test)]
mod tests;
