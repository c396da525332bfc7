//! Checks of a meeting during a run.

use weft_forwarding::{LineContent, RecordedKind};
use weft_units::{Duration, Instant};

use super::World;
use super::meeting::{Size, is_shown};
use crate::person::Purpose;
use crate::person::camera::{LARGEST, SCREEN};
use crate::server::ROOM;
use crate::watch::Bound;

/// Time within which a connection, or a restored link, must become smooth.
const BEGINNINGS: Duration = Duration::from_secs(3);
/// Time within which a change of the view must be visible.
const CHANGES: Duration = Duration::from_secs(1);
/// Time within which the rates are determined.
const SETTLES: Duration = Duration::from_secs(4);
const SECOND: Duration = Duration::from_secs(1);
/// Number of sounds that are forwarded in a room.
const HEARD: usize = 3;

impl World {
    pub(super) fn look_at_meeting(&mut self) {
        let all = self.server.rooms.participants(ROOM);
        let publishing = all.iter().filter(|p| !p.publishing.is_nothing()).count();
        let since = self.meeting.audible.unwrap_or(self.now);
        self.meeting.audible = (publishing <= HEARD).then_some(since);
        for place in 0..self.meeting.people.len() {
            self.meeting.people[place].follow(&self.server);
            self.meeting.note_standing(place, &self.server, self.now);
            self.check_findings(place);
            self.check_presence(place);
            self.check_lines(place);
            for other in (0..self.meeting.people.len()).filter(|other| *other != place) {
                self.check_pictures(place, other);
                self.check_screen(place, other);
                self.check_sound(place, other);
                self.check_messages(place, other);
            }
        }
        self.check_tape();
        for place in 0..self.meeting.people.len() {
            self.show_view(place);
        }
    }

    fn name(&self, place: usize) -> &str {
        &self.meeting.people[place].name
    }

    fn show_view(&mut self, place: usize) {
        let view = self.meeting.arrange(self.now, place, &self.server);
        let reception = self.meeting.people[place].connection(Purpose::Reception);
        if let (Some(view), Some(resource)) = (view, reception.map(|r| r.resource.clone())) {
            self.server.set_view(self.now, &resource, view);
        }
    }

    fn check_findings(&mut self, place: usize) {
        let wrong = std::mem::take(&mut self.meeting.people[place].viewer.wrong);
        for what in wrong {
            let what = format!("{} got {what}", self.name(place));
            self.watch.complain(self.now, what);
        }
    }

    /// Checks that the participants inside are connected, and the others are not.
    fn check_presence(&mut self, place: usize) {
        let now = self.now;
        let (person, standing) = (&self.meeting.people[place], &self.meeting.standings[place]);
        let is_up = |of| person.connection(of).is_some_and(|c| c.up.is_some());
        let is_whole = is_up(Purpose::Publication) && is_up(Purpose::Reception);
        let is_inside = standing.outside.is_none();
        let returned = person
            .removed
            .as_ref()
            .is_some_and(|id| is_shown(&self.server, id));
        let removed = person.removed.is_some() && person.stay.is_some();
        let early = !is_inside && person.connections().next().is_some();
        let wrong = [
            (returned || removed, "is in the room again, removed"),
            (early, "is connected, but not in the room"),
        ];
        for (_, what) in wrong.iter().filter(|(is, _)| *is) {
            let what = format!("{} {what}", self.name(place));
            self.watch.complain(now, what);
        }
        let lacks = is_inside && !is_whole;
        let since = self.meeting.waits[place].filter(|_| lacks).unwrap_or(now);
        self.meeting.waits[place] = lacks.then_some(since);
        if let (true, Some(link)) = (lacks, self.link_since(place)) {
            let absent = now.saturating_since(since.max(link).max(self.server_since));
            let name = self.meeting.people[place].name.clone();
            self.watch.on_bound(now, Bound::Unconnected, &name, absent);
        }
    }

    /// Checks that lines carry the cameras that the viewer shows of participants inside,
    /// and nothing else.
    fn check_lines(&mut self, place: usize) {
        let person = &self.meeting.people[place];
        let Some(up) = person.connection(Purpose::Reception).and_then(|c| c.up) else {
            return;
        };
        if self.now.saturating_since(up) < CHANGES {
            return;
        }
        let stray = person.viewer.lines().find(|line| {
            let shown = match line.content {
                LineContent::Camera(camera) => self
                    .meeting
                    .view(place, &line.participant, camera)
                    .is_some(),
                LineContent::Sound => true,
            };
            !shown || !is_shown(&self.server, &line.participant)
        });
        if let Some(stray) = stray {
            let what = format!("{} has a line of {stray:?}", self.name(place));
            self.watch.complain(self.now, what);
        }
    }

    /// Returns the time from which a viewer must see a publisher's camera smoothly, and
    /// the size and time of the view.
    fn seen_since(
        &self,
        viewer: usize,
        publisher: usize,
        camera: usize,
    ) -> Option<(Instant, Size, Instant)> {
        let standing = &self.meeting.standings[publisher];
        let id = standing
            .id
            .as_ref()
            .filter(|_| standing.outside.is_none())?;
        let (size, viewed) = self.meeting.view(viewer, id, camera)?;
        let both = [
            self.good_since(viewer, Purpose::Reception, BEGINNINGS)?,
            self.good_since(publisher, Purpose::Publication, BEGINNINGS)?,
            viewed + CHANGES,
        ];
        Some((both.into_iter().max()?, size, viewed))
    }

    fn check_pictures(&mut self, viewer: usize, publisher: usize) {
        let now = self.now;
        let Some((since, size, viewed)) = self.seen_since(viewer, publisher, 0) else {
            return;
        };
        let of = format!("{} of {}", self.name(viewer), self.name(publisher));
        let person = &self.meeting.people[viewer];
        let last = person.viewer.shown(publisher, false).last();
        let still = now.saturating_since(since.max(last.map_or(Instant::ZERO, |s| s.at)));
        self.watch.on_bound(now, Bound::Still, &of, still);
        if now.saturating_since(since) < SECOND {
            return;
        }
        let recent = person.viewer.shown(publisher, false);
        let recent = recent.filter(|s| s.at >= now.saturating_sub(SECOND));
        let recent: Vec<_> = recent.collect();
        let ages = recent.iter().map(|s| s.at.saturating_since(s.captured));
        let oldest = ages.max().unwrap_or_default();
        self.watch.on_bound(now, Bound::Age, &of, oldest);
        let count = recent.len();
        let both = [
            self.unchanged_since(viewer, Purpose::Reception),
            self.unchanged_since(publisher, Purpose::Publication),
        ];
        let is_old =
            |at: &Option<Instant>| at.is_some_and(|at| now.saturating_since(at) >= SETTLES);
        if both.iter().all(is_old) && now.saturating_since(since) >= SETTLES {
            self.watch.on_few(now, &of, count);
        }
        self.check_size((viewer, publisher), &of, since.max(viewed), size);
    }

    /// Checks that a viewer gets the encoding for the displayed size of a camera. A path
    /// that is new or gone changes the rates.
    fn check_size(
        &mut self,
        (viewer, publisher): (usize, usize),
        of: &str,
        since: Instant,
        size: Size,
    ) {
        let now = self.now;
        let both = [
            self.unchanged_since(viewer, Purpose::Reception),
            self.unchanged_since(publisher, Purpose::Publication),
        ];
        let [Some(one), Some(other)] = both else {
            return;
        };
        let [large, small] = self.meeting.people[viewer].viewer.last_by_size(publisher);
        let has_several = self.meeting.people[publisher].camera.encodings() > 1;
        let (bound, last) = match size == LARGEST {
            true => (Bound::Small, large),
            false => (Bound::Large, small),
        };
        if bound == Bound::Small || has_several {
            let last = last.unwrap_or(Instant::ZERO);
            let wrong = now.saturating_since(since.max(one).max(other).max(last));
            self.watch.on_bound(now, bound, of, wrong);
        }
    }

    fn check_screen(&mut self, viewer: usize, publisher: usize) {
        let now = self.now;
        let shares = self.meeting.people[publisher].camera.shares;
        let changed = self.meeting.shared[publisher] + CHANGES;
        let Some(id) = self.meeting.standings[publisher].id.clone() else {
            return;
        };
        let person = &self.meeting.people[viewer];
        let receives = person.connection(Purpose::Reception).is_some();
        if receives && !shares && changed <= now {
            let mut lines = person.viewer.lines();
            let is_screen = LineContent::Camera(1);
            if lines.any(|line| line.participant == id && line.content == is_screen) {
                let what = format!("{} has a line of a screen that is not shared", person.name);
                self.watch.complain(now, what);
            }
        }
        if let (true, Some((since, ..))) = (shares, self.seen_since(viewer, publisher, 1)) {
            let last = person.viewer.shown(publisher, true).last();
            debug_assert!(last.is_none_or(|s| s.encoding == SCREEN));
            let last = last.map_or(Instant::ZERO, |s| s.at);
            let still = now.saturating_since(since.max(changed).max(last));
            let of = format!(
                "{} of the screen of {}",
                self.name(viewer),
                self.name(publisher)
            );
            self.watch.on_bound(now, Bound::ScreenStill, &of, still);
        }
    }

    fn check_sound(&mut self, viewer: usize, publisher: usize) {
        let now = self.now;
        let standing = &self.meeting.standings[publisher];
        if standing.outside.is_some() || standing.muted.is_some() {
            return;
        }
        let both = [
            self.good_since(viewer, Purpose::Reception, BEGINNINGS),
            self.good_since(publisher, Purpose::Publication, BEGINNINGS),
        ];
        let ([Some(one), Some(other)], Some(audible)) = (both, self.meeting.audible) else {
            return;
        };
        let audible = audible + CHANGES;
        let changed = self.meeting.changed[publisher] + CHANGES;
        let heard = self.meeting.people[viewer].viewer.heard.get(&publisher);
        let last = heard.copied().unwrap_or(Instant::ZERO);
        let silent = now.saturating_since(one.max(other).max(audible).max(changed).max(last));
        let of = format!("{} of {}", self.name(viewer), self.name(publisher));
        self.watch.on_bound(now, Bound::Silent, &of, silent);
    }

    fn check_messages(&mut self, to: usize, by: usize) {
        let now = self.now;
        let since = |place: usize| {
            let publication = self.meeting.people[place].connection(Purpose::Publication)?;
            let open = publication.talk.since? + BEGINNINGS;
            let good = self.good_since(place, Purpose::Publication, BEGINNINGS)?;
            let inside = self.meeting.standings[place].outside.is_none();
            inside.then(|| (publication, open.max(good)))
        };
        let (Some((to_connection, one)), Some((by_connection, other))) = (since(to), since(by))
        else {
            return;
        };
        let heard = to_connection.talk.heard.get(&(by, by_connection.number));
        let last = heard.map_or(Instant::ZERO, |(_, at)| *at);
        let unsaid = now.saturating_since(one.max(other).max(last));
        let of = format!("{} of {}", self.name(to), self.name(by));
        self.watch.on_bound(now, Bound::Unsaid, &of, unsaid);
    }

    /// Checks that everything inside is recorded while the room is recorded, and nothing else.
    fn check_tape(&mut self) {
        let now = self.now;
        let planes = &self.server.planes;
        self.meeting
            .tape
            .tracks
            .retain(|(plane, _), _| planes.has(*plane));
        let tape = &self.meeting.tape;
        let stray = tape
            .tracks
            .values()
            .find(|track| tape.since.is_none() || !is_shown(&self.server, &track.participant));
        if let Some(stray) = stray {
            self.watch
                .complain(now, format!("recorded all the same: {stray:?}"));
        }
        let Some(recorded) = tape.since.map(|since| since + CHANGES * 2) else {
            return;
        };
        for place in 0..self.meeting.people.len() {
            let standing = &self.meeting.standings[place];
            let Some(id) = standing.id.as_ref().filter(|_| standing.outside.is_none()) else {
                continue;
            };
            let Some(since) = self.good_since(place, Purpose::Publication, BEGINNINGS) else {
                continue;
            };
            for kind in [RecordedKind::Camera, RecordedKind::Microphone] {
                let muted = standing.muted.is_some() || self.meeting.changed[place] + CHANGES > now;
                if kind == RecordedKind::Microphone && muted {
                    continue;
                }
                let mut tracks = self.meeting.tape.tracks.values();
                let track = tracks.find(|t| t.participant == *id && t.kind == kind);
                let last = track.and_then(|track| track.last).unwrap_or(Instant::ZERO);
                let still = now.saturating_since(since.max(recorded).max(last));
                let name = format!("the recording of {}", self.meeting.people[place].name);
                self.watch.on_bound(now, Bound::Unrecorded, &name, still);
            }
        }
    }
}
