//! People of a meeting in a run: their acts, the orders of moderators, and the server's
//! messages to them.

use weft_forwarding::Event;
use weft_units::{Duration, Instant};

use super::World;
use crate::member::Speech;
use crate::network::Datagram;
use crate::person::Purpose;
use crate::plan::{Act, Order};

impl World {
    /// Handles everything that is due.
    pub(super) fn run_people(&mut self) {
        let now = self.now;
        for place in 0..self.meeting.people.len() {
            let person = &mut self.meeting.people[place];
            if person.due.is_some_and(|at| at <= now) {
                person.go_on(now, &mut self.server, &self.factory);
                self.note_ports(place);
            }
            self.meeting.people[place].handle_timeout(now);
        }
    }

    fn note_ports(&mut self, place: usize) {
        let person = &self.meeting.people[place];
        let connections = person.connections();
        self.watch.ports.extend(connections.flat_map(|c| &c.ports));
        self.meeting.note_standing(place, &self.server, self.now);
    }

    /// Sends people's media, and delivers the server's messages to them.
    pub(super) fn drain_people(&mut self) {
        let now = self.now;
        let mut out = Vec::new();
        loop {
            for place in 0..self.meeting.people.len() {
                self.meeting.drain(now, place, &mut out);
                for (number, datagram) in out.drain(..) {
                    let context = 1 << 62 | (place as u64) << 32 | number;
                    self.watch.on_sent_by_member(now, context, &datagram);
                    self.network.send(now, datagram);
                }
            }
            let told = std::mem::take(&mut self.server.told);
            if told.is_empty() {
                break;
            }
            told.into_iter().for_each(|event| self.tell_person(event));
        }
        for (plane, recorded) in self.server.take_recorded() {
            if let Some(finding) = self.meeting.tape.take(now, plane, recorded) {
                self.watch.complain(now, finding);
            }
        }
    }

    fn tell_person(&mut self, event: Event) {
        let (Event::LinesChanged { resource, .. }
        | Event::Offered { resource, .. }
        | Event::WantedChanged { resource, .. }) = &event
        else {
            return;
        };
        let mut people = self.meeting.people.iter_mut();
        let Some(person) = people.find(|p| p.connections().any(|c| c.resource == *resource)) else {
            return;
        };
        match &event {
            Event::LinesChanged { lines, .. } => person.viewer.set_lines(self.now, lines),
            Event::Offered { resource, sdp } => {
                person.renegotiate(self.now, &mut self.server, resource, sdp);
            }
            Event::WantedChanged { resource, cameras } => {
                let current = person.connection(Purpose::Publication);
                let is_current = current.is_some_and(|c| c.resource == *resource);
                if let (true, Some(wanted)) = (is_current, cameras.first()) {
                    person.camera.set_wanted(wanted);
                }
            }
            Event::Connected { .. } | Event::Ended { .. } => {}
        }
    }

    /// Performs an act of a person.
    pub(super) fn act(&mut self, place: usize, act: Act) {
        let now = self.now;
        self.counts.acts += 1;
        let person = &mut self.meeting.people[place];
        let was_there = person.stay.is_some();
        match act {
            Act::Joins if person.removed.is_none() && !was_there => {
                self.counts.joins += 1;
                person.go_on(now, &mut self.server, &self.factory);
                self.note_ports(place);
            }
            Act::Joins => {}
            Act::Leaves => self.see_off(place),
            Act::Crashes => {
                self.counts.crashes += u64::from(was_there);
                let connections = person.connections().filter(|c| c.up.is_some());
                for connection in connections.filter(|_| person.speech == Speech::Browser) {
                    self.watch.on_gone(now, &connection.resource);
                }
                person.crash(now, &mut self.server);
                self.meeting.note_absence(now, place);
            }
            Act::Republishes => {
                let publications = person.connections();
                let publications = publications.filter(|c| c.purpose == Purpose::Publication);
                if publications.filter(|c| c.up.is_some()).count() == 1 {
                    self.counts.takeovers += 1;
                    person.publish(now, &mut self.server, &self.factory);
                    self.note_ports(place);
                }
            }
            Act::Shares(shared) => {
                person.camera.shares = shared;
                self.meeting.shared[place] = now;
                let resources = self.meeting.people[place].connections();
                let resources = resources.map(|c| c.resource.clone());
                for resource in resources.collect::<Vec<_>>() {
                    self.server.share_screen(now, &resource, shared);
                }
            }
            Act::Shows(showing) => person.showing = showing,
            Act::Cut(link) => {
                self.counts.cuts += 1;
                let link = person.links[link];
                self.network.cut(now, link);
                self.links[link].up_since = None;
            }
            Act::Restored(link) => {
                let link = person.links[link];
                self.network.restore(now, link);
                self.links[link].up_since = Some(now);
            }
            Act::Defect => {
                let connection = person.connections().next();
                if let Some(resource) = connection.map(|c| c.resource.clone()) {
                    self.counts.defects += 1;
                    self.server.fail(now, &resource);
                }
            }
        }
    }

    /// Lets a person leave regularly.
    fn see_off(&mut self, place: usize) {
        let now = self.now;
        let person = &mut self.meeting.people[place];
        self.counts.departures += u64::from(person.stay.is_some());
        let ports = person.connections().flat_map(|c| c.ports.clone());
        let ports: Vec<_> = ports.collect();
        let farewells: Vec<Datagram> = person.leave(now, &mut self.server);
        self.watch.on_closed(now, ports);
        for datagram in farewells {
            self.network.send(now, datagram);
        }
        self.meeting.note_absence(now, place);
    }

    /// Carries out an order of the moderators.
    pub(super) fn order(&mut self, order: Order) {
        let now = self.now;
        self.counts.acts += 1;
        let id = |world: &World, place: usize| world.meeting.standings[place].id.clone();
        match order {
            Order::Mute(place) | Order::Unmute(place) => {
                let is_muted = order == Order::Mute(place);
                if let Some(id) = id(self, place) {
                    self.server.set_muted(now, &id, is_muted);
                    self.meeting.standings[place].muted = is_muted.then_some(now);
                    self.meeting.changed[place] = now;
                }
            }
            Order::Remove(place) => {
                let there = self.meeting.people[place].stay.is_some();
                if let Some(id) = id(self, place).filter(|_| there) {
                    let ports = self.meeting.people[place].connections();
                    let ports: Vec<_> = ports.flat_map(|c| c.ports.clone()).collect();
                    self.server.remove(now, &id);
                    self.watch.on_closed(now, ports);
                    self.meeting.people[place].be_removed(now);
                    self.meeting.note_absence(now, place);
                }
            }
            Order::Lock(locked) => self.server.set_settings(now, |s| s.locked = locked),
            Order::Wait(waits) => self.server.set_settings(now, |s| s.waiting_room = waits),
            Order::Admit => self.server.admit_all(now),
            Order::Record(recorded) => {
                self.meeting.tape.since = recorded.then_some(now);
                self.server.record(now, recorded);
            }
        }
        for place in 0..self.meeting.people.len() {
            self.meeting.note_standing(place, &self.server, now);
        }
    }

    /// Ends the meeting: everybody leaves, every other person regularly.
    pub(super) fn end_meeting(&mut self) {
        for place in 0..self.meeting.people.len() {
            match place % 2 {
                0 => self.see_off(place),
                _ => self.act(place, Act::Crashes),
            }
        }
        if self.meeting.tape.since.take().is_some() {
            self.server.record(self.now, false);
        }
    }

    /// Returns the time from which a person must be heard and seen over a connection: it
    /// has passed its start, and a good link has stayed up.
    pub(super) fn good_since(
        &self,
        place: usize,
        of: Purpose,
        beginnings: Duration,
    ) -> Option<Instant> {
        let person = &self.meeting.people[place];
        let up = person.connection(of)?.up? + beginnings;
        let stayed = self.link_since(place)? + beginnings;
        Some(up.max(stayed).max(self.server_since))
    }

    /// Returns the time since which nothing has changed on a person's links and on a connection.
    pub(super) fn unchanged_since(&self, place: usize, of: Purpose) -> Option<Instant> {
        let person = &self.meeting.people[place];
        let connected = person.connection(of)?.connected?;
        let links = person.links.iter().map(|link| self.links[*link].up_since);
        links
            .collect::<Option<Vec<Instant>>>()?
            .into_iter()
            .chain([connected])
            .max()
    }

    /// Returns the time since which a good link of a person has stayed up.
    pub(super) fn link_since(&self, place: usize) -> Option<Instant> {
        let links = self.meeting.people[place].links.iter();
        let links = links.map(|link| &self.links[*link]);
        links
            .filter(|link| link.good)
            .filter_map(|link| link.up_since)
            .min()
    }
}
