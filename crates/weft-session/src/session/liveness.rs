//! Paths that come, fall silent, die and return.

use weft_cc::{Controller, ControllerKind, Limits};
use weft_units::{Duration, Ecn, Instant, PathId};

use super::Session;
use crate::config::{Config, Level, Naming, RETRANSMISSION_AGE};
use crate::event::{Event, Output};
use crate::path::{Carried, Content, Path, PathState, Purpose, Waiting};

/// A live path that sent nothing for this long, or nothing but copies, gets a
/// duplicate, so that its delay and rate are known when it is needed (Converge,
/// section 4.2). Four per second cost about 40 kbps at full packets; chosen by
/// us.
const KEEP_MEASURED: Duration = Duration::from_millis(250);

/// The same for a path that fell ill: it is back in use when it is well, and
/// soon seen to be so.
const KEEP_SICK_MEASURED: Duration = Duration::from_millis(60);

/// What one path may have to carry alone, over what the application sends:
/// probes and repair come on top. Chosen by us.
const ROOM: f64 = 1.25;

/// A path's controller, and what its packets are to bear.
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
    let ecn = match (level, config.naming) {
        (Level::Full, _) | (Level::SenderSide, Naming::Stream) => controller.ecn(),
        (Level::SenderSide, Naming::Transport) | (Level::Single, _) => Ecn::NotEct,
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

    /// Changes the congestion controller of every path during the call. The
    /// new ones know nothing of the paths, and begin at the start rate.
    pub fn set_controller(&mut self, now: Instant, kind: ControllerKind) {
        self.config.controller = kind;
        for path in self.paths.values_mut() {
            let (controller, ecn) = controller(&self.config, self.level, now);
            path.set_controller(controller, ecn);
        }
        self.announce_rate(now);
        self.refresh_paths_due();
    }

    /// All paths are silent: media waits for a path. What is in flight or in
    /// the pacer would be stale when one returns; a keyframe begins anew.
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

    /// For the streams that wait for one: those that were interrupted.
    pub(super) fn ask_for_keyframes(&mut self, now: Instant) {
        for id in self.streams.senders.keys().copied().collect::<Vec<_>>() {
            self.ask_for_keyframe(now, id);
        }
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
        let (waiting, in_flight) = path.on_down(now);
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

    /// A migration is over: a connection that is established anew knows nothing
    /// of its path, and its picture begins anew.
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

    /// What was waiting or in flight on a path that is not to be waited for goes
    /// out on the others at once, the newest frame's packets first.
    pub(super) fn send_elsewhere(
        &mut self,
        now: Instant,
        from: PathId,
        waiting: Vec<Waiting>,
        in_flight: Vec<(u64, Carried)>,
    ) {
        let newest_first = self.newest_frames_first(in_flight);
        for (number, carried) in newest_first {
            if carried.content == Content::Repair {
                self.give_up_repair(now, carried.stream, carried.sequence);
            }
            self.retransmit_if_current(now, from, number, carried);
        }
        self.schedule_again(now, waiting);
    }

    /// Frames from new to old, the packets of each in order.
    pub(super) fn newest_frames_first(&self, mut lost: Vec<(u64, Carried)>) -> Vec<(u64, Carried)> {
        let timestamp = |c: &Carried| {
            let packet = self
                .streams
                .senders
                .get(&c.stream)
                .and_then(|s| s.get(c.sequence));
            packet.map_or(Instant::ZERO, |p| p.created_at)
        };
        lost.sort_by_cached_key(|(_, c)| (std::cmp::Reverse(timestamp(c)), c.stream, c.sequence));
        lost
    }

    pub(super) fn check_silence(&mut self, now: Instant) {
        if self.level == Level::Single {
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

    /// Sends a duplicate of a recent packet on live paths that stand idle.
    pub(super) fn keep_paths_measured(&mut self, now: Instant) {
        let mut place = 0;
        while let Some(id) = self.paths.id_at(place) {
            place += 1;
            let due = self.paths.get(&id).and_then(|p| self.keep_alive_due(p));
            if due.is_none_or(|at| now < at) {
                continue;
            }
            self.send_padding(now, id);
            if let Some(path) = self.paths.get_mut(&id) {
                path.sending.last_measured = Some(now);
            }
        }
    }

    /// When an idle path wants a duplicate. Only while there is recent media
    /// and a choice of paths.
    pub(super) fn keep_alive_due(&self, path: &Path) -> Option<Instant> {
        let idle = path.state == PathState::Up
            && path.queue.is_empty()
            && self.scheduling.policies.may_be_measured(path.id);
        if !idle || self.paths.len() < 2 || self.level == Level::Single {
            return None;
        }
        let newest = self
            .streams
            .senders
            .values()
            .filter_map(|s| s.newest)
            .map(|(_, at)| at)
            .max()?;
        let interval = match self.avoids(path) {
            true => KEEP_SICK_MEASURED,
            false => KEEP_MEASURED,
        };
        let due = path
            .sending
            .last_measured
            .map_or(newest, |at| at + interval);
        (due <= newest + RETRANSMISSION_AGE).then_some(due)
    }
}
