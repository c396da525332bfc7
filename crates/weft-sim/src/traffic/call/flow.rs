//! Two ends of a call and the packets between them.

use weft_experiment::{CallRecord, CallSetup, FlowDetail, SideSetup};
use weft_links::Ecn;
use weft_session::{Input, Policy, Protocol, Transmit};
use weft_units::{Duration, Instant, PathId, Rng};

use super::association::Association;
use super::decoder::Decoder;
use super::side::{Action, Side};
use super::sink::Frames;
use super::store::{Content, Store};
use super::{End, SRTCP_TRAILER, SRTP_TAG, UDP_IP, streams};
use crate::capture::Seen;
use crate::event_queue::Slot;
use crate::network::{Network, Owner};
use crate::packet::{Body, LegId, Packet};
use crate::traffic::flow::{Flow, Legs, Span};

pub(crate) struct CallFlow {
    legs: Vec<Legs>,
    span: Span,
    span_slot: Slot,
    slots: [Slot; 2],
    store: Store,
    waiting: Option<Box<Waiting>>,
    /// Caller and callee, once the call has started.
    sides: Option<Box<[Side; 2]>>,
    /// Streams of the caller and of the callee.
    frames: [Vec<Frames>; 2],
    /// Decoders of the caller and of the callee.
    decoders: [Decoder; 2],
}

/// Data for the start of the call.
struct Waiting {
    setup: CallSetup,
    paths: Vec<(Duration, Policy)>,
    rng: Rng,
}

/// First key of the flow's own timers, for its start and end; the keys of the two ends
/// come before.
const SPAN: u32 = 2;

impl CallFlow {
    /// Creates a flow; `paths` are the round trips of the empty paths, with the caller's
    /// policies.
    pub fn new(
        index: usize,
        setup: &CallSetup,
        span: Span,
        legs: &[Legs],
        paths: Vec<(Duration, Policy)>,
        rng: &Rng,
        network: &mut Network,
    ) -> CallFlow {
        let slots = [0, 1].map(|key| network.add_slot(Owner::Flow(index, key)));
        let span_slot = network.add_slot(Owner::Flow(index, SPAN));
        network.set_timer(span_slot, Some(span.start));
        let streams = |side: &SideSetup| {
            let count = side.cameras.len() + side.microphones.len();
            (0..count).map(|_| Frames::default()).collect()
        };
        CallFlow {
            legs: legs.to_vec(),
            span,
            span_slot,
            slots,
            store: Store::default(),
            frames: [streams(&setup.caller), streams(&setup.callee)],
            decoders: [&setup.caller, &setup.callee].map(|side| Decoder::new(side.repair_decoding)),
            waiting: Some(Box::new(Waiting {
                setup: setup.clone(),
                paths,
                rng: rng.clone(),
            })),
            sides: None,
        }
    }

    fn begin(&mut self, now: Instant) {
        if let Some(waiting) = self.waiting.take() {
            let Waiting { setup, paths, rng } = *waiting;
            let (rtts, policies): (Vec<Duration>, Vec<Policy>) = paths.into_iter().unzip();
            let side = |end, association, name| {
                Side::new(now, end, &setup, association, &rng.stream(name))
            };
            let [caller, callee] = Association::pair(now, &rtts, &rng.stream("ice"));
            let mut sides = [
                side(End::Caller, caller, "caller"),
                side(End::Callee, callee, "callee"),
            ];
            // The links are the caller's; the callee has no policies for them.
            for (path, policy) in (0..).map(PathId).zip(policies) {
                if policy != Policy::default() {
                    sides[0].session.set_path_policy(now, path, policy);
                }
            }
            self.sides = Some(Box::new(sides));
        }
    }

    fn leg(&self, end: End, path: PathId) -> LegId {
        let legs = self.legs[usize::from(path.0)];
        match end {
            End::Caller => legs.there,
            End::Callee => legs.back,
        }
    }

    /// Returns the path of a leg, and the end that it leads to.
    fn receiver(&self, leg: LegId) -> Option<(PathId, End)> {
        let index = self.legs.iter().position(|l| l.has(leg))?;
        let end = if self.legs[index].there == leg {
            End::Callee
        } else {
            End::Caller
        };
        Some((PathId(index as u8), end))
    }

    /// Handles the end of one copy of a datagram; with the last copy, the memory goes
    /// back to the session that sent it. A STUN message's memory does not belong to the
    /// session.
    fn release(&mut self, key: u32, sender: End) {
        if let (Some(sides), Some((Content::Rtp | Content::Rtcp, bytes))) =
            (&mut self.sides, self.store.release(key))
        {
            sides[sender as usize].session.recycle(bytes);
        }
    }

    /// Carries out an end's requests, and sets the time of its next call.
    fn drain(&mut self, now: Instant, end: End, network: &mut Network) {
        let (own, other) = (end as usize, end.other() as usize);
        while let Some(sides) = &mut self.sides
            && let clock = sides[own].clock
            && let Some(action) = sides[own].poll_action(clock.at(now))
        {
            match action {
                Action::Transmit(transmit) => self.transmit(now, end, transmit, network),
                Action::TransmitStun(path, datagram) => {
                    let (leg, size) = (self.leg(end, path), size(&datagram, 0));
                    let body = Body::Datagram(self.store.keep(Content::Stun, datagram, 1));
                    network.send(now, leg, 0, size, Ecn::NotEct, body);
                }
                Action::Show(stream, frame) => {
                    if let Some(frames) = self.frames[other].get_mut(stream) {
                        frames.show(self.decoders[own].free_at(now), clock, &frame);
                    }
                }
            }
        }
        let side = self.sides.as_mut().map(|sides| &mut sides[own]);
        let due = side.and_then(|side| Some(side.clock.when(side.due()?)));
        network.set_timer(self.slots[own], due.map(|at| at.max(now)));
    }

    fn transmit(&mut self, now: Instant, end: End, mut transmit: Transmit, network: &mut Network) {
        let (path, ecn, protocol) = (transmit.path, transmit.ecn, transmit.protocol);
        let copies = std::mem::take(&mut transmit.copies);
        let packet = transmit.into_packet();
        let (content, trailer) = match protocol {
            Protocol::Rtp => (Content::Rtp, SRTP_TAG),
            Protocol::Rtcp => (Content::Rtcp, SRTCP_TRAILER),
        };
        for path in std::iter::once(path).chain(copies.iter().copied()) {
            let leg = self.leg(end, path);
            network.captured.add(leg, Seen::AtSender, protocol, &packet);
        }
        let size = size(&packet, trailer);
        let count = 1 + copies.len() as u32;
        let body = Body::Datagram(self.store.keep(content, packet, count));
        let copies = copies.into_iter().map(|path| (path, Ecn::NotEct));
        for (path, ecn) in std::iter::once((path, ecn)).chain(copies) {
            let leg = self.leg(end, path);
            network.send(now, leg, 0, size, ecn, body);
        }
    }
}

/// Returns the size on the link, with SRTP's trailer, UDP and IP.
fn size(packet: &[u8], trailer: usize) -> u16 {
    u16::try_from(packet.len() + trailer + UDP_IP).unwrap_or(u16::MAX)
}

impl Flow for CallFlow {
    fn on_timer(&mut self, now: Instant, key: u32, network: &mut Network) {
        if key == SPAN {
            if self.span.stop.is_some_and(|stop| stop <= now) {
                let sides = self.sides.iter_mut();
                sides.flat_map(|s| s.iter_mut()).for_each(Side::stop);
            } else {
                self.begin(now);
                network.set_timer(self.span_slot, self.span.stop);
            }
            for end in End::BOTH {
                self.drain(now, end, network);
            }
            return;
        }
        let end = End::BOTH[key as usize];
        if let Some(sides) = &mut self.sides {
            let index = end as usize;
            let at = sides[index].clock.at(now);
            sides[index].on_time(at, &mut self.frames[index]);
        }
        self.drain(now, end, network);
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, network: &mut Network) {
        let Some((path, end)) = self.receiver(packet.leg) else {
            return;
        };
        let Some(sides) = &mut self.sides else {
            return;
        };
        let side = &mut sides[end as usize];
        let Body::Datagram(key) = packet.body else {
            return;
        };
        let (ecn, leg) = (packet.ecn, packet.leg);
        let arrived = self.store.arrive(key);
        let packet = arrived.bytes;
        let at = side.clock.at(now);
        if arrived.content == Content::Rtp && streams::is_repair(packet) {
            self.decoders[end as usize].on_repair(now);
        }
        if let Some(protocol) = arrived.content.protocol() {
            network
                .captured
                .add(leg, Seen::AtReceiver, protocol, packet);
        }
        side.pass_signs_of_life();
        let input = match (arrived.content, arrived.again) {
            (Content::Rtp, false) => Some(Input::Rtp { path, ecn, packet }),
            (Content::Rtp, true) => Some(Input::RtpAgain { path, ecn, packet }),
            (Content::Rtcp, false) => Some(Input::Rtcp { path, packet }),
            (Content::Rtcp, true) => None,
            (Content::Stun, _) => {
                side.association.on_datagram(at, path, packet);
                None
            }
        };
        if let Some(input) = input {
            side.session.handle_input(at, input);
        }
        self.release(key, end.other());
        self.drain(now, end, network);
    }

    fn on_dropped(&mut self, packet: &Packet) {
        if let Body::Datagram(key) = packet.body
            && let Some((_, end)) = self.receiver(packet.leg)
        {
            self.release(key, end.other());
        }
    }

    fn sample(&mut self, at: Instant) {
        let sides = self.sides.iter_mut().flat_map(|s| s.iter_mut());
        for (side, frames) in sides.zip(&mut self.frames) {
            side.sample(at, frames);
        }
    }

    fn detail(&mut self, _share: usize) -> FlowDetail {
        let [of_caller, of_callee] = &mut self.frames;
        let record = self.sides.as_mut().map(|sides| {
            let [caller, callee] = sides.as_mut();
            CallRecord {
                caller: caller.take_record(of_caller, callee),
                callee: callee.take_record(of_callee, caller),
            }
        });
        match record {
            Some(record) => FlowDetail::Call(Box::new(record)),
            // The run was stopped before the call started.
            None => FlowDetail::Packets,
        }
    }
}
