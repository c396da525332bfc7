//! Participant of a weft room, who joins like the page: event stream, publication,
//! reception, and the view of the cameras on the screen.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use weft_endpoint::signalling::{
    Identity, Participant, Room, RoomEvent, SignallingError, ViewedCamera, Viewing, Wanted, escaped,
};
use weft_peer::PeerKey;

use super::{JoinError, Member, Part, Shared, answer, ask, publish};
use crate::MAX_CAMERAS;
use crate::node::{Command, NewClient};

/// Screen of a participant, in pixels; the cameras share it as tiles.
const SCREEN: (u32, u32) = (1_920, 1_080);
/// Number of attempts at a request that the server defers (429).
const ATTEMPTS: u32 = 5;
/// Pause before the next attempt if the server does not set one.
const PAUSE: Duration = Duration::from_millis(500);

/// Joins the room and follows its events until they end.
pub(super) fn run(shared: &Shared, url: &str, member: &Member) {
    let new = shared.new_client(member);
    let room = shared.config.room_name(member.room);
    let room = match Room::new(&shared.server(url), Vec::new(), &room) {
        Ok(room) => room,
        Err(error) => return shared.tell(member.id, Err(error.into())),
    };
    let mut person = Person {
        shared,
        member,
        new,
        room: room.clone(),
        own: None,
        others: BTreeMap::new(),
        publication: None,
        reception: None,
    };
    let mut joined = false;
    let query = format!("kind=browser&name={}", escaped(&member.name));
    let ended = room.events(&query, None, |event| {
        let was_inside = person.own.is_some();
        match person.on_event(event) {
            Ok(()) => {
                if !was_inside && person.own.is_some() {
                    joined = true;
                    shared.tell(member.id, Ok(()));
                }
                true
            }
            Err(error) => {
                shared.tell(member.id, Err(error));
                joined = true;
                false
            }
        }
    });
    match ended {
        Err(error) if !joined => shared.tell(member.id, Err(error.into())),
        Err(_) => shared.tell(member.id, Err(JoinError::Ended)),
        Ok(()) => {}
    }
}

struct Person<'a> {
    shared: &'a Shared,
    member: &'a Member,
    new: NewClient,
    room: Room,
    own: Option<Identity>,
    others: BTreeMap<String, Participant>,
    /// Client that publishes, and its resource.
    publication: Option<(PeerKey, String)>,
    reception: Option<Reception>,
}

struct Reception {
    key: PeerKey,
    location: String,
    /// Cameras that were sent to the server.
    told: Option<Vec<ViewedCamera>>,
    /// Latest offer that was answered.
    answered: Option<String>,
}

impl Person<'_> {
    fn on_event(&mut self, event: RoomEvent) -> Result<(), JoinError> {
        match event {
            RoomEvent::Welcome {
                own, participants, ..
            } => {
                let others = participants.into_iter().filter(|p| p.id != own.id);
                self.others = others.map(|p| (p.id.clone(), p)).collect();
                self.begin(own)?;
            }
            RoomEvent::Waiting(_) => return Err(JoinError::Waiting),
            RoomEvent::Changed(participant) => {
                self.others.insert(participant.id.clone(), participant);
            }
            RoomEvent::Left(id) => {
                self.others.remove(&id);
            }
            RoomEvent::Reception(resource, viewing) => self.on_viewing(&resource, viewing)?,
            RoomEvent::Wanted(wanted) => self.on_wanted(&wanted),
            RoomEvent::ConnectionEnded(_) => return Err(JoinError::Ended),
            RoomEvent::TurnServers(_) | RoomEvent::Move(_) | RoomEvent::Alive => return Ok(()),
        }
        self.view()
    }

    /// Publishes, and starts to receive.
    fn begin(&mut self, own: Identity) -> Result<(), JoinError> {
        let node = self.shared.node(self.member);
        if matches!(self.member.part, Part::Publish | Part::Both) {
            let query = format!("participant={}", escaped(&own.id));
            let exchange = |offer: &str| self.room.publish(&query, Some(&own), offer);
            self.publication = Some(publish(node, self.new, exchange)?);
        }
        if self.member.part != Part::Publish {
            let created = self.room.receive(&own)?;
            let location = created.location.clone();
            let (key, answer) = answer(node, self.new, created)?;
            self.room.answer(&location, &answer)?;
            self.reception = Some(Reception {
                key,
                location,
                told: None,
                answered: None,
            });
        }
        self.own = Some(own);
        Ok(())
    }

    fn on_wanted(&self, wanted: &Wanted) {
        if let Some((key, location)) = &self.publication
            && is_resource(location, &wanted.resource)
            && let Some(camera) = wanted.cameras.first()
        {
            let node = self.shared.node(self.member);
            node.send(Command::Wanted(*key, camera.clone()));
        }
    }

    fn on_viewing(&mut self, resource: &str, viewing: Viewing) -> Result<(), JoinError> {
        match &self.reception {
            Some(reception) if is_resource(&reception.location, resource) => {
                self.take_offer(viewing)
            }
            _ => Ok(()),
        }
    }

    /// Answers the offer of a viewing, if it has a new one.
    fn take_offer(&mut self, viewing: Viewing) -> Result<(), JoinError> {
        let Some(reception) = &mut self.reception else {
            return Ok(());
        };
        let new = |offer: &String| reception.answered.as_ref() != Some(offer);
        let Some(offer) = viewing.offer.filter(new) else {
            return Ok(());
        };
        reception.answered = Some(offer.clone());
        let (key, location) = (reception.key, reception.location.clone());
        let node = self.shared.node(self.member);
        let answer = ask(node, |reply| Command::AnswerLater(key, offer, reply))?;
        match self.room.answer(&location, &answer) {
            // A later offer has replaced it, and an event brings that one.
            Err(SignallingError::Refused { status: 409, .. }) => Ok(()),
            answered => Ok(answered?),
        }
    }

    /// Sends the server the cameras on the screen, if they have changed.
    fn view(&mut self) -> Result<(), JoinError> {
        let cameras = tiles(self.others.values());
        let Some(reception) = &mut self.reception else {
            return Ok(());
        };
        if reception.told.as_ref() == Some(&cameras) {
            return Ok(());
        }
        reception.told = Some(cameras.clone());
        let location = reception.location.clone();
        for attempt in 1..=ATTEMPTS {
            match self.room.put_view(&location, &cameras) {
                Ok(viewing) => return self.take_offer(viewing),
                Err(SignallingError::Refused {
                    status: 429,
                    retry_after,
                    ..
                }) if attempt < ATTEMPTS => thread::sleep(retry_after.unwrap_or(PAUSE)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Whether `location` is the URL of a resource with this name.
fn is_resource(location: &str, name: &str) -> bool {
    location.rsplit('/').next() == Some(name)
}

/// Returns the cameras of the others as tiles of equal size.
fn tiles<'a>(others: impl Iterator<Item = &'a Participant>) -> Vec<ViewedCamera> {
    let cameras = others.flat_map(|participant| {
        let on = participant.publishing.cameras.iter().enumerate();
        on.filter(|(_, camera)| !camera.off)
            .map(|(camera, _)| (participant.id.clone(), camera))
    });
    let cameras: Vec<(String, usize)> = cameras.take(MAX_CAMERAS).collect();
    let columns = (1..).find(|n| n * n >= cameras.len()).unwrap_or(1).max(1);
    let rows = cameras.len().div_ceil(columns).max(1);
    let (width, height) = (SCREEN.0 / columns as u32, SCREEN.1 / rows as u32);
    let viewed = |(participant, camera)| ViewedCamera {
        participant,
        camera,
        width,
        height,
    };
    cameras.into_iter().map(viewed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_rooms::{Camera, Publishing};

    fn participant(id: usize) -> Participant {
        let camera = Camera::default();
        Participant {
            id: format!("p{id}"),
            name: String::new(),
            publishing: Publishing {
                cameras: vec![camera],
                ..Publishing::default()
            },
            muted: false,
        }
    }

    #[test]
    fn tiles_share_the_screen() {
        let tiles_of = |count| {
            let all: Vec<Participant> = (0..count).map(participant).collect();
            tiles(all.iter())
        };
        assert_eq!(tiles_of(0), []);
        for (count, tiles, width, height) in [
            (1, 1, 1_920, 1_080),
            (2, 2, 960, 1_080),
            (5, 5, 640, 540),
            (9, 9, 640, 360),
            (30, 25, 384, 216),
        ] {
            let made = tiles_of(count);
            assert_eq!(made.len(), tiles);
            assert_eq!((made[0].width, made[0].height), (width, height), "{count}");
        }
    }

    #[test]
    fn a_resource_is_the_end_of_its_address() {
        assert!(is_resource("http://host/api/rooms/r/reception/x1", "x1"));
        assert!(!is_resource("http://host/api/rooms/r/reception/x1", "x"));
    }
}
