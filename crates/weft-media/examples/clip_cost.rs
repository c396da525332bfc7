//! Cost of the built-in clip: processor time per picture, stamp included, and the share
//! of one core at 30 pictures per second. Other programs do not add processor time, but
//! they cool the caches. This crate is optimised in every profile: `cargo run -p
//! weft-media --example clip_cost`
use std::error::Error;
use std::fs;

use weft_media::clip::{Clip, ClipConfig};
use weft_media::stamp::{self, Stamp};

const FPS: u32 = 30;
/// Ten seconds of the clip: all mouths, several blinks.
const PICTURES: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    for (name, width, height) in [
        ("360p", 640, 360),
        ("720p", 1280, 720),
        ("1080p", 1920, 1080),
    ] {
        let mut clip = Clip::new(ClipConfig {
            width,
            height,
            fps: FPS,
            seed: 0,
        });
        let before = processor_us()?;
        for number in 0..PICTURES {
            let time_ms = number * 1000 / FPS;
            let mut picture = clip.picture(number.into(), time_ms.into());
            stamp::write(&mut picture, Stamp { number, time_ms });
            std::hint::black_box(&picture);
        }
        let each = (processor_us()? - before) / f64::from(PICTURES);
        let share = each * f64::from(FPS) / 1e6;
        println!(
            "{name:>5}  {each:6.0} us a picture  {:5.1} % of a core at {FPS} a second",
            share * 100.0
        );
    }
    Ok(())
}

/// Returns the processor time used by this thread so far; it draws the pictures. Linux,
/// Documentation/scheduler/sched-stats.rst: the first value is in nanoseconds.
fn processor_us() -> Result<f64, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = text.split_whitespace().next().ok_or("no figures")?;
    Ok(nanos.parse::<f64>()? / 1e3)
}
