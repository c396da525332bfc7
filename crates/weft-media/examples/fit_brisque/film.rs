//! Film made from a photograph: a window that moves over it.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use weft_media::Picture;
use weft_units::Rng;

pub const WIDTH: usize = 480;
pub const HEIGHT: usize = 360;
pub const FPS: u32 = 30;
pub const PICTURES: u32 = 45;
/// Standard deviation of a camera's noise, on a scale up to 255; as measured on webcams
/// in a lit room, chosen by us.
const NOISE: f64 = 1.5;
/// Largest displacement of the window to either side.
const REACH: usize = 8;

/// Photograph.
pub struct Still {
    pub name: String,
    width: usize,
    rgb: Vec<u8>,
}

impl Still {
    pub fn read(file: &str) -> Result<Still, Box<dyn Error>> {
        let decoder = png::Decoder::new(BufReader::new(File::open(file)?));
        let mut reader = decoder.read_info()?;
        let mut rgb = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
        let info = reader.next_frame(&mut rgb)?;
        let (width, height) = (info.width as usize, info.height as usize);
        if info.color_type != png::ColorType::Rgb || info.bit_depth != png::BitDepth::Eight {
            return Err(format!("{file}: no colour PNG of 8 bits without transparency").into());
        }
        if width < WIDTH + REACH || height < HEIGHT + REACH {
            let least = (WIDTH + REACH, HEIGHT + REACH);
            return Err(format!("{file}: {width} x {height} pixels, {least:?} are needed").into());
        }
        let name = Path::new(file).file_stem().unwrap_or_default();
        Ok(Still {
            name: name.to_string_lossy().into_owned(),
            width,
            rgb,
        })
    }

    /// Returns the pictures of the film.
    pub fn pictures(&self) -> impl Iterator<Item = Picture> {
        let mut rng = Rng::new(1).stream(&self.name);
        (0..PICTURES as usize).map(move |number| {
            let step = number / 2 % (2 * REACH);
            let at = step.min(2 * REACH - step);
            self.window(at, &mut rng)
        })
    }

    /// BT.601, limited range.
    fn window(&self, corner: usize, rng: &mut Rng) -> Picture {
        let mut picture = Picture::new(WIDTH, HEIGHT);
        let pixel = |x: usize, y: usize| {
            let at = ((y + corner) * self.width + x + corner) * 3;
            [0, 1, 2].map(|channel| f64::from(self.rgb[at + channel]))
        };
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let [r, g, b] = pixel(x, y);
                let luma = 16.0 + (65.481 * r + 128.553 * g + 24.966 * b) / 255.0;
                let noisy = luma + NOISE * rng.normal();
                picture.y[y * WIDTH + x] = noisy.round().clamp(16.0, 235.0) as u8;
            }
        }
        let columns = picture.chroma_width();
        for y in 0..picture.chroma_height() {
            for x in 0..columns {
                let [r, g, b] = pixel(2 * x, 2 * y);
                let blue = 128.0 + (-37.797 * r - 74.203 * g + 112.0 * b) / 255.0;
                let red = 128.0 + (112.0 * r - 93.786 * g - 18.214 * b) / 255.0;
                picture.u[y * columns + x] = blue.round() as u8;
                picture.v[y * columns + x] = red.round() as u8;
            }
        }
        picture
    }
}
