use super::*;
use weft_wire::payload::h264;

fn vp8() -> Form {
    Form::ours(Codec::Vp8)
}

fn candidate(participant: &str, slot: Slot, track: u64) -> Candidate {
    Candidate {
        participant: participant.to_owned(),
        slot,
        encodings: vec![TrackId(track)],
        shown: None,
        rank: 0,
        form: match slot {
            Slot::Sound => Form::ours(Codec::Opus),
            Slot::Camera(_) => vp8(),
        },
    }
}

/// A camera and sound of each of this many people.
fn people(count: u64) -> Vec<Candidate> {
    let of = |n: u64| {
        let name = format!("p{n:02}");
        let camera = candidate(&name, Slot::Camera(0), 2 * n);
        [camera, candidate(&name, Slot::Sound, 2 * n + 1)]
    };
    (0..count).flat_map(of).collect()
}

/// Answers an offer of these sections.
fn accept(reception: &mut Reception, sections: &[Section]) {
    let mut streams = Vec::new();
    let first = reception.lines.len();
    for (index, section) in sections.iter().enumerate() {
        let number = first + index;
        streams.push(NegotiatedStream {
            stream: StreamId(number as u32),
            form: section.form.unwrap_or(Form::ours(Codec::Opus)),
            direction: StreamDirection::Send,
            place: usize::from(section.media_stream) - 1,
            mid: Mid::new(&number.to_string()),
            rid: None,
            ssrc: None,
        });
    }
    reception.negotiated(&streams);
}

fn connected(candidates: &[Candidate]) -> Reception {
    let mut reception = Reception::default();
    let sections = reception.first_sections(candidates);
    accept(&mut reception, &sections);
    reception
}

fn names(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(|line| &*line.participant).collect()
}

#[test]
fn pools_grow_in_steps_and_end_at_the_most() {
    for (count, pairs) in [(0, 4), (1, 4), (4, 4), (5, 9), (10, 16), (17, 25), (40, 25)] {
        let mut reception = Reception::default();
        let sections = reception.first_sections(&people(count));
        assert_eq!(sections.len(), 2 * pairs, "for {count} people");
        assert_eq!(sections[0].kind, MediaKind::Audio, "nobody rejects it");
        accept(&mut reception, &sections);
        let assigned = reception.assign(&people(count));
        assert_eq!(assigned.changed.len() as u64, 2 * count.min(25));
        assert_eq!(assigned.sections, []);
    }
}

#[test]
fn a_camera_and_its_sound_are_one_pair() {
    let mut reception = connected(&people(4));
    reception.assign(&people(4));
    for pair in 0..4 {
        let lines = reception.lines.iter().filter(|line| line.pair == pair);
        let who = lines.map(|l| l.source.as_ref().map(|s| s.participant.clone()));
        let who: Vec<_> = who.collect();
        assert_eq!(who.len(), 2);
        assert_eq!(who[0], who[1]);
    }
}

#[test]
fn participants_keep_their_lines_and_newcomers_get_free_ones() {
    let mut reception = connected(&people(3));
    reception.assign(&people(3));
    let before = reception.lines();
    assert_eq!(reception.news().as_ref(), Some(&before));
    assert_eq!(reception.news(), None);
    // The person in the middle leaves.
    let rest: Vec<Candidate> = [&people(3)[..2], &people(3)[4..]].concat();
    let assigned = reception.assign(&rest);
    assert_eq!(assigned.changed.len(), 2);
    let nothing = Carried::default();
    assert!(assigned.changed.iter().all(|(_, c)| *c == nothing));
    let stay = |line: &&Line| line.participant != "p01";
    let kept: Vec<Line> = before.iter().filter(stay).cloned().collect();
    assert_eq!(reception.lines(), kept);
    let assigned = reception.assign(&people(3));
    assert_eq!(assigned.sections, []);
    assert_eq!(reception.lines(), before);
}

#[test]
fn a_view_says_whose_pictures_come_and_sound_comes_all_the_same() {
    let mut reception = connected(&people(4));
    reception.assign(&people(4));
    let camera = |participant: &str| ViewedCamera {
        participant: participant.to_owned(),
        camera: 0,
        width: 320,
        height: 180,
    };
    reception.set_view(View {
        cameras: vec![camera("p02"), camera("p02"), camera("nobody")],
    });
    reception.assign(&people(4));
    let (sounds, cameras): (Vec<Line>, Vec<Line>) = reception
        .lines()
        .into_iter()
        .partition(|l| l.content == LineContent::Sound);
    assert_eq!(names(&cameras), ["p02"]);
    assert_eq!(sounds.len(), 4);
}

#[test]
fn further_lines_are_offered_once_and_a_refused_codec_never_again() {
    let mut reception = connected(&people(4));
    let mut more = people(4);
    more.push(Candidate {
        form: Form::H264(h264::Form::OURS),
        ..candidate("q", Slot::Camera(0), 100)
    });
    let assigned = reception.assign(&more);
    assert_eq!(assigned.sections.len(), 8);
    assert_eq!(reception.assign(&more).sections, [], "that offer waits");
    // The participant accepts only the sound of the new pairs.
    let of_sound = |s: &&Section| s.kind == MediaKind::Audio;
    let taken: Vec<Section> = assigned.sections.iter().filter(of_sound).cloned().collect();
    accept(&mut reception, &taken);
    assert_eq!(reception.assign(&more).sections, []);
    assert!(!reception.shows("q"));
}

#[test]
fn ten_speakers_without_cameras_have_a_line_each() {
    let sounds = |count| (0..count).map(|n| candidate(&format!("p{n}"), Slot::Sound, n));
    let mut reception = connected(&sounds(1).collect::<Vec<_>>());
    let ten: Vec<Candidate> = sounds(10).collect();
    let assigned = reception.assign(&ten);
    accept(&mut reception, &assigned.sections);
    reception.assign(&ten);
    assert_eq!(reception.lines().len(), 10);
}
