//! Dependency descriptors of a track, parsed once for all its subscribers.

use super::layers::{LAYERS, LayerSet};
use std::sync::Arc;
use weft_units::Codec;
use weft_wire::media::MediaPacket;
use weft_wire::payload::format_of;
use weft_wire::rtp::dependency::{Details, Frame, Indications, Mandatory, Structure};
use weft_wire::sequence;

/// Minimum number of frames between keyframes that count as rare. Chosen by us: a second
/// or more of three spatial layers.
const RARE: u64 = 100;

/// Structure of a track since its last keyframe.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    ladder: Option<Arc<Ladder>>,
    /// Number and timestamp of the frame that carried it.
    began: Option<(u64, u32)>,
    /// Whether the last keyframe is so far from the previous one that rates leave it out.
    rare: bool,
    /// Decode targets that the publisher sends.
    active: u32,
    /// Highest frame number so far.
    newest: Option<u64>,
}

/// Descriptor of a packet.
#[derive(Debug, Clone)]
pub(super) struct Dependency {
    pub(super) mandatory: Mandatory,
    /// Extended frame number.
    pub(super) number: u64,
    /// `None` while the structure that it refers to is missing.
    pub(super) frame: Option<DescribedFrame>,
}

/// Frame of a packet.
#[derive(Debug, Clone)]
pub(super) struct DescribedFrame {
    pub(super) frame: Frame,
    pub(super) ladder: Arc<Ladder>,
    /// Decode targets that the publisher sends.
    pub(super) active: u32,
    /// Whether the descriptor itself lists them.
    pub(super) lists_active: bool,
    /// Whether the packet carries a structure, as the first packet of a keyframe does.
    pub(super) begins: bool,
    /// Whether the picture is a keyframe.
    pub(super) keyframe: bool,
    /// Whether rates leave it out: it is a keyframe with several sizes of the picture,
    /// which are as large as seconds of other pictures, so a size that fits would seem
    /// too large. A publisher that sends many of them has no rate without them.
    pub(super) uncounted: bool,
}

impl Dependencies {
    /// Whether subscribers can choose among several sizes of the pictures.
    pub(super) fn has_spatial_layers(&self) -> bool {
        let ladder = self.ladder.as_ref();
        ladder.is_some_and(|ladder| ladder.has_spatial_layers())
    }

    /// Parses the descriptor of a packet, if it has one and the codec allows one.
    pub(super) fn read(&mut self, codec: Codec, packet: &MediaPacket) -> Option<Dependency> {
        if !format_of(codec).has_dependencies() {
            return None;
        }
        let mandatory = Mandatory::parse(&packet.dependency).ok()?;
        let number = sequence::extend(self.newest, mandatory.number);
        self.newest = self.newest.max(Some(number));
        let known = self.ladder.as_ref().map(|ladder| &ladder.structure);
        let details = Details::parse(&packet.dependency, known).ok();
        let frame = details.map(|details| self.describe(number, packet.timestamp, details));
        Some(Dependency {
            mandatory,
            number,
            frame,
        })
    }

    fn describe(&mut self, number: u64, timestamp: u32, details: Details) -> DescribedFrame {
        let Details {
            frame,
            structure,
            active,
        } = details;
        let begins = structure.is_some();
        let own = structure.map(|structure| Arc::new(Ladder::new(structure)));
        // A keyframe that arrives again after the next one changes nothing.
        let is_current = self.began.is_none_or(|(began, _)| began <= number);
        if let Some(own) = own.as_ref().filter(|_| is_current) {
            self.rare = match self.began {
                Some((began, _)) if began == number => self.rare,
                began => began.is_none_or(|(began, _)| number - began >= RARE),
            };
            self.ladder = Some(Arc::clone(own));
            self.began = Some((number, timestamp));
        }
        if let Some(active) = active.filter(|_| self.newest == Some(number)) {
            self.active = active;
        }
        let ladder = own.or_else(|| self.ladder.clone());
        let Some(ladder) = ladder else {
            unreachable!("descriptors without any structure are refused");
        };
        let keyframe = self.began.is_some_and(|(_, began)| began == timestamp);
        DescribedFrame {
            frame,
            active: self.active,
            lists_active: active.is_some() && !begins,
            begins,
            keyframe,
            uncounted: keyframe && self.rare && ladder.has_spatial_layers(),
            ladder,
        }
    }
}

/// Decode targets of a structure from which a subscriber's rate chooses, in ascending order: all
/// temporal layers of the lowest spatial layer, then whole spatial layers. So a weak subscriber
/// loses resolution first, and frame rate only at the lowest resolution.
#[derive(Debug)]
pub(super) struct Ladder {
    structure: Structure,
    /// Highest spatial and temporal layer of each decode target.
    layers: Vec<(u8, u8)>,
    /// For each decode target, the bits of those that need nothing beyond it.
    within: Vec<u32>,
    rungs: Vec<u8>,
}

impl Ladder {
    fn new(structure: Structure) -> Ladder {
        let targets = || 0..structure.targets();
        let layers: Vec<_> = targets()
            .map(|target| structure.layers_of(target))
            .collect();
        let within = |target: u8| {
            let structure = &structure;
            let within = targets().filter(move |other| structure.is_within(*other, target));
            within.fold(0, |bits, other| bits | 1 << other)
        };
        let mut ordered: Vec<u8> = targets().collect();
        ordered.sort_by_key(|target| layers[usize::from(*target)]);
        let spatial = |target: &u8| layers[usize::from(*target)].0;
        let lowest = ordered.first().map_or(0, spatial);
        // The last target of a spatial layer has all its temporal layers.
        let mut rungs: Vec<u8> = Vec::new();
        for target in ordered {
            let is_same = rungs
                .last()
                .is_some_and(|last| spatial(last) == spatial(&target));
            if is_same && spatial(&target) > lowest {
                rungs.pop();
            }
            rungs.push(target);
        }
        while rungs.len() > LAYERS {
            rungs.remove(1);
        }
        Ladder {
            within: targets().map(within).collect(),
            layers,
            rungs,
            structure,
        }
    }

    /// Returns the decode target for a subscriber that can have this rung: the highest
    /// one up to it that the publisher sends, or else the lowest that it sends.
    pub(super) fn target(&self, rung: u8, active: u32) -> u8 {
        let top = self.rungs.len() - 1;
        let (below, above) = self.rungs.split_at(usize::from(rung).min(top) + 1);
        let is_active = |target: &&u8| active >> **target & 1 == 1;
        let mut sent = below.iter().rev().chain(above).filter(is_active);
        *sent.next().unwrap_or(&self.rungs[0])
    }

    /// Returns the decode target with the lowest temporal layer in the spatial layer of
    /// another one.
    pub(super) fn base_of(&self, target: u8) -> u8 {
        let spatial = self.spatial(target);
        let own = (0..self.targets()).filter(|other| self.spatial(*other) == spatial);
        let base = own.min_by_key(|other| self.layers[usize::from(*other)]);
        base.unwrap_or(target)
    }

    /// Highest spatial layer of a decode target.
    pub(super) fn spatial(&self, target: u8) -> u8 {
        self.layers[usize::from(target)].0
    }

    /// Whether every frame of a target also belongs to the other target.
    pub(super) fn is_within(&self, target: u8, other: u8) -> bool {
        self.within(other) >> target & 1 == 1
    }

    /// Returns the decode targets that need nothing beyond this one, as bits.
    pub(super) fn within(&self, target: u8) -> u32 {
        self.within[usize::from(target)]
    }

    /// Number of decode targets.
    pub(super) fn targets(&self) -> u8 {
        self.structure.targets()
    }

    /// Bits of all decode targets.
    pub(super) fn all_targets(&self) -> u32 {
        self.structure.all_targets()
    }

    /// Whether its rungs have several sizes of the picture.
    fn has_spatial_layers(&self) -> bool {
        let [lowest, .., highest] = self.spatial_layers();
        lowest < highest
    }

    /// Returns the highest spatial layer of each rung; rungs beyond the top equal it.
    pub(super) fn spatial_layers(&self) -> [u8; LAYERS] {
        let top = self.rungs.len() - 1;
        std::array::from_fn(|rung| self.spatial(self.rungs[rung.min(top)]))
    }

    /// Returns the rungs to which a frame belongs; rungs beyond the top equal it.
    pub(super) fn layers(&self, frame: Indications) -> LayerSet {
        let top = self.rungs.len() - 1;
        let has = |layer: usize| frame.has(self.rungs[layer.min(top)]);
        LayerSet::of(has)
    }
}

#[cfg(test)]
mod tests;
