//! Measures how many rooms one core composes. Writes the recording of a room whose people
//! take turns in speaking (640x360, 30 pictures a second, 1 Mbit/s), and composes it.
//!
//! `cargo run --release -p weft-compose --example room -- FOLDER [PEOPLE [SECONDS]]`

use std::path::{Path, PathBuf};
use std::time::Duration;
use weft_compose::{Options, compose};
use weft_media::audio::{CHANNELS, FRAME_SAMPLES};
use weft_media::clip::{Clip, ClipConfig};
use weft_media::{EncoderConfig, Keyframe, OpusEncoder, VideoEncoder};
use weft_record::{Recorder, Tracks};
use weft_testing::processor_time;
use weft_units::{Codec, Instant, Rate};

const SIZE: (usize, usize) = (640, 360);
const FPS: u64 = 30;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name an empty folder")?;
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (people, seconds) = (number(4)?, number(60)?);
    let folder = PathBuf::from(folder);
    let mut tracks = Vec::new();
    for person in 0..people {
        camera(&folder.join(format!("{person}.webm")), person, seconds)?;
        microphone(
            &folder.join(format!("{person}-sound.webm")),
            person,
            (people, seconds),
        )?;
        for (file, kind, codec) in [("", "camera", "VP8"), ("-sound", "microphone", "opus")] {
            tracks.push(serde_json::json!({
                "file": format!("{person}{file}.webm"), "participant": format!("p{person}"),
                "name": format!("Person {person}"), "kind": kind, "codec": codec, "start_ms": 0, "length_ms": null,
            }));
        }
    }
    let index = serde_json::json!({
        "room": "room", "started": "", "length_ms": seconds * 1000, "tracks": tracks,
    });
    std::fs::write(folder.join("index.json"), index.to_string())?;
    let before = processor_time();
    let film = compose(
        &folder,
        &folder.join("film.webm"),
        &Options::default(),
        |_| {},
    )?;
    let took = (processor_time() - before).as_secs_f64();
    println!(
        "{people} people for {:?}: {took:.1} s of processor time, {:.1} rooms a core",
        film.length,
        film.length.as_secs_f64() / took
    );
    Ok(())
}

fn camera(path: &Path, person: u64, seconds: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut clip = Clip::new(ClipConfig {
        width: SIZE.0,
        height: SIZE.1,
        fps: FPS as u32,
        seed: person,
    });
    let config = EncoderConfig {
        width: SIZE.0,
        height: SIZE.1,
        fps: FPS as u32,
        rate: Rate::from_kbps(1_000),
        temporal_layers: 3,
    };
    let mut encoder = VideoEncoder::new(Codec::Vp8, config)?;
    let mut recorder = Recorder::create(path, Tracks::Video)?;
    for number in 0..seconds * FPS {
        let picture = clip.picture(number, number * 1000 / FPS);
        let timestamp = (number * 90_000 / FPS) as u32;
        if let Some(frame) = encoder.encode(&picture, timestamp, Keyframe::Auto)? {
            let now = Instant::ZERO + Duration::from_millis(number * 1000 / FPS).into();
            recorder.video(now, timestamp, frame.keyframe, &frame.data)?;
        }
    }
    Ok(recorder.finish()?)
}

/// Writes a tone unique to the person during their turn, which lasts five seconds.
fn microphone(
    path: &Path,
    person: u64,
    (people, seconds): (u64, u64),
) -> Result<(), Box<dyn std::error::Error>> {
    let mut encoder = OpusEncoder::new(Rate::from_kbps(32))?;
    let mut recorder = Recorder::create(path, Tracks::Audio)?;
    for number in 0..seconds * 50 {
        let speaks = number / 250 % people == person;
        let mut frame = [0; FRAME_SAMPLES * CHANNELS];
        for (n, sample) in frame.iter_mut().enumerate().filter(|_| speaks) {
            let at = (number as usize * FRAME_SAMPLES + n / CHANNELS) as f64 / 48_000.0;
            let frequency = 200.0 + 50.0 * person as f64;
            *sample = ((at * frequency * std::f64::consts::TAU).sin() * 8_000.0) as i16;
        }
        let now = Instant::ZERO + Duration::from_millis(number * 20).into();
        recorder.audio(now, (number * 960) as u32, &encoder.encode(&frame)?)?;
    }
    Ok(recorder.finish()?)
}
