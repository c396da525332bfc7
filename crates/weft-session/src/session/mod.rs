//! Session: streams and paths behind three methods.

mod budget;
mod deadlines;
mod feedback;
mod figures;
mod health;
mod keyframes;
mod lateness;
mod limit;
mod liveness;
mod losses;
mod pacing;
mod padding;
mod protecting;
mod queries;
mod rate;
mod receive_stream;
mod receivers;
mod receiving;
mod recovering;
mod removal;
mod repeating;
mod rescue;
mod scheduling;
mod sending;
mod transmitting;
mod unanswered;
mod unheard;
mod views;

use std::collections::VecDeque;

use weft_units::{Bytes, Deadline, Duration, Instant, PathId, Rate, Rng, StreamId};
use weft_wire::media::ForwardedPacket;

use crate::config::{
    Backlog, Config, FeedbackFormat, Level, ReceiveStreamConfig, SendStreamConfig,
};
use crate::event::{Frame, Input, Output};
use crate::path::{Path, PathState, Paths};
use crate::preference::Preference;
use crate::protection::{Protection, ProtectionKind, RepairShare};
use crate::schedule::{PathUse, Policy, SchedulerKind};
use crate::send::{Buffers, SendStream};
use crate::small_map::SmallMap;
use crate::stats::{Drops, Stats};

use feedback::Feedback;
use receive_stream::ReceiveStream;
use receivers::Receivers;
use scheduling::Scheduling;

/// Multipath media session, without sockets, crypto or codecs.
///
/// Order of calls: any input ([`Session::handle_input`], [`Session::send_frame`], …),
/// then [`Session::poll_output`] until `None`, then [`Session::poll_timeout`]. Time must
/// not go back; a deadline in the past means "at once".
pub struct Session {
    config: Config,
    level: Level,
    rng: Rng,
    paths: Paths,
    paths_due: PathsDue,
    streams: Streams,
    scheduling: Scheduling,
    protecting: Protecting,
    feedback: Feedback,
    rate: AnnouncedRate,
    /// Limit on everything that is sent, if there is one.
    limit: Option<limit::SendLimit>,
    outputs: VecDeque<Output>,
    /// Buffers for outgoing packets.
    buffers: Buffers,
    /// Latest time passed in.
    now: Instant,
    drops: Drops,
}

/// Streams of both directions.
#[derive(Default)]
struct Streams {
    senders: SmallMap<StreamId, SendStream>,
    receivers: Receivers,
    /// Number of the next stream in either direction.
    next: u32,
}

/// Last target rate announced to the application.
struct AnnouncedRate {
    announced: Rate,
    /// Whether something that affects the target rate may have changed.
    moved: bool,
}

/// Choice of the repair packets.
struct Protecting {
    protection: Box<dyn Protection>,
    kind: ProtectionKind,
    repair_share: RepairShare,
}

/// Next deadlines of the paths.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct PathsDue {
    /// Time at which a packet may leave.
    pacer: Option<Instant>,
    other: Option<Deadline>,
}

/// Wrong use of the session's interface.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The stream does not exist, or not in this direction.
    #[error("the session has no such stream in this direction: {0:?}")]
    UnknownStream(StreamId),
}

impl Session {
    /// Creates a session without streams and paths.
    #[must_use]
    pub fn new(now: Instant, config: Config, rng: Rng) -> Session {
        let level = config.level();
        let kind = if level == Level::Single {
            SchedulerKind::Single
        } else {
            config.scheduler
        };
        Session {
            level,
            rng: rng.stream("session"),
            paths: Paths::default(),
            paths_due: PathsDue::default(),
            streams: Streams::default(),
            scheduling: Scheduling::new(kind, &config),
            protecting: Protecting {
                protection: config.protection.build(),
                kind: config.protection,
                repair_share: RepairShare::default(),
            },
            feedback: Feedback::new(now),
            rate: AnnouncedRate {
                announced: Rate::ZERO,
                moved: true,
            },
            limit: config
                .send_limit
                .map(|rate| limit::SendLimit::new(now, rate)),
            outputs: VecDeque::new(),
            buffers: Buffers::default(),
            now,
            drops: Drops::default(),
            config,
        }
    }

    /// Returns the negotiated level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns the format of feedback at [`Level::SenderSide`].
    #[must_use]
    pub fn feedback_format(&self) -> FeedbackFormat {
        self.config.feedback_format
    }

    /// Adds a stream that this side sends.
    pub fn add_send_stream(&mut self, mut config: SendStreamConfig) -> StreamId {
        if self.level == Level::Single {
            // The losses of each path are unknown.
            config.fec = None;
        }
        let (sequence, picture) = (self.rng.next_u32() as u16, self.rng.next_u32() as u16);
        let id = self.next_stream_id();
        self.streams
            .senders
            .insert(id, SendStream::new(config, sequence, picture));
        id
    }

    /// Adds a stream that this side receives.
    pub fn add_receive_stream(&mut self, config: ReceiveStreamConfig) -> StreamId {
        let id = self.next_stream_id();
        self.streams
            .receivers
            .push(id, ReceiveStream::new(config, self.config.receiver));
        id
    }

    fn next_stream_id(&mut self) -> StreamId {
        let id = StreamId(self.streams.next);
        self.streams.next += 1;
        id
    }

    /// Changes the scheduler during the call. Does nothing at [`Level::Single`], which
    /// has no choice.
    pub fn set_scheduler(&mut self, kind: SchedulerKind) {
        if self.level != Level::Single {
            self.scheduling.set_scheduler(kind, &self.config);
            self.rate.moved = true;
        }
    }

    /// Returns the current scheduler.
    #[must_use]
    pub fn scheduler(&self) -> SchedulerKind {
        self.scheduling.kind
    }

    /// Sets the permitted use of a path's link; the path may not exist yet.
    pub fn set_path_policy(&mut self, now: Instant, path: PathId, policy: Policy) {
        self.scheduling.policies.set(path, policy);
        self.announce_rate(now);
        self.refresh_paths_due();
    }

    /// Returns the permitted use of a path's link.
    #[must_use]
    pub fn path_policy(&self, path: PathId) -> Policy {
        self.scheduling.policies.of(path)
    }

    /// Changes the protection during the call.
    pub fn set_protection(&mut self, kind: ProtectionKind) {
        self.protecting.protection = kind.build();
        self.protecting.kind = kind;
    }

    /// Returns the current protection for streams that have repair packets.
    #[must_use]
    pub fn protection(&self) -> ProtectionKind {
        self.protecting.kind
    }

    /// Changes the fault that the call avoids first.
    pub fn set_preference(&mut self, now: Instant, preference: Preference) {
        self.config.preference = preference;
        self.scheduling.resolve(&self.config);
        self.announce_rate(now);
        self.refresh_paths_due();
    }

    /// Returns the fault that the call avoids first.
    #[must_use]
    pub fn preference(&self) -> Preference {
        self.config.preference
    }

    /// Changes the treatment of packets that wait for a pacer.
    pub fn set_backlog(&mut self, backlog: Backlog) {
        self.config.backlog = backlog;
    }

    /// Limits the application's media over all paths together.
    pub fn set_max_rate(&mut self, now: Instant, rate: Rate) {
        self.config.max_rate = rate;
        self.announce_rate(now);
        self.refresh_paths_due();
    }

    /// Handles an input. Invalid data from the network is counted and dropped, and is
    /// never an error.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.now = now;
        let is_for_receivers = matches!(
            input,
            Input::Rtp { .. } | Input::RtpAgain { .. } | Input::Timeout
        );
        match input {
            Input::Rtp { path, ecn, packet } => self.on_rtp(now, path, ecn, packet),
            Input::RtpAgain { path, ecn, packet } => self.on_rtp_again(now, path, ecn, packet),
            Input::Rtcp { packet, .. } => self.on_rtcp(now, packet),
            Input::PathUp { path, rtt } => self.on_path_up(now, path, rtt),
            Input::PathSilent { path } => self.on_path_silent(now, path),
            Input::PathDown { path } => self.on_path_down(now, path),
            Input::PathRemoved { path } => self.on_path_removed(now, path),
            Input::Timeout if self.only_pacers_are_due(now) => {
                self.transmit_due(now);
                self.refresh_paths_due();
                return;
            }
            Input::Timeout => {}
        }
        // With a send limit, time alone makes room for a probe, and reports on incoming
        // packets use some of it. Otherwise incoming packets do not change sending, nor
        // does a timeout for a frame's play-out.
        if is_for_receivers && self.limit.is_none() && !self.is_sending_due(now) {
            self.poll_receivers(now);
            return;
        }
        self.advance(now);
    }

    /// Packetises a frame and sends it; an empty frame sends nothing. Frames of a stream
    /// must come in encoding order.
    ///
    /// # Errors
    /// If this sending stream does not exist.
    pub fn send_frame(
        &mut self,
        now: Instant,
        id: StreamId,
        frame: &Frame<'_>,
    ) -> Result<(), Error> {
        self.now = now;
        if self.queue_frame(now, id, frame)? {
            self.protect_frame(now, id);
            self.advance_queues(now);
        }
        Ok(())
    }

    /// Sends a forwarded packet under the forwarder's number.
    ///
    /// # Errors
    /// If this sending stream does not exist.
    pub fn send_packet(
        &mut self,
        now: Instant,
        id: StreamId,
        packet: &ForwardedPacket,
    ) -> Result<(), Error> {
        self.now = now;
        if self.queue_packet(now, id, packet)? {
            if packet.marker {
                self.protect_frame(now, id);
            }
            self.advance_queues(now);
        }
        Ok(())
    }

    /// Returns the next output; call it until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Takes back the buffer of a sent packet for reuse. Without this call, each packet
    /// needs an allocation.
    pub fn recycle(&mut self, packet: Vec<u8>) {
        self.buffers.put(packet);
    }

    /// Returns when to pass in [`Input::Timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        debug_assert_eq!(self.paths_due, self.find_paths_due());
        let report = Deadline {
            at: self.feedback.next_report,
            reason: "report",
        };
        let feedback = self.feedback.next_feedback.map(|at| Deadline {
            at,
            reason: "feedback",
        });
        let pacer = self.paths_due.pacer.map(|at| Deadline {
            at,
            reason: "pacer",
        });
        let paths = Deadline::earlier(self.paths_due.other, pacer);
        let sending = Deadline::earlier(Deadline::earlier(Some(report), feedback), paths);
        let receivers = self.streams.receivers.poll_timeout();
        let receivers = receivers.map(|at| Deadline {
            at,
            reason: "receiver",
        });
        Deadline::earlier(sending, receivers)
    }

    /// Returns the paths that may carry messages besides media, with their round trips,
    /// the best first. Suspect and dead paths are left out; regular paths come before
    /// backups, then the shortest round trip first.
    #[must_use]
    pub fn message_paths(&self) -> Vec<(PathId, Duration)> {
        let alive = self.paths.values().filter(|p| p.state == PathState::Up);
        let mut ranked: Vec<_> = alive
            .map(|path| {
                (
                    self.path_policy(path.id).standing,
                    path.recent_round_trip(),
                    path.id,
                )
            })
            .collect();
        ranked.sort();
        ranked.into_iter().map(|(_, rtt, id)| (id, rtt)).collect()
    }

    /// Returns each path's signs of life in the media: its smoothed round trip, including
    /// queues, and when feedback last named a packet for the first time.
    pub fn signs_of_life(&self) -> impl Iterator<Item = (PathId, Duration, Option<Instant>)> {
        let paths = self.paths.values();
        paths.map(|p| (p.id, p.rtt.smoothed(), p.heard_at()))
    }

    /// Returns a snapshot of all counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::of(self)
    }

    /// Returns the inner figures of a path's congestion controller, for plots.
    #[must_use]
    pub fn controller_internals(&self, path: PathId) -> Vec<weft_cc::Internal> {
        let path = self.paths.get(&path);
        path.map_or(Vec::new(), |path| path.controller.internals())
    }

    /// Runs everything that is due after packets were queued. With only one path, new
    /// packets only affect its pacer; with several paths, idle ones are measured as soon
    /// as there is media again.
    fn advance_queues(&mut self, now: Instant) {
        if self.paths.only().is_none() || !self.only_pacers_are_due(now) {
            return self.advance(now);
        }
        self.transmit_due(now);
        if self.rate.moved {
            self.announce_rate(now);
        }
        self.refresh_paths_due();
    }

    /// Runs everything that is due.
    fn advance(&mut self, now: Instant) {
        self.now = now;
        self.check_silence(now);
        self.resume(now);
        self.check_unanswered(now);
        for path in self.paths.values_mut() {
            if path.controller.poll_timeout().is_some_and(|d| d.at <= now) {
                path.controller.on_timeout(now);
                self.rate.moved = true;
            }
        }
        self.poll_receivers(now);
        self.keep_paths_measured(now);
        self.transmit_due(now);
        self.send_due_feedback(now);
        self.send_due_reports(now);
        if self.rate.moved {
            self.announce_rate(now);
        }
        self.refresh_paths_due();
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.values()
    }

    pub(crate) fn senders(&self) -> impl Iterator<Item = (StreamId, &SendStream)> {
        self.streams.senders.iter().map(|(id, s)| (*id, s))
    }

    pub(crate) fn receivers(&self) -> impl Iterator<Item = (StreamId, &ReceiveStream)> {
        self.streams.receivers.iter()
    }

    pub(crate) fn path_use(&self, path: PathId) -> PathUse {
        self.scheduling.scheduler.usage(path)
    }

    /// Returns the counters of dropped packets from the network.
    #[must_use]
    pub fn drops(&self) -> Drops {
        self.drops
    }

    /// Counts other traffic of the association against the send limit, as its size on the
    /// link: checks and handshakes. Call this before the next [`Session::poll_timeout`].
    pub fn charge(&mut self, now: Instant, size: Bytes) {
        if let Some(limit) = &mut self.limit {
            limit.spend(now, size);
            self.refresh_paths_due();
        }
    }
}
