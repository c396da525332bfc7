use super::{Arrival, FEED_LENGTH, Hub};
use crate::clock::Clock;
use crate::config::Limits;
use crate::ids::Ids;
use crate::log::Log;
use crate::media_plane::{MediaPlane, Request};
use crate::origin::Origin;
use crate::secret::unguessable;
use std::sync::Arc;
use weft_rooms::ParticipantKind;

struct Deaf;

impl MediaPlane for Deaf {
    fn send(&self, _: Request) {}
}

#[test]
fn a_reader_that_does_not_read_is_cut_off_and_the_others_are_not() {
    let limits = Limits {
        participants_per_room: 1000,
        ..Limits::default()
    };
    let hub = Hub::new(
        limits,
        Arc::new(Deaf),
        (Clock::machine(), Ids::random()),
        Log::default(),
    );
    let join = |name: &str| {
        hub.join(Arrival {
            room: "r",
            name: Some(name),
            kind: ParticipantKind::Browser,
            id: None,
            secret: None,
            origin: &Origin::default(),
        })
        .unwrap()
    };
    let (_, mut messages) = join("slow");
    let (_, mut other) = join("other");
    for n in 0..FEED_LENGTH {
        drop(join(&format!("n{n}")));
        while other.try_recv().is_ok() {}
    }
    let mut read = 0;
    while messages.try_recv().is_ok() {
        read += 1;
    }
    assert_eq!(read, FEED_LENGTH);
    assert!(messages.is_closed());
    assert!(!other.is_closed());
}

#[test]
fn names_of_resources_do_not_repeat() {
    let names: std::collections::BTreeSet<_> = (0..100).map(|_| unguessable()).collect();
    assert_eq!(names.len(), 100);
}
