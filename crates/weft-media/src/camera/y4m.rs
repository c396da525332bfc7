use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::y4m::{Colorspace, Decoder, Error};

use super::{Camera, CameraError, Captured, Format};
use crate::{Pace, Picture};

/// YUV4MPEG2 file, 4:2:0 with 8 bits, played in a loop, paced by the caller.
pub struct FileCamera {
    path: PathBuf,
    decoder: Decoder<BufReader<File>>,
    format: Format,
    number: u64,
}

const CONVERT: &str = "convert it: ffmpeg -i FILE -pix_fmt yuv420p OUT.y4m";

impl FileCamera {
    pub fn open(path: &Path) -> Result<FileCamera, CameraError> {
        let decoder = decoder(path)?;
        let rate = decoder.get_framerate();
        let unusable = |problem: String| CameraError::Unusable {
            path: path.into(),
            problem,
            remedy: CONVERT,
        };
        if !matches!(
            decoder.get_colorspace(),
            Colorspace::C420 | Colorspace::C420jpeg | Colorspace::C420mpeg2 | Colorspace::C420paldv
        ) {
            let found = decoder.get_colorspace();
            return Err(unusable(format!(
                "pictures are {found:?}, not 4:2:0 with 8 bits"
            )));
        }
        if rate.num == 0 || rate.den == 0 {
            return Err(unusable("the header has no frame rate".into()));
        }
        let format = Format {
            width: decoder.get_width(),
            height: decoder.get_height(),
            fps: rate.num as f64 / rate.den as f64,
        };
        let mut camera = FileCamera {
            path: path.into(),
            decoder,
            format,
            number: 0,
        };
        // Fails here instead of during the call.
        camera.read().map_err(|error| match error {
            Error::EOF => unusable("shorter than one picture".into()),
            error => unusable(format!("the first picture: {error}")),
        })?;
        camera.decoder = self::decoder(path)?;
        Ok(camera)
    }

    fn read(&mut self) -> Result<Picture, Error> {
        let (width, height) = (self.format.width, self.format.height);
        let frame = self.decoder.read_frame()?;
        Ok(Picture {
            width,
            height,
            y: frame.get_y_plane().to_vec(),
            u: frame.get_u_plane().to_vec(),
            v: frame.get_v_plane().to_vec(),
        })
    }
}

impl Camera for FileCamera {
    fn format(&self) -> Format {
        self.format
    }

    fn pace(&self) -> Pace {
        Pace::Caller
    }

    fn capture(&mut self) -> Result<Captured, CameraError> {
        let path = self.path.clone();
        let number = self.number;
        let broken = |error: Error| CameraError::Unusable {
            path,
            problem: format!("picture {number} from the start: {error}"),
            remedy: CONVERT,
        };
        let picture = match self.read() {
            Ok(picture) => picture,
            // Continues from the start.
            Err(Error::EOF) => {
                self.decoder = decoder(&self.path)?;
                self.read().map_err(broken)?
            }
            Err(error) => return Err(broken(error)),
        };
        self.number += 1;
        Ok(Captured {
            picture: Arc::new(picture),
            number,
        })
    }
}

fn decoder(path: &Path) -> Result<Decoder<BufReader<File>>, CameraError> {
    let file = File::open(path).map_err(|error| CameraError::Open {
        path: path.into(),
        reason: error.to_string(),
        remedy: "check the path and its read permission".into(),
    })?;
    Decoder::new(BufReader::new(file)).map_err(|error| CameraError::Unusable {
        path: path.into(),
        problem: format!("no YUV4MPEG2 header ({error})"),
        remedy: CONVERT,
    })
}
