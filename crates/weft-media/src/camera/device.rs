use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use linuxvideo::format::{PixFormat, PixelFormat};
use linuxvideo::stream::ReadStream;
use linuxvideo::{BufType, Device, Fract};

use super::pixels::{Pixels, convert};
use super::{Camera, CameraError, Captured, Format};
use crate::Pace;

/// V4L2 camera. [`Camera::capture`] blocks until the next picture.
pub struct DeviceCamera {
    path: PathBuf,
    stream: ReadStream,
    pixels: Pixels,
    stride: usize,
    format: Format,
    number: u64,
}

/// Maximum number of consecutive damaged pictures (some cameras send them at the start).
const DAMAGED_IN_A_ROW: usize = 30;

impl DeviceCamera {
    pub fn open(path: &Path, size: (usize, usize), fps: u32) -> Result<DeviceCamera, CameraError> {
        let failed = |error: io::Error| open_error(path, &error);
        let device = Device::open(path).map_err(failed)?;
        let pixels = choose(path, &device, size, fps)?;
        let wanted = PixFormat::new(size.0 as u32, size.1 as u32, fourcc(pixels));
        let capture = device.video_capture(wanted).map_err(failed)?;
        let given = capture.format();
        if given.pixel_format() != fourcc(pixels) {
            return Err(unusable(
                path,
                format!("it gives {:?} only", given.pixel_format()),
            ));
        }
        // The interval is a request, because not every driver can set it.
        let fps = match capture.set_frame_interval(Fract::new(1, fps)) {
            Ok(interval) if interval.numerator() > 0 => {
                f64::from(interval.denominator()) / f64::from(interval.numerator())
            }
            _ => f64::from(fps),
        };
        let stride = given.bytes_per_line() as usize;
        let format = Format {
            width: given.width() as usize,
            height: given.height() as usize,
            fps,
        };
        Ok(DeviceCamera {
            path: path.into(),
            stream: capture.into_stream().map_err(failed)?,
            pixels,
            stride,
            format,
            number: 0,
        })
    }
}

impl Camera for DeviceCamera {
    fn format(&self) -> Format {
        self.format
    }

    fn pace(&self) -> Pace {
        Pace::Device
    }

    fn capture(&mut self) -> Result<Captured, CameraError> {
        let (pixels, stride) = (self.pixels, self.stride);
        let size = (self.format.width, self.format.height);
        for _ in 0..DAMAGED_IN_A_ROW {
            let picture = self.stream.dequeue(|buffer| {
                Ok(if buffer.is_error() {
                    None
                } else {
                    convert(pixels, &buffer, size, stride)
                })
            });
            match picture {
                Ok(Some(picture)) => {
                    let number = self.number;
                    self.number += 1;
                    let picture = Arc::new(picture);
                    return Ok(Captured { picture, number });
                }
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(error.to_string())),
            }
        }
        Err(self.lost(format!("{DAMAGED_IN_A_ROW} damaged pictures in a row")))
    }
}

impl DeviceCamera {
    fn lost(&self, reason: String) -> CameraError {
        CameraError::Lost {
            path: self.path.clone(),
            reason,
        }
    }
}

/// Chooses uncompressed pictures if the camera is fast enough with them, otherwise JPEG,
/// because USB 2 cannot carry 720p at 30 in YUYV.
fn choose(
    path: &Path,
    device: &Device,
    (width, height): (usize, usize),
    fps: u32,
) -> Result<Pixels, CameraError> {
    let offered: Vec<PixelFormat> = device
        .formats(BufType::VIDEO_CAPTURE)
        .filter_map(|format| Some(format.ok()?.pixel_format()))
        .collect();
    let known = [Pixels::I420, Pixels::Yuyv, Pixels::Jpeg];
    let usable = || known.into_iter().filter(|p| offered.contains(&fourcc(*p)));
    let fast_enough = |pixels: &Pixels| {
        let (width, height) = (width as u32, height as u32);
        let intervals = device.frame_intervals(fourcc(*pixels), width, height);
        intervals.is_ok_and(|intervals| reaches(intervals.min(), fps))
    };
    usable()
        .find(fast_enough)
        .or_else(|| usable().next_back())
        .ok_or_else(|| unusable(path, format!("it offers {offered:?} only")))
}

/// Whether this interval gives `fps` per second or more.
fn reaches(interval: Fract, fps: u32) -> bool {
    u64::from(interval.denominator()) >= u64::from(interval.numerator()) * u64::from(fps)
}

fn fourcc(pixels: Pixels) -> PixelFormat {
    match pixels {
        Pixels::Yuyv => PixelFormat::YUYV,
        Pixels::I420 => PixelFormat::from_fourcc(*b"YU12"),
        Pixels::Jpeg => PixelFormat::MJPG,
    }
}

fn unusable(path: &Path, problem: String) -> CameraError {
    CameraError::Unusable {
        path: path.into(),
        problem,
        remedy: "weft reads YUYV, YUV420 and MJPEG: use another camera or the device's other node",
    }
}

fn open_error(path: &Path, error: &io::Error) -> CameraError {
    let present = devices();
    let remedy = match error.kind() {
        io::ErrorKind::NotFound if present.is_empty() => {
            "no camera is connected: connect one, or use `clip`".into()
        }
        io::ErrorKind::NotFound => format!("connected cameras: {}", present.join(", ")),
        io::ErrorKind::PermissionDenied => {
            "join the group `video` (sudo usermod -aG video $USER) and log in again".into()
        }
        io::ErrorKind::ResourceBusy => "another program uses it: close that one".into(),
        _ => "check that it is a V4L2 camera (v4l2-ctl --list-devices)".into(),
    };
    CameraError::Open {
        path: path.into(),
        reason: error.to_string(),
        remedy,
    }
}

/// Lists the video devices of this machine.
fn devices() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir("/dev")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.path().to_str().map(String::from))
        .filter(|name| name.starts_with("/dev/video"))
        .collect();
    names.sort();
    names
}
