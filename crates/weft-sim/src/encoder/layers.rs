use super::decoder::buffer_of;

/// Pattern of the temporal layers of `weft-media`'s encoder, and the frames in its
/// reference buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    layered: bool,
    position: usize,
    /// Number of the next frame.
    number: u64,
    held: [u64; 2],
}

/// Position of a frame in the pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub number: u64,
    pub layer: Option<u8>,
    pub layer_sync: bool,
    pub non_reference: bool,
    pub needs: [Option<u64>; 2],
}

/// Short pattern of libwebrtc's default_temporal_layers.cc for three layers: the base
/// refers to the base, the second and third picture to the base, the fourth to both
/// below.
const LAYERS: [u8; 4] = [0, 2, 1, 2];
const LAYER_SYNC: [bool; 4] = [false, true, true, false];
/// Highest layer; no frame refers to it.
const HIGHEST: u8 = 2;

impl Pattern {
    pub fn new(layers: u8) -> Pattern {
        Pattern {
            layered: layers == 3,
            position: 0,
            number: 0,
            held: [0; 2],
        }
    }

    /// Restarts the pattern; the next picture is a keyframe.
    pub fn restart(&mut self) {
        self.position = 0;
    }

    /// Returns the layer of the next picture.
    pub fn layer(&self) -> u8 {
        if self.layered {
            LAYERS[self.position]
        } else {
            0
        }
    }

    /// Returns the distance, in pictures, to the nearest picture that the next one refers
    /// to.
    pub fn distance(&self) -> f64 {
        match (self.layered, self.layer()) {
            (true, 0) => 4.0,
            (true, 1) => 2.0,
            _ => 1.0,
        }
    }

    /// Advances the pattern after an encoded picture; a dropped one keeps its place.
    pub fn advance(&mut self, keyframe: bool) -> Place {
        let (number, layer) = (self.number, self.layer());
        let sync = self.layered && !keyframe && LAYER_SYNC[self.position];
        let base_only = !self.layered || layer == 0 || sync;
        let place = Place {
            number,
            layer: self.layered.then_some(layer),
            layer_sync: sync,
            non_reference: layer == HIGHEST,
            needs: match keyframe {
                true => [None; 2],
                false => [Some(self.held[0]), (!base_only).then_some(self.held[1])],
            },
        };
        if keyframe {
            self.held = [number; 2];
        } else if let Some(buffer) = buffer_of(layer) {
            self.held[buffer] = number;
        }
        self.position = (self.position + 1) % LAYERS.len();
        self.number += 1;
        place
    }
}
