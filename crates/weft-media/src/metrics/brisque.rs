//! BRISQUE (Mittal, Moorthy, Bovik 2012): a quality score of a picture without its
//! original. 0 is best, 100 worst.
//!
//! The trained model is OpenCV's, from the LIVE database, in two files of Debian's
//! package `opencv-data`. The computation is that of OpenCV's `quality` module, with
//! which the tests compare it.

mod features;
mod filter;
mod gamma;
mod model;
#[cfg(test)]
mod tests;

use std::path::Path;

use features::Features;
use filter::Grey;
use model::Model;

use crate::Picture;

pub use model::BrisqueError;

/// Trained model.
#[derive(Debug)]
pub struct Brisque {
    model: Model,
    features: Features,
}

/// Folder of the model in Debian's `opencv-data`.
const FOLDER: &str = "/usr/share/opencv4/quality";
/// Environment variable for another folder with the two files.
const VARIABLE: &str = "WEFT_BRISQUE";

impl Brisque {
    /// Loads the model from the folder in `WEFT_BRISQUE`, or from that of Debian's
    /// `opencv-data`.
    ///
    /// # Errors
    /// The missing or invalid file, and the remedy.
    pub fn installed() -> Result<Brisque, BrisqueError> {
        match std::env::var_os(VARIABLE) {
            Some(folder) => Brisque::load(Path::new(&folder)),
            None => Brisque::load(Path::new(FOLDER)),
        }
    }

    /// Loads `brisque_model_live.yml` and `brisque_range_live.yml` from this folder.
    ///
    /// # Errors
    /// The missing or invalid file, and the remedy.
    pub fn load(folder: &Path) -> Result<Brisque, BrisqueError> {
        Ok(Brisque {
            model: Model::load(folder)?,
            features: Features::new(),
        })
    }

    /// Returns the score of a picture as displayed: luma of video, with 16 for black and
    /// 235 for white, is stretched over all grey values. `None` if there is no score, as
    /// in [`Brisque::score_grey`].
    #[must_use]
    pub fn score(&self, picture: &Picture) -> Option<f64> {
        self.score_luma(picture.width, picture.height, &picture.y)
    }

    /// Returns the score of luma alone, row by row.
    ///
    /// # Panics
    /// If there are not `width * height` values.
    #[must_use]
    pub fn score_luma(&self, width: usize, height: usize, luma: &[u8]) -> Option<f64> {
        let spread = |&luma: &u8| (f32::from(luma) - 16.0) / 219.0;
        let values = luma.iter().map(spread);
        let values = values.map(|grey| grey.clamp(0.0, 1.0)).collect();
        self.of(Grey::new(width, height, values))
    }

    /// Returns the score of grey values from 0 (black) to 255 (white), row by row. `None`
    /// if the picture is flat, so that there is nothing to score, or has fewer than 16
    /// lines or columns.
    ///
    /// # Panics
    /// If there are not `width * height` values.
    #[must_use]
    pub fn score_grey(&self, width: usize, height: usize, values: &[u8]) -> Option<f64> {
        let values = values.iter().map(|&grey| f32::from(grey) / 255.0);
        self.of(Grey::new(width, height, values.collect()))
    }

    fn of(&self, grey: Grey) -> Option<f64> {
        let features = self.features.of(&grey)?;
        Some(self.model.score(&features))
    }
}
