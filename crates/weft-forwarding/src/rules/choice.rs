//! Cameras as rules see them, and the choice for each.

use crate::routing::TrackId;
use weft_units::{Rate, StreamId};

/// A camera on a viewer's screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Camera {
    pub(crate) stream: StreamId,
    /// Place among the cameras that are shown, the most important first.
    pub(crate) rank: usize,
    /// Width and height of its tile in pixels, if the viewer said so.
    pub(crate) shown: Option<(u32, u32)>,
    /// Encodings that arrive, the smallest first.
    pub(crate) encodings: Vec<Layers>,
}

impl Camera {
    /// Returns the place of a layer's encoding.
    pub(super) fn place(&self, layer: Layer) -> Option<usize> {
        self.encodings.iter().position(|e| e.track == layer.track)
    }

    /// Returns the rate of an encoding up to a layer; zero if it does not arrive.
    pub(crate) fn rate(&self, layer: Layer) -> Rate {
        let encoding = self.place(layer).map(|place| &self.encodings[place]);
        let rate = encoding.and_then(|e| e.rates.get(usize::from(layer.temporal)));
        rate.copied().unwrap_or_default()
    }
}

/// An encoding as it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layers {
    pub(crate) track: TrackId,
    /// Height of its pictures in pixels.
    pub(crate) height: u32,
    /// Rates up to each temporal layer.
    pub(crate) rates: Vec<Rate>,
}

/// An encoding up to a temporal layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) track: TrackId,
    pub(crate) temporal: u8,
}

/// Rate that a viewer's paths carry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) rate: Option<Rate>,
    /// Whether the first seconds, in which it is a guess, are over.
    pub(crate) is_measured: bool,
}

/// Choice for one camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Paused,
    Forwarded { layer: Layer, down: Down },
}

/// Behaviour until the keyframe of a smaller encoding arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Down {
    /// The larger one ends at once.
    Stops,
    /// It continues with all that it has.
    Continues,
    /// It continues with its lowest temporal layer.
    Thins,
}
