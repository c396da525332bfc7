//! One end of a call: its session, its association and its media.

use weft_experiment::{CallSample, CallSetup, PathChange, PathSample, SideRecord, StreamRecord};
use weft_publish::Publisher;
use weft_session::{Config, Event, Input, Level, Output, Session};
use weft_units::{Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::rtp::ExtensionMap;

use super::End;
use super::association::{self, Association};
use super::clock::Clock;
use super::sink::Frames;
use super::streams::{Outgoing, Source, incoming, outgoing};

/// One end. Its times are those of its own clock, until [`Side::take_record`] converts
/// them to the run's.
pub(super) struct Side {
    pub clock: Clock,
    pub session: Session,
    pub association: Association,
    /// Deadline of the session at the last call of [`Side::due`].
    session_due: Option<Instant>,
    outgoing: Vec<Outgoing>,
    /// Streams of the other end, in its order.
    incoming: Vec<StreamId>,
    /// Publisher with one peer. Cameras come first among `outgoing`.
    publisher: Publisher<()>,
    series: Vec<CallSample>,
    path_changes: Vec<PathChange>,
    paths: usize,
    buffer: Vec<u8>,
}

/// Request of an end to its caller.
pub(super) enum Action {
    Transmit(weft_session::Transmit),
    /// STUN message to send.
    TransmitStun(PathId, Vec<u8>),
    /// Number of the other end's stream, and a frame of it.
    Show(usize, weft_session::ReceivedFrame),
}

fn extensions(level: Level) -> ExtensionMap {
    ExtensionMap {
        path: (level == Level::Full).then_some(5),
        transport_sequence: (level != Level::Single).then_some(3),
        ..ExtensionMap::default()
    }
}

impl Side {
    pub fn new(
        now: Instant,
        end: End,
        call: &CallSetup,
        association: Association,
        rng: &Rng,
    ) -> Side {
        let (own, other) = match end {
            End::Caller => (&call.caller, &call.callee),
            End::Callee => (&call.callee, &call.caller),
        };
        let mut config = Config::new(extensions(call.level), Ssrc(1 + end as u32));
        own.configure(&mut config);
        let mut session = Session::new(now, config, rng.stream("session"));
        let outgoing = outgoing(now, end, own, &mut session, rng);
        let incoming = incoming(end, other, &mut session);
        let mut publisher = Publisher::new(own.cameras.iter().map(|c| Some(c.max_rate)));
        let cameras = outgoing.iter().take(own.cameras.len());
        let sound = own.microphones.iter().map(|m| m.rate).sum();
        publisher.handle_joined((), cameras.map(|o| o.stream).collect(), sound);
        let up = association.paths_up();
        let paths = up.len();
        for (path, rtt) in up {
            session.handle_input(now, Input::PathUp { path, rtt });
        }
        Side {
            clock: Clock::new(now, own.clock_ppm),
            session,
            association,
            session_due: None,
            outgoing,
            incoming,
            publisher,
            series: Vec::new(),
            path_changes: Vec::new(),
            paths,
            buffer: Vec::new(),
        }
    }

    /// Returns the next time for [`Side::on_time`].
    pub fn due(&mut self) -> Option<Instant> {
        self.session_due = self.session.poll_timeout().map(|d| d.at);
        let sources = self.outgoing.iter().map(|o| o.source.next_at());
        let others = self.session_due.into_iter().chain(self.association.due());
        others.chain(sources).min()
    }

    /// Runs the due timers.
    pub fn on_time(&mut self, now: Instant, frames: &mut [Frames]) {
        for (index, (outgoing, frames)) in self.outgoing.iter_mut().zip(frames).enumerate() {
            while outgoing.source.next_at() <= now {
                let budget = self.session.frame_budget(now);
                self.publisher.handle_frame_budget((), budget);
                let allowance = self.publisher.allowance(index);
                outgoing.send(now, &allowance, frames, &mut self.buffer, &mut self.session);
            }
        }
        self.pass_signs_of_life();
        if self.association.due().is_some_and(|at| at <= now) {
            self.association.on_time(now);
        }
        if self.session_due.is_some_and(|at| at <= now) {
            self.session.handle_input(now, Input::Timeout);
        }
    }

    /// Stops cameras and microphones.
    pub fn stop(&mut self) {
        for outgoing in &mut self.outgoing {
            outgoing.source = Source::silent();
        }
    }

    /// Passes the media's state to the association. Call this before each input, so that
    /// it comes before a decision about a path.
    pub fn pass_signs_of_life(&mut self) {
        if self.association.is_suspicious() {
            for (path, rtt, heard_at) in self.session.signs_of_life() {
                self.association.on_media(path, rtt, heard_at);
            }
        }
    }

    /// Returns the next request for the caller; call until `None`.
    pub fn poll_action(&mut self, now: Instant) -> Option<Action> {
        loop {
            match self.association.poll_action() {
                Some(association::Action::Transmit(path, datagram)) => {
                    return Some(Action::TransmitStun(path, datagram));
                }
                Some(association::Action::Tell(input)) => {
                    self.session.handle_input(now, input);
                    continue;
                }
                None => {}
            }
            match self.session.poll_output()? {
                Output::Transmit(transmit) => return Some(Action::Transmit(transmit)),
                Output::Repeat(_) => unreachable!("simulated pictures have RTX"),
                Output::SuspectPath(path) => self.association.suspect(now, path),
                Output::Event(event) => {
                    if let Some(action) = self.on_event(now, event) {
                        return Some(action);
                    }
                }
            }
        }
    }

    fn on_event(&mut self, now: Instant, event: Event) -> Option<Action> {
        match event {
            Event::KeyframeRequested { stream } => {
                let mut streams = self.outgoing.iter_mut();
                let outgoing = streams.find(|o| o.stream == stream)?;
                outgoing.keyframe_requests.push(now);
                self.publisher.handle_keyframe_request((), stream);
            }
            Event::TargetRateChanged { rate } => self.set_target(now, rate),
            Event::FrameReceived { stream, frame } => {
                let index = self.incoming.iter().position(|s| *s == stream)?;
                return Some(Action::Show(index, frame));
            }
            Event::PathStateChanged { path, state } => self.path_changes.push(PathChange {
                at: now,
                path,
                state,
            }),
            Event::PacketReceived { .. } | Event::StreamEnded { .. } => {}
        }
        None
    }

    fn set_target(&mut self, now: Instant, rate: Rate) {
        self.publisher.handle_target_rate((), rate);
        for (index, outgoing) in self.outgoing.iter_mut().enumerate() {
            if let Source::Camera(camera) = &mut outgoing.source {
                camera.set_target(now, self.publisher.allowance(index).rate);
            }
        }
    }

    /// Ends a sampling period. An end that sends nothing has no rates to sample.
    pub fn sample(&mut self, at: Instant, frames: &mut [Frames]) {
        if self.outgoing.is_empty() {
            return;
        }
        let encoded = frames.iter_mut().map(|f| std::mem::take(&mut f.encoded));
        let stats = self.session.stats();
        let path = |p: &weft_session::PathStats| PathSample {
            state: p.state,
            target_rate: p.target_rate,
            rtt: p.rtt,
            loss: p.loss,
            queued: p.queued,
            marked_packets: p.marked_packets,
            ecn: p.ecn,
            controller_state: p.controller_state,
            internals: self.session.controller_internals(p.path),
        };
        debug_assert_eq!(stats.paths.len(), self.paths);
        self.series.push(CallSample {
            at,
            target_rate: stats.target_rate,
            encoded: encoded.sum(),
            paths: stats.paths.iter().map(path).collect(),
        });
    }

    /// Returns this end's measurements; `receivers` belong to the other end's session.
    pub fn take_record(&mut self, frames: &mut [Frames], other: &Side) -> SideRecord {
        let clock = self.clock;
        let in_run = |at: &mut Instant| *at = clock.when(*at);
        let outgoing = self.outgoing.iter_mut();
        let requests = outgoing.flat_map(|outgoing| &mut outgoing.keyframe_requests);
        requests.for_each(in_run);
        let changes = self.path_changes.iter_mut();
        changes.map(|change| &mut change.at).for_each(in_run);
        let stats = self.session.stats();
        let received = other.session.stats().receivers;
        let each = self.outgoing.iter_mut().zip(frames).enumerate();
        let stream = |(index, (outgoing, frames)): (usize, (&mut Outgoing, &mut Frames))| {
            let sender = stats.senders.iter().find(|s| s.stream == outgoing.stream);
            let receiver = other.incoming.get(index);
            let receiver = received.iter().find(|(id, _)| Some(id) == receiver);
            let records = std::mem::take(&mut frames.records);
            StreamRecord {
                frames: records.recaptured(|at| clock.when(at)),
                freezes: std::mem::take(&mut frames.freezes),
                keyframe_requests: std::mem::take(&mut outgoing.keyframe_requests),
                packets: sender.map_or(0, |s| s.packets.into()),
                media_packets: sender.map_or(0, |s| s.media_packets),
                repair_packets: sender.map_or(0, |s| s.repair_packets),
                retransmissions: sender.map_or(0, |s| s.retransmissions),
                receiver: receiver.map(|(_, stats)| *stats).unwrap_or_default(),
            }
        };
        SideRecord {
            streams: each.map(stream).collect(),
            series: std::mem::take(&mut self.series),
            path_changes: std::mem::take(&mut self.path_changes),
        }
    }
}
