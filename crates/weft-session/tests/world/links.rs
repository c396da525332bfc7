//! Links that change in one direction only.

use weft_session::{Ablations, Config, Input, Reporting, SchedulerKind};
use weft_units::{Bytes, PathId, Rate, Ssrc};
use weft_wire::rtp::ExtensionMap;

use super::World;

impl World {
    /// Creates a call with some parts left out.
    pub fn without_a_part(
        seed: u64,
        specs: &[weft_links::LinkSpec],
        scheduler: SchedulerKind,
        ablations: Ablations,
    ) -> World {
        let extensions = ExtensionMap {
            path: Some(5),
            transport_sequence: Some(3),
            ..ExtensionMap::default()
        };
        let mut config = Config::new(extensions, Ssrc(1));
        (config.scheduler, config.ablations) = (scheduler, ablations);
        World::with_config(seed, specs, config, true)
    }

    /// Creates a call with a peer that reports as browsers do.
    pub fn with_a_browser(seed: u64, specs: &[weft_links::LinkSpec]) -> World {
        let extensions = ExtensionMap {
            transport_sequence: Some(3),
            ..ExtensionMap::default()
        };
        let mut config = Config::new(extensions, Ssrc(1));
        config.reporting = Reporting::Browser;
        World::with_config(seed, specs, config, true)
    }

    /// Sets the capacity in both directions.
    pub fn set_capacity(&mut self, link: usize, rate: Rate) {
        let now = self.now;
        self.links[link].up.set_capacity(now, rate);
        self.links[link].down.set_capacity(now, rate);
    }

    /// Cuts the link towards the receiver.
    pub fn cut_forward(&mut self, link: usize) {
        let now = self.now;
        self.links[link].up.cut(now);
    }

    /// Cuts the link from the receiver.
    pub fn cut_return(&mut self, link: usize) {
        let now = self.now;
        self.links[link].down.cut(now);
    }

    /// Makes the sender's association report that no link answers.
    pub fn fall_silent(&mut self) {
        for link in 0..self.links.len() {
            let path = PathId(link as u8);
            self.sender
                .handle_input(self.now, Input::PathSilent { path });
        }
    }

    /// Restores both directions of a link, and makes the sender's association report it.
    pub fn answer(&mut self, link: usize) {
        self.links[link].up.restore(self.now);
        self.links[link].down.restore(self.now);
        let (path, rtt) = (PathId(link as u8), self.links[link].rtt);
        self.sender
            .handle_input(self.now, Input::PathUp { path, rtt });
    }

    /// Returns the packets that the receiver has sent on this link so far.
    pub fn sent_to_sender_on(&self, link: usize) -> u64 {
        self.links[link].down.counters().sent.packets
    }

    pub fn prefer(&mut self, preference: weft_session::Preference) {
        self.sender.set_preference(self.now, preference);
    }

    pub fn set_scheduler(&mut self, kind: SchedulerKind) {
        self.sender.set_scheduler(kind);
    }

    pub fn target_rate(&self) -> Rate {
        self.sender.target_rate()
    }

    pub fn frame_budget(&self) -> Option<Bytes> {
        self.sender.frame_budget(self.now)
    }
}
