//! Fast downscaling of pictures for an encoder.

use crate::Picture;

#[cfg(test)]
mod tests;

/// Downscales pictures from one size to another with integer arithmetic; each sample is
/// the mean of the area that it covers.
///
/// [`Picture::scaled`] is slower, but also upscales pictures.
#[derive(Clone, Debug)]
pub struct Scaler {
    from: (usize, usize),
    to: (usize, usize),
    luma: PlaneScaler,
    chroma: PlaneScaler,
}

#[derive(Clone, Debug)]
struct PlaneScaler {
    width: usize,
    columns: Vec<Cover>,
    rows: Vec<Cover>,
    /// One row after vertical downscaling: samples times [`ONE`].
    row: Vec<u16>,
}

/// Input samples of an output sample, starting at `first`, with weights whose sum is
/// [`ONE`].
#[derive(Clone, Debug)]
struct Cover {
    first: usize,
    weights: Vec<u16>,
}

/// Weight of a whole sample, with which a sample fits into 16 bits.
const ONE: u32 = 256;

impl Scaler {
    /// Creates a scaler to a size that is not larger in either dimension; sizes are in
    /// pixels.
    ///
    /// Panics if a side would grow or is zero.
    #[must_use]
    pub fn new(from: (usize, usize), to: (usize, usize)) -> Scaler {
        assert!(
            (1..=from.0).contains(&to.0) && (1..=from.1).contains(&to.1),
            "a scaler from {from:?} to {to:?} does not shrink"
        );
        let half = |(width, height): (usize, usize)| (width.div_ceil(2), height.div_ceil(2));
        Scaler {
            from,
            to,
            luma: PlaneScaler::new(from, to),
            chroma: PlaneScaler::new(half(from), half(to)),
        }
    }

    /// Whether it scales from this size to that one.
    #[must_use]
    pub fn is(&self, from: (usize, usize), to: (usize, usize)) -> bool {
        (self.from, self.to) == (from, to)
    }

    /// Returns the smaller picture.
    ///
    /// Panics if the size of the picture differs from that of the scaler.
    #[must_use]
    pub fn scale(&mut self, picture: &Picture) -> Picture {
        assert_eq!(
            (picture.width, picture.height),
            self.from,
            "the scaler is for pictures of another size"
        );
        Picture {
            width: self.to.0,
            height: self.to.1,
            y: self.luma.scale(&picture.y),
            u: self.chroma.scale(&picture.u),
            v: self.chroma.scale(&picture.v),
        }
    }
}

impl PlaneScaler {
    fn new(from: (usize, usize), to: (usize, usize)) -> PlaneScaler {
        PlaneScaler {
            width: from.0,
            columns: covers(from.0, to.0),
            rows: covers(from.1, to.1),
            row: vec![0; from.0],
        }
    }

    fn scale(&mut self, plane: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.columns.len() * self.rows.len());
        for cover in &self.rows {
            self.row.fill(0);
            let lines = plane[cover.first * self.width..].chunks_exact(self.width);
            for (line, weight) in lines.zip(&cover.weights) {
                for (sum, sample) in self.row.iter_mut().zip(line) {
                    *sum += u16::from(*sample) * weight;
                }
            }
            out.extend(self.columns.iter().map(|cover| {
                let covered = self.row[cover.first..].iter().zip(&cover.weights);
                let sum: u32 = covered.map(|(s, w)| u32::from(*s) * u32::from(*w)).sum();
                // `sum` is at most 255 * ONE * ONE: no carry out of a byte.
                ((sum + ONE * ONE / 2) / (ONE * ONE)) as u8
            }));
        }
        out
    }
}

/// Returns the covered samples of each of `to` output samples.
fn covers(from: usize, to: usize) -> Vec<Cover> {
    let one = ONE as usize;
    let cover = |index: usize| {
        // In units of 1/`to` of a sample.
        let (begin, end) = (index * from, (index + 1) * from);
        let (first, last) = (begin / to, (end - 1) / to);
        // Computed from the covered length up to each border, so that rounding loses no
        // weight.
        let up_to = |border: usize| (border.clamp(begin, end) - begin) * one / from;
        let weight = |sample: usize| (up_to((sample + 1) * to) - up_to(sample * to)) as u16;
        Cover {
            first,
            weights: (first..=last).map(weight).collect(),
        }
    };
    (0..to).map(cover).collect()
}
