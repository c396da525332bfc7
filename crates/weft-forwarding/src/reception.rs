//! One connection that carries a whole room to a participant: its lines, and the track on
//! each of them.

use crate::publisher::Slot;
use crate::routing::TrackId;
use std::collections::BTreeSet;
use weft_peer::{NegotiatedStream, Section, StreamDirection};
use weft_units::{Codec, MediaKind, StreamId};
use weft_wire::payload::Form;
use weft_wire::rtp::Mid;

/// Sizes to which a pool of lines grows: grids of two, three, four and five tiles a side.
/// Fewer steps mean fewer negotiations, each of which takes a browser 20 to 80 ms.
const STEPS: [usize; 4] = [4, 9, 16, 25];

/// Maximum number of cameras, and of sounds, that one participant receives.
pub const MAX_LINES: usize = STEPS[STEPS.len() - 1];

/// Use of a media section by a participant's track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Identification of the media section (RFC 9143).
    pub mid: String,
    /// Id of the participant who publishes the track.
    pub participant: String,
    /// Published track of the participant.
    pub content: LineContent,
    /// Whether it is paused because the participant's paths have no room for it.
    pub paused: bool,
}

/// Content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineContent {
    /// Camera at this index, from 0.
    Camera(usize),
    /// Sound.
    Sound,
}

/// Cameras that a participant sees, the most important one first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// Cameras to send; no others are sent.
    pub cameras: Vec<ViewedCamera>,
}

/// Camera and the size of its picture on the viewer's screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewedCamera {
    /// Id of the participant who publishes it.
    pub participant: String,
    /// Its index, from 0, among the participant's cameras.
    pub camera: usize,
    /// Width in physical pixels.
    pub width: u32,
    /// Height in physical pixels.
    pub height: u32,
}

/// Track that a participant could receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) participant: String,
    pub(crate) slot: Slot,
    /// Its encodings; at least one.
    pub(crate) encodings: Vec<TrackId>,
    pub(crate) form: Form,
    /// Displayed size, if the participant reported it.
    pub(crate) shown: Option<(u32, u32)>,
    /// Its rank among the displayed cameras, the most important first.
    pub(crate) rank: usize,
}

/// New track of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Its encodings; none if the stream carries nothing.
    pub(crate) encodings: Vec<TrackId>,
    /// Displayed size in pixels, if the participant reported it.
    pub(crate) shown: Option<(u32, u32)>,
    /// Its rank among the displayed cameras, the most important first.
    pub(crate) rank: usize,
}

/// Media section of the connection and its stream. It has one SSRC for the life of the
/// connection, because Firefox never shows a section that changes it.
#[derive(Debug)]
struct OutgoingLine {
    stream: StreamId,
    mid: Mid,
    form: Form,
    /// Number of the pair of video and audio that browsers synchronise.
    pair: usize,
    source: Option<Candidate>,
    /// Whether the track is paused because the participant's paths have no room for it.
    paused: bool,
}

impl OutgoingLine {
    fn kind(&self) -> MediaKind {
        self.form.codec().kind()
    }

    fn carried(&self) -> Carried {
        let source = self.source.as_ref();
        source.map_or_else(Carried::default, |source| Carried {
            encodings: source.encodings.clone(),
            shown: source.shown,
            rank: source.rank,
        })
    }
}

/// State of the connection that carries a room to a participant.
#[derive(Debug, Default)]
pub(crate) struct Reception {
    lines: Vec<OutgoingLine>,
    /// Form of the pictures of each offered pair.
    pairs: Vec<Form>,
    /// Number of pairs whose offer is answered.
    answered: usize,
    /// Forms of video that the participant cannot decode.
    refused: Vec<Form>,
    /// Cameras on the participant's screen; `None`, until the participant reports them,
    /// means all.
    view: Option<View>,
    /// Lines in the last report to the participant.
    told: Vec<Line>,
}

/// Changes to a reception's lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// Streams with another track or another size.
    pub(crate) changed: Vec<(StreamId, Carried)>,
    /// Sections to offer because there are too few lines.
    pub(crate) sections: Vec<Section>,
}

impl Reception {
    /// Returns sections for these tracks and some more. At least one step is offered, so
    /// that the first person in a room does not negotiate again for the next three.
    pub(crate) fn first_sections(&mut self, candidates: &[Candidate]) -> Vec<Section> {
        let wanted = self.wanted(candidates);
        let mut sections = self.grow(&wanted);
        if sections.is_empty() {
            let form = Form::ours(Codec::Vp8);
            sections = self.add_pairs(form, STEPS[0]);
        }
        sections
    }

    /// Records the answer to an offer: `streams` are all streams now.
    pub(crate) fn negotiated(&mut self, streams: &[NegotiatedStream]) {
        for agreed in streams
            .iter()
            .filter(|s| s.direction == StreamDirection::Send)
        {
            let known = self.lines.iter().any(|line| line.stream == agreed.stream);
            if let Some(mid) = agreed.mid.filter(|_| !known) {
                self.lines.push(OutgoingLine {
                    stream: agreed.stream,
                    mid,
                    form: agreed.form,
                    pair: agreed.place,
                    source: None,
                    paused: false,
                });
            }
        }
        for pair in self.answered..self.pairs.len() {
            let pictures = |line: &&OutgoingLine| line.kind() == MediaKind::Video;
            if !self.lines.iter().filter(pictures).any(|l| l.pair == pair) {
                self.refused.push(self.pairs[pair]);
            }
        }
        self.answered = self.pairs.len();
    }

    pub(crate) fn set_view(&mut self, view: View) {
        self.view = Some(view);
    }

    /// Assigns a line to each wanted track. Tracks keep their lines.
    pub(crate) fn assign(&mut self, candidates: &[Candidate]) -> Assignment {
        let wanted = self.wanted(candidates);
        let before: Vec<Carried> = self.lines.iter().map(|l| l.carried()).collect();
        for line in &mut self.lines {
            line.source = line.source.take().and_then(|now| {
                let same = |c: &&Candidate| c.participant == now.participant && c.slot == now.slot;
                let still = wanted.iter().find(same).cloned();
                still.filter(|candidate| candidate.form.is_like(line.form))
            });
        }
        let mut missing = Vec::new();
        for candidate in wanted {
            if self
                .lines
                .iter()
                .any(|l| l.source.as_ref() == Some(&candidate))
            {
                continue;
            }
            match self.free_line(&candidate) {
                Some(line) => self.lines[line].source = Some(candidate),
                None => missing.push(candidate),
            }
        }
        let now = self.lines.iter().zip(before);
        let changed = now.filter(|(line, before)| line.carried() != *before);
        Assignment {
            changed: changed.map(|(l, _)| (l.stream, l.carried())).collect(),
            sections: self.grow(&missing),
        }
    }

    /// Records the paused streams; all others continue. Returns whether anything changed.
    pub(crate) fn set_paused(&mut self, paused: &BTreeSet<StreamId>) -> bool {
        let mut changed = false;
        for line in &mut self.lines {
            let is_paused = paused.contains(&line.stream);
            changed |= std::mem::replace(&mut line.paused, is_paused) != is_paused;
        }
        changed
    }

    /// Returns the lines that carry something, if they have changed since the last report
    /// to the participant.
    pub(crate) fn news(&mut self) -> Option<Vec<Line>> {
        let lines = self.lines();
        let is_news = lines != self.told;
        self.told.clone_from(&lines);
        is_news.then_some(lines)
    }

    /// Returns the lines that carry something.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let used = |line: &OutgoingLine| {
            let source = line.source.as_ref()?;
            Some(Line {
                mid: line.mid.to_string(),
                participant: source.participant.clone(),
                content: match source.slot {
                    Slot::Camera(place) => LineContent::Camera(place),
                    Slot::Sound => LineContent::Sound,
                },
                paused: line.paused,
            })
        };
        self.lines.iter().filter_map(used).collect()
    }

    /// Returns whether a track of this participant has a line.
    pub(crate) fn shows(&self, participant: &str) -> bool {
        let mut sources = self.lines.iter().filter_map(|line| line.source.as_ref());
        sources.any(|s| s.participant == participant)
    }

    /// Returns the tracks to send, the most important first, up to the maximum number of lines.
    fn wanted(&self, candidates: &[Candidate]) -> Vec<Candidate> {
        let (sounds, cameras): (Vec<&Candidate>, Vec<&Candidate>) =
            candidates.iter().partition(|c| c.slot == Slot::Sound);
        let cameras: Vec<Candidate> = match &self.view {
            None => cameras.into_iter().cloned().collect(),
            Some(view) => {
                let mut seen: Vec<Candidate> = Vec::new();
                for viewed in &view.cameras {
                    let slot = Slot::Camera(viewed.camera);
                    let same =
                        |c: &Candidate| c.participant == viewed.participant && c.slot == slot;
                    let found = cameras.iter().find(|c| same(c));
                    if let Some(found) = found.filter(|_| !seen.iter().any(same)) {
                        seen.push(Candidate {
                            shown: Some((viewed.width, viewed.height)),
                            rank: seen.len(),
                            ..(*found).clone()
                        });
                    }
                }
                seen
            }
        };
        let sounds = sounds.into_iter().cloned();
        let cameras = cameras.into_iter().take(MAX_LINES);
        cameras.chain(sounds.take(MAX_LINES)).collect()
    }

    /// Returns a line that can carry the track. Sound gets the line paired with its participant's
    /// first camera, or else the last one, so that it does not block another camera's.
    fn free_line(&self, candidate: &Candidate) -> Option<usize> {
        let free = |(_, line): &(usize, &OutgoingLine)| {
            line.source.is_none() && line.form.is_like(candidate.form)
        };
        let mut free = self.lines.iter().enumerate().filter(free);
        if candidate.slot != Slot::Sound {
            return free.next().map(|(index, _)| index);
        }
        let camera = |line: &&OutgoingLine| {
            let source = line.source.as_ref();
            let same = |s: &Candidate| s.participant == candidate.participant;
            line.kind() == MediaKind::Video && source.is_some_and(same)
        };
        let pair = self.lines.iter().find(camera).map(|line| line.pair);
        let free: Vec<(usize, &OutgoingLine)> = free.collect();
        let beside = free.iter().find(|(_, line)| Some(line.pair) == pair);
        beside.or(free.last()).map(|(index, _)| *index)
    }

    /// Adds pairs until all tracks have lines, up to the maximum.
    fn grow(&mut self, missing: &[Candidate]) -> Vec<Section> {
        let mut sections = Vec::new();
        if self.answered < self.pairs.len() {
            // One offer at a time: the next one waits for the answer.
            return sections;
        }
        let mut forms: Vec<(Form, usize)> = Vec::new();
        let mut add = |form: Form, count: usize| match forms.iter_mut().find(|f| f.0.is_like(form))
        {
            Some((_, sum)) => *sum += count,
            None => forms.push((form, count)),
        };
        let (sounds, cameras): (Vec<&Candidate>, Vec<&Candidate>) =
            missing.iter().partition(|c| c.slot == Slot::Sound);
        let refuses = |form: Form| self.refused.iter().any(|refused| refused.is_like(form));
        let cameras = cameras.into_iter().filter(|camera| !refuses(camera.form));
        let mut pairs = 0;
        for camera in cameras {
            add(camera.form, 1);
            pairs += 1;
        }
        if sounds.len() > pairs {
            add(Form::ours(Codec::Vp8), sounds.len() - pairs);
        }
        for (form, count) in forms {
            let there = self.pairs.iter().filter(|pair| pair.is_like(form)).count();
            let step = STEPS.iter().find(|step| **step >= there + count);
            let step = step.copied().unwrap_or(MAX_LINES);
            sections.extend(self.add_pairs(form, step - there));
        }
        sections
    }

    fn add_pairs(&mut self, form: Form, count: usize) -> Vec<Section> {
        let mut sections = Vec::new();
        for _ in 0..count.min(MAX_LINES - self.pairs.len()) {
            self.pairs.push(form);
            let media_stream = self.pairs.len() as u16;
            let of = |kind, form| Section {
                form,
                media_stream,
                ..Section::new(kind, StreamDirection::Send)
            };
            // Every browser accepts audio. If a browser rejects the first section of a
            // bundle, Chromium cannot set up the transport for the others.
            sections.push(of(MediaKind::Audio, None));
            sections.push(of(MediaKind::Video, Some(form)));
        }
        sections
    }
}

#[cfg(test)]
mod tests;
