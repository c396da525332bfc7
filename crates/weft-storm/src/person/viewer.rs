//! Media that a person sees and hears, and whether it should.

use std::collections::{BTreeMap, VecDeque};

use weft_forwarding::Line;
use weft_session::ReceivedFrame;
use weft_testing::pictures::Stamp;
use weft_units::{Codec, Duration, Instant, StreamId};

use super::camera::{LARGE, Mark, SCREEN, sound_of};

/// Maximum time for which packets of the previous track may arrive on a line: those in
/// queues, and retransmissions.
const IN_FLIGHT: Duration = Duration::from_secs(4);
/// Period for which pictures are remembered.
const REMEMBERED: Duration = Duration::from_secs(2);
/// Number of pictures that later ones may refer to.
const RECENT: usize = 16;
/// Number of pictures by which a keyframe may be late: a viewer that gets an encoding
/// again starts with its last keyframe, at most 400 ms old.
const BEHIND: u64 = 12;

/// State of a person in the room, as it should be.
#[derive(Clone, Default, Debug)]
pub struct Standing {
    /// Id in the room.
    pub id: Option<String>,
    /// Time of joining: earlier pictures of the person belong to another presence.
    pub joined: Instant,
    /// Time from which none of the person's media may be shown.
    pub outside: Option<Instant>,
    /// Time from which the person is muted.
    pub muted: Option<Instant>,
}

/// Screen and loudspeaker.
#[derive(Default)]
pub struct Viewer {
    lines: BTreeMap<String, Placed>,
    decoders: BTreeMap<StreamId, Decoder>,
    /// Pictures of each person, and of each screen.
    tiles: BTreeMap<(usize, bool), Tile>,
    /// Time of the last sound of each person.
    pub heard: BTreeMap<usize, Instant>,
    /// Findings since the last call.
    pub wrong: Vec<String>,
    pub pictures: u64,
}

/// Use of a line, and the time of its last change.
struct Placed {
    line: Option<Line>,
    since: Instant,
}

struct Decoder {
    of: Mark,
    /// Numbers of recent pictures, the latest first.
    recent: VecDeque<u64>,
}

/// Picture on a tile.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub at: Instant,
    pub captured: Instant,
    pub encoding: u8,
}

#[derive(Default)]
struct Tile {
    shown: VecDeque<Shown>,
    /// Times of the last picture in the largest encoding, and in another one.
    last: [Option<Instant>; 2],
}

impl Viewer {
    /// Starts a connection: it has no lines and no pictures.
    pub fn begin_again(&mut self) {
        self.lines.clear();
        self.decoders.clear();
    }

    /// Handles the server's message about the tracks on the lines.
    pub fn set_lines(&mut self, now: Instant, lines: &[Line]) {
        for (mid, placed) in &mut self.lines {
            if lines.iter().all(|line| line.mid != *mid) && placed.line.is_some() {
                (placed.line, placed.since) = (None, now);
            }
        }
        for line in lines {
            let of = |line: &Line| (line.participant.clone(), line.content);
            let known = self.lines.get(&line.mid);
            let same = known.is_some_and(|p| p.line.as_ref().map(of) == Some(of(line)));
            let since = known.filter(|_| same).map_or(now, |placed| placed.since);
            let line = Some(line.clone());
            let mid = line.as_ref().map(|line| line.mid.clone());
            self.lines
                .insert(mid.unwrap_or_default(), Placed { line, since });
        }
    }

    /// Returns the lines in use.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines
            .values()
            .filter_map(|placed| placed.line.as_ref())
    }

    /// Shows a frame that arrived on this line.
    pub fn show(
        &mut self,
        now: Instant,
        (me, people): (usize, &[Standing]),
        (stream, mid): (StreamId, &str),
        frame: &ReceivedFrame,
    ) {
        let (author, captured) = match frame.codec {
            Codec::Opus => match sound_of(&frame.data) {
                Some(sound) => sound,
                // Strangers publish, too.
                None => return,
            },
            _ => match (Mark::of(&frame.data), Stamp::of(&frame.data)) {
                (Some(mark), Some(stamp)) => (mark.author, stamp.captured),
                _ => return drop(self.decoders.remove(&stream)),
            },
        };
        let Some(standing) = people.get(author) else {
            return;
        };
        let kind = frame.codec;
        let finding = if author == me && captured > standing.joined {
            Some(format!("its own {kind:?}"))
        } else if standing.outside.is_some_and(|since| captured > since) {
            Some(format!("{kind:?} of {author}, who is not in the room"))
        } else if kind == Codec::Opus && standing.muted.is_some_and(|since| captured > since) {
            Some(format!("the sound of {author}, who is muted"))
        } else {
            self.stray(now, (author, people), mid)
        };
        self.wrong.extend(finding);
        match kind {
            Codec::Opus => drop(self.heard.insert(author, now)),
            _ => self.decode(now, stream, frame),
        }
    }

    /// Returns a finding if a line carries the wrong person, or none.
    fn stray(
        &self,
        now: Instant,
        (author, people): (usize, &[Standing]),
        mid: &str,
    ) -> Option<String> {
        let placed = self.lines.get(mid)?;
        if now.saturating_since(placed.since) < IN_FLIGHT {
            return None;
        }
        let of = placed.line.as_ref().map(|line| &line.participant);
        let owner = people
            .iter()
            .position(|p| p.id.is_some() && p.id.as_ref() == of);
        match (of, owner) {
            (None, _) => Some(format!("{author} on line {mid}, which carries nothing")),
            (_, Some(owner)) if owner != author => {
                Some(format!("{author} on line {mid} of {owner}"))
            }
            _ => None,
        }
    }

    fn decode(&mut self, now: Instant, stream: StreamId, frame: &ReceivedFrame) {
        let (Some(mark), Some(stamp)) = (Mark::of(&frame.data), Stamp::of(&frame.data)) else {
            return;
        };
        let decoder = self.decoders.get_mut(&stream).filter(|d| d.of == mark);
        let number = stamp.number;
        match decoder {
            None if !stamp.keyframe => {
                let what = format!("picture {number} of {mark:?} before any keyframe");
                return self.wrong.push(what);
            }
            None => {
                let recent = VecDeque::from([number]);
                self.decoders.insert(stream, Decoder { of: mark, recent });
            }
            Some(decoder) => {
                let last = decoder.recent.front().copied();
                // When a publication is replaced, both connections send the keyframe.
                let again = stamp.keyframe && last <= Some(number + BEHIND);
                if last >= Some(number) && !again {
                    let what = format!("picture {number} of {mark:?} after {last:?}");
                    self.wrong.push(what);
                }
                if stamp.keyframe {
                    decoder.recent.clear();
                } else if !decoder.recent.contains(&stamp.needs) {
                    let needs = stamp.needs;
                    self.wrong
                        .push(format!("picture {number} of {mark:?} without {needs}"));
                }
                decoder.recent.truncate(RECENT);
                decoder.recent.push_front(number);
            }
        }
        let tile = self.tiles.entry((mark.author, mark.encoding == SCREEN));
        let Tile { shown, last } = tile.or_default();
        last[usize::from(mark.encoding != LARGE)] = Some(now);
        // When encodings change, one picture may arrive in both.
        if shown
            .back()
            .is_some_and(|last| last.captured >= stamp.captured)
        {
            return;
        }
        self.pictures += 1;
        shown.push_back(Shown {
            at: now,
            captured: stamp.captured,
            encoding: mark.encoding,
        });
        while shown
            .front()
            .is_some_and(|s| now.saturating_since(s.at) > REMEMBERED)
            && shown.len() > 1
        {
            shown.pop_front();
        }
    }

    /// Returns the time of the last picture of a person in the largest encoding, and in
    /// another one.
    pub fn last_by_size(&self, author: usize) -> [Option<Instant>; 2] {
        let tile = self.tiles.get(&(author, false));
        tile.map_or([None; 2], |tile| tile.last)
    }

    /// Returns the pictures of a person, or of a screen, since then, and the last one before.
    pub fn shown(&self, author: usize, screen: bool) -> impl Iterator<Item = &Shown> {
        let tile = self.tiles.get(&(author, screen));
        tile.into_iter().flat_map(|tile| &tile.shown)
    }
}
