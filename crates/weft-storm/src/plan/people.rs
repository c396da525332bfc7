//! Plan of a meeting: people who publish and receive the room, and the orders of moderators.

use weft_testing::pictures::Layers;
use weft_units::{Duration, Rate, Rng};

use super::{Act, Incident, LinkPlan, Order, PersonPlan, Plan, any_link, at, between};
use crate::member::Speech;
use crate::person::{Profile, Showing};

/// Additional duration of a meeting compared with calls: encodings are paused after some seconds.
const LONGER: Duration = Duration::from_secs(4);

impl Plan {
    /// Draws a meeting.
    pub(super) fn gather(&mut self, root: &Rng) {
        let rng = &mut root.stream("meeting");
        self.length += LONGER;
        let count = 3 + rng.below(3) as usize;
        // In half of the runs, nobody shows anybody large for some seconds.
        let is_small = rng.chance(0.5);
        for number in 0..count {
            self.add_person(root, number, is_small);
        }
        self.moderate(root, count);
    }

    fn add_person(&mut self, root: &Rng, number: usize, is_small: bool) {
        let name = format!("person {number}");
        let rng = &mut root.stream(&name);
        let speech = match rng.chance(0.4) {
            true => Speech::Browser,
            false => Speech::Native,
        };
        let links = self.draw_links(rng, speech, wide_link, "rate=8mbit,delay=15ms");
        let count = links.len() as u64;
        self.people.push(PersonPlan {
            profile: Profile {
                name,
                speech,
                showing: match is_small {
                    true => Showing::Small,
                    false => any_showing(rng),
                },
                layers: match rng.chance(0.5) {
                    true => Layers::Three,
                    false => Layers::One,
                },
                encodings: if rng.chance(0.7) { 3 } else { 1 },
            },
            links,
        });
        let end = self.length.as_secs_f64();
        let joins = match rng.chance(0.25) {
            true => between(rng, 1.0, 5.0),
            false => rng.unit(),
        };
        self.does(joins, number, Act::Joins);
        if is_small {
            let when = between(rng, 7.5, end - 3.5);
            self.does(when, number, Act::Shows(any_showing(rng)));
        }
        if rng.chance(0.3) {
            let when = between(rng, 2.0, end - 3.0);
            self.does(when, number, Act::Shares(true));
            self.does(between(rng, when + 1.0, end), number, Act::Shares(false));
        }
        let mut when = between(rng, 2.0, 8.0);
        while when < end - 1.0 {
            let back = when + between(rng, 0.1, 3.0);
            let link = rng.below(count) as usize;
            let (act, undone) = match rng.below(10) {
                0 => (Act::Leaves, Some(Act::Joins)),
                1 => (Act::Crashes, Some(Act::Joins)),
                2 | 3 => (Act::Republishes, None),
                4 if !is_small => (Act::Shows(any_showing(rng)), None),
                5 if rng.chance(0.3) => (Act::Defect, None),
                _ if self.calm => (Act::Republishes, None),
                _ => (Act::Cut(link), Some(Act::Restored(link))),
            };
            self.does(when, number, act);
            if let Some(undone) = undone {
                self.does(back.min(end), number, undone);
            }
            when = back + between(rng, 1.0, 8.0);
        }
    }

    fn does(&mut self, seconds: f64, number: usize, act: Act) {
        self.incidents
            .push((at(seconds), Incident::Does(number, act)));
    }

    fn moderate(&mut self, root: &Rng, count: usize) {
        let rng = &mut root.stream("moderators");
        let end = self.length.as_secs_f64();
        let mut order = |seconds: f64, order| {
            self.incidents
                .push((at(seconds), Incident::Moderates(order)));
        };
        let anybody = |rng: &mut Rng| rng.below(count as u64) as usize;
        if rng.chance(0.5) {
            let (who, when) = (anybody(rng), between(rng, 1.5, end - 4.0));
            order(when, Order::Mute(who));
            order(between(rng, when + 0.5, end - 1.0), Order::Unmute(who));
        }
        if rng.chance(0.2) {
            let who = anybody(rng);
            order(between(rng, 2.0, end - 2.0), Order::Remove(who));
        }
        if rng.chance(0.2) {
            let when = between(rng, 0.5, end - 4.0);
            order(when, Order::Lock(true));
            order(when + between(rng, 0.5, 2.5), Order::Lock(false));
        }
        if rng.chance(0.3) {
            let when = between(rng, 0.3, end - 6.0);
            order(when, Order::Wait(true));
            order(when + between(rng, 0.5, 2.5), Order::Admit);
            order(when + between(rng, 2.5, 5.0), Order::Wait(false));
        }
        if rng.chance(0.4) {
            let when = between(rng, 0.5, end - 4.0);
            order(when, Order::Record(true));
            order(between(rng, when + 2.0, end), Order::Record(false));
        }
    }
}

fn any_showing(rng: &mut Rng) -> Showing {
    match rng.below(8) {
        0..=3 => Showing::Large,
        4 => Showing::Small,
        5 | 6 => Showing::First,
        _ => Showing::Nobody,
    }
}

/// Returns a link; a good one carries a meeting of five.
fn wide_link(rng: &mut Rng) -> LinkPlan {
    let mut link = any_link(rng);
    if link.good {
        link.spec.capacity = Rate::from_kbps(8_000 + rng.below(8_000)).into();
    }
    link
}
