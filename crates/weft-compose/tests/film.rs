//! Films of recordings that the tests write themselves and decode again.

use matroska_demuxer::{Frame, MatroskaFile, TrackType};
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use weft_compose::{ComposeError, Film, Layout, Options, compose};
use weft_media::audio::{CHANNELS, FRAME_SAMPLES};
use weft_media::{
    EncoderConfig, Keyframe, OpusDecoder, OpusEncoder, Picture, VideoEncoder, Vp8Decoder,
};
use weft_record::{Recorder, Tracks};
use weft_units::{Codec, Instant, Rate};

/// Pictures per second of all cameras.
const FPS: u64 = 30;
const SIZE: (usize, usize) = (320, 180);

fn gray(luma: u8) -> Picture {
    let mut picture = Picture::new(SIZE.0, SIZE.1);
    picture.y.fill(luma);
    picture
}

/// Writes a camera whose pictures are gray with this luma, by their number; `None` is no
/// picture.
fn camera(path: &Path, pictures: u64, luma: impl Fn(u64) -> Option<u8>) {
    let config = EncoderConfig {
        width: SIZE.0,
        height: SIZE.1,
        fps: FPS as u32,
        rate: Rate::from_kbps(500),
        temporal_layers: 1,
    };
    let mut encoder = VideoEncoder::new(Codec::Vp8, config).expect("the size is usual");
    let mut recorder = Recorder::create(path, Tracks::Video).expect("the folder is there");
    for number in 0..pictures {
        let Some(luma) = luma(number) else { continue };
        let timestamp = (number * 90_000 / FPS) as u32;
        let encoded = encoder.encode(&gray(luma), timestamp, Keyframe::Auto);
        if let Some(frame) = encoded.expect("it is a picture") {
            let now = Instant::from_nanos(number * 1_000_000_000 / FPS);
            let written = recorder.video(now, timestamp, frame.keyframe, &frame.data);
            written.expect("there is space");
        }
    }
    // Files that a server killed at this moment would leave.
    std::fs::copy(path, path.with_extension("killed.webm")).expect("there is space");
    recorder.finish().expect("there is space");
}

/// Writes a microphone with packets of 20 ms: a tone if `heard` says so, otherwise
/// silence; `None` is a lost packet.
fn microphone(path: &Path, packets: u64, heard: impl Fn(u64) -> Option<bool>) {
    let mut encoder = OpusEncoder::new(Rate::from_kbps(64)).expect("there is memory");
    let mut recorder = Recorder::create(path, Tracks::Audio).expect("the folder is there");
    for number in 0..packets {
        let Some(heard) = heard(number) else { continue };
        let mut frame = [0; FRAME_SAMPLES * CHANNELS];
        for (n, sample) in frame.iter_mut().enumerate() {
            let phase = (n / CHANNELS) as f64 * 440.0 / 48_000.0;
            let tone = (phase * std::f64::consts::TAU).sin() * 8_000.0;
            *sample = if heard { tone as i16 } else { 0 };
        }
        let packet = encoder.encode(&frame).expect("it is a frame");
        let now = Instant::from_nanos(number * 20_000_000);
        let written = recorder.audio(now, (number * 960) as u32, &packet);
        written.expect("there is space");
    }
    recorder.finish().expect("there is space");
}

fn index(folder: &Path, length_ms: Option<u64>, tracks: &[(&str, &str, &str, u64)]) {
    let entry = |(file, name, kind, start): &(&str, &str, &str, u64)| {
        let codec = if *kind == "microphone" { "opus" } else { "VP8" };
        serde_json::json!({
            "file": file, "participant": name, "name": name, "kind": kind, "codec": codec,
            "start_ms": start, "length_ms": null,
        })
    };
    let tracks: Vec<_> = tracks.iter().map(entry).collect();
    let index = serde_json::json!({
        "room": "r", "started": "2026-11-26T13:15:00Z", "length_ms": length_ms,
        "tracks": tracks,
    });
    std::fs::write(folder.join("index.json"), index.to_string()).expect("there is space");
}

/// Values with their times.
type Timed<T> = Vec<(Duration, T)>;

/// Decoded film: pictures and the mean square of each 20 ms of sound, with their times.
struct Seen {
    film: Film,
    pictures: Timed<Picture>,
    sound: Timed<f64>,
}

impl Seen {
    /// Returns the luma in the middle of a tile at a time; the position is a fraction of
    /// the picture.
    fn luma(&self, at: Duration, (x, y): (f64, f64)) -> u8 {
        let (_, picture) = self
            .pictures
            .iter()
            .rfind(|(t, _)| *t <= at)
            .expect("begun");
        let (x, y) = (x * picture.width as f64, y * picture.height as f64);
        picture.y[y as usize * picture.width + x as usize]
    }

    fn level(&self, from: u64, to: u64) -> f64 {
        let within = |at: &Duration| (from..to).contains(&(at.as_millis() as u64));
        let levels = self.sound.iter().filter(|(at, _)| within(at));
        let levels: Vec<f64> = levels.map(|(_, level)| *level).collect();
        levels.iter().sum::<f64>() / levels.len() as f64
    }
}

/// Returns the luma of the lower left corner of a rectangle: x, y, width and height in
/// pixels.
fn corner(picture: &Picture, (x, y, width, height): (usize, usize, usize, usize)) -> Vec<u8> {
    let rows = y + height - 18..y + height;
    let row = |row: usize| &picture.y[row * picture.width + x..][..width.min(60)];
    rows.flat_map(row).copied().collect()
}

fn film(folder: &Path, layout: Layout) -> Seen {
    let options = Options {
        layout,
        size: (640, 360),
        ..Options::default()
    };
    let output = folder.join(format!("{layout:?}.webm"));
    let film = compose(folder, &output, &options, |_| {}).expect("it is a recording");
    let (pictures, sound) = read(&output);
    Seen {
        film,
        pictures,
        sound,
    }
}

fn read(path: &Path) -> (Timed<Picture>, Timed<f64>) {
    let file = File::open(path).expect("it was written");
    let mut file = MatroskaFile::open(file).expect("it is WebM");
    let video = file
        .tracks()
        .iter()
        .find(|t| t.track_type() == TrackType::Video);
    let video = video.expect("it has pictures").track_number().get();
    let mut decoder = Vp8Decoder::new().expect("there is memory");
    let mut opus = OpusDecoder::new().expect("there is memory");
    let (mut pictures, mut sound) = (Vec::new(), Vec::new());
    let mut frame = Frame::default();
    while file.next_frame(&mut frame).expect("it is whole") {
        let at = Duration::from_millis(frame.timestamp);
        if frame.track == video {
            let picture = decoder.decode(&frame.data).expect("it is VP8");
            pictures.extend(picture.map(|picture| (at, picture)));
        } else {
            let samples = opus.decode(&frame.data).expect("it is Opus");
            let squares: f64 = samples.iter().map(|s| f64::from(*s).powi(2)).sum();
            sound.push((at, squares / samples.len() as f64));
        }
    }
    (pictures, sound)
}

fn seconds(at: f64) -> Duration {
    Duration::from_secs_f64(at)
}

#[test]
fn everybody_has_a_tile_while_their_camera_is_on() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    // Ada is present from the start and switches her camera off for 4 of 10 seconds; Bob
    // joins after 2 seconds and leaves after 8.
    camera(&folder.join("ada.webm"), 300, |n| {
        (!(90..210).contains(&n)).then_some(60)
    });
    camera(&folder.join("bob.webm"), 180, |_| Some(200));
    index(
        folder,
        Some(10_000),
        &[
            ("ada.webm", "Ada", "camera", 0),
            ("bob.webm", "Bob", "camera", 2_000),
        ],
    );
    let seen = film(folder, Layout::Grid);
    assert_eq!((seen.film.pictures, seen.film.sounds), (2, 0));
    assert_eq!(seen.film.notes, [""; 0]);
    assert!(
        (295..=302).contains(&seen.pictures.len()),
        "{}",
        seen.pictures.len()
    );
    let near = |at: f64, place, luma: u8| {
        let seen = seen.luma(seconds(at), place);
        assert!(
            seen.abs_diff(luma) < 12,
            "{at} s, {place:?}: {seen} for {luma}"
        );
    };
    let (left, right, middle) = ((0.25, 0.5), (0.75, 0.5), (0.5, 0.5));
    near(1.5, middle, 60);
    near(2.6, left, 60);
    near(2.6, right, 200);
    near(6.0, left, 200);
    near(6.0, middle, 200);
    near(7.6, left, 60);
    near(7.6, right, 200);
    near(9.0, middle, 60);
}

#[test]
fn a_tile_has_the_name_of_its_participant_in_the_lower_left_corner() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    for file in ["ada.webm", "nobody.webm"] {
        camera(&folder.join(file), 90, |_| Some(120));
    }
    let tracks = |names: [&'static str; 2]| {
        [
            ("ada.webm", names[0], "camera", 0),
            ("nobody.webm", names[1], "camera", 0),
        ]
    };
    index(folder, None, &tracks(["Ada Lovelace", ""]));
    let named = film(folder, Layout::Grid);
    std::fs::remove_file(folder.join("Grid.webm")).expect("it was written");
    index(folder, None, &tracks(["", ""]));
    let unnamed = film(folder, Layout::Grid);
    let picture = |seen: &Seen| {
        let (_, picture) = &seen.pictures[45];
        picture.clone()
    };
    let (named, unnamed) = (picture(&named), picture(&unnamed));
    let (ada, nobody) = ((0, 90, 320, 180), (320, 90, 320, 180));
    let extremes = |luma: &[u8]| (luma.iter().min().copied(), luma.iter().max().copied());
    let (dark, light) = extremes(&corner(&named, ada));
    assert!(dark < Some(90) && light > Some(180), "{dark:?} {light:?}");
    // The encoder may change a gray slightly.
    for gray in [
        corner(&unnamed, ada),
        corner(&named, nobody),
        corner(&unnamed, nobody),
    ] {
        let (dark, light) = extremes(&gray);
        assert!(dark > Some(105) && light < Some(135), "{dark:?} {light:?}");
    }
    // The rest of the tile shows the camera.
    let above = named.y[..250 * 640].iter().zip(&unnamed.y);
    let most = above.map(|(a, b)| a.abs_diff(*b)).max();
    assert!(most < Some(20), "{most:?}");
}

#[test]
fn a_flash_and_its_click_stay_together() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    // Both at second 3 of the recording, in files that start at different times.
    camera(&folder.join("c.webm"), 150, |n| {
        Some(if n < 75 { 40 } else { 220 })
    });
    microphone(&folder.join("m.webm"), 250, |n| Some(n >= 140));
    index(
        folder,
        None,
        &[
            ("c.webm", "Ada", "camera", 500),
            ("m.webm", "Ada", "microphone", 200),
        ],
    );
    let seen = film(folder, Layout::Grid);
    let mut pictures = seen.pictures.iter();
    let flash = pictures.find(|(_, p)| p.y[p.y.len() / 2 + p.width / 2] > 130);
    let click = seen.sound.iter().find(|(_, level)| *level > 1e6);
    let (flash, click) = (flash.expect("it flashes").0, click.expect("it clicks").0);
    assert!(
        flash.abs_diff(click) <= Duration::from_millis(40),
        "{flash:?} {click:?}"
    );
    assert!(
        flash.abs_diff(seconds(3.0)) <= Duration::from_millis(40),
        "{flash:?}"
    );
}

#[test]
fn all_microphones_are_mixed_and_a_lost_packet_leaves_no_hole() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    microphone(&folder.join("a.webm"), 200, |n| Some(n < 100));
    microphone(&folder.join("b.webm"), 200, |n| {
        (n % 25 != 10).then_some(n >= 50)
    });
    index(
        folder,
        Some(4_000),
        &[
            ("a.webm", "Ada", "microphone", 0),
            ("b.webm", "Bob", "microphone", 0),
        ],
    );
    let seen = film(folder, Layout::Grid);
    let (one, both, other) = (
        seen.level(200, 900),
        seen.level(1_100, 1_900),
        seen.level(2_100, 3_900),
    );
    // Two tones in phase have twice the amplitude.
    assert!((2.5..5.0).contains(&(both / one)), "{one} {both}");
    assert!((0.7..1.3).contains(&(other / one)), "{one} {other}");
    let quiet = seen
        .sound
        .iter()
        .filter(|(at, _)| (2_100..3_900).contains(&at.as_millis()));
    let least = quiet.map(|(_, level)| *level).fold(f64::MAX, f64::min);
    assert!(least > one / 8.0, "a hole: {least} of {one}");
    assert!(
        (199..=202).contains(&seen.sound.len()),
        "{}",
        seen.sound.len()
    );
}

#[test]
fn the_speaker_is_large_and_a_screen_goes_first() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    camera(&folder.join("a.webm"), 360, |_| Some(60));
    camera(&folder.join("b.webm"), 360, |_| Some(120));
    // A single picture, like a page that nobody scrolls; the track ends at second 11.
    camera(&folder.join("s.webm"), 91, |n| {
        (n == 0 || n == 90).then_some(220)
    });
    microphone(&folder.join("am.webm"), 600, |n| Some(n < 200));
    microphone(&folder.join("bm.webm"), 600, |n| Some(n >= 200));
    index(
        folder,
        Some(12_000),
        &[
            ("a.webm", "Ada", "camera", 0),
            ("b.webm", "Bob", "camera", 0),
            ("am.webm", "Ada", "microphone", 0),
            ("bm.webm", "Bob", "microphone", 0),
            ("s.webm", "Bob", "screen", 8_000),
        ],
    );
    let speaker = film(folder, Layout::Speaker);
    let large = |seen: &Seen, at: f64| seen.luma(seconds(at), (0.5, 0.4));
    assert!(large(&speaker, 3.0).abs_diff(60) < 12);
    assert!(
        large(&speaker, 4.5).abs_diff(60) < 12,
        "after half a second"
    );
    assert!(large(&speaker, 7.0).abs_diff(120) < 12);
    assert!(large(&speaker, 9.5).abs_diff(220) < 12);
    assert!(large(&speaker, 11.8).abs_diff(120) < 12);
    let grid = film(folder, Layout::Grid);
    assert!(large(&grid, 9.5).abs_diff(220) < 12);
    assert!(grid.luma(seconds(7.0), (0.25, 0.5)).abs_diff(60) < 12);
}

#[test]
fn a_damaged_file_is_left_out_and_named() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    camera(&folder.join("good.webm"), 90, |_| Some(100));
    camera(&folder.join("bob.webm"), 90, |_| Some(200));
    let whole = std::fs::read(folder.join("bob.webm")).expect("it was written");
    let half = &whole[..whole.len() / 2];
    std::fs::write(folder.join("half.webm"), half).expect("there is space");
    std::fs::write(folder.join("text.webm"), "no film").expect("there is space");
    index(
        folder,
        None,
        &[
            ("good.webm", "Ada", "camera", 0),
            ("bob.killed.webm", "Bob", "camera", 0),
            ("half.webm", "Bob", "camera", 0),
            ("text.webm", "Eve", "camera", 0),
            ("gone.webm", "Eve", "microphone", 0),
            ("../good.webm", "Eve", "camera", 0),
        ],
    );
    let seen = film(folder, Layout::Grid);
    assert_eq!(seen.film.pictures, 3, "{:?}", seen.film.notes);
    let notes = seen.film.notes.join("\n");
    // The server writes everything within half a second.
    assert!(seen.luma(seconds(2.3), (0.75, 0.5)).abs_diff(200) < 12);
    for (file, reason) in [
        ("text.webm", "not a recording"),
        ("gone.webm", "No such file"),
        ("../good.webm", "leads out"),
    ] {
        let line = seen.film.notes.iter().find(|note| note.starts_with(file));
        assert!(
            line.is_some_and(|line| line.contains(reason)),
            "{file}: {notes}"
        );
    }
    // All files are unchanged.
    assert_eq!(
        std::fs::read(folder.join("text.webm")).expect("it is there"),
        b"no film"
    );
}

#[test]
fn recordings_that_cannot_be_composed_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    let output = folder.join("film.webm");
    let refused = |options: &Options| {
        let refused = compose(folder, &output, options, |_| {});
        refused.expect_err("it is refused")
    };
    let options = Options::default();
    let error = refused(&options);
    assert!(matches!(error, ComposeError::Index { .. }));
    assert!(
        error
            .to_string()
            .contains("give the folder of one recording"),
        "{error}"
    );
    index(folder, None, &[("gone.webm", "Ada", "camera", 0)]);
    let error = refused(&options).to_string();
    assert!(
        error.contains("none of the recording's 1 files") && error.contains("gone.webm"),
        "{error}"
    );
    let odd = Options {
        size: (641, 360),
        ..options
    };
    assert!(refused(&odd).to_string().contains("641x360"));
    camera(&folder.join("gone.webm"), 10, |_| Some(9));
    std::fs::write(&output, "mine").expect("there is space");
    assert!(refused(&options).to_string().contains("--output"));
    assert_eq!(std::fs::read(&output).expect("it is there"), b"mine");
}

#[test]
fn the_same_recording_makes_the_same_film() {
    let folder = tempfile::tempdir().expect("there is space");
    let folder = folder.path();
    camera(&folder.join("a.webm"), 60, |n| Some(n as u8 * 3));
    microphone(&folder.join("m.webm"), 100, |n| Some(n % 7 < 3));
    let tracks = [
        ("a.webm", "Ada", "camera", 0),
        ("m.webm", "Ada", "microphone", 33),
    ];
    index(folder, None, &tracks);
    let films = ["one.webm", "two.webm"].map(|name| {
        let output = folder.join(name);
        compose(folder, &output, &Options::default(), |_| {}).expect("it is a recording");
        let (pictures, sound) = read(&output);
        let pictures: Vec<_> = pictures.into_iter().map(|(at, p)| (at, p.y)).collect();
        (pictures, sound)
    });
    assert!(films[0] == films[1]);
}
