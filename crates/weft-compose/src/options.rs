//! Options of a film.

use crate::error::ComposeError;
use crate::layout::Layout;
use weft_units::Rate;

/// Settings of a film.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Arrangement of the pictures.
    pub layout: Layout,
    /// Width and height in pixels; even.
    pub size: (usize, usize),
    /// Pictures per second, 1 to 60.
    pub fps: u32,
    /// Rate of the pictures.
    pub rate: Rate,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            layout: Layout::Grid,
            size: (1280, 720),
            fps: 30,
            rate: Rate::from_kbps(2_000),
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), ComposeError> {
        let (width, height) = self.size;
        let even = [width, height].iter().all(|side| side % 2 == 0);
        if !even || !(160..=1920).contains(&width) || !(90..=1920).contains(&height) {
            return Err(ComposeError::Options(format!(
                "a film of {width}x{height} is not possible: give even sides, \
                 160 to 1920 wide and 90 to 1920 high"
            )));
        }
        if !(1..=60).contains(&self.fps) {
            return Err(ComposeError::Options(format!(
                "{} pictures a second are not possible: give 1 to 60",
                self.fps
            )));
        }
        Ok(())
    }
}
