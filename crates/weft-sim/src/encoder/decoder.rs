use super::frame::ModelFrame;

/// Result of decoding a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decoded {
    /// New picture to display.
    Picture,
    /// A frame that this one refers to is missing: the previous picture stays.
    Frozen,
}

/// Decoder that follows the dependencies of frames.
///
/// It takes frames in decoding order, without the lost ones. Loss of a base frame freezes
/// the picture until the next keyframe; loss in an upper temporal layer costs only frames
/// of that layer and above, until the layer's next frame that needs only the base.
#[derive(Clone, Debug, Default)]
pub struct ModelDecoder {
    /// Numbers of the frames in the reference buffers.
    held: [Option<u64>; 2],
    awaits_keyframe: bool,
}

impl ModelDecoder {
    /// Creates a decoder that waits for a keyframe.
    #[must_use]
    pub fn new() -> ModelDecoder {
        ModelDecoder {
            held: [None; 2],
            awaits_keyframe: true,
        }
    }

    /// Returns whether only a keyframe can end the freeze.
    #[must_use]
    pub fn awaits_keyframe(&self) -> bool {
        self.awaits_keyframe
    }

    /// Decodes the next frame that arrived.
    pub fn decode(&mut self, frame: &ModelFrame) -> Decoded {
        if frame.keyframe {
            self.held = [Some(frame.number); 2];
            self.awaits_keyframe = false;
            return Decoded::Picture;
        }
        let missing =
            |(needed, held): (&Option<u64>, &Option<u64>)| needed.is_some() && needed != held;
        let [base, upper] = [0, 1].map(|i| missing((&frame.needs[i], &self.held[i])));
        if base {
            self.awaits_keyframe = true;
        }
        if base || upper {
            return Decoded::Frozen;
        }
        if let Some(buffer) = frame.temporal_layer.map_or(Some(0), buffer_of) {
            self.held[buffer] = Some(frame.number);
        }
        Decoded::Picture
    }
}

/// Returns the reference buffer of this layer.
pub(super) fn buffer_of(layer: u8) -> Option<usize> {
    match layer {
        0 => Some(0),
        1 => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
