//! Descriptions of a run for its replay.

use weft_units::Instant;

use super::World;
use crate::member::Member;
use crate::person::Person;

impl World {
    /// Prints what happens, for a replay of the run.
    pub(super) fn tell(&self, what: impl FnOnce(&World) -> String) {
        if self.tells {
            println!("{:9.3} {}", self.now.as_secs_f64(), what(self));
        }
    }

    /// Describes each member's picture and connection.
    pub(super) fn state(&self) -> String {
        let of = |member: &Member| {
            let up = |link: &usize| {
                if self.links[*link].up_since.is_some() {
                    '+'
                } else {
                    '-'
                }
            };
            let links: String = member.links.iter().map(up).collect();
            let shown = member.screen.shown.len();
            let call = match member.call() {
                None => "out".to_owned(),
                Some(call) => {
                    let session = call.peer.session();
                    let paths = call.peer.association().paths();
                    let paths: Vec<_> = paths.map(|p| (p.id.0, p.state)).collect();
                    let since = call.up.map(Instant::as_secs_f64);
                    format!("up {since:?} {paths:?} queue {:?}", session.queue_time())
                }
            };
            format!(
                "\n            {} {links} {shown} shown, {call}",
                member.name
            )
        };
        let members = self.members.iter().map(of);
        members
            .chain(self.meeting.people.iter().map(person))
            .collect()
    }
}

/// Describes a person's connections and paused encodings.
fn person(person: &Person) -> String {
    let connections = person.connections().map(|connection| {
        let paths = connection.peer.association().paths();
        let paths: Vec<_> = paths.map(|p| (p.id.0, p.state)).collect();
        let since = connection.up.map(Instant::as_secs_f64);
        format!(" {:?} up {since:?} {paths:?}", connection.purpose)
    });
    let connections: String = connections.collect();
    let (shown, paused) = (person.viewer.pictures, person.camera.paused());
    let name = &person.name;
    format!("\n            {name} {shown} shown, {paused} paused,{connections}")
}
