//! Looks at what must hold while a run lasts.

use weft_units::{Duration, Instant};

use super::World;
use crate::member::{Member, Part};

/// After its beginnings a call is to go on.
const BEGINNINGS: Duration = Duration::from_secs(3);
/// Over which pictures are counted.
const SECOND: Duration = Duration::from_secs(1);

impl World {
    pub(super) fn look(&mut self) {
        let now = self.now;
        self.tell(World::state);
        for member in &mut self.members {
            member.follow(now, &mut self.server);
        }
        self.watch.on_server(now, &self.server);
        for viewer in &self.members {
            let Some(since) = self.publisher_of(viewer).and_then(|publisher| {
                let both = [self.fine_since(viewer)?, self.fine_since(publisher)?];
                both.into_iter().max()
            }) else {
                continue;
            };
            let last = viewer.screen.shown.last().map_or(Instant::ZERO, |s| s.at);
            let still = now.saturating_since(since.max(last));
            self.watch.on_still(now, &viewer.name, still);
            if now.saturating_since(since) >= SECOND {
                let seen = viewer.screen.since(now.saturating_sub(SECOND));
                self.watch.on_second(now, &viewer.name, seen);
            }
        }
    }

    /// Over links that lose nothing every number that a viewer knows of has come.
    pub(super) fn look_for_gaps(&mut self) {
        for viewer in &self.members {
            let Some((call, publisher)) = viewer.call().zip(self.publisher_of(viewer)) else {
                continue;
            };
            if ![viewer, publisher].into_iter().all(|m| self.is_clean(m)) {
                continue;
            }
            let receivers = call.peer.session().stats().receivers;
            let missing: u64 = receivers.iter().map(|(_, r)| r.packets.missing).sum();
            self.watch.on_gaps(self.now, &viewer.name, missing);
        }
    }

    fn publisher_of(&self, viewer: &Member) -> Option<&Member> {
        let Part::Plays(whom) = &viewer.part else {
            return None;
        };
        self.members.iter().find(|m| {
            let id = m.stay.as_ref().map(|stay| &stay.id);
            m.name == *whom && id == viewer.call().map(|call| &call.publisher)
        })
    }

    /// Whether a member's links lose nothing, mangle nothing and were never cut, and
    /// the connection is past its beginnings.
    fn is_clean(&self, member: &Member) -> bool {
        let mut links = member.links.iter().map(|link| &self.links[*link]);
        self.fine_since(member)
            .is_some_and(|since| since <= self.now)
            && links.all(|link| link.is_clean && link.up_since == Some(Instant::ZERO))
    }

    /// Since when a member can be expected to send or to see pictures: their
    /// connection is past its beginnings, and a good link has stayed.
    fn fine_since(&self, member: &Member) -> Option<Instant> {
        let up = member.call()?.up? + BEGINNINGS;
        let links = member.links.iter().map(|link| &self.links[*link]);
        let good = links.filter(|link| link.good);
        let stayed = good.filter_map(|link| link.up_since).min()?;
        Some(up.max(stayed + BEGINNINGS).max(self.server_since))
    }
}
