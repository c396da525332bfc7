//! Decides which frame can be decoded after the released ones. One missing reference
//! damages every frame until the next keyframe.

use weft_wire::payload::PictureNumbers;

use super::frame_assembly::AssembledFrame;

/// Value for no damaged layer.
const INTACT: u8 = u8::MAX;
const PICTURE_IDS: u16 = 1 << 15;
const SHORT_PICTURE_IDS: u16 = 1 << 7;

/// Frames between the last released one and a candidate: the partly received ones, and
/// whether there are others.
#[derive(Clone, Debug, Default)]
pub(super) struct Hole {
    /// Lowest temporal layer of a lost frame that others may refer to.
    damaged: Option<u8>,
    /// Lost frames with a known picture number.
    numbered: u16,
    /// Whether sequence numbers are missing that belong to no known frame.
    pub(super) unknown: bool,
}

impl Hole {
    /// Adds a frame in the hole of which at least one packet arrived.
    pub(super) fn add(&mut self, info: &PictureNumbers) {
        self.numbered += u16::from(info.picture_id.is_some());
        if !info.non_reference {
            let layer = info.temporal_layer.unwrap_or(0);
            self.damaged = Some(self.damaged.map_or(layer, |d| d.min(layer)));
        }
    }
}

/// State of the decoder's reference pictures.
#[derive(Debug, Default)]
pub(super) struct References {
    last: Option<Released>,
}

#[derive(Clone, Copy, Debug)]
struct Released {
    timestamp: u64,
    sequence: u64,
    picture_id: Option<u16>,
    tl0_picture_index: Option<u8>,
    /// Lowest temporal layer that refers to a lost frame.
    damage: u8,
}

impl References {
    /// Returns the timestamp and last sequence number of the last released frame.
    pub(super) fn last(&self) -> Option<(u64, u64)> {
        self.last.map(|last| (last.timestamp, last.sequence))
    }

    /// Returns whether `frame` can be decoded if the frames of the hole before it are
    /// skipped.
    pub(super) fn is_decodable(&self, frame: &AssembledFrame, hole: &Hole) -> bool {
        if frame.keyframe {
            return true;
        }
        let Some(last) = &self.last else {
            return false;
        };
        let damage = last.damage_after(&frame.info, hole);
        match last.layer_of(&frame.info) {
            Some((0, ahead)) => ahead == 1,
            Some((layer, ahead)) => ahead == 0 && (frame.info.layer_sync || layer < damage),
            None => damage == INTACT,
        }
    }

    /// Records a released frame. Returns how many frames were skipped for it, as far as
    /// their numbers show.
    pub(super) fn on_released(&mut self, frame: &AssembledFrame, hole: &Hole) -> u64 {
        let info = &frame.info;
        let (damage, skipped) = match &self.last {
            None => (INTACT, 0),
            Some(last) if frame.keyframe => (INTACT, last.skipped(info)),
            Some(last) => (last.damage_after(info, hole), last.skipped(info)),
        };
        let repaired = info.layer_sync && info.temporal_layer == Some(damage);
        let previous = self.last.and_then(|last| last.tl0_picture_index);
        self.last = Some(Released {
            timestamp: frame.timestamp,
            sequence: frame.last_sequence,
            picture_id: info.picture_id,
            tl0_picture_index: info.tl0_picture_index.or(previous),
            damage: if repaired { damage + 1 } else { damage },
        });
        skipped
    }
}

impl Released {
    /// Returns the candidate's temporal layer, and the number of base frames from the
    /// last released frame to it. `None` without layer information.
    fn layer_of(&self, info: &PictureNumbers) -> Option<(u8, u8)> {
        let ahead = info
            .tl0_picture_index?
            .wrapping_sub(self.tl0_picture_index?);
        Some((info.temporal_layer?, ahead))
    }

    fn damage_after(&self, info: &PictureNumbers, hole: &Hole) -> u8 {
        let known = hole.damaged.unwrap_or(INTACT);
        let skipped = self.distance(info).map(|d| d.saturating_sub(1));
        let unknown = match skipped {
            Some(skipped) => skipped > hole.numbered,
            None => hole.unknown,
        };
        // Base frames are counted: if none of them is missing, the missing frames belong
        // to a higher layer.
        let base_is_whole = match self.layer_of(info) {
            Some((0, ahead)) => ahead == 1,
            Some((_, ahead)) => ahead == 0,
            None => false,
        };
        let unknown = match (unknown, base_is_whole) {
            (false, _) => INTACT,
            (true, true) => 1,
            (true, false) => 0,
        };
        self.damage.min(known).min(unknown)
    }

    fn skipped(&self, info: &PictureNumbers) -> u64 {
        u64::from(self.distance(info).map_or(0, |d| d.saturating_sub(1)))
    }

    /// Returns how many pictures the candidate is ahead. Picture ids have 7 or 15 bits at
    /// the sender's choice (RFC 7741 section 4.2).
    fn distance(&self, info: &PictureNumbers) -> Option<u16> {
        let (from, to) = (self.picture_id?, info.picture_id?);
        if to < from && from < SHORT_PICTURE_IDS {
            return Some(to + SHORT_PICTURE_IDS - from);
        }
        Some(to.wrapping_sub(from) % PICTURE_IDS)
    }
}
