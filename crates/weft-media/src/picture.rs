/// Picture in I420: full-size luma, chroma at half width and half height (rounded up),
/// rows without padding, BT.601 limited range as in WebRTC.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Luma, `width * height` samples.
    pub y: Vec<u8>,
    /// Blue difference, `chroma_width * chroma_height` samples.
    pub u: Vec<u8>,
    /// Red difference, as many samples as `u`.
    pub v: Vec<u8>,
}

impl Picture {
    /// Creates a black picture.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Picture {
        let chroma = width.div_ceil(2) * height.div_ceil(2);
        Picture {
            width,
            height,
            y: vec![16; width * height],
            u: vec![128; chroma],
            v: vec![128; chroma],
        }
    }

    /// Returns the number of samples in a chroma row.
    #[must_use]
    pub fn chroma_width(&self) -> usize {
        self.width.div_ceil(2)
    }

    /// Returns the number of rows of a chroma plane.
    #[must_use]
    pub fn chroma_height(&self) -> usize {
        self.height.div_ceil(2)
    }

    /// Returns the picture at another size. Downscaling averages the covered area,
    /// upscaling interpolates, as in browsers and video players.
    #[must_use]
    pub fn scaled(&self, width: usize, height: usize) -> Picture {
        let chroma = (width.div_ceil(2), height.div_ceil(2));
        let (from, from_chroma) = (
            (self.width, self.height),
            (self.chroma_width(), self.chroma_height()),
        );
        Picture {
            width,
            height,
            y: scale_plane(&self.y, from, (width, height)),
            u: scale_plane(&self.u, from_chroma, chroma),
            v: scale_plane(&self.v, from_chroma, chroma),
        }
    }

    /// Returns the picture as packed 8-bit RGB, BT.601 limited range expanded.
    #[must_use]
    pub fn to_rgb(&self) -> Vec<u8> {
        let stride = self.chroma_width();
        let mut out = Vec::with_capacity(self.width * self.height * 3);
        for row in 0..self.height {
            for x in 0..self.width {
                let luma = 1.164 * (f32::from(self.y[row * self.width + x]) - 16.0);
                let at = (row / 2) * stride + x / 2;
                let (u, v) = (f32::from(self.u[at]) - 128.0, f32::from(self.v[at]) - 128.0);
                // ITU-R BT.601-7, section 2.5, inverted; `as u8` saturates.
                out.push((luma + 1.596 * v + 0.5) as u8);
                out.push((luma - 0.392 * u - 0.813 * v + 0.5) as u8);
                out.push((luma + 2.017 * u + 0.5) as u8);
            }
        }
        out
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({}x{})", self.width, self.height)
    }
}

/// Returns, for each output sample, the first input sample and the weights of it and the
/// following ones (a triangle filter as wide as the coarser of the two grids).
fn filter(from: usize, to: usize) -> Vec<(usize, Vec<f32>)> {
    let step = from as f32 / to as f32;
    let reach = step.max(1.0);
    (0..to)
        .map(|i| {
            let center = (i as f32 + 0.5) * step - 0.5;
            let first = (center - reach).ceil().max(0.0) as usize;
            let last = ((center + reach).floor().max(0.0) as usize).min(from - 1);
            let mut weights: Vec<f32> = (first..=last)
                .map(|j| (1.0 - (j as f32 - center).abs() / reach).max(0.0))
                .collect();
            let sum: f32 = weights.iter().sum();
            if sum <= 0.0 {
                return (first.min(from - 1), vec![1.0]);
            }
            weights.iter_mut().for_each(|w| *w /= sum);
            (first, weights)
        })
        .collect()
}

fn scale_plane(plane: &[u8], from: (usize, usize), to: (usize, usize)) -> Vec<u8> {
    if from == to {
        return plane.to_vec();
    }
    let columns = filter(from.0, to.0);
    let mut wide = Vec::with_capacity(to.0 * from.1);
    for row in plane.chunks_exact(from.0) {
        wide.extend(columns.iter().map(|(first, weights)| {
            let samples = &row[*first..];
            weights
                .iter()
                .zip(samples)
                .map(|(w, s)| w * f32::from(*s))
                .sum::<f32>()
        }));
    }
    let mut out = Vec::with_capacity(to.0 * to.1);
    for (first, weights) in filter(from.1, to.1) {
        out.extend((0..to.0).map(|x| {
            let sum: f32 = weights
                .iter()
                .enumerate()
                .map(|(i, w)| w * wide[(first + i) * to.0 + x])
                .sum();
            (sum + 0.5) as u8
        }));
    }
    out
}
