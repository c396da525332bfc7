//! Options of `weft load`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use weft_load::{Arrival, Clients, LoadConfig, People, Sound, Target, Video, Weak};
use weft_units::{Codec, Rate, quantity};

use crate::access::ServerArgs;
use crate::exit::Failure;
use crate::sending::{either, video_codec, video_codecs};
use crate::values::{number, rate, seconds, secret_file, token};

const MEDIA: &str = "Media";
const ARRIVAL: &str = "Participants";
const RESULTS: &str = "Results";
const OTHER: &str = "Other servers";

// More than fifteen fields: one for each option.
#[derive(Debug, Args)]
pub struct LoadArgs {
    /// URL of a weft server, such as https://HOST:PORT
    #[arg(value_name = "URL", required_unless_present_any = ["whip", "whep"], conflicts_with_all = ["whip", "whep"])]
    pub url: Option<String>,
    /// Number of rooms
    #[arg(help_heading = ARRIVAL, long, value_name = "N", default_value_t = 1, value_parser = number::<u32>)]
    pub rooms: u32,
    /// Name of the room; with several rooms, a number is appended
    #[arg(help_heading = ARRIVAL, long, value_name = "R", default_value = "load")]
    pub room: String,
    /// Participants of each room who publish
    #[arg(help_heading = ARRIVAL, long, value_name = "N", default_value_t = 1, value_parser = number::<u32>)]
    pub publishers: u32,
    /// Participants of each room who receive the publishers
    #[arg(help_heading = ARRIVAL, long, value_name = "N", default_value_t = 20, value_parser = number::<u32>)]
    pub viewers: u32,
    /// Participants of each room who all publish and see each other, in place of
    /// publishers and viewers
    #[arg(help_heading = ARRIVAL, long, value_name = "N", conflicts_with_all = ["publishers", "viewers"], value_parser = number::<u32>)]
    pub people: Option<u32>,
    /// Joins per second, over all rooms
    #[arg(help_heading = ARRIVAL, long, value_name = "N", default_value_t = 20.0, value_parser = ramp)]
    pub ramp: f64,
    /// Join storm: all participants join within this time, such as 5s
    #[arg(help_heading = ARRIVAL, long, value_name = "TIME", conflicts_with = "ramp", value_parser = time)]
    pub join_within: Option<Duration>,
    /// Participants of each room whose downlink is slow (--weak-rate)
    #[arg(help_heading = ARRIVAL, long, value_name = "N", default_value_t = 0, value_parser = number::<u32>)]
    pub weak: u32,
    /// Rate of a slow downlink, such as 600kbit; its queue has 300 ms
    #[arg(help_heading = ARRIVAL, long, value_name = "RATE", default_value = "600kbit", value_parser = slow_rate)]
    pub weak_rate: Rate,
    #[arg(
        help = format!("Video codec: {}", either(&video_codecs())),
        help_heading = MEDIA,
        long,
        value_name = "NAME",
        default_value_t = Codec::Vp8,
        value_parser = video_codec
    )]
    pub codec: Codec,
    /// Size of the pictures, such as 360p, 720p or 1080p
    #[arg(help_heading = MEDIA, long, value_name = "SIZE", default_value = "720p", value_parser = height)]
    pub size: usize,
    /// Pictures per second
    #[arg(help_heading = MEDIA, long, value_name = "N", default_value_t = 30, value_parser = number::<u32>)]
    pub fps: u32,
    /// Rate of the pictures, such as 2500kbit (default: depends on the size, as in
    /// browsers: 500kbit for 360p, 2500kbit for 720p, 5mbit for 1080p)
    #[arg(help_heading = MEDIA, long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<Rate>,
    /// Encodings of each camera (simulcast); each further one has half the width and
    /// height, and a quarter of the rate
    #[arg(help_heading = MEDIA, long, value_name = "N", default_value_t = 1, value_parser = number::<u8>)]
    pub encodings: u8,
    /// Send sound as well
    #[arg(help_heading = MEDIA, long)]
    pub sound: bool,
    /// Behaviour of the clients: `browser` has one path and transport-wide feedback;
    /// `weft` behaves like `weft join`
    #[arg(help_heading = MEDIA, long, value_name = "NAME", default_value_t = Clients::Browser, value_parser = clients)]
    pub clients: Clients,
    /// WHIP URL of any server; {publisher} and {room} are replaced by names
    #[arg(help_heading = OTHER, long, value_name = "URL", requires = "whep")]
    pub whip: Option<String>,
    /// WHEP URL of any server, like --whip; a weft server also works, with
    /// URL/whip/{room}?name={publisher} and URL/whep/{room}/{publisher}
    #[arg(help_heading = OTHER, long, value_name = "URL", requires = "whip")]
    pub whep: Option<String>,
    /// Measure for this many seconds after everybody has joined
    #[arg(help_heading = RESULTS, long, value_name = "S", default_value_t = 20, value_parser = seconds)]
    pub seconds: u64,
    /// Write all figures to this file
    #[arg(help_heading = RESULTS, long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page with the figures to this file (HTML)
    #[arg(help_heading = RESULTS, long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Measure the processor time and memory of the server: this process on this machine
    #[arg(help_heading = RESULTS, long, value_name = "PID", conflicts_with = "metrics")]
    pub server_pid: Option<u32>,
    /// Read the server's processor time and memory from its metrics, such as
    /// http://HOST:9100/metrics
    #[arg(help_heading = RESULTS, long, value_name = "URL")]
    pub metrics: Option<String>,
    /// Network threads of the load generator; it warns if they are too few
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = threads)]
    pub load_threads: usize,
    /// File with the bearer token of the server, one line
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    pub token_file: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerArgs,
}

impl LoadArgs {
    pub fn config(&self) -> Result<LoadConfig, Failure> {
        let target = match (&self.url, &self.whip, &self.whep) {
            (_, Some(whip), Some(whep)) => Target::Endpoints {
                whip: whip.clone(),
                whep: whep.clone(),
            },
            (url, ..) => Target::Room {
                url: url.clone().unwrap_or_default(),
            },
        };
        let token = self.token_file.as_deref();
        let token = token
            .map(|file| secret_file("--token-file", file, token_of_file))
            .transpose()?;
        let server = self.server.server("", token);
        let people = People {
            publishers: self.people.unwrap_or(self.publishers),
            viewers: if self.people.is_some() {
                0
            } else {
                self.viewers
            },
            everybody: self.people.is_some(),
        };
        Ok(LoadConfig {
            target,
            token: server.token,
            trust: server.trust,
            rooms: self.rooms,
            room: self.room.clone(),
            people,
            arrival: match self.join_within {
                Some(time) => Arrival::Within(time),
                None => Arrival::PerSecond(self.ramp),
            },
            weak: (self.weak > 0).then_some(Weak {
                count: self.weak,
                rate: self.weak_rate,
            }),
            video: Video {
                codec: self.codec,
                height: self.size,
                fps: self.fps,
                rate: self.rate.unwrap_or(usual_rate(self.size)),
                encodings: self.encodings,
            },
            sound: if self.sound { Sound::On } else { Sound::Off },
            clients: self.clients,
            duration: Duration::from_secs(self.seconds),
            threads: self.load_threads,
            server_pid: self.server_pid,
            metrics: self.metrics.clone(),
        })
    }
}

fn token_of_file(text: &str) -> Result<String, String> {
    token(text)
}

/// Returns the usual rate for pictures of this height: libwebrtc's table (simulcast.cc,
/// 360p, 720p and 1080p).
fn usual_rate(height: usize) -> Rate {
    match height {
        0..=240 => Rate::from_kbps(150),
        241..=480 => Rate::from_kbps(500),
        481..=900 => Rate::from_kbps(2_500),
        _ => Rate::from_mbps(5),
    }
}

fn ramp(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|n| (0.01..=10_000.0).contains(n));
    rate.ok_or_else(|| format!("`{text}`: write newcomers per second, such as 20 or 0.5"))
}

fn time(text: &str) -> Result<Duration, String> {
    let time = quantity::time(text).map(Duration::from);
    time.ok_or_else(|| format!("`{text}` is not a time: write it like 5s or 500ms"))
}

/// Parses a rate as for a slow link, with or without `/s`.
fn slow_rate(text: &str) -> Result<Rate, String> {
    rate(text.strip_suffix("/s").unwrap_or(text))
}

fn height(text: &str) -> Result<usize, String> {
    let height = text
        .strip_suffix('p')
        .and_then(|digits| digits.parse().ok());
    height.ok_or_else(|| format!("`{text}`: write a height such as 720p"))
}

fn clients(text: &str) -> Result<Clients, String> {
    let unknown = |_| format!("`{text}`: write {}", either(&["browser", "weft"]));
    text.parse().map_err(unknown)
}

fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|n| (1..=256).contains(n));
    threads.ok_or_else(|| format!("`{text}`: write 1 to 256 threads"))
}
