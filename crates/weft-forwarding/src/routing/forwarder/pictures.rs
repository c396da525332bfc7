//! Choice of the pictures to forward and their numbers, if packets have picture ids.

use super::targets::FrameVerdict;
use crate::routing::layers::LAYERS;
use crate::routing::offset_map::{OffsetMap, Place};
use crate::routing::parsed::Parsed;
use weft_wire::payload::{PictureNumbers, PieceInfo, Start};

/// Picture ids have 15 bits on the wire (RFC 7741 section 4.2).
const ID_SPAN: u64 = 1 << 15;
/// Number of pictures whose decision is remembered for late packets: some seconds. Chosen by us.
const REMEMBERED: usize = 128;

/// Decision about one packet, with the values needed to send it.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) forward: bool,
    pub(super) keyframe: bool,
    /// Extended incoming picture id.
    pub(super) picture: Option<u64>,
    pub(super) rewrite: Option<Rewrite>,
}

impl Verdict {
    /// Returns it with the decision of the dependency descriptor, if there is one.
    pub(super) fn with(self, frame: Option<&FrameVerdict>, parsed: &Parsed) -> Verdict {
        let (Some(frame), Some(dependency)) = (frame, &parsed.dependency) else {
            return self;
        };
        let described = dependency.frame.as_ref();
        Verdict {
            forward: self.forward && frame.forward,
            keyframe: described.map_or(self.keyframe, |described| described.keyframe),
            picture: Some(dependency.number),
            rewrite: self.rewrite,
        }
    }
}

/// New values for the payload descriptor.
#[derive(Debug)]
pub(super) struct Rewrite {
    pub(super) picture_id: u16,
    pub(super) tl0_shift: u8,
}

#[derive(Debug)]
pub(super) struct Pictures {
    ids: Option<OffsetMap>,
    /// Whether later pictures get the ids of dropped ones.
    closes_gaps: bool,
    decided: [Option<Decided>; REMEMBERED],
    /// Layers up to this one are forwarded.
    level: u8,
    /// Picture at which the level last rose, and the level before.
    raised: Option<(u64, u8)>,
    tl0_shift: u8,
    last_tl0_out: Option<u8>,
    /// Whether the newest picture is a keyframe, for streams without ids.
    keyframe: bool,
}

#[derive(Debug, Clone, Copy)]
struct Decided {
    picture: u64,
    forward: bool,
    keyframe: bool,
}

impl Verdict {
    /// Verdict for payloads that are not changed and never dropped.
    pub(super) fn untouched() -> Verdict {
        Verdict {
            forward: true,
            keyframe: false,
            picture: None,
            rewrite: None,
        }
    }
}

impl Pictures {
    pub(super) fn new(closes_gaps: bool) -> Pictures {
        Pictures {
            ids: None,
            closes_gaps,
            decided: [None; REMEMBERED],
            level: LAYERS as u8 - 1,
            raised: None,
            tl0_shift: 0,
            last_tl0_out: None,
            keyframe: false,
        }
    }

    /// Restarts with this picture; its numbers continue those assigned before.
    pub(super) fn start(&mut self, numbers: &PictureNumbers) {
        self.decided = [None; REMEMBERED];
        self.raised = None;
        if let Some(id) = numbers.picture_id {
            // Far enough from zero for a late picture before it.
            let first = u64::from(id) + ID_SPAN;
            let out = self.ids.as_ref().map_or(first, OffsetMap::next_out);
            self.ids = Some(OffsetMap::new(first, out));
        }
        if let (Some(last), Some(tl0)) = (self.last_tl0_out, numbers.tl0_picture_index) {
            self.tl0_shift = last.wrapping_add(1).wrapping_sub(tl0);
        }
    }

    /// Whether the packet belongs to a picture after all seen so far.
    pub(super) fn is_new(&self, packet: &PieceInfo) -> bool {
        match (&self.ids, packet.numbers.picture_id) {
            (Some(ids), Some(id)) => extend(ids, id) >= ids.next(),
            _ => packet.start == Start::Certain,
        }
    }

    /// Decides about a packet; `newest` if its sequence number is the highest so far.
    pub(super) fn decide(&mut self, packet: &PieceInfo, newest: bool, wanted: u8) -> Verdict {
        let numbers = &packet.numbers;
        let (Some(ids), Some(id)) = (&self.ids, numbers.picture_id) else {
            return self.without_id(packet);
        };
        let mut id = extend(ids, id);
        // The ids of a stream only increase. If they do not, the sender has restarted its
        // count (or counts with seven bits and wrapped).
        if newest && id + 1 < ids.next() {
            self.start(numbers);
            id = self.ids.as_ref().map_or(id, OffsetMap::next);
        }
        let decided = match self.decided[slot(id)].filter(|d| d.picture == id) {
            Some(decided) => Decided {
                keyframe: decided.keyframe || packet.intra,
                ..decided
            },
            None => self.decide_picture(id, packet, wanted),
        };
        let newest_picture = self.ids.as_ref().is_some_and(|ids| ids.next() == id + 1);
        if packet.intra && newest_picture {
            self.level = wanted;
            self.raised = None;
        }
        self.decided[slot(id)] = Some(decided);
        self.verdict(numbers, decided)
    }

    fn decide_picture(&mut self, id: u64, packet: &PieceInfo, wanted: u8) -> Decided {
        let Some(ids) = &mut self.ids else {
            unreachable!("called with ids only");
        };
        let layer = packet.numbers.temporal_layer.unwrap_or(0);
        let forward = match ids.place(id) {
            Place::Forgotten | Place::Dropped => false,
            // A late picture is treated as at its time.
            Place::Out(_) => match self.raised {
                Some((at, before)) if id < at => layer <= before.min(self.level),
                _ => layer <= self.level,
            },
            Place::New => {
                self.level = self.level.min(wanted);
                // Only a picture that refers to nothing but the base layer can be the
                // first of its layer (RFC 7741 section 4.2, Y).
                if layer == self.level + 1 && packet.numbers.layer_sync && layer <= wanted {
                    self.raised = Some((id, self.level));
                    self.level = layer;
                }
                let forward = layer <= self.level || packet.intra;
                // Any layer can follow a picture if no later picture above it refers to
                // one before it (RFC 9628 section 4.2, U).
                if forward && packet.numbers.switching_up && self.level < wanted {
                    self.raised = Some((id, self.level));
                    self.level = wanted;
                }
                if forward || !self.closes_gaps {
                    ids.keep_to(id);
                } else {
                    ids.drop_range(id, id);
                }
                forward
            }
        };
        Decided {
            picture: id,
            forward,
            keyframe: packet.intra,
        }
    }

    fn verdict(&mut self, numbers: &PictureNumbers, decided: Decided) -> Verdict {
        let place = self.ids.as_ref().map(|ids| ids.place(decided.picture));
        let (forward, rewrite) = match place {
            Some(Place::Out(out)) if decided.forward => {
                if let Some(tl0) = numbers.tl0_picture_index {
                    self.last_tl0_out = Some(tl0.wrapping_add(self.tl0_shift));
                }
                let rewrite = Rewrite {
                    picture_id: (out % ID_SPAN) as u16,
                    tl0_shift: self.tl0_shift,
                };
                (true, Some(rewrite))
            }
            _ => (false, None),
        };
        Verdict {
            forward,
            keyframe: decided.keyframe,
            picture: Some(decided.picture),
            rewrite,
        }
    }

    fn without_id(&mut self, packet: &PieceInfo) -> Verdict {
        if packet.start == Start::Certain {
            self.keyframe = packet.intra;
        }
        Verdict {
            keyframe: self.keyframe,
            ..Verdict::untouched()
        }
    }
}

fn slot(id: u64) -> usize {
    (id % REMEMBERED as u64) as usize
}

/// Number nearest to the newest one with these low bits.
fn extend(ids: &OffsetMap, id: u16) -> u64 {
    let newest = ids.next();
    let ahead = u64::from(id).wrapping_sub(newest) % ID_SPAN;
    if ahead < ID_SPAN / 2 {
        newest + ahead
    } else {
        (newest + ahead).saturating_sub(ID_SPAN)
    }
}
