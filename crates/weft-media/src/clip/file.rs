//! Clip as a Y4M file, for programs that read a camera's pictures from a file, such as
//! Chromium.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::{Clip, ClipConfig};
use crate::stamp::{self, Stamp};

/// Writes the first `pictures` pictures of the clip, each with its number and time in the
/// corner in the format of [`stamp`].
///
/// # Errors
/// Errors of the file system.
pub fn write_y4m(path: &Path, config: ClipConfig, pictures: u32) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let ClipConfig {
        width, height, fps, ..
    } = config;
    // https://wiki.multimedia.cx/index.php/YUV4MPEG2
    writeln!(file, "YUV4MPEG2 W{width} H{height} F{fps}:1 Ip A1:1 C420")?;
    let mut clip = Clip::new(config);
    for number in 0..pictures {
        let time_ms = u64::from(number) * 1000 / u64::from(fps.max(1));
        let mut picture = clip.picture(u64::from(number), time_ms);
        let time_ms = time_ms as u32;
        stamp::write(&mut picture, Stamp { number, time_ms });
        file.write_all(b"FRAME\n")?;
        for plane in [&picture.y, &picture.u, &picture.v] {
            file.write_all(plane)?;
        }
    }
    file.flush()
}
