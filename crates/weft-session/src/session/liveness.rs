//! Paths that come up, fall silent, die and return.

use weft_cc::{Controller, ControllerKind, Limits};
use weft_units::{Duration, Ecn, Instant, PathId};

use super::Session;
use crate::ablation::Ablation;
use crate::config::{Config, FeedbackFormat, Level};
use crate::event::{Event, Output};
use crate::path::{Path, PathState, Purpose};

/// Most that one path may have to carry alone, as a multiple of the application's rate:
/// it includes probes and repair. Chosen by us.
const ROOM: f64 = 1.25;

/// Returns a path's controller, and the ECN field of its packets.
fn controller(config: &Config, level: Level, now: Instant) -> (Box<dyn Controller>, Ecn) {
    let build = match level {
        Level::Single => weft_cc::build_without_feedback,
        Level::Full | Level::SenderSide => weft_cc::build,
    };
    let limits = Limits {
        max: config.path_limits.max.max(config.max_rate.mul_f64(ROOM)),
        ..config.path_limits
    };
    let mut controller = build(config.controller, limits, now);
    controller.set_weight(config.weight);
    controller.set_demand(now, config.max_rate);
    let ecn = match (level, config.feedback_format) {
        (Level::Full, _) | (Level::SenderSide, FeedbackFormat::Stream) => controller.ecn(),
        (Level::SenderSide, FeedbackFormat::Transport) | (Level::Single, _) => Ecn::NotEct,
    };
    (controller, ecn)
}

impl Session {
    pub(super) fn on_path_up(&mut self, now: Instant, id: PathId, rtt: Duration) {
        self.end_unanswered();
        let (config, level) = (&self.config, self.level);
        let path = self.paths.get_or_insert_with(id, |numbering| {
            Path::new(id, controller(config, level, now), rtt, numbering)
        });
        path.on_up(now, rtt);
        self.event(Event::PathStateChanged {
            path: id,
            state: PathState::Up,
        });
        self.announce_rate(now);
        self.ask_for_keyframes(now);
    }

    /// Changes the congestion controller of every path during the call. The new
    /// controllers know nothing about the paths, and begin at the start rate.
    pub fn set_controller(&mut self, now: Instant, kind: ControllerKind) {
        self.config.controller = kind;
        for path in self.paths.values_mut() {
            let (controller, ecn) = controller(&self.config, self.level, now);
            path.set_controller(controller, ecn);
        }
        self.announce_rate(now);
        self.refresh_paths_due();
    }

    /// Handles the silence of all paths: media waits for a path. Packets in flight or in
    /// the pacer would be stale when one returns, so a keyframe restarts the picture.
    pub(super) fn on_path_silent(&mut self, now: Instant, id: PathId) {
        let Some(path) = self.paths.get_mut(&id).filter(|p| p.is_usable()) else {
            return;
        };
        let state = PathState::Suspect;
        let changed = path.state != state;
        for waiting in path.on_silent() {
            if waiting.purpose == Purpose::Retransmission {
                self.clear_queued_again(waiting.stream, waiting.sequence);
            }
        }
        if changed {
            self.event(Event::PathStateChanged { path: id, state });
        }
        if !self.paths.any_usable() {
            for stream in self.streams.senders.values_mut() {
                stream.interrupt();
            }
            self.send_unanswered(now);
        }
        self.announce_rate(now);
    }

    pub(super) fn on_path_down(&mut self, now: Instant, id: PathId) {
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        if path.state == PathState::Down {
            return;
        }
        self.examine_paths(now);
        self.leave(now, id);
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        let (waiting, mut in_flight) = path.on_down(now);
        if !self.has(Ablation::InFlight) {
            in_flight.clear();
        }
        self.scheduling.scheduler.on_path_down(now, id);
        self.scheduling.resumes_at = self
            .scheduling
            .scheduler
            .resumes_at()
            .filter(|at| now < *at);
        self.event(Event::PathStateChanged {
            path: id,
            state: PathState::Down,
        });
        self.inherit(now, id, waiting, in_flight);
        while let Some(surplus) = self.paths.surplus() {
            self.forget_path(surplus);
        }
        self.announce_rate(now);
    }

    /// Ends a migration: a connection that is set up again does not know its path, and
    /// its picture restarts.
    pub(super) fn resume(&mut self, now: Instant) {
        if self.scheduling.resumes_at.is_none_or(|at| now < at) {
            return;
        }
        self.scheduling.resumes_at = None;
        for path in self.paths.values_mut().filter(|p| p.is_usable()) {
            path.controller.on_path_restored(now);
        }
        self.announce_rate(now);
        self.ask_for_keyframes(now);
    }

    pub(super) fn check_silence(&mut self, now: Instant) {
        if self.level == Level::Single || !self.has(Ablation::PathDeath) {
            return;
        }
        let mut doubted = Vec::new();
        for path in self.paths.values_mut() {
            let before = path.state;
            let suspect = path.check_silence(now);
            if path.state != before {
                self.rate.moved = true;
                let event = Event::PathStateChanged {
                    path: path.id,
                    state: path.state,
                };
                self.outputs.push_back(Output::Event(event));
            }
            if suspect {
                self.outputs.push_back(Output::SuspectPath(path.id));
            }
            if path.check_doubt(now) {
                doubted.push(path.id);
            }
        }
        if !doubted.is_empty() {
            self.examine_paths(now);
        }
        for id in doubted {
            self.rescue(now, id);
        }
    }

    /// Handles the removal of a path by the association. Other paths take over the
    /// packets that it holds.
    pub(super) fn on_path_removed(&mut self, now: Instant, id: PathId) {
        self.on_path_down(now, id);
        self.forget_path(id);
        self.scheduling.policies.remove(id);
        self.announce_rate(now);
    }
}
