//! The session: streams and paths behind three methods.

mod feedback;
mod liveness;
mod numbers;
mod protecting;
mod quality;
mod receiving;
mod recovering;
mod reports;
mod rescue;
mod sending;
mod stream_feedback;
mod transmitting;

use std::collections::{BTreeMap, VecDeque};

use weft_units::{Deadline, Duration, Instant, MediaKind, PathId, Rate, Rng, Ssrc, StreamId};

use crate::config::{Config, Level, Naming, ReceiveStreamConfig, SendStreamConfig};
use crate::event::{Event, Input, Output};
use crate::few::Few;
use crate::path::{Path, PathState};
use crate::protection::{Protection, ProtectionKind, RepairShare};
use crate::receive_log::ReceiveLog;
use crate::schedule::{PathUse, PathView, Policies, Policy, SOUND, Scheduler, SchedulerKind};
use crate::send::{Buffers, REPAIR_HEADROOM, SendStream};
use crate::stats::Stats;

use numbers::Numbers;
use receiving::ReceiveStream;

/// A multipath media session, without sockets, crypto or codecs.
///
/// Order of calls: any input ([`Session::handle_input`], [`Session::send_frame`],
/// …), then [`Session::poll_output`] until `None`, then
/// [`Session::poll_timeout`]. Time never goes back; a deadline in the past
/// means "at once".
pub struct Session {
    config: Config,
    level: Level,
    rng: Rng,
    scheduler: Box<dyn Scheduler>,
    scheduler_kind: SchedulerKind,
    policies: Policies,
    protection: Box<dyn Protection>,
    protection_kind: ProtectionKind,
    repair_share: RepairShare,
    paths: Few<PathId, Path>,
    paths_due: PathsDue,
    senders: Few<StreamId, SendStream>,
    receivers: Few<StreamId, ReceiveStream>,
    next_stream: u32,
    outputs: VecDeque<Output>,
    /// For packets that go out.
    buffers: Buffers,
    /// What was sent under the numbers that feedback names.
    numbers: Numbers,
    /// What has come by each path (full level).
    path_logs: Few<PathId, ReceiveLog>,
    /// Which of our paths each of the peer's is, as far as is known.
    peer_paths: Few<PathId, PathId>,
    /// What has come by transport-wide number (sender-side level).
    transport_log: ReceiveLog,
    /// What has come of each stream, if its own numbers name it.
    stream_logs: BTreeMap<Ssrc, ReceiveLog>,
    /// The peer's clock in its reports by stream, unwrapped.
    report_clock: Option<u64>,
    feedback_count: u8,
    next_feedback: Option<Instant>,
    next_report: Instant,
    /// When a migration to another path is over.
    resumes_at: Option<Instant>,
    /// What the peer said we may send (RTCP REMB), if it did.
    remote_limit: Option<Rate>,
    announced_rate: Rate,
    /// Something that the target rate depends on may have changed.
    rate_moved: bool,
    rescue_budget: rescue::Budget,
    /// The latest time that was given.
    now: Instant,
    drops: Drops,
}

/// When the paths want something.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct PathsDue {
    /// A packet may leave.
    pacer: Option<Instant>,
    other: Option<Deadline>,
}

/// Packets from the network that were dropped, by reason.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Drops {
    /// Not RTP or RTCP, truncated, or of absurd size.
    pub malformed: u64,
    /// Of no stream that was negotiated.
    pub unknown_stream: u64,
    /// Feedback for packets that were never sent or are long forgotten.
    pub stale_feedback: u64,
    /// Quality feedback and frame rates that cannot be true.
    pub implausible: u64,
}

/// The call of this session's interface was wrong.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The stream does not exist, or not in this direction.
    #[error("the session has no such stream in this direction: {0:?}")]
    UnknownStream(StreamId),
}

impl Session {
    /// A session without streams and paths.
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
            scheduler: kind.build(config.ablation),
            scheduler_kind: kind,
            policies: Policies::default(),
            protection: config.protection.build(),
            protection_kind: config.protection,
            repair_share: RepairShare::default(),
            paths: Few::default(),
            paths_due: PathsDue::default(),
            senders: Few::default(),
            receivers: Few::default(),
            next_stream: 0,
            outputs: VecDeque::new(),
            buffers: Buffers::default(),
            numbers: Numbers::default(),
            path_logs: Few::default(),
            peer_paths: Few::default(),
            transport_log: ReceiveLog::default(),
            stream_logs: BTreeMap::new(),
            report_clock: None,
            feedback_count: 0,
            next_feedback: None,
            next_report: now + reports::INTERVAL,
            resumes_at: None,
            remote_limit: None,
            announced_rate: Rate::ZERO,
            rate_moved: true,
            rescue_budget: rescue::Budget::new(),
            now,
            drops: Drops::default(),
            config,
        }
    }

    /// What was negotiated.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// By what feedback names packets at [`Level::SenderSide`].
    #[must_use]
    pub fn naming(&self) -> Naming {
        self.config.naming
    }

    /// Adds a stream that this side sends.
    pub fn add_send_stream(&mut self, mut config: SendStreamConfig) -> StreamId {
        if self.level == Level::Single {
            // What each path loses is not known.
            config.fec = None;
        }
        let (sequence, picture) = (self.rng.next_u32() as u16, self.rng.next_u32() as u16);
        let id = self.next_stream_id();
        self.senders
            .insert(id, SendStream::new(config, sequence, picture));
        id
    }

    /// Adds a stream that this side receives.
    pub fn add_receive_stream(&mut self, config: ReceiveStreamConfig) -> StreamId {
        let id = self.next_stream_id();
        self.receivers.insert(id, ReceiveStream::new(config));
        id
    }

    fn next_stream_id(&mut self) -> StreamId {
        let id = StreamId(self.next_stream);
        self.next_stream += 1;
        id
    }

    /// Changes the scheduler during the call. At [`Level::Single`] there is
    /// nothing to choose.
    pub fn set_scheduler(&mut self, kind: SchedulerKind) {
        if self.level != Level::Single {
            self.scheduler = kind.build(self.config.ablation);
            self.scheduler_kind = kind;
            self.resumes_at = None;
            self.rate_moved = true;
        }
    }

    /// The scheduler that runs.
    #[must_use]
    pub fn scheduler(&self) -> SchedulerKind {
        self.scheduler_kind
    }

    /// Says how a path's link may be used; known for paths to come, too.
    pub fn set_path_policy(&mut self, now: Instant, path: PathId, policy: Policy) {
        self.policies.set(path, policy);
        self.announce_rate(now);
        self.refresh_paths_due();
    }

    /// How a path's link may be used.
    #[must_use]
    pub fn path_policy(&self, path: PathId) -> Policy {
        self.policies.of(path)
    }

    /// Changes the protection during the call.
    pub fn set_protection(&mut self, kind: ProtectionKind) {
        self.protection = kind.build();
        self.protection_kind = kind;
    }

    /// The protection that runs, on streams that have repair packets.
    #[must_use]
    pub fn protection(&self) -> ProtectionKind {
        self.protection_kind
    }

    /// Bounds what is sent over all paths together.
    pub fn set_max_rate(&mut self, now: Instant, rate: Rate) {
        self.config.max_rate = rate;
        self.announce_rate(now);
        self.refresh_paths_due();
    }

    /// Takes in what came from outside. Nonsense from the network is a counted
    /// drop, never an error.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.now = now;
        let is_rtp = matches!(input, Input::Rtp { .. } | Input::RtpAgain { .. });
        match input {
            Input::Rtp { path, ecn, packet } => self.on_rtp(now, path, ecn, packet),
            Input::RtpAgain { path, ecn, packet } => self.on_rtp_again(now, path, ecn, packet),
            Input::Rtcp { packet, .. } => self.on_rtcp(now, packet),
            Input::PathUp { path, rtt } => self.on_path_up(now, path, rtt),
            Input::PathSilent { path } => self.on_path_silent(now, path),
            Input::PathDown { path } => self.on_path_down(now, path),
            Input::Timeout if self.only_pacers_are_due(now) => {
                self.transmit_due(now);
                self.refresh_paths_due();
                return;
            }
            Input::Timeout => {}
        }
        if is_rtp && !self.is_due(now) {
            // What came changes nothing of what is sent.
            self.poll_receivers(now);
            return;
        }
        self.advance(now);
    }

    /// The next thing to do; drain it to `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Takes back the memory of a packet that has been sent, for the next one.
    /// Who does not call this pays an allocation for each.
    pub fn recycle(&mut self, packet: Vec<u8>) {
        self.buffers.put(packet);
    }

    /// When [`Input::Timeout`] is wanted.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        debug_assert_eq!(self.paths_due, self.find_paths_due());
        let report = Deadline {
            at: self.next_report,
            reason: "report",
        };
        let feedback = self.next_feedback.map(|at| Deadline {
            at,
            reason: "feedback",
        });
        let pacer = self.paths_due.pacer.map(|at| Deadline {
            at,
            reason: "pacer",
        });
        let paths = Deadline::earlier(self.paths_due.other, pacer);
        let sending = Deadline::earlier(Deadline::earlier(Some(report), feedback), paths);
        let receivers = self.receivers.values();
        let receivers = receivers.map(|stream| stream.receiver.poll_timeout());
        receivers.fold(sending, |next, due| {
            let due = due.map(|d| Deadline {
                reason: "receiver",
                ..d
            });
            Deadline::earlier(next, due)
        })
    }

    /// What the paths want next. Every call that changes something of what is
    /// sent ends with this: packets that come in change nothing of it, and are
    /// as many.
    fn refresh_paths_due(&mut self) {
        self.paths_due = self.find_paths_due();
    }

    fn find_paths_due(&self) -> PathsDue {
        let mut next = PathsDue::default();
        let mut consider = |at: Option<Instant>, reason| {
            next.other = Deadline::earlier(next.other, at.map(|at| Deadline { at, reason }));
        };
        consider(self.resumes_at, "migration");
        for path in self.paths.values() {
            if self.level != Level::Single {
                consider(path.silence_deadline(), "silence");
            }
            consider(path.controller.poll_timeout().map(|d| d.at), "controller");
            if !path.queue.is_empty() || self.can_pad(path) {
                let at = path.next_send(Instant::ZERO);
                next.pacer = Some(next.pacer.map_or(at, |earliest| earliest.min(at)));
            }
            consider(self.keep_alive_due(path), "keep-alive");
        }
        next
    }

    /// Whether a timeout is for packets that wait for their pacer, as most are:
    /// nothing else has anything to do then.
    fn only_pacers_are_due(&self, now: Instant) -> bool {
        let later = |at: Option<Instant>| at.is_none_or(|at| now < at);
        let mut receivers = self.receivers.values().map(|s| s.receiver.poll_timeout());
        !self.rate_moved
            && now < self.next_report
            && later(self.next_feedback)
            && later(self.paths_due.other.map(|d| d.at))
            && receivers.all(|due| later(due.map(|d| d.at)))
    }

    /// What media says of each path's life: its smoothed round trip, queues
    /// included, and when feedback last named a packet for the first time.
    pub fn signs_of_life(&self) -> impl Iterator<Item = (PathId, Duration, Option<Instant>)> {
        let paths = self.paths.values();
        paths.map(|p| (p.id, p.rtt.smoothed(), p.heard_at()))
    }

    /// What all streams together should send: the paths' worth without what
    /// repair packets take, the peer's limit and the application's.
    #[must_use]
    pub fn target_rate(&self) -> Rate {
        let views = self.path_views();
        let paths = if views.is_empty() {
            Rate::ZERO
        } else {
            self.scheduler.rate(&views)
        };
        let media = paths.as_bps() as f64 * self.repair_share.left_for_media();
        Rate::from_bps(media as u64).min(self.wanted_rate())
    }

    /// A snapshot of everything countable.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::of(self)
    }

    /// What the congestion controller of a path can tell of itself, for plots.
    #[must_use]
    pub fn controller_internals(&self, path: PathId) -> Vec<weft_cc::Internal> {
        let path = self.paths.get(&path);
        path.map_or(Vec::new(), |path| path.controller.internals())
    }

    fn is_due(&self, now: Instant) -> bool {
        self.rate_moved || self.poll_timeout().is_some_and(|d| d.at <= now)
    }

    /// Runs everything that is due.
    fn advance(&mut self, now: Instant) {
        self.now = now;
        self.check_silence(now);
        self.resume(now);
        for path in self.paths.values_mut() {
            if path.controller.poll_timeout().is_some_and(|d| d.at <= now) {
                path.controller.on_timeout(now);
                self.rate_moved = true;
            }
        }
        self.poll_receivers(now);
        self.keep_paths_measured(now);
        self.transmit_due(now);
        self.send_due_feedback(now);
        self.send_due_reports(now);
        if self.rate_moved {
            self.announce_rate(now);
        }
        self.refresh_paths_due();
    }

    /// Tells the application of a target that moved by a hundredth or more.
    fn announce_rate(&mut self, now: Instant) {
        self.rate_moved = false;
        let live = match self.policies.are_none() {
            true => Vec::new(),
            false => self.views(&self.live_paths()),
        };
        self.policies.settle(&live, self.wanted_rate());
        let rate = self.target_rate();
        let moved = rate.as_bps().abs_diff(self.announced_rate.as_bps());
        if moved * 100 <= self.announced_rate.as_bps() && self.announced_rate != Rate::ZERO {
            return;
        }
        if rate == self.announced_rate {
            return;
        }
        self.announced_rate = rate;
        for path in self.paths.values_mut() {
            path.controller.set_demand(now, self.config.max_rate);
        }
        self.event(Event::TargetRateChanged { rate });
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    /// The paths that may carry packets, as the scheduler sees them: of those
    /// that live, those that the links' policies admit.
    fn path_views(&self) -> Vec<PathView> {
        let live = self.live_paths();
        if self.policies.are_none() {
            return self.views(&live);
        }
        let admitted = self.policies.admit(&self.views(&live), self.wanted_rate());
        let rate_of = |id| admitted.iter().find(|(path, _)| *path == id);
        let used = live.into_iter().filter(|p| rate_of(p.id).is_some());
        let mut views = self.views(&used.collect::<Vec<&Path>>());
        for view in &mut views {
            view.rate = rate_of(view.id).map_or(view.rate, |(_, rate)| *rate);
        }
        views
    }

    /// Paths as the scheduler sees them, their delays over the quickest one's.
    fn views(&self, paths: &[&Path]) -> Vec<PathView> {
        let measured = paths.iter().all(|p| p.one_way.recent().is_some());
        let delay = |p: &Path| {
            let measured = p.one_way.recent().filter(|_| measured);
            measured.unwrap_or_else(|| (p.rtt.smoothed() / 2).as_nanos() as i64)
        };
        let each = paths.iter().map(|p| (*p, delay(p), self.reach(p)));
        let each: Vec<(&Path, i64, i64)> = each.collect();
        let least = each.iter().map(|(_, delay, _)| *delay).min().unwrap_or(0);
        let quickest = each.iter().map(|(.., reach)| *reach).min().unwrap_or(0);
        let over = |value: i64, least: i64| Duration::from_nanos(value.abs_diff(least));
        let view = |(path, delay, reach): &(&Path, i64, i64)| {
            path.view(over(*delay, least), over(*reach, quickest))
        };
        each.iter().map(view).collect()
    }

    /// One-way delay of what is sent on this path now, with a constant that
    /// all paths share; half a round trip where there is no feedback yet.
    fn reach(&self, path: &Path) -> i64 {
        path.expected_delay(self.now).unwrap_or_else(|| {
            let offsets = self.paths.values().filter_map(|p| p.forecast.offset());
            offsets.min().unwrap_or(0) + (path.rtt.smoothed() / 2).as_nanos() as i64
        })
    }

    /// The paths that are up, or else those that are suspect; only the one that
    /// the scheduler keeps to, if it can be used.
    fn live_paths(&self) -> Vec<&Path> {
        let kept = self.scheduler.keeps_to();
        let kept = kept.and_then(|id| self.paths.get(&id));
        if let Some(path) = kept.filter(|p| p.is_usable()) {
            return vec![path];
        }
        let in_state = |s| {
            let paths = self.paths.values();
            paths.filter(move |p| p.state == s && p.is_usable())
        };
        let mut live: Vec<&Path> = in_state(PathState::Up).collect();
        if live.is_empty() {
            live = in_state(PathState::Suspect).collect();
            if self.scheduler.rescues() {
                // The one that was heard last is the likeliest to live.
                let last = live.iter().map(|p| p.heard_at()).max();
                live.retain(|p| Some(p.heard_at()) == last);
            }
        }
        live
    }

    /// The most that the application sends, as far as the peer takes it: who
    /// sends no pictures wants little.
    fn wanted_rate(&self) -> Rate {
        let mut kinds = self.senders.values().map(|s| s.config.codec.kind());
        let most = match self.senders.is_empty() || kinds.any(|k| k == MediaKind::Video) {
            true => self.config.max_rate,
            false => SOUND
                .mul_f64(self.senders.len() as f64)
                .min(self.config.max_rate),
        };
        self.remote_limit.map_or(most, |limit| limit.min(most))
    }

    /// The SSRC that stands as sender in RTCP.
    fn rtcp_ssrc(&self) -> Ssrc {
        self.senders
            .values()
            .next()
            .map_or(self.config.feedback_ssrc, |s| s.config.ssrc)
    }

    /// Largest payload that fits a packet with all that goes around it, and
    /// the repair packet that it may get into.
    fn max_payload(&self) -> usize {
        let is_protected = self.senders.values().any(|s| s.repair.is_some())
            && self.protection_kind != ProtectionKind::None;
        let repair = if is_protected { REPAIR_HEADROOM } else { 0 };
        (self.config.max_packet.0 as usize)
            .saturating_sub(crate::send::HEADROOM + repair)
            .max(100)
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.values()
    }

    pub(crate) fn senders(&self) -> impl Iterator<Item = (StreamId, &SendStream)> {
        self.senders.iter().map(|(id, s)| (*id, s))
    }

    pub(crate) fn receivers(&self) -> impl Iterator<Item = (StreamId, &ReceiveStream)> {
        self.receivers.iter().map(|(id, s)| (*id, s))
    }

    pub(crate) fn path_use(&self, path: PathId) -> PathUse {
        self.scheduler.usage(path)
    }

    pub(crate) fn drops(&self) -> Drops {
        self.drops
    }
}
