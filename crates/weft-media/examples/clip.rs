//! Writes one picture of the built-in clip as PNG:
//! `cargo run -p weft-media --example clip -- OUT.png [HEIGHT] [SECONDS] [SEED]`
use std::fs::File;

use weft_media::clip::{Clip, ClipConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments
        .next()
        .ok_or("usage: clip OUT.png [HEIGHT] [SECONDS] [SEED]")?;
    let height: usize = arguments.next().as_deref().unwrap_or("720").parse()?;
    let seconds: f64 = arguments.next().as_deref().unwrap_or("1").parse()?;
    let seed: u64 = arguments.next().as_deref().unwrap_or("0").parse()?;
    let mut clip = Clip::new(ClipConfig {
        width: height * 16 / 9,
        height,
        fps: 30,
        seed,
    });
    let picture = clip.picture((seconds * 30.0) as u64, (seconds * 1000.0) as u64);
    let (width, height) = (
        u32::try_from(picture.width)?,
        u32::try_from(picture.height)?,
    );
    let mut encoder = png::Encoder::new(File::create(path)?, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder
        .write_header()?
        .write_image_data(&picture.to_rgb())?;
    Ok(())
}
