use std::f64::consts::TAU;

use weft_units::Rng;

/// All movements in scene units and radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub camera: (f32, f32),
    pub torso: (f32, f32),
    pub head: (f32, f32),
    /// Rotation in the picture's plane.
    pub tilt: f32,
    pub zoom: f32,
    /// Displacement of the face within the head's outline, sideways and down.
    pub turn: f32,
    pub nod: f32,
    pub face: Expression,
}

/// Moving parts of the face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expression {
    /// Mouth: 0 closed to 1 wide open.
    pub open: f32,
    /// Mouth: -1 round to 1 wide.
    pub wide: f32,
    /// Lids: 0 open to 1 closed.
    pub lid: f32,
    /// Direction of the gaze, -1 left to 1 right.
    pub gaze: f32,
}

/// Sums of sines with random phases: smooth, and without a period of minutes or less.
pub struct Motion {
    phases: [f64; 32],
    seed: u64,
}

/// Amplitude of the main component of a hand-held or desk camera. Together with the
/// sub-pixel motion this determines most of the clip's bits.
const SHAKE: f32 = 1.1;
/// Seconds between blinks, on average (15 to 20 a minute in conversation:
/// Bentivoglio et al. 1997).
const BLINK_EVERY: f64 = 3.4;
/// Duration of a blink: 0.1 to 0.4 s (from the same source), closing and opening.
const BLINK_TAKES: f64 = 0.22;
const GAZE_EVERY: f64 = 1.7;

impl Motion {
    pub fn new(rng: &mut Rng) -> Motion {
        Motion {
            phases: std::array::from_fn(|_| rng.unit() * TAU),
            seed: rng.next_u64(),
        }
    }

    pub fn at(&self, t: f64) -> Pose {
        let wave = |i: usize, hertz: f64| (TAU * (hertz * t).fract() + self.phases[i]).sin() as f32;
        // Phrases with pauses between; the head moves more while speaking.
        let speech = (0.6 + 0.55 * wave(0, 0.11) + 0.35 * wave(1, 0.29)).clamp(0.0, 1.0);
        let sway = 34.0 * wave(2, 0.15) + 14.0 * wave(3, 0.41);
        let bob = 10.0 * wave(5, 0.17) + speech * (8.0 * wave(6, 0.9) + 4.0 * wave(7, 2.3));
        let syllable = 0.5 + 0.5 * wave(13, 3.7) * wave(14, 1.3) + 0.3 * wave(15, 5.1);
        Pose {
            camera: (
                SHAKE * (wave(20, 0.9) + 0.7 * wave(21, 2.1) + 0.4 * wave(22, 5.3)),
                SHAKE * (wave(23, 1.1) + 0.7 * wave(24, 2.7) + 0.4 * wave(25, 6.1)),
            ),
            torso: (0.62 * sway, 4.0 * wave(11, 0.25) + 5.0 * wave(12, 0.08)),
            head: (sway + speech * 7.0 * wave(4, 1.1), bob),
            tilt: 0.045 * wave(8, 0.15) + speech * 0.03 * wave(9, 0.7),
            zoom: 1.0 + 0.03 * wave(10, 0.11),
            turn: 9.0 * wave(16, 0.19) + speech * 5.0 * wave(17, 0.61),
            nod: 4.0 * wave(18, 0.23) + speech * 4.0 * wave(19, 1.27),
            face: Expression {
                open: (speech * 1.15 * syllable).clamp(0.0, 1.0),
                wide: (0.5 * wave(26, 0.5) + speech * 0.8 * wave(27, 2.9)).clamp(-1.0, 1.0),
                lid: self.lid(t),
                gaze: self.gaze(t),
            },
        }
    }

    fn lid(&self, t: f64) -> f32 {
        let slot = (t / BLINK_EVERY).floor();
        let start = slot * BLINK_EVERY + self.draw(slot, 1) * (BLINK_EVERY - BLINK_TAKES);
        let progress = (t - start) / BLINK_TAKES;
        if (0.0..1.0).contains(&progress) {
            // Closed slightly before the middle, opened slowly.
            let shape = (progress.powf(0.7) * std::f64::consts::PI).sin();
            (1.3 * shape).min(1.0) as f32
        } else {
            0.0
        }
    }

    /// Returns the gaze, which jumps like that of real eyes and mostly meets the viewer.
    fn gaze(&self, t: f64) -> f32 {
        match self.draw((t / GAZE_EVERY).floor(), 2) {
            d if d < 0.12 => -1.0,
            d if d < 0.22 => -0.5,
            d if d < 0.8 => 0.0,
            d if d < 0.9 => 0.5,
            _ => 1.0,
        }
    }

    fn draw(&self, slot: f64, what: u64) -> f64 {
        Rng::new(self.seed ^ (slot as u64) << 8 ^ what).unit()
    }
}
