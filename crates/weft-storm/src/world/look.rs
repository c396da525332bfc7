//! Checks during a run.

use std::collections::BTreeMap;

use weft_units::{Duration, Instant};

use super::World;
use crate::member::{Member, Part};

/// Time within which a call must become smooth.
const BEGINNINGS: Duration = Duration::from_secs(3);
/// Period over which pictures are counted.
const SECOND: Duration = Duration::from_secs(1);

impl World {
    pub(super) fn look(&mut self) {
        let now = self.now;
        for member in &mut self.members {
            member.follow(now, &mut self.server);
        }
        self.watch.on_server(now, &self.server);
        self.look_at_paths();
        for viewer in &self.members {
            let Some(since) = self.publisher_of(viewer).and_then(|publisher| {
                Some(self.there_since(viewer)?.max(self.there_since(publisher)?))
            }) else {
                continue;
            };
            let last = viewer.screen.shown.last().map_or(Instant::ZERO, |s| s.at);
            let still = now.saturating_since(since.max(last));
            self.watch.on_still_anywhere(now, &viewer.name, still);
        }
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

    /// Checks that every packet arrived if links lose nothing.
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

    /// Checks that packets of publishers over good links are acknowledged, on each path.
    fn look_at_paths(&mut self) {
        let now = self.now;
        let mut seen = BTreeMap::new();
        for (place, member) in self.members.iter().enumerate() {
            let Some(call) = member.call().filter(|_| member.part == Part::Publishes) else {
                continue;
            };
            let stats = call.peer.session().stats();
            for path in call.peer.association().paths() {
                let link = self.network.link_of(path.tuple.local.ip());
                let Some(link) = link.map(|link| &self.links[link]) else {
                    continue;
                };
                let is_up = |since| now.saturating_since(since) >= BEGINNINGS;
                let found = stats.paths.iter().find(|p| p.path == path.id);
                let Some(found) = found.filter(|_| {
                    link.good && path.state.is_valid() && link.up_since.is_some_and(is_up)
                }) else {
                    continue;
                };
                let (key, count) = ((place, call.number, path.id), found.acknowledged_packets);
                let before = self.watch.acknowledged.get(&key).copied();
                let current = before.filter(|(before, _)| *before == count);
                let (count, since) = current.unwrap_or((count, now));
                seen.insert(key, (count, since));
                let silence = now.saturating_since(since);
                self.watch.on_unacknowledged(now, &member.name, silence);
            }
        }
        self.watch.acknowledged = seen;
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

    /// Whether a member's links lose, repeat and reorder nothing and were never cut, and
    /// the connection has passed its start.
    fn is_clean(&self, member: &Member) -> bool {
        let mut links = member.links.iter().map(|link| &self.links[*link]);
        self.fine_since(member)
            .is_some_and(|since| since <= self.now)
            && links.all(|link| link.is_clean && link.up_since == Some(Instant::ZERO))
    }

    /// Returns the time from which a member must send or see pictures: the connection has
    /// passed its start, and a good link has stayed up.
    fn fine_since(&self, member: &Member) -> Option<Instant> {
        let up = member.call()?.up? + BEGINNINGS;
        let links = member.links.iter().map(|link| &self.links[*link]);
        let good = links.filter(|link| link.good);
        let stayed = good.filter_map(|link| link.up_since).min()?;
        Some(up.max(stayed + BEGINNINGS).max(self.server_since))
    }

    /// Returns the time from which a member must send or see some pictures: the
    /// connection has passed its start, and any link has stayed up.
    fn there_since(&self, member: &Member) -> Option<Instant> {
        let up = member.call()?.up?;
        let links = member.links.iter().map(|link| &self.links[*link]);
        let stayed = links.filter_map(|link| link.up_since).min()?;
        Some(up.max(stayed).max(self.server_since) + BEGINNINGS)
    }
}
