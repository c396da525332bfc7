//! The trained model: a support vector machine, and the ranges of its features.

use std::path::{Path, PathBuf};

use super::features::COUNT;

/// Error in loading the model; the text contains the remedy.
#[derive(Debug, thiserror::Error)]
pub enum BrisqueError {
    /// A file of the model is missing.
    #[error(
        "{path}: {error}: BRISQUE needs the trained model of OpenCV: install Debian's `opencv-data`, or name the \
         folder with its two files in WEFT_BRISQUE", path = path.display()
    )]
    Missing {
        /// Path of the file.
        path: PathBuf,
        /// System error.
        error: std::io::Error,
    },
    /// A file is not in OpenCV's format.
    #[error("{path}: {what}: use the file of OpenCV 4", path = path.display())]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// Missing or wrong part.
        what: String,
    },
}

/// Width of the kernel: OpenCV's `quality` module, from its model.
const GAMMA: f64 = 0.05;

#[derive(Debug)]
pub struct Model {
    vectors: Vec<[f64; COUNT]>,
    weights: Vec<f64>,
    /// Offset that is subtracted from the sum.
    rho: f64,
    ranges: [(f64, f64); COUNT],
}

impl Model {
    pub fn load(folder: &Path) -> Result<Model, BrisqueError> {
        let path = folder.join("brisque_model_live.yml");
        let text = read(&path)?;
        let malformed = |what: &str| BrisqueError::Malformed {
            path: path.clone(),
            what: what.to_owned(),
        };
        let (before, functions) = text
            .split_once("decision_functions:")
            .ok_or_else(|| malformed("it has no decision_functions"))?;
        let (kernel, vectors) = before
            .split_once("support_vectors:")
            .ok_or_else(|| malformed("it has no support_vectors"))?;
        if behind(kernel, "gamma:").first() != Some(&GAMMA) {
            return Err(malformed("its gamma is not 0.05"));
        }
        let numbers_of_vectors = numbers(vectors);
        let (vectors, rest) = numbers_of_vectors.as_chunks::<COUNT>();
        let weights = functions
            .split_once("alpha:")
            .map(|(_, weights)| weights.split_once("index:").map_or(weights, |(own, _)| own));
        let weights = numbers(weights.unwrap_or(""));
        let rho = *behind(functions, "rho:")
            .first()
            .ok_or_else(|| malformed("it has no rho"))?;
        if vectors.is_empty() || !rest.is_empty() || vectors.len() != weights.len() {
            let counts = format!(
                "{} support vectors of 36 numbers with {} weights",
                vectors.len(),
                weights.len()
            );
            return Err(malformed(&counts));
        }
        Ok(Model {
            vectors: vectors.to_vec(),
            weights,
            rho,
            ranges: ranges(&folder.join("brisque_range_live.yml"))?,
        })
    }

    /// Returns the score, 0 to 100.
    pub fn score(&self, features: &[f64; COUNT]) -> f64 {
        let scaled: [f64; COUNT] = std::array::from_fn(|at| {
            let (low, high) = self.ranges[at];
            2.0 * (features[at] - low) / (high - low) - 1.0
        });
        let alike = |vector: &[f64; COUNT]| {
            let pairs = vector.iter().zip(&scaled);
            let away: f64 = pairs.map(|(a, b)| (a - b) * (a - b)).sum();
            (-GAMMA * away).exp()
        };
        let each = self.vectors.iter().zip(&self.weights);
        let sum: f64 = each.map(|(vector, weight)| weight * alike(vector)).sum();
        (sum - self.rho).clamp(0.0, 100.0)
    }
}

/// Returns the smallest and the largest value of each feature in training.
fn ranges(path: &Path) -> Result<[(f64, f64); COUNT], BrisqueError> {
    let numbers = behind(&read(path)?, "data:");
    let malformed = || BrisqueError::Malformed {
        path: path.to_owned(),
        what: format!("{} numbers instead of 2 x 36", numbers.len()),
    };
    let (low, high) = numbers.split_at_checked(COUNT).ok_or_else(malformed)?;
    let pairs: Vec<(f64, f64)> = low.iter().copied().zip(high.iter().copied()).collect();
    pairs.try_into().map_err(|_| malformed())
}

fn read(path: &Path) -> Result<String, BrisqueError> {
    std::fs::read_to_string(path).map_err(|error| BrisqueError::Missing {
        path: path.to_owned(),
        error,
    })
}

/// Returns the numbers after this word.
fn behind(text: &str, word: &str) -> Vec<f64> {
    text.split_once(word)
        .map_or(Vec::new(), |(_, text)| numbers(text))
}

fn numbers(text: &str) -> Vec<f64> {
    let of_number = |c: char| c.is_ascii_digit() || "+-.e".contains(c);
    let words = text.split(|c: char| !of_number(c));
    words.filter_map(|word| word.parse().ok()).collect()
}
