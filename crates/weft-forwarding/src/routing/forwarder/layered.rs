//! Choice of the pictures to forward if packets name a layer but no picture: packets with
//! one timestamp belong together.

use super::pictures::Verdict;
use std::collections::VecDeque;
use weft_wire::payload::PieceInfo;

/// Number of pictures whose decision is remembered for late packets: some seconds. Chosen by us.
const REMEMBERED: usize = 128;

#[derive(Debug, Default)]
pub(super) struct LayeredPictures {
    decided: VecDeque<Decided>,
    /// Layers up to this one are forwarded.
    level: u8,
    next: u64,
}

#[derive(Debug, Clone, Copy)]
struct Decided {
    timestamp: u32,
    picture: u64,
    forward: bool,
}

impl LayeredPictures {
    /// Restarts with the next picture.
    pub(super) fn start(&mut self) {
        self.decided.clear();
    }

    /// Decides about a packet with this timestamp; `newest` if its sequence number is the
    /// highest so far.
    ///
    /// The level rises at a picture of the base layer: in the structures of two and three
    /// temporal layers that AV1 defines (bitstream specification, section 6.7.6), no
    /// later picture refers to one before it, except to the base layer.
    pub(super) fn decide(
        &mut self,
        (timestamp, packet): (u32, &PieceInfo),
        newest: bool,
        wanted: u8,
    ) -> Verdict {
        let known = self.decided.iter().rev().find(|d| d.timestamp == timestamp);
        let decided = known.copied().unwrap_or_else(|| {
            let layer = packet.numbers.temporal_layer;
            if newest {
                self.level = match layer {
                    Some(0) | None => wanted,
                    Some(_) => self.level.min(wanted),
                };
            }
            // Not consecutive: a picture between may be lost.
            self.next += 2;
            let decided = Decided {
                timestamp,
                picture: self.next,
                forward: layer.unwrap_or(0) <= self.level,
            };
            if self.decided.len() == REMEMBERED {
                self.decided.pop_front();
            }
            self.decided.push_back(decided);
            decided
        });
        Verdict {
            forward: decided.forward,
            keyframe: packet.is_of_keyframe(),
            picture: Some(decided.picture),
            rewrite: None,
        }
    }
}
