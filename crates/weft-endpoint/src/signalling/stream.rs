//! Reader of the room's event stream with bounds on size, rate and time, because a server
//! may send anything.

use std::io::{self, BufRead, BufReader, Read};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use weft_rooms::MAX_CAMERAS;
use weft_units::printable;

use super::viewing::read_viewing;
use super::{Identity, Participant, RoomEvent, SILENCE, valid_id};
use crate::turn::{RoomIceServer, TurnServer};

/// Maximum size of an event in octets: the welcome of weft's server is smaller
/// (SECURITY.md).
const MAX_EVENT: usize = 1 << 20;

/// Rate limit in octets per second. A full room in which all participants send statistics
/// each second needs 40 KiB. Chosen by us.
const RATE: f64 = (1 << 20) as f64;

/// Maximum burst in octets: a few welcomes. Chosen by us.
const BURST: f64 = (4 << 20) as f64;

/// Minimum cost of an event in octets, which allows 1,024 events per second.
/// Chosen by us.
const LEAST: usize = 1 << 10;

/// Maximum length of a name in characters: the limit of weft's server.
const MAX_NAME: usize = 64;

/// Maximum length of another server's URL, in octets. Chosen by us.
const MAX_URL: usize = 1 << 10;

/// Reads events until the stream ends or `take` returns false.
///
/// # Errors
/// If reading fails, a line is too long, or no event arrives for too long.
pub(super) fn read_events(
    stream: impl Read,
    mut take: impl FnMut(RoomEvent) -> bool,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut pace = Pace::new(Instant::now());
    let mut heard = Instant::now();
    let (mut name, mut data) = (String::new(), String::new());
    let mut length = 0;
    while let Some(line) = next_line(&mut stream, MAX_EVENT - length)? {
        let is_end = line.is_empty();
        length += line.len();
        let octets = if is_end { LEAST } else { line.len() };
        thread::sleep(pace.wait(Instant::now(), octets));
        if let Some(value) = line.strip_prefix("event:") {
            value.trim().clone_into(&mut name);
        } else if let Some(value) = line.strip_prefix("data:") {
            data.push_str(value.trim());
        } else if is_end {
            heard = Instant::now();
            let goes_on = take(room_event(&name, &data).unwrap_or(RoomEvent::Alive));
            name = String::new();
            data = String::new();
            length = 0;
            if !goes_on {
                break;
            }
        }
        if heard.elapsed() > SILENCE {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "an event of the room is incomplete",
            ));
        }
    }
    Ok(())
}

/// Returns the next line without its end, up to `most` octets; `None` at the end of the
/// stream.
fn next_line(stream: &mut impl BufRead, most: usize) -> io::Result<Option<String>> {
    let began = Instant::now();
    let mut line = Vec::new();
    loop {
        let read = stream.fill_buf()?;
        let end = read.iter().position(|octet| *octet == b'\n');
        let taken = end.unwrap_or(read.len());
        if line.len() + taken > most {
            let words = format!("an event is longer than {} KiB", MAX_EVENT >> 10);
            return Err(io::Error::new(io::ErrorKind::InvalidData, words));
        }
        if read.is_empty() && line.is_empty() {
            return Ok(None);
        }
        line.extend_from_slice(&read[..taken]);
        let is_whole = end.is_some() || read.is_empty();
        stream.consume(taken + usize::from(end.is_some()));
        if is_whole {
            break;
        }
        if began.elapsed() > SILENCE {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "an event of the room is incomplete",
            ));
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    String::from_utf8(line).map(Some).map_err(invalid)
}

/// Rate limit of reading. The excess of a faster server waits in TCP.
struct Pace {
    at: Instant,
    /// Octets that can be read now.
    left: f64,
}

impl Pace {
    fn new(now: Instant) -> Pace {
        Pace {
            at: now,
            left: BURST,
        }
    }

    /// Time to wait after reading this many octets.
    fn wait(&mut self, now: Instant, octets: usize) -> Duration {
        let earned = now.saturating_duration_since(self.at).as_secs_f64() * RATE;
        self.at = now;
        self.left = (self.left + earned).min(BURST) - octets as f64;
        Duration::from_secs_f64((-self.left / RATE).max(0.0))
    }
}

#[derive(Deserialize)]
struct Welcome {
    participants: Vec<Participant>,
    #[serde(default)]
    ice_servers: serde_json::Value,
}

#[derive(Deserialize)]
struct Own {
    id: String,
    #[serde(default)]
    secret: String,
}

#[derive(Deserialize)]
struct Left {
    id: String,
}

#[derive(Deserialize)]
struct Ended {
    resource: String,
}

#[derive(Deserialize)]
struct Move {
    url: String,
}

pub(super) fn room_event(name: &str, data: &str) -> Option<RoomEvent> {
    match name {
        "welcome" => {
            let welcome: Welcome = serde_json::from_str(data).ok()?;
            let participants = welcome.participants.into_iter();
            Some(RoomEvent::Welcome {
                own: identity(data)?,
                participants: participants.filter_map(bounded).collect(),
                turn_servers: turn_servers(welcome.ice_servers),
            })
        }
        "waiting" => Some(RoomEvent::Waiting(identity(data)?)),
        "joined" | "changed" => {
            let participant = serde_json::from_str(data).ok()?;
            Some(RoomEvent::Changed(bounded(participant)?))
        }
        "reception" | "offer" => {
            let (resource, viewing) = read_viewing(data)?;
            Some(RoomEvent::Reception(resource, viewing))
        }
        "ice-servers" => {
            let servers = turn_servers(serde_json::from_str(data).ok()?);
            Some(RoomEvent::TurnServers(servers))
        }
        "wanted" => Some(RoomEvent::Wanted(serde_json::from_str(data).ok()?)),
        "left" => {
            let left: Left = serde_json::from_str(data).ok()?;
            Some(RoomEvent::Left(valid_id(left.id)?))
        }
        "move" => {
            let asked: Move = serde_json::from_str(data).ok()?;
            (asked.url.len() <= MAX_URL).then_some(RoomEvent::Move(asked.url))
        }
        "ended" => {
            let ended: Ended = serde_json::from_str(data).ok()?;
            Some(RoomEvent::ConnectionEnded(valid_id(ended.resource)?))
        }
        _ => None,
    }
}

/// Returns the TURN servers of a list; none if the list is unreadable.
fn turn_servers(list: serde_json::Value) -> Vec<TurnServer> {
    let list: Vec<RoomIceServer> = serde_json::from_value(list).unwrap_or_default();
    TurnServer::of_room(&list)
}

fn identity(data: &str) -> Option<Identity> {
    let own: Own = serde_json::from_str(data).ok()?;
    Some(Identity {
        id: valid_id(own.id)?,
        secret: valid_id(own.secret)?,
    })
}

/// Participant with a valid id, displayable names, and a bounded number of
/// cameras.
fn bounded(mut participant: Participant) -> Option<Participant> {
    let shown = |name: &str| {
        let name: String = name.chars().take(MAX_NAME).collect();
        printable(&name).to_string()
    };
    let cameras = &mut participant.publishing.cameras;
    cameras.truncate(MAX_CAMERAS);
    cameras.shrink_to_fit();
    for camera in cameras {
        camera.name = camera.name.as_deref().map(shown);
    }
    Some(Participant {
        id: valid_id(participant.id)?,
        name: shown(&participant.name),
        publishing: participant.publishing,
        muted: participant.muted,
    })
}

#[cfg(test)]
mod tests;
