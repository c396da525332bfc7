//! Contents of the cameras, and the files with them.

use std::path::Path;

use weft_experiment::{ModelSetup, SourceKind};
use weft_units::Codec;

use crate::engine::EngineError;

/// Folders of the programs, and files for their cameras.
pub struct CallFiles<'a> {
    /// Folder that is removed after the run.
    pub scratch: &'a Path,
    /// Returns the file with pictures of this size and frame rate.
    pub clip: &'a dyn Fn((u32, u32), u32) -> Result<String, EngineError>,
}

/// Width, height and frame rate of a camera.
pub type Film = ((u32, u32), u32);

/// Returns the format of the camera's pictures.
#[must_use]
pub fn film(source: &SourceKind) -> Film {
    match source {
        SourceKind::Model(ModelSetup {
            width, height, fps, ..
        }) => ((*width, *height), fps.round().max(1.0) as u32),
        // The synthetic codec has frames without pictures.
        SourceKind::Synthetic(setup) => ((1280, 720), setup.frame_rate.round().max(1.0) as u32),
    }
}

/// Returns the codec of the camera's encoder.
#[must_use]
pub fn codec(source: &SourceKind) -> Codec {
    match source {
        SourceKind::Model(setup) => setup.codec,
        SourceKind::Synthetic(_) => Codec::Vp8,
    }
}
