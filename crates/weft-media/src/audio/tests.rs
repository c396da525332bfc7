use std::path::Path;

use weft_units::{AudioLevel, Rate};

use super::{CHANNELS, FRAME_SAMPLES, MicrophoneError, MicrophoneSpec, OpusDecoder, OpusEncoder};
use super::{SAMPLE_RATE, TONE_HERTZ, audio_level};

fn parse(spec: &str) -> MicrophoneSpec {
    spec.parse().unwrap()
}

#[test]
fn names_mean_what_the_command_line_says() {
    assert_eq!(parse("alsa"), MicrophoneSpec::Alsa("default".into()));
    assert_eq!(parse("alsa:hw:1,0"), MicrophoneSpec::Alsa("hw:1,0".into()));
    assert_eq!(parse("a.wav"), MicrophoneSpec::File("a.wav".into()));
    for spec in ["alsa:hw:1,0", "a.wav", "tone"] {
        assert_eq!(parse(spec).to_string(), spec);
    }
    let error = |spec: &str| spec.parse::<MicrophoneSpec>().unwrap_err().to_string();
    assert_eq!(
        error("usb"),
        "microphone `usb`: unknown kind of microphone; write alsa[:DEVICE], FILE.wav or tone"
    );
    assert!(error("alsa:").contains("arecord -L"));
}

#[test]
fn missing_devices_and_files_say_what_to_do() {
    let error = |spec: &str| parse(spec).open().err().unwrap();
    let device = error("alsa:no-such-device");
    assert!(matches!(device, MicrophoneError::Open { .. }));
    assert!(device.to_string().contains("arecord -L"), "{device}");
    assert!(error("none.wav").to_string().contains("ffmpeg"));
}

/// Returns the strength of one frequency, 1 for a full-scale sine (Goertzel).
pub(super) fn strength(samples: &[i16], hertz: f64) -> f64 {
    let step = std::f64::consts::TAU * hertz / f64::from(SAMPLE_RATE);
    let (mut re, mut im) = (0.0, 0.0);
    for (n, sample) in samples.iter().enumerate() {
        let (sin, cos) = (step * n as f64).sin_cos();
        re += f64::from(*sample) * cos;
        im += f64::from(*sample) * sin;
    }
    2.0 * re.hypot(im) / samples.len() as f64 / 32768.0
}

fn left(samples: &[i16]) -> Vec<i16> {
    samples.chunks_exact(CHANNELS).map(|s| s[0]).collect()
}

#[test]
fn the_tone_comes_through_opus_and_only_it() {
    let mut tone = MicrophoneSpec::Tone.open().unwrap();
    let mut encoder = OpusEncoder::new(Rate::from_kbps(32)).unwrap();
    let mut decoder = OpusDecoder::new().unwrap();
    let (mut sound, mut bytes) = (Vec::new(), 0);
    for _ in 0..100 {
        let packet = encoder.encode(&tone.read().unwrap()).unwrap();
        bytes += packet.len();
        let decoded = decoder.decode(&packet).unwrap();
        assert_eq!(decoded.len(), FRAME_SAMPLES * CHANNELS);
        sound.extend_from_slice(&left(&decoded));
    }
    // The last second: ten whole periods of every tested frequency.
    let sound = &sound[SAMPLE_RATE as usize..];
    let wanted = strength(sound, f64::from(TONE_HERTZ));
    assert!((0.14..0.26).contains(&wanted), "{wanted} of 0.2");
    for other in [200.0, 660.0, 1000.0, 3000.0] {
        let level = strength(sound, other);
        assert!(level < wanted / 20.0, "{level} at {other} Hz");
    }
    let kbps = bytes as f64 * 8.0 / 2.0 / 1000.0;
    assert!((16.0..40.0).contains(&kbps), "{kbps} kbps for 32");
}

#[test]
fn a_lost_packet_is_filled_with_something_like_it() {
    let mut tone = MicrophoneSpec::Tone.open().unwrap();
    let mut encoder = OpusEncoder::new(Rate::from_kbps(32)).unwrap();
    let packets: Vec<Vec<u8>> = (0..30)
        .map(|_| encoder.encode(&tone.read().unwrap()).unwrap())
        .collect();
    let mut decoder = OpusDecoder::new().unwrap();
    for packet in &packets[..28] {
        decoder.decode(packet).unwrap();
    }
    let recovered = decoder.recover(&packets[29]).unwrap();
    assert_eq!(recovered.len(), FRAME_SAMPLES * CHANNELS);
    let level = strength(&left(&recovered), 450.0);
    assert!(level > 0.05, "the gap is silent: {level}");
    assert_eq!(decoder.conceal().unwrap().len(), FRAME_SAMPLES * CHANNELS);
}

#[test]
fn an_invalid_opus_packet_is_an_error() {
    let mut decoder = OpusDecoder::new().unwrap();
    // Code 3 with a count of 63 frames: more than 120 ms.
    assert!(decoder.decode(&[0xff, 0x3f, 0, 0]).is_err());
}

fn write_wav(path: &Path, spec: hound::WavSpec, samples: &[i32]) {
    let mut writer = hound::WavWriter::create(path, spec).unwrap();
    for sample in samples {
        writer.write_sample(*sample).unwrap();
    }
    writer.finalize().unwrap();
}

#[test]
fn a_wav_file_is_looped_and_mono_goes_to_both_sides() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.wav");
    let spec = hound::WavSpec {
        channels: 1,
        sample_rate: SAMPLE_RATE,
        bits_per_sample: 24,
        sample_format: hound::SampleFormat::Int,
    };
    let samples: Vec<i32> = (0..1000).map(|n| n * 256).collect();
    write_wav(&path, spec, &samples);
    let mut microphone = MicrophoneSpec::File(path).open().unwrap();
    let sound = [microphone.read().unwrap(), microphone.read().unwrap()].concat();
    for (n, sample) in sound.chunks_exact(CHANNELS).enumerate() {
        let expected = (n % 1000) as i16;
        assert_eq!(sample, [expected, expected], "sample {n}");
    }
}

#[test]
fn another_sample_rate_keeps_the_pitch() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("b.wav");
    let spec = hound::WavSpec {
        channels: 2,
        sample_rate: 16_000,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    // One second of 500 Hz on the left, nothing on the right.
    let samples: Vec<i32> = (0..16_000)
        .flat_map(|n| {
            let turn = f64::from(n) * 500.0 / 16_000.0 * std::f64::consts::TAU;
            [(turn.sin() * 16_384.0) as i32, 0]
        })
        .collect();
    write_wav(&path, spec, &samples);
    let mut microphone = MicrophoneSpec::File(path).open().unwrap();
    let sound: Vec<i16> = (0..50).flat_map(|_| microphone.read().unwrap()).collect();
    let level = strength(&left(&sound), 500.0);
    assert!((0.45..0.55).contains(&level), "{level} of 0.5");
    assert!(sound.chunks_exact(CHANNELS).all(|s| s[1] == 0));
}

#[test]
fn levels_are_decibels_below_overload() {
    let of = |sample: i16| audio_level(&[sample; FRAME_SAMPLES * CHANNELS]);
    // The V bit, and 20 log10(32767 / 3277) dB.
    assert_eq!(of(i16::MAX), AudioLevel(0x80));
    assert_eq!(of(i16::MIN), AudioLevel(0x80));
    assert_eq!(of(3277), AudioLevel(0x80 | 20));
    assert_eq!(of(33), AudioLevel(60), "too low for a voice");
    assert_eq!(of(0), AudioLevel(127), "silence");
    // A sine's level is 3 dB below its peak, and this one's peak is at -14.
    let mut tone = parse("tone").open().unwrap();
    assert_eq!(audio_level(&tone.read().unwrap()), AudioLevel(0x80 | 17));
}
