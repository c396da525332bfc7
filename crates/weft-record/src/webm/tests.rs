use std::fs::File;
use std::path::Path;

use matroska_demuxer::{Frame, MatroskaFile, TrackType};
use weft_units::{Duration, Instant, Rate};

use super::timeline::Timeline;
use weft_media::audio::{FRAME_SAMPLES, MicrophoneSpec, OpusDecoder, OpusEncoder};
use weft_media::clip::{Clip, ClipConfig};
use weft_media::{EncoderConfig, Keyframe, Vp8Decoder, Vp8Encoder};

use super::{Recorder, RecorderError, Tracks};

const FPS: u64 = 25;

/// A call of two seconds: one keyframe at 0.2 s, sound from the start, both
/// with timestamps that wrap, video arriving 60 ms later than sound.
fn record(path: &Path, tracks: Tracks) -> (Recorder, Vec<Vec<u8>>) {
    let (width, height) = (320, 180);
    let mut clip = Clip::new(ClipConfig {
        width,
        height,
        fps: 25,
        seed: 0,
    });
    let config = EncoderConfig {
        width,
        height,
        fps: 25,
        rate: Rate::from_kbps(200),
        temporal_layers: 1,
    };
    let mut video = Vp8Encoder::new(config).unwrap();
    let mut audio = OpusEncoder::new(Rate::from_kbps(32)).unwrap();
    let mut tone = MicrophoneSpec::Tone.open().unwrap();
    let mut recorder = Recorder::create(path, tracks).unwrap();
    let mut frames = Vec::new();
    let start = Instant::from_nanos(77_000_000_000);
    for ms in (0..2000).step_by(20) {
        let now = start + Duration::from_millis(ms);
        let packet = audio.encode(&tone.read().unwrap()).unwrap();
        let timestamp = (u32::MAX - 5000).wrapping_add((ms as usize / 20 * FRAME_SAMPLES) as u32);
        recorder.audio(now, timestamp, &packet).unwrap();
        if ms % (1000 / FPS) == 0 {
            let picture = clip.picture(ms, ms);
            let timestamp = (u32::MAX - 9000).wrapping_add(ms as u32 * 90);
            let key = if ms == 200 {
                Keyframe::Force
            } else {
                Keyframe::Auto
            };
            let frame = video.encode(&picture, timestamp, key).unwrap().unwrap();
            // The first keyframe is lost: recording begins with the second.
            if ms > 0 {
                let late = now + Duration::from_millis(60);
                recorder
                    .video(late, timestamp, frame.keyframe, &frame.data)
                    .unwrap();
            }
            if ms >= 200 {
                frames.push(frame.data);
            }
        }
    }
    (recorder, frames)
}

struct Played {
    video: Vec<Frame>,
    audio: Vec<Frame>,
    duration: Option<f64>,
}

fn play(path: &Path) -> Played {
    let mut file = MatroskaFile::open(File::open(path).unwrap()).unwrap();
    assert_eq!(file.ebml_header().doc_type(), "webm");
    let track = |kind: TrackType| {
        let track = file.tracks().iter().find(|t| t.track_type() == kind)?;
        Some((track.track_number().get(), track.codec_id().to_string()))
    };
    let (video, audio) = (track(TrackType::Video), track(TrackType::Audio));
    if let Some((_, codec)) = &video {
        assert_eq!(codec, "V_VP8");
    }
    if let Some((_, codec)) = &audio {
        assert_eq!(codec, "A_OPUS");
    }
    let duration = file.info().duration();
    let mut played = Played {
        video: vec![],
        audio: vec![],
        duration,
    };
    let mut frame = Frame::default();
    while let Ok(true) = file.next_frame(&mut frame) {
        let list = if video
            .as_ref()
            .is_some_and(|(number, _)| *number == frame.track)
        {
            &mut played.video
        } else {
            &mut played.audio
        };
        list.push(frame.clone());
    }
    played
}

fn times_of(frames: &[Frame]) -> Vec<u64> {
    frames.iter().map(|f| f.timestamp).collect()
}

#[test]
fn another_reader_finds_every_frame_at_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("call.webm");
    let (recorder, frames) = record(&path, Tracks::Both);
    recorder.finish().unwrap();
    let played = play(&path);
    let data: Vec<&Vec<u8>> = played.video.iter().map(|f| &f.data).collect();
    assert_eq!(data, frames.iter().collect::<Vec<_>>());
    // 45 pictures 40 ms apart; milliseconds in the file.
    assert_eq!(
        times_of(&played.video),
        (0..45).map(|n| n * 40).collect::<Vec<_>>()
    );
    // The recording starts with the first picture; earlier audio is dropped.
    let sound = times_of(&played.audio);
    let expected: Vec<u64> = (0..sound.len() as u64).map(|n| n * 20).collect();
    assert_eq!(sound, expected);
    assert!((85..=87).contains(&sound.len()), "{}", sound.len());
    assert!(
        (1700.0..1900.0).contains(&played.duration.unwrap()),
        "{:?}",
        played.duration
    );
    let mut decoder = Vp8Decoder::new().unwrap();
    for frame in &played.video {
        assert!(decoder.decode(&frame.data).unwrap().is_some());
    }
    let mut decoder = OpusDecoder::new().unwrap();
    for frame in &played.audio {
        assert_eq!(
            decoder.decode(&frame.data).unwrap().len(),
            2 * FRAME_SAMPLES
        );
    }
}

/// Returns the block times, by track, of a file that has no sizes yet. Parses the
/// elements like a player (RFC 8794, RFC 9559).
fn blocks(mut data: &[u8]) -> Vec<(u8, i64)> {
    const SEGMENT_AND_CLUSTER: [u64; 2] = [0x1853_8067, 0x1F43_B675];
    fn unsigned(bytes: &[u8]) -> u64 {
        bytes
            .iter()
            .fold(0, |value, byte| (value << 8) | u64::from(*byte))
    }
    let number = |data: &mut &[u8]| {
        let length = data.first()?.leading_zeros() as usize + 1;
        Some((unsigned(data.split_off(..length)?), 1 << (7 * length)))
    };
    let (mut found, mut cluster) = (Vec::new(), 0);
    while let Some((id, _)) = number(&mut data) {
        let Some((size, marker)) = number(&mut data) else {
            break;
        };
        if SEGMENT_AND_CLUSTER.contains(&id) {
            continue;
        }
        let Some(body) = data.split_off(..(size ^ marker) as usize) else {
            break;
        };
        match id {
            0xE7 => cluster = unsigned(body) as i64,
            0xA3 => {
                let offset = i16::from_be_bytes([body[1], body[2]]);
                found.push((body[0] & 0x7f, cluster + i64::from(offset)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_recording_that_was_cut_off_holds_all_but_the_last_moment() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("call.webm");
    let (recorder, _) = record(&path, Tracks::Both);
    // Files on disk at this moment, without a call to finish.
    let blocks = blocks(&std::fs::read(&path).unwrap());
    let times = |track| -> Vec<i64> {
        let of_track = blocks.iter().filter(|(t, _)| *t == track);
        of_track.map(|(_, time)| *time).collect()
    };
    // The last picture arrived 1760 ms after the first: half a second is held back.
    let (video, audio) = (times(1), times(2));
    let expected: Vec<i64> = (0..video.len() as i64).map(|n| n * 40).collect();
    assert_eq!(video, expected);
    let last = *video.last().unwrap();
    assert!((1160..=1280).contains(&last), "last picture at {last} ms");
    assert!(*audio.last().unwrap() >= last - 40);
    // Dropping the recorder finishes the file.
    drop(recorder);
    assert_eq!(*times_of(&play(&path).video).last().unwrap(), 1760);
}

#[test]
fn one_kind_alone_can_be_recorded() {
    let directory = tempfile::tempdir().unwrap();
    for (tracks, videos, audios) in [(Tracks::Video, 45, 0), (Tracks::Audio, 0, 100)] {
        let path = directory.path().join("one.webm");
        let (recorder, _) = record(&path, tracks);
        recorder.finish().unwrap();
        let played = play(&path);
        assert_eq!((played.video.len(), played.audio.len()), (videos, audios));
    }
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_with_its_name() {
    let error = Recorder::create(Path::new("/no/such/directory/a.webm"), Tracks::Both);
    let error = error.err().unwrap();
    assert!(matches!(error, RecorderError::Create { .. }));
    assert!(error.to_string().contains("/no/such/directory/a.webm"));
}

#[test]
fn timelines_follow_the_senders_clock_and_restart_with_a_new_sender() {
    let ms = Duration::from_millis;
    let start = Instant::from_nanos(1_000_000_000);
    let mut timeline = Timeline::new(90_000);
    assert_eq!(timeline.place(start, u32::MAX - 100), 1_000_000_000);
    // 3000 ticks are 33.333 ms, whatever the arrival time; smaller timestamps go back.
    assert_eq!(timeline.place(start + ms(90), 2899), 1_033_333_333);
    assert_eq!(
        timeline.place(start + ms(95), u32::MAX - 100),
        1_000_000_000
    );
    // A jump by an hour means another sender.
    let later = start + ms(200);
    assert_eq!(timeline.place(later, 324_000_000), later.as_nanos());
    assert_eq!(
        timeline.place(later, 324_000_090),
        later.as_nanos() + 1_000_000
    );
}

/// A sender with a falling rate sends smaller pictures after a keyframe.
#[test]
fn pictures_may_change_their_size() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("call.webm");
    let mut recorder = Recorder::create(&path, Tracks::Video).unwrap();
    let (width, height) = (640, 360);
    let mut encoder = Vp8Encoder::new(EncoderConfig {
        width,
        height,
        fps: 25,
        rate: Rate::from_kbps(300),
        temporal_layers: 1,
    })
    .unwrap();
    let picture = weft_media::Picture::new(width, height);
    let sizes = [(640, 360), (320, 180), (480, 270), (640, 360)];
    let start = Instant::from_nanos(5_000_000_000);
    for (number, size) in sizes.iter().flat_map(|size| [size; 5]).enumerate() {
        let small = weft_media::Scaler::new((width, height), *size).scale(&picture);
        let timestamp = number as u32 * 3600;
        let frame = encoder.encode(&small, timestamp, Keyframe::Auto).unwrap();
        let frame = frame.expect("black pictures fit");
        let now = start + Duration::from_millis(number as u64 * 40);
        recorder
            .video(now, timestamp, frame.keyframe, &frame.data)
            .unwrap();
    }
    recorder.finish().unwrap();
    let mut decoder = Vp8Decoder::new().unwrap();
    let seen: Vec<(usize, usize)> = play(&path)
        .video
        .iter()
        .map(|frame| decoder.decode(&frame.data).unwrap().unwrap())
        .map(|picture| (picture.width, picture.height))
        .collect();
    let expected: Vec<_> = sizes.iter().flat_map(|size| [*size; 5]).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_full_disk_is_reported_in_the_words_of_the_system() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        weft_testing::skipped("this system has no /dev/full");
        return;
    }
    let mut recorder = Recorder::create(full, Tracks::Audio).unwrap();
    let mut now = Instant::from_nanos(1_000_000_000);
    let failed = (0..200u32).find_map(|n| {
        now += Duration::from_millis(20);
        let timestamp = n * FRAME_SAMPLES as u32;
        recorder.audio(now, timestamp, &[0; 100]).err()
    });
    let told = failed.expect("it takes nothing").to_string();
    assert!(told.contains("No space left on device"), "{told}");
}
