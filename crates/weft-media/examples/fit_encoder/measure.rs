//! Runs the real encoders and decodes their output.

use std::error::Error;
use std::fmt::Write;

use weft_media::clip::{Clip, ClipConfig};
use weft_media::metrics::{psnr, ssim};
use weft_media::{EncoderConfig, Keyframe, Picture, Vp8Decoder, Vp8Encoder};
use weft_units::{Codec, Rate};

use crate::coded::Coded;
use crate::h264::H264;
use crate::plan::{FPS, Group, Run, groups};

/// One picture of a run. A dropped picture has no bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub kbps: u64,
    pub bits: usize,
    pub keyframe: bool,
    pub layer: u8,
    pub quantizer: u8,
    pub psnr: f64,
    pub ssim: f64,
}

/// A run with its results, one sample per picture.
pub struct Measured {
    pub run: Run,
    pub samples: Vec<Sample>,
}

enum Real {
    Vp8(Box<(Vp8Encoder, Vp8Decoder)>),
    H264(Box<H264>),
}

/// Encodes a group's pictures with all its runs.
pub fn measure(group: &Group) -> Result<Vec<Measured>, Box<dyn Error>> {
    let mut clip = Clip::new(ClipConfig {
        width: group.height * 16 / 9,
        height: group.height,
        fps: FPS,
        seed: group.seed,
    });
    let mut encoders = Vec::new();
    for run in &group.runs {
        let measured = Measured {
            run: run.clone(),
            samples: Vec::new(),
        };
        encoders.push((Real::new(run)?, measured));
    }
    let pictures = group.runs.iter().map(|r| r.pictures).max().unwrap_or(0);
    for number in 0..pictures {
        let time_ms = u64::from(number) * 1000 / u64::from(FPS);
        let picture = clip.picture(number.into(), time_ms);
        for (encoder, measured) in &mut encoders {
            if number < measured.run.pictures {
                let sample = encoder.sample(&measured.run, number, &picture)?;
                measured.samples.push(sample);
            }
        }
    }
    Ok(encoders.into_iter().map(|(_, measured)| measured).collect())
}

impl Real {
    fn new(run: &Run) -> Result<Real, Box<dyn Error>> {
        let kbps = run.kbps(0);
        Ok(match run.codec {
            Codec::H264 => Real::H264(Box::new(H264::new(kbps)?)),
            _ => {
                let encoder = Vp8Encoder::new(EncoderConfig {
                    width: run.width(),
                    height: run.height,
                    fps: FPS,
                    rate: Rate::from_kbps(kbps),
                    temporal_layers: run.layers,
                })?;
                Real::Vp8(Box::new((encoder, Vp8Decoder::new()?)))
            }
        })
    }

    fn sample(
        &mut self,
        run: &Run,
        number: u32,
        picture: &Picture,
    ) -> Result<Sample, Box<dyn Error>> {
        let kbps = run.kbps(number);
        let force = run.keyframes.contains(&number);
        let coded = match self {
            Real::H264(h264) => h264.encode(picture, kbps, force)?,
            Real::Vp8(vp8) => vp8_frame(&mut vp8.0, &mut vp8.1, picture, number, kbps, force)?,
        };
        let dropped = Sample {
            kbps,
            ..Sample::default()
        };
        Ok(coded.map_or(dropped, |coded| Sample {
            kbps,
            bits: coded.bits,
            keyframe: coded.keyframe,
            layer: coded.layer,
            quantizer: coded.quantizer,
            psnr: psnr(picture, &coded.picture),
            ssim: ssim(picture, &coded.picture),
        }))
    }
}

fn vp8_frame(
    encoder: &mut Vp8Encoder,
    decoder: &mut Vp8Decoder,
    picture: &Picture,
    number: u32,
    kbps: u64,
    force: bool,
) -> Result<Option<Coded>, Box<dyn Error>> {
    encoder.set_rate(Rate::from_kbps(kbps))?;
    let keyframe = if force {
        Keyframe::Force
    } else {
        Keyframe::Auto
    };
    let Some(frame) = encoder.encode(picture, number * (90_000 / FPS), keyframe)? else {
        return Ok(None);
    };
    let picture = decoder
        .decode(&frame.data)?
        .ok_or("a frame without picture")?;
    Ok(Some(Coded {
        bits: frame.data.len() * 8,
        keyframe: frame.keyframe,
        quantizer: frame.quantizer,
        layer: frame.temporal_layer.unwrap_or(0),
        picture,
    }))
}

const HEADER: &str =
    "codec,height,seed,layers,run,picture,kbps,bits,keyframe,layer,quantizer,psnr_db,ssim";

/// Formats the samples as CSV, one line per picture.
pub fn csv(all: &[Measured]) -> String {
    let mut out = format!("{HEADER}\n");
    for (index, Measured { run, samples }) in all.iter().enumerate() {
        for (number, s) in samples.iter().enumerate() {
            let _ = writeln!(
                out,
                "{},{},{},{},{index},{number},{},{},{},{},{},{:.3},{:.5}",
                run.codec,
                run.height,
                run.seed,
                run.layers,
                s.kbps,
                s.bits,
                u8::from(s.keyframe),
                s.layer,
                s.quantizer,
                s.psnr,
                s.ssim,
            );
        }
    }
    out
}

/// Parses the output of [`csv`] for the present plan.
pub fn parse(text: &str) -> Result<Vec<Measured>, Box<dyn Error>> {
    let runs = groups().into_iter().flat_map(|group| group.runs);
    let mut all: Vec<Measured> = runs
        .map(|run| Measured {
            run,
            samples: Vec::new(),
        })
        .collect();
    for (number, line) in text.lines().enumerate().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [
            _,
            _,
            _,
            _,
            run,
            _,
            kbps,
            bits,
            keyframe,
            layer,
            quantizer,
            psnr,
            ssim,
        ] = fields[..]
        else {
            return Err(format!("line {}: not the columns {HEADER}", number + 1).into());
        };
        let measured = all
            .get_mut(run.parse::<usize>()?)
            .ok_or("a run that is not planned")?;
        measured.samples.push(Sample {
            kbps: kbps.parse()?,
            bits: bits.parse()?,
            keyframe: keyframe == "1",
            layer: layer.parse()?,
            quantizer: quantizer.parse()?,
            psnr: psnr.parse()?,
            ssim: ssim.parse()?,
        });
    }
    let complete = all
        .iter()
        .all(|m| m.samples.len() == m.run.pictures as usize);
    complete
        .then_some(all)
        .ok_or_else(|| "not all runs of the plan: encode again with --save".into())
}
