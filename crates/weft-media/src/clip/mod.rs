//! Built-in clip: a person who talks in front of a camera at home.
//!
//! It replaces a webcam: moving head, speech, blinking, slight camera shake, sensor
//! noise. libvpx in real time needs about 0.7 of the bits of the standard talking head at
//! equal quality: at 720p and 30 pictures/s the quantizer index is about 17 at 2.5 Mbps
//! and 50 at 600 kbps; at 250 kbps it is at its limit and pictures are dropped. The
//! person, the room and the colours depend on the seed; the same seed, number and time
//! give the same picture.
//!
//! The layers (room, torso, head with a set of mouths and eyes) are painted once, in the
//! constructor; each picture composites them with integer arithmetic.

mod compose;
mod face;
mod file;
mod head;
mod motion;
mod paint;
mod palette;
mod room;
#[cfg(test)]
mod tests;
mod torso;

use compose::{Layer, Noise, Placement};
use head::Head;
use motion::Motion;
use palette::Palette;
use weft_units::Rng;

pub use file::write_y4m;

use crate::Picture;

/// Size, rate and variant of a [`Clip`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClipConfig {
    /// Width in pixels. The scene is designed for 16:9; other aspect ratios show less or
    /// more of the room's sides.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Pictures per second, for callers that pace; pictures depend only on the requested
    /// time.
    pub fps: u32,
    /// Seed of the person, the room and the movement.
    pub seed: u64,
}

/// Generator of the clip's pictures.
pub struct Clip {
    config: ClipConfig,
    scale: f32,
    room: Layer,
    torso: Layer,
    head: Head,
    motion: Motion,
    noise: Noise,
}

/// Margin around the background for the camera's shake, in scene units.
const MARGIN: f32 = 12.0;

impl Clip {
    /// Paints the layers: takes 0.7 s of processor time at 720p, on all cores.
    #[must_use]
    pub fn new(config: ClipConfig) -> Clip {
        let rng = Rng::new(config.seed);
        let palette = Palette::pick(config.seed);
        let scale = config.height as f32 / paint::SCENE_HEIGHT;
        let margin = (MARGIN * scale).ceil() as usize;
        let seed = config.seed as u32;
        let (width, height) = (config.width + 2 * margin, config.height + 2 * margin);
        // The scene is centred in the picture at every aspect ratio.
        let left = (paint::SCENE_WIDTH - config.width as f32 / scale) / 2.0;
        let origin = (left - margin as f32 / scale, -(margin as f32) / scale);
        Clip {
            config,
            scale,
            room: Layer::paint((width, height), origin, scale, |x, y, pixel| {
                room::paint(x, y, pixel, &palette, seed)
            }),
            torso: Layer::paint(torso::size(scale), torso::ORIGIN, scale, |x, y, pixel| {
                torso::paint(x, y, pixel, &palette, seed)
            }),
            head: Head::new(scale, &palette, seed),
            motion: Motion::new(&mut rng.stream("motion")),
            noise: Noise::new(config.seed, &mut rng.stream("noise")),
        }
    }

    /// Returns the configuration of the clip.
    #[must_use]
    pub fn config(&self) -> &ClipConfig {
        &self.config
    }

    /// Returns the picture at a time since the start of the clip. The number only selects
    /// the sensor noise.
    #[must_use]
    pub fn picture(&mut self, number: u64, time_ms: u64) -> Picture {
        let mut picture = Picture::new(self.config.width, self.config.height);
        let pose = self.motion.at(time_ms as f64 / 1000.0);
        let scale = self.scale;
        let margin = (MARGIN * scale).ceil();
        let left = (paint::SCENE_WIDTH - self.config.width as f32 / scale) / 2.0;
        self.room.draw_whole(
            &mut picture,
            margin - pose.camera.0 * scale,
            margin - pose.camera.1 * scale,
        );
        let at = |(x, y): (f32, f32)| {
            (
                (x - left + pose.camera.0) * scale,
                (y + pose.camera.1) * scale,
            )
        };
        let torso = at((
            torso::CENTER.0 + torso::ORIGIN.0 + pose.torso.0,
            torso::CENTER.1 + torso::ORIGIN.1 + pose.torso.1,
        ));
        self.torso.blend(&mut picture, torso.0, torso.1);
        let neck = at((head::NECK.0 + pose.head.0, head::NECK.1 + pose.head.1));
        self.head.express(&pose.face);
        self.head.draw(
            &mut picture,
            &Placement {
                x: neck.0,
                y: neck.1,
                angle: pose.tilt,
                zoom: pose.zoom,
                turn: pose.turn * scale,
                nod: pose.nod * scale,
                jaw: pose.face.open,
            },
        );
        self.noise.add(&mut picture, number);
        picture
    }
}
