//! `weft join --speaker`: the room in a WAV file, and in ALSA's own library.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use weft_testing::where_the_machine_keeps_up;

use super::fixture::{PATIENCE, Program, free_ports, server_at, weft};

/// Returns the share of a 440 Hz tone in the sound of a file (16 bits stereo at 48 kHz,
/// after `header` bytes); `None` before a second of sound.
fn tone(file: &Path, header: usize) -> Option<f64> {
    let bytes = fs::read(file).ok()?;
    let samples = bytes.get(header..)?.chunks_exact(4);
    let left: Vec<f64> = samples
        .map(|s| f64::from(i16::from_le_bytes([s[0], s[1]])))
        .collect();
    // The last half second: a change of speed by a few ppm does not matter.
    let part = &left[left.len().checked_sub(24_000)?..];
    let step = std::f64::consts::TAU * 440.0 / 48_000.0;
    let (mut re, mut im, mut all) = (0.0, 0.0, 1.0);
    for (n, sample) in part.iter().enumerate() {
        let (sin, cos) = (step * n as f64).sin_cos();
        re += sample * cos;
        im += sample * sin;
        all += sample * sample;
    }
    Some(2.0 * (re * re + im * im) / (all * part.len() as f64))
}

#[test]
fn the_room_is_played_to_a_file_and_to_alsa() {
    where_the_machine_keeps_up(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name);
        let raw = file("alsa.raw");
        let settings = format!(
            "pcm.sink {{ type file file \"{}\" format raw slave.pcm {{ type null }} }}\n",
            raw.display()
        );
        fs::write(file("asoundrc"), settings).expect("a file");
        let (http, media) = free_ports();
        let _server = server_at((http, media), &file("none"));
        let url = format!("http://127.0.0.1:{http}");
        let _speaker = weft(&["join", &url, "--room", "r", "--mic", "tone", "--send-only"]);
        let wav = file("room.wav");
        let listen = |speaker: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
            command.args(["join", &url, "--room", "r", "--speaker", speaker]);
            Program::start(command.env("ALSA_CONFIG_PATH", file("asoundrc")))
        };
        let _wav = listen(wav.to_str().expect("a name"));
        let _alsa = listen("alsa:sink");
        let began = Instant::now();
        for (file, header) in [(&wav, 44), (&raw, 0)] {
            while tone(file, header).is_none_or(|share| share < 0.9) {
                let heard = tone(file, header);
                assert!(began.elapsed() < PATIENCE, "{}: {heard:?}", file.display());
                std::thread::sleep(Duration::from_millis(200));
            }
        }
        // An existing file is kept, and the error says so.
        let mut again = listen(wav.to_str().expect("a name"));
        again.says("name a new file");
        assert_eq!(again.status(), Some(2));
    });
}
