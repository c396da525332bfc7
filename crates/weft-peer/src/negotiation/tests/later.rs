//! Later offers over an existing connection.

use super::*;

const SOUND: Section = Section::new(MediaKind::Audio, StreamDirection::Send);
const PICTURES: Section = Section::new(MediaKind::Video, StreamDirection::Send);

/// Returns a peer whose first offer had these sections, and that offer.
fn connected(sections: &[Section]) -> (Peer, SessionDescription) {
    let config = config(IceRole::Controlling, 1, "192.0.2.2:5000");
    let offer = Offer::new(Instant::ZERO, config, sections, Delivery::Packets);
    let description = parsed(&offer.sdp());
    let (_, answer) = answer_to(&offer.sdp(), &RECEIVE).expect("it takes the offer");
    let peer = offer.accept(Instant::ZERO, &answer.to_string());
    (peer.expect("it takes the answer"), description)
}

fn parsed(text: &str) -> SessionDescription {
    SessionDescription::parse(text).expect("our offers can be read")
}

fn places(peer: &Peer) -> Vec<(MediaKind, usize)> {
    let streams = peer.streams().iter();
    streams.map(|s| (s.codec().kind(), s.place)).collect()
}

#[test]
fn a_later_offer_adds_sections_and_keeps_the_present_ones() {
    let (mut peer, first) = connected(&[PICTURES, SOUND]);
    let before: Vec<NegotiatedStream> = peer.streams().to_vec();
    assert_eq!(peer.waiting_offer(), None);
    let text = peer.offer(&[PICTURES]).expect("it made the first offer");
    let later = parsed(&text);
    assert_eq!(later.origin.session_id, first.origin.session_id);
    assert_eq!(later.origin.version, first.origin.version + 1);
    assert_eq!(later.media[..2], first.media[..]);
    assert_eq!(later.bundle.len(), 3);
    assert_eq!(peer.streams(), before, "nothing is agreed on yet");

    let (_, answer) = answer_to(&text, &RECEIVE).expect("it takes the offer");
    peer.accept(Instant::ZERO, &answer.to_string())
        .expect("it takes the answer");
    assert_eq!(peer.streams()[..2], before);
    let (video, audio) = (MediaKind::Video, MediaKind::Audio);
    assert_eq!(places(&peer), [(video, 0), (audio, 0), (video, 1)]);
    assert_eq!(peer.waiting_offer(), None);
    let again = peer.accept(Instant::ZERO, &answer.to_string());
    assert!(matches!(again, Err(NegotiationError::NothingOffered)));
    assert_eq!(peer.streams().len(), 3);
}

#[test]
fn an_answer_to_an_offer_that_was_replaced_changes_nothing() {
    let (mut peer, _) = connected(&[PICTURES]);
    let replaced = peer.offer(&[PICTURES]).expect("it made the first offer");
    let last = peer.offer(&[SOUND]).expect("it made the first offer");
    assert_eq!(peer.waiting_offer(), Some(last.clone()));
    let (_, stale) = answer_to(&replaced, &RECEIVE).expect("it takes the offer");
    let refused = peer.accept(Instant::ZERO, &stale.to_string());
    let count = NegotiationError::SectionCount {
        offered: 3,
        answered: 2,
    };
    assert_eq!(refused.map_err(|e| e.to_string()), Err(count.to_string()));
    assert_eq!(peer.streams().len(), 1);
    let (_, answer) = answer_to(&last, &RECEIVE).expect("it takes the offer");
    peer.accept(Instant::ZERO, &answer.to_string())
        .expect("it takes the answer");
    assert_eq!(peer.streams().len(), 3);
}

#[test]
fn a_rejected_section_stays_rejected() {
    let (mut peer, _) = connected(&[SOUND]);
    let text = peer.offer(&[PICTURES]).expect("it made the first offer");
    let (_, mut answer) = answer_to(&text, &RECEIVE).expect("it takes the offer");
    answer.media[1].port = 0;
    peer.accept(Instant::ZERO, &answer.to_string())
        .expect("it takes the answer");
    assert_eq!(places(&peer), [(MediaKind::Audio, 0)]);
    let later = parsed(&peer.offer(&[SOUND]).expect("it made the first offer"));
    let rejected: Vec<bool> = later.media.iter().map(|m| m.is_rejected()).collect();
    assert_eq!(rejected, [false, true, false]);
    assert_eq!(later.bundle.len(), 2);
}

#[test]
fn sound_and_pictures_of_one_media_stream_say_so() {
    let seat = |section: Section, media_stream| Section {
        media_stream,
        ..section
    };
    let sections = [seat(PICTURES, 1), seat(SOUND, 1), seat(PICTURES, 2)];
    let (_, offer) = connected(&sections);
    let streams = offer.media.iter().map(|m| m.msid.as_ref());
    let streams: Vec<_> = streams.map(|m| &*m.expect("it sends").stream).collect();
    assert_eq!(streams[0], streams[1]);
    assert_ne!(streams[0], streams[2]);
}

#[test]
fn an_answerer_makes_no_offers() {
    let (_, offer) = connected(&[SOUND]);
    let (mut peer, _) = answer_to(&offer.to_string(), &RECEIVE).expect("it takes the offer");
    let refused = peer.offer(&[SOUND]);
    assert!(matches!(refused, Err(NegotiationError::NotOfferer)));
}

#[test]
fn an_answerer_takes_the_sections_that_a_later_offer_adds() {
    let config = config(IceRole::Controlling, 1, "192.0.2.2:5000");
    let offer = Offer::new(Instant::ZERO, config, &[PICTURES], Delivery::Packets);
    let (mut answerer, first) = answer_to(&offer.sdp(), &RECEIVE).expect("it takes the offer");
    let mut offerer = offer
        .accept(Instant::ZERO, &first.to_string())
        .expect("it takes the answer");
    let later = offerer.offer(&[SOUND, PICTURES]).expect("it offers");
    let answer = answerer.answer(Instant::ZERO, &later).expect("it answers");
    let described = parsed(&answer);
    assert_eq!(described.media[..1], first.media[..]);
    assert_eq!(described.origin.version, first.origin.version + 1);
    assert_eq!(described.bundle.len(), 3);
    offerer.accept(Instant::ZERO, &answer).expect("it accepts");
    assert_eq!(places(&answerer), places(&offerer));
    let fewer = answerer.answer(Instant::ZERO, &first.to_string());
    assert!(
        matches!(fewer, Err(NegotiationError::SectionsGone { .. })),
        "{fewer:?}"
    );
    let refused = offerer.answer(Instant::ZERO, &later);
    assert!(matches!(refused, Err(NegotiationError::NotAnswerer)));
}
