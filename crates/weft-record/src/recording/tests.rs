use super::*;
use matroska_demuxer::{Frame, MatroskaFile};
use shiguredo_mp4::demux::{DemuxError, Fmp4FileDemuxer, Input};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::time::UNIX_EPOCH;
use weft_media::audio::{FRAME_SAMPLES, MicrophoneSpec, OpusEncoder};
use weft_media::{EncoderConfig, Keyframe, Picture, Scaler, VideoEncoder};
use weft_units::{Duration, Rate};
use weft_wire::media::{ForwardedPayload, SharedBytes};
use weft_wire::payload::{Content, PictureNumbers, format_of};

const FPS: u64 = 25;
const SIZE: (usize, usize) = (320, 180);
const START: Instant = Instant::from_nanos(7_000_000_000);

/// Publisher of one track, whose packets arrive at once.
struct Sender {
    key: TrackKey,
    codec: Codec,
    encoder: Option<VideoEncoder>,
    sound: OpusEncoder,
    sequence: u64,
}

impl Sender {
    fn new(key: u64, codec: Codec) -> Sender {
        let config = EncoderConfig {
            width: SIZE.0,
            height: SIZE.1,
            fps: FPS as u32,
            rate: Rate::from_kbps(300),
            temporal_layers: 1,
        };
        Sender {
            key: TrackKey(key),
            codec,
            encoder: VideoEncoder::new(codec, config).ok(),
            sound: OpusEncoder::new(Rate::from_kbps(32)).unwrap(),
            sequence: 500,
        }
    }

    /// Returns the packets of the frame at this time.
    fn frame(&mut self, ms: u64, size: (usize, usize), keyframe: Keyframe) -> Vec<ForwardedPacket> {
        let (frame, keyframe, timestamp) = match &mut self.encoder {
            Some(encoder) => {
                let picture = Scaler::new(SIZE, size).scale(&Picture::new(SIZE.0, SIZE.1));
                let timestamp = ms as u32 * 90;
                let frame = encoder.encode(&picture, timestamp, keyframe).unwrap();
                let frame = frame.expect("black pictures fit");
                (frame.data, frame.keyframe, timestamp)
            }
            None => {
                let mut tone = MicrophoneSpec::Tone.open().unwrap();
                let packet = self.sound.encode(&tone.read().unwrap()).unwrap();
                (packet, false, (ms as usize / 20 * FRAME_SAMPLES) as u32)
            }
        };
        let parts = format_of(self.codec).cut(&frame, PictureNumbers::default(), 200);
        let count = parts.len();
        let packets = parts.into_iter().enumerate().map(|(n, part)| {
            let mut payload = Vec::new();
            part.write(&mut payload);
            self.sequence += 1;
            ForwardedPacket {
                sequence: self.sequence,
                timestamp,
                marker: n + 1 == count,
                audio_level: None,
                dependency: Box::default(),
                payload: ForwardedPayload::from(SharedBytes::from(payload)),
                keyframe,
                content: Content::Media,
            }
        });
        packets.collect()
    }

    fn source(&self) -> TrackSource {
        TrackSource {
            participant: format!("p{}", self.key.0),
            kind: match self.codec {
                Codec::Opus => TrackKind::Microphone,
                Codec::H264 => TrackKind::Screen,
                _ => TrackKind::Camera,
            },
            codec: self.codec,
        }
    }
}

fn at(ms: u64) -> Instant {
    START + Duration::from_millis(ms)
}

fn begin(root: &Path) -> Recording {
    Recording::create(
        root,
        "r",
        (START, UNIX_EPOCH + std::time::Duration::from_millis(1_500)),
    )
    .unwrap()
}

/// Sends frames between two times in milliseconds, and advances the clock.
fn send(recording: &mut Recording, sender: &mut Sender, from: u64, to: u64, size: (usize, usize)) {
    let every = match sender.codec {
        Codec::Opus => 20,
        _ => 1000 / FPS,
    };
    for ms in (from..to).step_by(every as usize) {
        for packet in sender.frame(ms, size, Keyframe::Auto) {
            recording
                .handle_packet(at(ms), sender.key, &packet)
                .unwrap();
        }
        recording.handle_timeout(at(ms + every - 1)).unwrap();
    }
    recording.handle_timeout(at(to + 500)).unwrap();
}

/// Returns the times of the frames in a file, in milliseconds.
fn times(path: &Path) -> Vec<u64> {
    let mut times = Vec::new();
    if path.extension().is_some_and(|e| e == "webm") {
        let mut file = MatroskaFile::open(File::open(path).unwrap()).unwrap();
        let mut frame = Frame::default();
        while let Ok(true) = file.next_frame(&mut frame) {
            times.push(frame.timestamp);
        }
        return times;
    }
    let data = std::fs::read(path).unwrap();
    let mut demuxer = Fmp4FileDemuxer::new();
    loop {
        while let Some(required) = demuxer.required_input() {
            let from = (required.position as usize).min(data.len());
            if from == data.len() {
                return times;
            }
            let to = required.size.map_or(data.len(), |size| from + size);
            demuxer.handle_input(Input {
                position: required.position,
                data: &data[from..to.min(data.len())],
            });
        }
        match demuxer.next_sample() {
            Ok(Some(sample)) => times.push(sample.timestamp / 90),
            Ok(None) => break,
            Err(DemuxError::InputRequired(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    times
}

#[test]
fn a_file_for_each_track_and_an_index_of_their_times() {
    let root = tempfile::tempdir().unwrap();
    let mut recording = begin(root.path());
    recording.set_name("p1", "Ada: 1/2");
    let mut senders = [(1, Codec::Vp8), (2, Codec::Opus), (3, Codec::H264)]
        .map(|(key, codec)| Sender::new(key, codec));
    for (n, sender) in senders.iter_mut().enumerate() {
        recording.begin(sender.key, sender.source());
        let from = n as u64 * 400;
        send(&mut recording, sender, from, from + 2000, SIZE);
    }
    let folder = recording.folder().to_owned();
    assert!(folder.ends_with("1970-01-01T000001Z-r"), "{folder:?}");
    recording.finish(at(3000), None).unwrap();

    let index = Index::read(&folder).unwrap();
    assert_eq!(
        (&*index.room, &*index.started),
        ("r", "1970-01-01T00:00:01.5Z")
    );
    assert_eq!((index.length_ms, index.error), (Some(3000), None));
    let files: Vec<&str> = index.tracks.iter().map(|t| &*t.file).collect();
    let expected = [
        "Ada__1_2-camera.webm",
        "p2-microphone.webm",
        "p3-screen.mp4",
    ];
    assert_eq!(files, expected);
    let spans: Vec<_> = index
        .tracks
        .iter()
        .map(|t| (t.start_ms, t.length_ms))
        .collect();
    assert_eq!(
        spans,
        [(0, Some(1960)), (400, Some(1980)), (800, Some(1960))]
    );
    for (track, every) in index.tracks.iter().zip([40, 20, 40]) {
        let expected: Vec<u64> = (0..2000).step_by(every).collect();
        assert_eq!(times(&folder.join(&track.file)), expected, "{}", track.file);
    }
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in std::fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

/// The H.264 container declares the parameters of the pictures only once.
#[test]
fn pictures_of_another_size_continue_in_the_file_or_in_another() {
    for (codec, expected) in [(Codec::Vp8, vec![3000]), (Codec::H264, vec![1500, 1500])] {
        let root = tempfile::tempdir().unwrap();
        let mut recording = begin(root.path());
        let mut sender = Sender::new(1, codec);
        recording.begin(sender.key, sender.source());
        send(&mut recording, &mut sender, 0, 1500, SIZE);
        send(&mut recording, &mut sender, 1520, 3020, (160, 90));
        let folder = recording.folder().to_owned();
        recording.finish(at(4000), None).unwrap();
        let tracks = Index::read(&folder).unwrap().tracks;
        let lengths = tracks
            .iter()
            .map(|t| t.length_ms.unwrap().div_ceil(100) * 100);
        assert_eq!(lengths.collect::<Vec<_>>(), expected);
        assert_eq!(
            tracks.last().unwrap().start_ms,
            if tracks.len() > 1 { 1520 } else { 0 }
        );
        let frames: usize = tracks
            .iter()
            .map(|t| times(&folder.join(&t.file)).len())
            .sum();
        assert_eq!(frames, 76);
    }
}

#[test]
fn a_crash_shortens_a_recording_by_less_than_two_seconds() {
    let root = tempfile::tempdir().unwrap();
    let mut recording = begin(root.path());
    let mut sender = Sender::new(1, Codec::H264);
    recording.begin(sender.key, sender.source());
    send(&mut recording, &mut sender, 0, 5000, SIZE);
    // Files on disk at this moment.
    let folder = recording.folder().to_owned();
    let index = Index::read(&folder).unwrap();
    assert_eq!((index.length_ms, index.tracks[0].length_ms), (None, None));
    let last = *times(&folder.join(&index.tracks[0].file)).last().unwrap();
    assert!((4_300..5_000).contains(&last), "{last}");
}

#[test]
fn after_a_loss_a_track_asks_for_a_keyframe_and_continues_with_it() {
    let root = tempfile::tempdir().unwrap();
    let mut recording = begin(root.path());
    let mut sender = Sender::new(1, Codec::Vp8);
    recording.begin(sender.key, sender.source());
    send(&mut recording, &mut sender, 0, 1000, SIZE);
    assert_eq!(recording.poll_keyframe(), None);
    // The disk was too slow for the packets of a second.
    for ms in (1000..2000).step_by(40) {
        sender.frame(ms, SIZE, Keyframe::Auto);
    }
    recording.note_lost(25);
    send(&mut recording, &mut sender, 2000, 3000, SIZE);
    assert_eq!(recording.poll_keyframe(), Some(sender.key));
    for packet in sender.frame(3000, SIZE, Keyframe::Force) {
        recording
            .handle_packet(at(3000), sender.key, &packet)
            .unwrap();
    }
    send(&mut recording, &mut sender, 3040, 4000, SIZE);
    let folder = recording.folder().to_owned();
    recording
        .finish(at(4500), Some("the disk is full".to_owned()))
        .unwrap();
    let index = Index::read(&folder).unwrap();
    assert_eq!(
        (index.lost_packets, index.error.as_deref()),
        (25, Some("the disk is full"))
    );
    let times = times(&folder.join(&index.tracks[0].file));
    let expected = (0..1000).step_by(40).chain((3000..4000).step_by(40));
    assert_eq!(times, expected.collect::<Vec<_>>());
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_with_its_name() {
    let error = Recording::create(Path::new("/no/such"), "r", (START, UNIX_EPOCH));
    let error = error.err().unwrap().to_string();
    assert!(error.contains("/no/such/1970-01-01T000000Z-r"), "{error}");
}
