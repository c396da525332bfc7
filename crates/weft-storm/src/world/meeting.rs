//! People of a meeting, and the run's records of them.

use std::collections::BTreeMap;

use weft_forwarding::{View, ViewedCamera};
use weft_units::Instant;

use crate::network::Datagram;
use crate::person::camera::LARGEST;
use crate::person::viewer::Standing;
use crate::person::{Person, Purpose, Showing};
use crate::server::{ROOM, Server};
use crate::tape::Tape;

/// Size of a small tile.
const SMALL: Size = (160, 90);

/// Width and height in pixels.
pub(super) type Size = (u16, u16);
/// Id of a participant, and the number of the camera.
type Tile = (String, usize);

/// People and the recording of their room.
#[derive(Default)]
pub struct Meeting {
    pub people: Vec<Person>,
    pub(super) standings: Vec<Standing>,
    /// Times of the last change of each person's sound, and then of the screen.
    pub(super) changed: Vec<Instant>,
    pub(super) shared: Vec<Instant>,
    /// Time since which each viewer shows each participant at this size.
    views: Vec<BTreeMap<Tile, (Size, Instant)>>,
    /// Number of the reception to which the view was reported.
    viewing: Vec<u64>,
    /// Time from which each person should have both connections.
    pub(super) waits: Vec<Option<Instant>>,
    /// Time from which no more people publish sound than are heard.
    pub(super) audible: Option<Instant>,
    pub(super) tape: Tape,
}

impl Meeting {
    pub(super) fn add(&mut self, person: Person) {
        self.people.push(person);
        self.standings.push(Standing {
            outside: Some(Instant::ZERO),
            ..Standing::default()
        });
        self.changed.push(Instant::ZERO);
        self.shared.push(Instant::ZERO);
        self.views.push(BTreeMap::new());
        self.viewing.push(0);
        self.waits.push(None);
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.people.iter().filter_map(Person::poll_timeout).min()
    }

    pub(super) fn drain(&mut self, now: Instant, place: usize, out: &mut Vec<(u64, Datagram)>) {
        self.people[place].drain(now, &self.standings, out);
    }

    /// Records whether a person is inside the room, outside, or waiting.
    pub(super) fn note_standing(&mut self, place: usize, server: &Server, now: Instant) {
        let id = self.people[place].stay.as_ref().map(|stay| &stay.id);
        let standing = &mut self.standings[place];
        if standing.id.as_ref() != id {
            (standing.id, standing.muted, standing.joined) = (id.cloned(), None, now);
        }
        let is_inside = id.is_some_and(|id| is_shown(server, id));
        match is_inside {
            true => standing.outside = None,
            false => drop(standing.outside.get_or_insert(now)),
        }
    }

    /// Records that a person has gone.
    pub(super) fn note_absence(&mut self, now: Instant, place: usize) {
        self.standings[place] = Standing {
            outside: Some(now),
            ..Standing::default()
        };
    }

    pub(super) fn forget_server(&mut self, now: Instant, place: usize, again_at: Instant) {
        self.people[place].forget_server(again_at);
        self.note_absence(now, place);
        self.tape = Tape::default();
    }

    /// Arranges the other publishers as a person wants to see them. Returns the reception
    /// and its view if that has changed.
    pub(super) fn arrange(&mut self, now: Instant, place: usize, server: &Server) -> Option<View> {
        let person = &self.people[place];
        let me = person.stay.as_ref().map(|stay| &stay.id);
        let reception = person.connection(Purpose::Reception)?;
        reception.up?;
        let told = std::mem::replace(&mut self.viewing[place], reception.number);
        let is_new = told != reception.number;
        if is_new {
            self.views[place].clear();
        }
        let is_person = |name: &str| name.starts_with("person ");
        let others = server.rooms.participants(ROOM).into_iter();
        let others = others.filter(|p| Some(&p.id) != me && is_person(&p.name));
        let mut wanted = BTreeMap::new();
        for (rank, other) in others.filter(|p| !p.publishing.is_nothing()).enumerate() {
            let size = match person.showing {
                Showing::Large => LARGEST,
                Showing::First if rank == 0 => LARGEST,
                Showing::First | Showing::Small => SMALL,
                Showing::Nobody => continue,
            };
            for camera in 0..other.publishing.cameras.len() {
                wanted.insert((other.id.clone(), camera), size);
            }
        }
        let views = &mut self.views[place];
        let before: Vec<_> = views
            .iter()
            .map(|(of, (size, _))| (of.clone(), *size))
            .collect();
        views.retain(|of, (size, _)| wanted.get(of) == Some(size));
        for (of, size) in &wanted {
            views.entry(of.clone()).or_insert((*size, now));
        }
        let camera = |((participant, camera), (width, height)): (&Tile, &Size)| ViewedCamera {
            participant: participant.clone(),
            camera: *camera,
            width: u32::from(*width),
            height: u32::from(*height),
        };
        let is_same = before.into_iter().eq(wanted.clone());
        (is_new || !is_same).then(|| View {
            cameras: wanted.iter().map(camera).collect(),
        })
    }

    /// Returns the size at which a person shows this camera of a participant, and the
    /// time since which it does.
    pub(super) fn view(&self, place: usize, of: &str, camera: usize) -> Option<(Size, Instant)> {
        self.views[place].get(&(of.to_owned(), camera)).copied()
    }
}

/// Whether the room sees a participant.
pub(super) fn is_shown(server: &Server, id: &str) -> bool {
    let all = server.rooms.participants(ROOM);
    all.into_iter().any(|who| who.id == id)
}
