//! Messages about the reception of a room: its lines and its offers.

use serde::{Deserialize, Serialize};
use weft_rooms::MAX_CAMERAS;
use weft_wire::rtp::Mid;

use super::valid_id;
use crate::caller::Track;

/// Maximum number of lines in a list: the number of media sections of a description.
const MAX_LINES: usize = 64;

/// Media section of a reception, with the track that it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Media section.
    pub section: Mid,
    /// Id of the participant.
    pub participant: String,
    /// Track of the participant.
    pub track: Track,
}

/// State of a reception on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Viewing {
    /// All lines that carry a track; `None` if the message has no list.
    pub lines: Option<Vec<Line>>,
    /// Offer of the server that waits for our answer.
    pub offer: Option<String>,
}

/// Camera that we receive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ViewedCamera {
    /// Id of the participant.
    pub participant: String,
    /// Index among the participant's cameras, from 0.
    pub camera: usize,
    /// Width of the largest useful picture, in pixels.
    pub width: u32,
    /// Height of the largest useful picture, in pixels.
    pub height: u32,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    resource: String,
    lines: Option<Vec<LineMessage>>,
    #[serde(alias = "sdp")]
    offer: Option<String>,
}

#[derive(Deserialize)]
struct LineMessage {
    mid: String,
    participant: String,
    kind: String,
    camera: Option<usize>,
}

impl LineMessage {
    fn line(self) -> Option<Line> {
        let track = match (&*self.kind, self.camera) {
            ("audio", _) => Track::Sound,
            ("video", Some(place)) if place < MAX_CAMERAS => Track::Camera(place),
            _ => return None,
        };
        Some(Line {
            section: Mid::new(&self.mid)?,
            participant: valid_id(self.participant)?,
            track,
        })
    }
}

/// Encodings of our publication that somebody watches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Wanted {
    /// Name of the publication's resource.
    pub resource: String,
    /// Whether each encoding of each camera is wanted.
    pub cameras: Vec<Vec<bool>>,
}

/// Reads a message about a reception; returns the name of its resource, which answers
/// omit, and its news. `None` if it is unreadable.
pub(super) fn read_viewing(text: &str) -> Option<(String, Viewing)> {
    let message: Message = serde_json::from_str(text).ok()?;
    let lines = message.lines.map(|lines| {
        let lines = lines.into_iter().take(MAX_LINES);
        lines.filter_map(LineMessage::line).collect()
    });
    let offer = message.offer;
    Some((message.resource, Viewing { lines, offer }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_offers_are_read() {
        let text = r#"{"resource":"r1","lines":[
            {"mid":"0","participant":"p2","kind":"audio"},
            {"mid":"1","participant":"p2","kind":"video","camera":1,"paused":true},
            {"mid":"2","participant":"p2","kind":"video","camera":99},
            {"mid":"3","participant":"p2","kind":"smell"},
            {"mid":"","participant":"p2","kind":"audio"}]}"#;
        let (resource, viewing) = read_viewing(text).expect("it can be read");
        assert_eq!((&*resource, &viewing.offer), ("r1", &None));
        let tracks = viewing.lines.expect("lines").into_iter().map(|l| l.track);
        assert_eq!(tracks.collect::<Vec<_>>(), [Track::Sound, Track::Camera(1)]);
        let (_, later) = read_viewing(r#"{"resource":"r1","sdp":"v=0"}"#).expect("an offer");
        assert_eq!((later.lines, later.offer.as_deref()), (None, Some("v=0")));
        let (_, answer) = read_viewing(r#"{"lines":[],"offer":"v=0"}"#).expect("an answer");
        assert_eq!(
            (answer.lines, answer.offer.as_deref()),
            (Some(Vec::new()), Some("v=0"))
        );
        assert_eq!(read_viewing("[]"), None);
    }

    #[test]
    fn a_list_of_lines_is_bounded() {
        let line = r#"{"mid":"0","participant":"p2","kind":"audio"}"#;
        let text = format!(r#"{{"lines":[{}]}}"#, vec![line; 1_000].join(","));
        let (_, viewing) = read_viewing(&text).expect("it can be read");
        assert_eq!(viewing.lines.map(|l| l.len()), Some(MAX_LINES));
    }
}
