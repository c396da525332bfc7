//! BRISQUE (Mittal, Moorthy, Bovik 2012): how bad a picture looks, without the
//! picture that was filmed. 0 is best, 100 worst.
//!
//! The model is trained: OpenCV's, after the LIVE database, in two files that
//! Debian has in `opencv-data`. What is computed is what OpenCV's
//! `quality` module computes, which the tests compare with.

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

/// A trained model.
#[derive(Debug)]
pub struct Brisque {
    model: Model,
    features: Features,
}

/// Where Debian's `opencv-data` puts the model.
const FOLDER: &str = "/usr/share/opencv4/quality";
/// Names another folder with the two files.
const VARIABLE: &str = "WEFT_BRISQUE";

impl Brisque {
    /// From the folder that `WEFT_BRISQUE` names, or where Debian's
    /// `opencv-data` puts it.
    ///
    /// # Errors
    /// Which file is not there or cannot be understood, and what to do.
    pub fn installed() -> Result<Brisque, BrisqueError> {
        match std::env::var_os(VARIABLE) {
            Some(folder) => Brisque::load(Path::new(&folder)),
            None => Brisque::load(Path::new(FOLDER)),
        }
    }

    /// From `brisque_model_live.yml` and `brisque_range_live.yml` in this folder.
    ///
    /// # Errors
    /// Which file is not there or cannot be understood, and what to do.
    pub fn load(folder: &Path) -> Result<Brisque, BrisqueError> {
        Ok(Brisque {
            model: Model::load(folder)?,
            features: Features::new(),
        })
    }

    /// The score of a picture as a screen shows it: luma of video, which has 16
    /// for black and 235 for white, is spread over all grey values. `None` where
    /// there is no score, as of [`Brisque::score_grey`].
    #[must_use]
    pub fn score(&self, picture: &Picture) -> Option<f64> {
        self.score_luma(picture.width, picture.height, &picture.y)
    }

    /// The same of the luma alone, row by row.
    ///
    /// # Panics
    /// When there are not `width * height` values.
    #[must_use]
    pub fn score_luma(&self, width: usize, height: usize, luma: &[u8]) -> Option<f64> {
        let spread = |&luma: &u8| (f32::from(luma) - 16.0) / 219.0;
        let values = luma.iter().map(spread);
        let values = values.map(|grey| grey.clamp(0.0, 1.0)).collect();
        self.of(Grey::new(width, height, values))
    }

    /// The score of grey values from 0 (black) to 255 (white), row by row. `None`
    /// where a picture is flat, as nothing is left of it to be judged, or has less
    /// than 16 lines or columns.
    ///
    /// # Panics
    /// When there are not `width * height` values.
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
