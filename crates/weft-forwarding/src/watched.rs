//! Encodings with viewers.

use crate::event::Event;
use crate::plane::Plane;
use crate::player::{GUESSING, Subscribed};
use crate::routing::TrackId;
use crate::rules::AllocatorKind;
use crate::traffic::Traffic;
use crate::wanted::{self, Size};
use std::collections::BTreeSet;
use weft_units::{Instant, MediaKind, Rate};

impl Traffic {
    /// Returns the encodings that any player may get.
    fn watched(&self, now: Instant) -> BTreeSet<TrackId> {
        let players = self.players.values().flat_map(|player| {
            let guessing = now.saturating_since(player.since) < GUESSING * 2;
            let streams = player.subscriptions.values();
            streams.map(move |subscribed| (subscribed, guessing))
        });
        let cameras = players.filter(|(s, _)| s.kind == MediaKind::Video);
        let watched = cameras.flat_map(|(s, guessing)| self.watched_by(now, s, guessing));
        // Another plane chooses among all encodings of a camera.
        let watched = watched.chain(self.relays.exported());
        watched.chain(self.recorded(now)).collect()
    }

    /// Returns the encodings that one player may get: the largest useful one if its share
    /// of the rate can carry that, otherwise the smaller ones, too. Other servers' rules have
    /// publishers send all useful ones.
    fn watched_by(&self, now: Instant, by: &Subscribed, guessing: bool) -> Vec<TrackId> {
        let sized = by.carried.encodings.iter();
        let sized = sized.map(|track| (*track, self.router.size(*track)));
        let sized: Vec<(TrackId, Size)> = sized.collect();
        let mut useful = wanted::watchable(&sized, by.carried.shown);
        let size = |track: &TrackId| self.router.size(*track);
        let largest = useful.iter().copied().max_by_key(size);
        let rate = largest.and_then(|track| self.router.rate(now, track));
        let carries = |(share, rate): (Rate, Rate)| rate > Rate::ZERO && share >= rate;
        let is_own = self.allocator == AllocatorKind::Weft;
        if is_own && !guessing && by.share.zip(rate).is_some_and(carries) {
            let present = [self.router.track(by.id), self.router.preferred(by.id)];
            useful.retain(|track| Some(*track) == largest || present.contains(&Some(*track)));
        }
        useful
    }
}

impl Plane {
    /// Tells publishers which encodings to pause or to resume.
    pub(crate) fn tell_wanted(&mut self, now: Instant) {
        let watched = self.traffic.watched(now);
        let told = self.publications.values_mut();
        let told = told.filter_map(|publication| publication.update_wanted(now, &watched));
        for (source, cameras) in told {
            if let Some(resource) = self.resources.get(&source).cloned() {
                let event = Event::WantedChanged { resource, cameras };
                self.events.push_back(event);
            }
        }
    }

    /// Records new viewers of these encodings: their publisher sends them at once.
    pub(crate) fn resume_wanted(&mut self, now: Instant, tracks: &[TrackId]) {
        let mut all = self.publications.values();
        if all.any(|publication| publication.wanted().is_some_and(|w| w.pauses(tracks))) {
            self.tell_wanted(now);
        }
    }
}
