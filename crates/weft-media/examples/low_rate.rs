//! Prints the real VP8 encoder's output for the built-in clip at a low rate, and after an
//! outage when the rate recovers (`docs/protocol/adaptation.md`):
//!
//! `cargo run -p weft-media --example low_rate`

use std::error::Error;

use weft_media::clip::{Clip, ClipConfig};
use weft_media::metrics;
use weft_media::{EncoderConfig, Keyframe, Picture, Scaler, Vp8Encoder};
use weft_publish::{Adaptation, AdaptationSetup, Degradation, QuantizerBounds, Verdict};
use weft_units::{Instant, Rate};

const FPS: u32 = 30;
const LAYERS: u8 = 3;
/// Seconds before, during and after the outage.
const BEFORE: u32 = 4;
const OUTAGE: u32 = 10;
const AFTER: u32 = 8;

/// Results of one second.
#[derive(Clone, Copy, Default)]
struct Second {
    pictures: u32,
    bits: usize,
    largest: usize,
    quantizers: u32,
    height: usize,
}

/// Instruction to an encoder when the rate recovers.
#[derive(Clone, Copy, PartialEq)]
enum Return {
    GoesOn,
    Restarts,
    Adapts,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "At one rate, {LAYERS} temporal layers: pictures, kbit, mean quantizer of each second.\n"
    );
    println!("| height | kbps | 1st second | 2nd | 3rd | 4th |\n|---|---|---|---|---|---|");
    for height in [720, 540, 360, 270, 180] {
        let pictures = pictures(height);
        for kbps in [100, 200, 300, 450, 600, 1000, 1500] {
            let seconds = steady(&pictures, kbps)?;
            let cells = seconds.iter().map(|s| format!(" {} |", s.cell()));
            println!("| {height} | {kbps} |{}", cells.collect::<String>());
        }
    }
    shrinking();
    println!("\nThe rate is back after {OUTAGE} s; two keyframes are asked for. Pictures, kbit,");
    println!("mean quantizer, height; in brackets the largest frame's kbit.\n");
    println!("| back at kbps | encoder | 1st second | 2nd | 3rd | 4th | 5th | 6th | 7th | 8th |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let pictures = pictures(720);
    for (first, growth) in [(300, 50), (600, 100), (2500, 0)] {
        for (name, how) in [
            ("continues", Return::GoesOn),
            ("restarts", Return::Restarts),
            ("adapts", Return::Adapts),
        ] {
            let seconds = outage(&pictures, how, first, growth)?;
            let cells = seconds.iter().map(|s| {
                let largest = s.largest / 1000;
                format!(" {}, {} ({largest}) |", s.cell(), s.height)
            });
            println!(
                "| {first} + {growth}/s | {name} |{}",
                cells.collect::<String>()
            );
        }
    }
    Ok(())
}

/// Prints the loss by downscaling alone, without encoding.
fn shrinking() {
    println!("\nShrunk and grown again, without an encoder.\n");
    println!("| from | to | PSNR dB | 1000 (1 - SSIM) |\n|---|---|---|---|");
    for whole in [1080, 720, 360] {
        let picture = &pictures(whole)[10];
        let from = (picture.width, picture.height);
        for (n, d) in [(3, 4), (1, 2), (3, 8), (1, 4)] {
            let to = (from.0 * n / d, from.1 * n / d);
            let grown = Scaler::new(from, to).scale(picture).scaled(from.0, from.1);
            let (psnr, ssim) = (
                metrics::psnr(picture, &grown),
                metrics::ssim(picture, &grown),
            );
            println!(
                "| {whole} | {n}/{d} | {psnr:.1} | {:.1} |",
                1000.0 * (1.0 - ssim)
            );
        }
    }
}

/// Returns two seconds of the clip.
fn pictures(height: usize) -> Vec<Picture> {
    let (width, fps) = (height * 16 / 9, FPS);
    let mut clip = Clip::new(ClipConfig {
        width,
        height,
        fps,
        seed: 0,
    });
    let number = 0..u64::from(2 * FPS);
    number
        .map(|n| clip.picture(n, n * 1000 / u64::from(FPS)))
        .collect()
}

/// Returns the picture with this number. The sequence runs back and forth, so there is no
/// cut.
fn at(pictures: &[Picture], number: u32) -> &Picture {
    let (count, number) = (pictures.len(), number as usize);
    match number / count % 2 {
        0 => &pictures[number % count],
        _ => &pictures[count - 1 - number % count],
    }
}

fn encoder(pictures: &[Picture], kbps: u64) -> Result<Vp8Encoder, Box<dyn Error>> {
    let Picture { width, height, .. } = pictures[0];
    Ok(Vp8Encoder::new(EncoderConfig {
        width,
        height,
        fps: FPS,
        rate: Rate::from_kbps(kbps),
        temporal_layers: LAYERS,
    })?)
}

fn steady(pictures: &[Picture], kbps: u64) -> Result<Vec<Second>, Box<dyn Error>> {
    let mut encoder = encoder(pictures, kbps)?;
    let mut seconds = vec![Second::default(); 4];
    for number in 0..4 * FPS {
        let picture = at(pictures, number);
        let frame = encoder.encode(picture, number * (90_000 / FPS), Keyframe::Auto)?;
        seconds[(number / FPS) as usize].add(picture.height, frame.as_ref());
    }
    Ok(seconds)
}

fn outage(
    pictures: &[Picture],
    how: Return,
    first: u64,
    growth: u64,
) -> Result<Vec<Second>, Box<dyn Error>> {
    let mut encoder = encoder(pictures, 2500)?;
    let Picture { width, height, .. } = pictures[0];
    let mut adaptation = Adaptation::new(&AdaptationSetup {
        width: width as u32,
        height: height as u32,
        fps: FPS.into(),
        degradation: match how {
            Return::Adapts => Degradation::MaintainFrameRate,
            Return::GoesOn | Return::Restarts => Degradation::Off,
        },
        quantizers: QuantizerBounds::VP8,
    });
    let back = BEFORE + OUTAGE;
    let mut seconds = vec![Second::default(); AFTER as usize];
    for number in 0..(back + AFTER) * FPS {
        let second = number / FPS;
        let kbps = match second.checked_sub(back) {
            Some(after) => first + growth * u64::from(after),
            None if second < BEFORE => 2500,
            None => 0,
        };
        let now = Instant::from_nanos(u64::from(number) * 1_000_000_000 / u64::from(FPS));
        let verdict = adaptation.on_picture(now, Rate::from_kbps(kbps));
        if verdict == Verdict::Skip {
            continue;
        }
        encoder.set_rate(Rate::from_kbps(kbps))?;
        let form = adaptation.form();
        let size = (form.width as usize, form.height as usize);
        if verdict == Verdict::Restart && how != Return::GoesOn {
            encoder.restart()?;
        }
        let asked = [back * FPS, back * FPS + FPS / 2].contains(&number);
        let keyframe = if asked {
            Keyframe::Force
        } else {
            Keyframe::Auto
        };
        let picture = at(pictures, number);
        let picture = &Scaler::new((width, height), size).scale(picture);
        let frame = encoder.encode(picture, number * (90_000 / FPS), keyframe)?;
        adaptation.on_encoded(frame.as_ref().map(|f| f.quantizer));
        if let Some(after) = second.checked_sub(back) {
            seconds[after as usize].add(picture.height, frame.as_ref());
        }
    }
    Ok(seconds)
}

impl Second {
    fn add(&mut self, height: usize, frame: Option<&weft_media::EncodedFrame>) {
        self.height = height;
        if let Some(frame) = frame {
            let bits = frame.data.len() * 8;
            self.pictures += 1;
            self.bits += bits;
            self.largest = self.largest.max(bits);
            self.quantizers += u32::from(frame.quantizer);
        }
    }

    fn cell(&self) -> String {
        let quantizer = self.quantizers.checked_div(self.pictures);
        let quantizer = quantizer.map_or("-".to_owned(), |q| q.to_string());
        format!("{}, {}, {quantizer}", self.pictures, self.bits / 1000)
    }
}
