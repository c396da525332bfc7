use std::collections::BTreeMap;
use std::path::Path;

use weft_units::{Codec, Duration};

use super::*;
use weft_rooms::{Camera, Publishing};

fn participant(id: &str, name: &str, cameras: &[Option<&str>]) -> Participant {
    let camera = |name: &Option<&str>| Camera {
        name: name.map(str::to_owned),
        ..Camera::default()
    };
    Participant {
        id: id.to_owned(),
        name: name.to_owned(),
        publishing: Publishing {
            cameras: cameras.iter().map(camera).collect(),
            audio: true,
        },
        muted: false,
    }
}

/// Start of a keyframe, from which the recorder reads the size.
fn keyframe(side: u8) -> ReceivedFrame {
    let at = Instant::from_nanos(1_000_000_000);
    ReceivedFrame {
        codec: Codec::Vp8,
        data: vec![0x10, 0, 0, 0x9d, 0x01, 0x2a, side, 0, side, 0],
        timestamp: 0,
        keyframe: true,
        temporal_layer: None,
        layer_sync: false,
        picture_id: None,
        first_sequence: 0,
        packets: 1,
        recovered_packets: 0,
        first_arrival: at,
        complete_at: at,
        release_at: at,
        lateness: Duration::ZERO,
        paths: Vec::new(),
    }
}

fn sizes(directory: &Path) -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let size = |e: std::fs::DirEntry| {
        let name = e.file_name().into_string().unwrap();
        (name, e.metadata().unwrap().len())
    };
    entries.map(size).collect()
}

#[test]
fn each_camera_has_a_file_that_is_called_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut recording =
        Recording::new(&directory.path().join("room.webm"), Notices::ignored()).unwrap();
    recording.begin(&participant("p1", "Van", &[None, Some("Rear left"), None]));
    recording.begin(&participant("p2", "Kim", &[None]));
    recording.begin(&participant("p3", "Van", &[None]));
    recording.begin(&participant("p4", "Ear", &[]));
    let expected = [
        "room-Ear.webm",
        "room-Kim.webm",
        "room-Van-Rear_left.webm",
        "room-Van-camera-3.webm",
        "room-Van.webm",
        "room.webm",
    ];
    assert!(sizes(directory.path()).keys().eq(expected.iter()));
}

#[test]
fn participants_without_end_do_not_fill_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let (told, notices) = std::sync::mpsc::channel();
    let notices_of = Notices::new(move |notice| told.send(notice.to_string()).unwrap());
    let path = directory.path().join("room.webm");
    let mut recording = Recording::new(&path, notices_of).unwrap();
    for number in 0..MAX_FILES + 10 {
        let id = number.to_string();
        recording.begin(&participant(&id, &id, &[]));
        recording.end(&id);
    }
    assert_eq!(sizes(directory.path()).len(), MAX_FILES);
    let told: Vec<String> = notices.try_iter().collect();
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn pictures_go_to_the_file_of_their_camera_and_sound_to_each() {
    const SOUND: u64 = 4000;
    let directory = tempfile::tempdir().unwrap();
    let mut recording =
        Recording::new(&directory.path().join("room.webm"), Notices::ignored()).unwrap();
    recording.begin(&participant("p1", "Van", &[None, Some("Rear")]));
    recording.begin(&participant("p10", "Kim", &[None, Some("Desk")]));
    let at = Instant::from_nanos(1_000_000_000);
    let mut sound = keyframe(1);
    sound.data = vec![0xfc; SOUND as usize];
    // Only the second camera of the van sends, but both of Kim's.
    recording.take("p1", Track::Camera(1), at, &keyframe(64));
    recording.take("p1", Track::Camera(7), at, &keyframe(64));
    recording.take("p1", Track::Sound, at, &sound);
    recording.end("p1");
    let van = sizes(directory.path());
    assert!(van["room-Van-Rear.webm"] > SOUND, "{van:?}");
    assert_eq!(van["room.webm"], 0, "nothing of the first camera came");
    assert_eq!((van["room-Kim.webm"], van["room-Kim-Desk.webm"]), (0, 0));
    for place in [0, 1] {
        recording.take("p10", Track::Camera(place), at, &keyframe(32));
    }
    recording.take("p10", Track::Sound, at, &sound);
    recording.end("p10");
    let kim = sizes(directory.path());
    for file in ["room-Kim.webm", "room-Kim-Desk.webm"] {
        assert!(kim[file] > SOUND, "{file}: {kim:?}");
    }
    assert_eq!(kim["room-Van-Rear.webm"], van["room-Van-Rear.webm"]);
}

#[test]
fn an_existing_recording_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("room.webm");
    std::fs::write(&path, "yesterday").unwrap();
    let mut recording = Recording::new(&path, Notices::ignored()).unwrap();
    recording.begin(&participant("p1", "Van", &[None]));
    recording.begin(&participant("p2", "Kim", &[None]));
    drop(recording);
    let names = ["room-2.webm", "room-Kim.webm", "room.webm"];
    assert!(sizes(directory.path()).keys().eq(names.iter()));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "yesterday");
    let recorded = std::fs::metadata(directory.path().join("room-2.webm")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&recorded.permissions());
    assert_eq!(mode & 0o777, 0o600, "for this user alone");
}

#[test]
fn no_name_leads_elsewhere_or_is_too_long_for_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut recording =
        Recording::new(&directory.path().join("room.webm"), Notices::ignored()).unwrap();
    let long = "𝒜".repeat(64);
    for (id, name) in [("p1", "Van"), ("p2", "../../etc/x\n"), ("p3", &long)] {
        recording.begin(&participant(id, name, &[None]));
    }
    assert!(recording.failed.is_none());
    let long = format!("room-{}.webm", "𝒜".repeat(MAX_TITLE));
    let expected = ["room-______etc_x_.webm", &long, "room.webm"];
    assert!(sizes(directory.path()).keys().eq(expected.iter()));
}

#[test]
fn a_paused_recording_continues_in_new_files_for_those_who_are_received() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("room.webm");
    let (told, notices) = std::sync::mpsc::channel();
    let notices_of = Notices::new(move |notice| told.send(notice.to_string()).unwrap());
    let mut recording = Recording::new(&path, notices_of).unwrap();
    let frame = |from: &str| {
        Event::Frame(PlayedFrame {
            from: from.to_owned(),
            track: Track::Camera(0),
            at: Instant::from_nanos(1_000_000_000),
            frame: keyframe(64),
            links: Vec::new(),
        })
    };
    let tell = |recording: &mut Recording, events: &[Event]| {
        events.iter().for_each(|event| recording.on_event(event));
        sizes(directory.path())
    };
    let [van, kim, ear] = [("p1", "Van"), ("p2", "Kim"), ("p3", "Ear")]
        .map(|(id, name)| Event::Playing(participant(id, name, &[None])));
    tell(&mut recording, &[van, kim, frame("p1"), frame("p2")]);
    recording.pause();
    recording.pause();
    let gone = Event::PlayingEnded {
        id: "p1".to_owned(),
    };
    let first = tell(&mut recording, &[frame("p1"), frame("p2"), ear, gone]);
    assert!(first.keys().eq(["room-Kim.webm", "room.webm"].iter()));
    assert!(first.values().all(|size| *size > 0), "{first:?}");
    recording.resume();
    recording.resume();
    tell(&mut recording, &[frame("p2"), frame("p3")]);
    recording.pause();
    let second = sizes(directory.path());
    let names = ["room-2.webm", "room-Ear.webm", "room-Kim.webm", "room.webm"];
    assert!(second.keys().eq(names.iter()), "{second:?}");
    assert!(second.values().all(|size| *size > 0), "{second:?}");
    assert_eq!(second["room-Kim.webm"], first["room-Kim.webm"]);
    recording.finish().unwrap();
    let told: Vec<String> = notices.try_iter().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("room-2.webm"), "{told:?}");
}

#[test]
fn a_recording_that_never_starts_writes_and_reports_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (told, notices) = std::sync::mpsc::channel();
    let notices_of = Notices::new(move |notice| told.send(notice.to_string()).unwrap());
    let mut recording = Recording::new(&directory.path().join("room.webm"), notices_of).unwrap();
    recording.pause();
    recording.on_event(&Event::Playing(participant("p1", "Van", &[None])));
    recording.finish().unwrap();
    assert!(sizes(directory.path()).is_empty());
    assert_eq!(notices.try_iter().count(), 0);
}
