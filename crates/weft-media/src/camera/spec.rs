use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::device::DeviceCamera;
use super::y4m::FileCamera;
use super::{Camera, CameraError, ClipCamera};
use crate::SpecError;
use crate::clip::ClipConfig;

/// Camera, in the form of the command line:
///
/// - `clip`, `clip:720p`, `clip:1080p@15`, `clip:360p#2`: the built-in clip; the number
///   after `#` selects the person;
/// - `/dev/video0`, `/dev/video0:360p@30`: a V4L2 device;
/// - `talk.y4m`: a YUV4MPEG2 file, played in a loop.
///
/// Sizes are `360p`, `720p`, `1080p` or `WIDTHxHEIGHT`. Default: 720p at 30.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CameraSpec {
    /// Built-in clip.
    Clip(ClipConfig),
    /// V4L2 device with the requested format; the device may choose a similar one.
    Device {
        /// The device's file.
        path: PathBuf,
        /// Requested width in pixels.
        width: usize,
        /// Requested height in pixels.
        height: usize,
        /// Requested pictures per second.
        fps: u32,
    },
    /// YUV4MPEG2 file.
    File(PathBuf),
}

const DEFAULT_FPS: u32 = 30;
const DEFAULT_SIZE: (usize, usize) = (1280, 720);

impl FromStr for CameraSpec {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<CameraSpec, SpecError> {
        if spec.ends_with(".y4m") {
            return Ok(CameraSpec::File(spec.into()));
        }
        let (rest, seed) = match spec.split_once('#') {
            Some((rest, seed)) => (rest, Some(seed)),
            None => (spec, None),
        };
        let (rest, fps) = match rest.split_once('@') {
            Some((rest, fps)) => (rest, parse_fps(spec, fps)?),
            None => (rest, DEFAULT_FPS),
        };
        let (name, (width, height)) = match rest.split_once(':') {
            Some((name, size)) => (name, parse_size(spec, size)?),
            None => (rest, DEFAULT_SIZE),
        };
        match (name, seed) {
            ("clip", seed) => Ok(CameraSpec::Clip(ClipConfig {
                width,
                height,
                fps,
                seed: seed.map_or(Ok(0), |seed| parse_seed(spec, seed))?,
            })),
            (path, None) if path.starts_with("/dev/") => Ok(CameraSpec::Device {
                path: path.into(),
                width,
                height,
                fps,
            }),
            (_, Some(seed)) if name.starts_with("/dev/") => Err(error(
                spec,
                format!("`#{seed}` chooses a person of the clip, not of a device"),
                "remove it",
            )),
            _ => Err(error(
                spec,
                "unknown kind of camera".into(),
                "write clip[:SIZE][@FPS], /dev/videoN[:SIZE][@FPS] or FILE.y4m",
            )),
        }
    }
}

impl fmt::Display for CameraSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CameraSpec::Clip(c) => {
                write!(f, "clip:{}x{}@{}#{}", c.width, c.height, c.fps, c.seed)
            }
            CameraSpec::Device {
                path,
                width,
                height,
                fps,
            } => write!(f, "{}:{width}x{height}@{fps}", path.display()),
            CameraSpec::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl CameraSpec {
    /// Opens the camera.
    ///
    /// # Errors
    /// [`CameraError::Open`] or [`CameraError::Unusable`], with the remedy.
    pub fn open(&self) -> Result<Box<dyn Camera>, CameraError> {
        match self {
            CameraSpec::Clip(config) => Ok(Box::new(ClipCamera {
                config: *config,
                clip: None,
                number: 0,
            })),
            CameraSpec::Device {
                path,
                width,
                height,
                fps,
            } => Ok(Box::new(DeviceCamera::open(path, (*width, *height), *fps)?)),
            CameraSpec::File(path) => Ok(Box::new(FileCamera::open(path)?)),
        }
    }
}

fn parse_size(spec: &str, size: &str) -> Result<(usize, usize), SpecError> {
    let exact = || {
        let (width, height) = size.split_once('x')?;
        let side = |text: &str| text.parse().ok().filter(|n| (32..=4096).contains(n));
        Some((side(width)?, side(height)?))
    };
    match size {
        "360p" => Ok((640, 360)),
        "720p" => Ok((1280, 720)),
        "1080p" => Ok((1920, 1080)),
        _ => exact().ok_or_else(|| {
            error(
                spec,
                format!("invalid size `{size}`"),
                "write 360p, 720p, 1080p or WIDTHxHEIGHT (32 to 4096 each)",
            )
        }),
    }
}

fn parse_fps(spec: &str, fps: &str) -> Result<u32, SpecError> {
    fps.parse()
        .ok()
        .filter(|fps| (1..=120).contains(fps))
        .ok_or_else(|| {
            error(
                spec,
                format!("invalid number of pictures per second `{fps}`"),
                "write a whole number from 1 to 120 after the @",
            )
        })
}

fn parse_seed(spec: &str, seed: &str) -> Result<u64, SpecError> {
    seed.parse().map_err(|_| {
        error(
            spec,
            format!("invalid number `{seed}`"),
            "write a whole number after the #",
        )
    })
}

fn error(spec: &str, problem: String, remedy: &'static str) -> SpecError {
    SpecError {
        kind: "camera",
        spec: spec.into(),
        problem,
        remedy,
    }
}
