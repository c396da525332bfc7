//! Description of a run.

use std::time::Duration;

use weft_endpoint::signalling::Trust;
use weft_units::{Codec, Rate};

/// Run: the server, its participants and their media.
///
/// More than fifteen fields: each is an option of the command.
#[derive(Clone, Debug)]
pub struct LoadConfig {
    /// Server, and how to join it.
    pub target: Target,
    /// Bearer token of the server.
    pub token: Option<String>,
    /// Certificates to trust.
    pub trust: Trust,
    /// Number of rooms.
    pub rooms: u32,
    /// Name of the room, or prefix of the rooms' names.
    pub room: String,
    /// Participants of each room.
    pub people: People,
    /// Arrival of the newcomers.
    pub arrival: Arrival,
    /// Viewers behind a slow link; none by default.
    pub weak: Option<Weak>,
    /// Pictures of each publisher.
    pub video: Video,
    /// Whether publishers send sound as well.
    pub sound: Sound,
    /// Behaviour of the clients on the wire.
    pub clients: Clients,
    /// Duration of the measurement, which starts after all participants have joined.
    pub duration: Duration,
    /// Network threads of the load generator.
    pub threads: usize,
    /// Process of the server, on this machine.
    pub server_pid: Option<u32>,
    /// URL of the server's metrics.
    pub metrics: Option<String>,
}

/// Server, and how to join it.
#[derive(Clone, Debug)]
pub enum Target {
    /// Rooms of a weft server: each participant joins like the page, and receives
    /// everything over one connection.
    Room {
        /// Root URL.
        url: String,
    },
    /// Any server with WHIP and WHEP. `{room}` and `{publisher}` in the URLs are replaced
    /// by names.
    Endpoints {
        /// URL for publishers.
        whip: String,
        /// URL for viewers.
        whep: String,
    },
}

/// Participants of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct People {
    /// Number of participants who publish.
    pub publishers: u32,
    /// Number of participants who receive the publishers.
    pub viewers: u32,
    /// Whether all participants publish and receive each other; `publishers` is then the
    /// number of all, and there are no `viewers`.
    pub everybody: bool,
}

/// Arrival of the newcomers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// This many per second, over all rooms.
    PerSecond(f64),
    /// All within this time, at equal intervals.
    Within(Duration),
}

/// Viewers behind a slow link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weak {
    /// Number in each room.
    pub count: u32,
    /// Rate of the link to each of them.
    pub rate: Rate,
}

/// Pictures of each publisher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Video {
    /// Codec.
    pub codec: Codec,
    /// Height of the pictures in pixels; the aspect ratio is 16:9.
    pub height: usize,
    /// Pictures per second.
    pub fps: u32,
    /// Rate of the largest encoding.
    pub rate: Rate,
    /// Number of encodings (simulcast), each half as wide and high as the next.
    pub encodings: u8,
}

/// Whether publishers send sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sound {
    /// Pictures only.
    Off,
    /// Sound and pictures.
    On,
}

weft_units::named! {
    /// Behaviour of the clients on the wire.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Clients: "client" {
        /// Transport-wide feedback and one path, like browsers.
        #[default]
        Browser = "browser",
        /// Feedback for each path, like `weft join`.
        Weft = "weft",
    }
}

/// Maximum height of a picture in pixels.
const MAX_HEIGHT: usize = 1080;
/// Minimum height of an encoding's pictures in pixels.
const MIN_HEIGHT: usize = 90;
/// Maximum number of encodings of a camera that a weft server accepts
/// (docs/protocol/http.md).
const MAX_ENCODINGS: u8 = 4;

/// Error: the description of a run is invalid. The text names the option and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl LoadConfig {
    /// Checks the values and their combination.
    ///
    /// # Errors
    /// If a value is out of range, or two contradict each other.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |text: String| Err(ConfigError(text));
        let Video {
            height,
            fps,
            encodings,
            ..
        } = self.video;
        if self.rooms == 0 || self.people.publishers == 0 {
            return wrong("there is nothing to send: name at least one room and one --publishers, or --people".into());
        }
        if self.people.everybody && self.people.publishers < 2 {
            return wrong("one person alone receives nothing: --people 2 or more".into());
        }
        if !(MIN_HEIGHT..=MAX_HEIGHT).contains(&height) || height % 2 == 1 {
            return wrong(format!(
                "--size {height}p: write an even height from {MIN_HEIGHT}p to {MAX_HEIGHT}p, such as 720p"
            ));
        }
        if !(1..=60).contains(&fps) {
            return wrong(format!("--fps {fps}: write 1 to 60"));
        }
        if !(1..=MAX_ENCODINGS).contains(&encodings) {
            return wrong(format!(
                "--encodings {encodings}: write 1 to {MAX_ENCODINGS}"
            ));
        }
        if height >> (encodings - 1) < MIN_HEIGHT {
            return wrong(format!(
                "--encodings {encodings}: the smallest would have less than {MIN_HEIGHT} lines; \
                 take a larger --size or fewer encodings"
            ));
        }
        let receivers = match self.people.everybody {
            true => self.people.publishers,
            false => self.people.viewers,
        };
        if let Some(weak) = self.weak
            && weak.count > receivers
        {
            return wrong(format!(
                "--weak {}: a room has only {receivers} who receive",
                weak.count
            ));
        }
        if let Target::Endpoints { whip, whep } = &self.target {
            if self.people.everybody {
                return wrong(
                    "--people needs the rooms of a weft server: use --publishers and --viewers \
                     with --whip and --whep"
                        .into(),
                );
            }
            let several = self.rooms * self.people.publishers > 1;
            for (option, url) in [("--whip", whip), ("--whep", whep)] {
                if several && !url.contains("{publisher}") {
                    return wrong(format!(
                        "{option} {url}: with several publishers it needs {{publisher}}, which \
                         stands for the name of each"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns the name of a room, from number 0.
    pub(crate) fn room_name(&self, room: u32) -> String {
        match self.rooms {
            1 => self.room.clone(),
            _ => format!("{}-{}", self.room, room + 1),
        }
    }

    /// Returns the URL of an endpoint for a publisher.
    pub(crate) fn address(&self, template: &str, room: u32, publisher: &str) -> String {
        template
            .replace("{room}", &self.room_name(room))
            .replace("{publisher}", publisher)
    }
}

#[cfg(test)]
pub(crate) mod tests;
