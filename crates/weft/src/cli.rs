//! The command line (a contract with scripts).

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use weft_cc::ControllerKind;
use weft_endpoint::caller::Sending;
use weft_media::MicrophoneSpec;
use weft_net::LinkSpec;
use weft_publish::Degradation;
use weft_session::{ProtectionKind, SchedulerKind};
use weft_units::{Codec, MediaKind, Rate, quantity};

use weft_endpoint::sources::cameras::NamedCamera;

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
    /// Join a room over all links: publish cameras and sound, receive the others
    Join(JoinArgs),
    /// Call straight to a browser: serves its own page, no media server between
    Call(CallArgs),
    /// Experiments in virtual time: what would this call do on that network
    Lab(crate::lab::args::LabArgs),
    /// Links for other programs: a shell behind them, real packets
    Emu(crate::emu::args::EmuArgs),
    /// Links, privileges, codecs, clock: what works here and what to do
    Doctor,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// No browser: receive the calls here and measure them
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
    /// Which packets go over which path: weft, converge, single, migrate,
    /// min_rtt, throughput, mprtp or duplicate
    #[arg(long, value_name = "NAME", default_value_t = SchedulerKind::default())]
    pub scheduler: SchedulerKind,
    /// Repair packets of the call over both links: none, webrtc_table or path_specific
    #[arg(long, value_name = "NAME", default_value_t = ProtectionKind::default())]
    pub protection: ProtectionKind,
    /// Congestion controller of every path: gcc, gcc_deployed, gcc_draft, nada,
    /// scream, scream_v1 or fixed:RATE
    #[arg(long, value_name = "NAME", default_value_t = ControllerKind::Gcc)]
    pub controller: ControllerKind,
    /// Video codec of both calls: vp8 or h264
    #[arg(long, value_name = "NAME", default_value_t = Codec::Vp8, value_parser = video_codec)]
    pub codec: Codec,
    /// Size of the pictures: 360p, 720p or 1080p
    #[arg(long, value_name = "SIZE", default_value = "720p")]
    pub size: String,
}

/// Where a server listens, and to whom.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Where to listen; loopback speaks http unless it has a certificate, other addresses https
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = listen)]
    pub listen: SocketAddr,
    /// Certificate chain (PEM); without it the server makes one for itself and keeps it in
    /// $XDG_STATE_HOME/weft (~/.local/state/weft)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Plain http everywhere, for a proxy in front that does TLS
    #[arg(long, conflicts_with = "certificate")]
    pub insecure_http: bool,
    /// What clients must show as bearer token (or `?token=` in the page's address); `call` makes
    /// one for itself beyond loopback
    #[arg(long, value_name = "TOKEN", env = "WEFT_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Option<String>,
}

/// What `join` and `call` send, and how.
#[derive(Debug, Args)]
pub struct SendArgs {
    // Brackets would be links to rustdoc.
    #[arg(
        long = "link",
        help = "A link: [NAME=]INTERFACE or [NAME=]ADDRESS, and after commas metered, budget=2GB, \
                weight=0.5, backup; repeat for each (default: every interface)",
        value_name = "IF|ADDR"
    )]
    pub links: Vec<LinkSpec>,
    #[arg(
        long = "camera",
        help = "A camera: clip[:SIZE][@FPS], /dev/videoN[:SIZE][@FPS] or FILE.y4m, SIZE being \
                360p, 720p, 1080p or WIDTHxHEIGHT; with a name for the others in front as in \
                rear=/dev/video1; repeat for up to four",
        value_name = "[NAME=]SRC"
    )]
    pub cameras: Vec<NamedCamera>,
    #[arg(
        help = "Sound: alsa[:DEVICE], FILE.wav or tone",
        long,
        value_name = "SRC"
    )]
    pub mic: Option<MicrophoneSpec>,
    /// Video codec: vp8, or h264 (constrained baseline, without the temporal layers that a server
    /// can leave out for slow receivers)
    #[arg(long, value_name = "NAME", default_value_t = Codec::Vp8, value_parser = video_codec)]
    pub codec: Codec,
    /// Which packets go over which path: weft, converge, single, migrate,
    /// min_rtt, throughput, mprtp or duplicate
    #[arg(long, value_name = "NAME", default_value_t = SchedulerKind::default())]
    pub scheduler: SchedulerKind,
    /// How many repair packets there are, towards peers that know them: none, webrtc_table (by
    /// loss and size of the frames, as libwebrtc) or path_specific (by what each path loses)
    #[arg(long, value_name = "NAME", default_value_t = ProtectionKind::default())]
    pub protection: ProtectionKind,
    /// Congestion controller of every path: gcc, gcc_deployed, gcc_draft, nada,
    /// scream, scream_v1 or fixed:RATE
    #[arg(long, value_name = "NAME", default_value_t = ControllerKind::Gcc)]
    pub controller: ControllerKind,
    /// What gives way when the rate is low: maintain-framerate (smaller pictures),
    /// maintain-resolution (fewer), balanced or off
    #[arg(long, value_name = "WHAT", default_value_t)]
    pub degradation: Degradation,
    /// Most that is sent over all links together, such as 4mbit or 800kbit
    #[arg(long, value_name = "RATE", default_value = "4mbit", value_parser = rate)]
    pub max_rate: Rate,
    /// Write statistics, a line of JSON each second, to this file
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// End after so many seconds (default: run until Ctrl-C)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<u64>,
    /// The name that the others see
    #[arg(long, value_name = "NAME", default_value = "weft", value_parser = shown_name)]
    pub name: String,
}

#[derive(Debug, Args)]
pub struct JoinArgs {
    /// The server, such as https://HOST:PORT
    #[arg(value_name = "URL")]
    pub url: String,
    /// The room
    #[arg(long, value_name = "R")]
    pub room: String,
    #[command(flatten)]
    pub send: SendArgs,
    /// Record what is received to this .webm file; further participants and further cameras get
    /// files beside it, each camera one with the sound. A file that is there already is left alone:
    /// the next free name is taken. Of those who send H.264, which WebM cannot
    /// hold, only the sound
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// The server's bearer token
    #[arg(long, value_name = "TOKEN", env = "WEFT_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Option<String>,
    /// Trust the certificates in this file (PEM): of an authority, or a copy of the server's own
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// Trust whoever answers, whatever the certificate: others on the way can listen in
    #[arg(long)]
    pub insecure: bool,
    /// Decode the pictures received, as a screen would show them: the statistics file then has
    /// their size and how long they took from the camera
    #[arg(long, requires = "stats", conflicts_with = "send_only")]
    pub watch: bool,
    /// Only publish, receive nobody
    #[arg(long, conflicts_with = "record")]
    pub send_only: bool,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub page: PageArgs,
    /// The UDP port of all media, to be opened in firewalls and forwarded by routers (default: a
    /// free one)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub media_port: Option<u16>,
}

#[derive(Debug, Args)]
pub struct CallArgs {
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub send: SendArgs,
}

impl SendArgs {
    /// How it is sent.
    pub fn sending(&self) -> Sending {
        Sending {
            scheduler: self.scheduler,
            protection: self.protection,
            controller: self.controller,
            codec: self.codec,
            max_rate: self.max_rate,
            cname: self.name.clone(),
        }
    }
}

/// An address with its port.
fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!(
            "`{text}` is no address with a port; write it like 127.0.0.1:8080, 0.0.0.0:8443 for \
             every address of this machine, or [::1]:8080"
        )
    })
}

/// What a room takes as a participant's name (`weft_sfu::Registry::join`).
fn shown_name(text: &str) -> Result<String, String> {
    const MAX: usize = 64;
    let name = text.trim();
    let fits = (1..=MAX).contains(&name.chars().count()) && !name.contains(char::is_control);
    let remedy = "a name has 1 to 64 printable characters; write it like --name 'Ambulance 3'";
    fits.then(|| name.to_owned())
        .ok_or_else(|| remedy.to_owned())
}

/// What fits into a header and into the page's cookie (RFC 6265 section 4.1.1):
/// with another token nobody could come in.
fn token(text: &str) -> Result<String, String> {
    let fits = |b: u8| b.is_ascii_graphic() && !b";,\"\\".contains(&b);
    let remedy = "a token has at least one letter, digit or sign of ASCII, without spaces, quotes, \
                  commas, semicolons and backslashes; `openssl rand -hex 16` makes one";
    (!text.is_empty() && text.bytes().all(fits))
        .then(|| text.to_owned())
        .ok_or_else(|| remedy.to_owned())
}

fn seconds(text: &str) -> Result<u64, String> {
    let remedy = "write whole seconds, such as 60";
    let whole: Option<u64> = text.parse().ok();
    whole.filter(|s| *s > 0).ok_or_else(|| remedy.to_owned())
}

fn video_codec(text: &str) -> Result<Codec, String> {
    let all = Codec::of_kind(MediaKind::Video);
    let names: Vec<&str> = all.map(Codec::name).collect();
    let codec = Codec::named(text).filter(|c| c.kind() == MediaKind::Video);
    let remedy = || format!("`{text}` is no video codec; write {}", names.join(" or "));
    codec.ok_or_else(remedy)
}

/// A rate as in link specifications: `4mbit`, `800kbit`.
fn rate(text: &str) -> Result<Rate, String> {
    let parsed = quantity::rate(&text.to_ascii_lowercase());
    let parsed = parsed.filter(|rate| *rate > Rate::ZERO);
    parsed.ok_or_else(|| format!("`{text}` is no rate; write it like 4mbit or 800kbit"))
}

#[cfg(test)]
mod tests;
