//! Reception of the other participants, over one connection.

use std::time::Instant;

use weft_rooms::Publishing;
use weft_session::ReceivedFrame;
use weft_wire::rtp::Mid;

use super::call_loop::{Answer, CallLoop, RETRY};
use super::handover::Side;
use super::inbox::{CallMessage, Ticket};
use super::reception::{FrameUse, Reception, ReceptionState};
use super::room::MAX_KNOWN;
use crate::caller::{CallError, Command, News, Track, ask};
use crate::config::Receiving as Wanted;
use crate::connect::{ConnectError, Connection, receive};
use crate::event::{Event, PlayedFrame};
use crate::signalling::{Participant, SignallingError, ViewedCamera, Viewing};

/// Maximum number of cameras that a call receives: as many as the server sends over a
/// reception (docs/protocol/http.md).
const MAX_CAMERAS: usize = 25;

/// Size requested for each camera, in pixels: the largest, because we store or decode the
/// pictures and have no tiles.
const SIZE: (u32, u32) = (3_840, 2_160);

impl CallLoop {
    /// Connects if there is no connection, and sends the server the wanted cameras if
    /// they have changed.
    pub(super) fn receive(&mut self, now: Instant) {
        let Some(own) = self.own.inside() else {
            return;
        };
        if self.own.receiving == Wanted::Nobody {
            return;
        }
        self.update_playing();
        if !self.reception.is_due(now) {
            return self.send_view(now);
        }
        let ticket = self.ticket();
        let (room, remote) = (self.queues.room.clone(), self.remote.clone());
        let (mailbox, news) = (self.mailbox.clone(), self.mailbox.listener(ticket));
        let taken = self.queues.connections.push(move || {
            let made = room.receive(&own).map_err(ConnectError::from);
            let made = made.and_then(|created| {
                let location = created.location.clone();
                let answer = |location: &str, answer: &str| room.answer(location, answer);
                receive(&remote, news, created, answer).inspect_err(|_| {
                    let _ = room.delete(&location);
                })
            });
            mailbox.send(CallMessage::Made(ticket, made));
        });
        if taken {
            self.reception.ask(ticket);
            self.reception.again = Some(now + RETRY);
        }
    }

    pub(super) fn on_receiving(&mut self, ticket: Ticket, made: Result<Connection, ConnectError>) {
        let now = Instant::now();
        match made {
            Ok(connection) => {
                self.reception.fault.ends(now);
                self.on_answer();
                let made = super::reception::Receiving::new(ticket, connection);
                self.reception.state = ReceptionState::Made(Box::new(made));
                self.send_view(now);
            }
            Err(error) => {
                self.reception.state = ReceptionState::Missing;
                self.reception.again = Some(now + RETRY);
                match error {
                    ConnectError::Signalling(error) if error.is_passing() => self.on_fault(error),
                    error if self.reception.fault.begins(now, &error.to_string()) => {
                        self.emit(Event::CannotReceive { error });
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns the wanted cameras: present ones first, then further ones.
    fn wanted_cameras(&mut self) -> Vec<ViewedCamera> {
        let (width, height) = SIZE;
        let cameras = |p: &Participant| -> Vec<ViewedCamera> {
            let on = p.publishing.cameras.iter().enumerate();
            let on = on.filter(|(_, camera)| !camera.off);
            let viewed = on.map(|(camera, _)| ViewedCamera {
                participant: p.id.clone(),
                camera,
                width,
                height,
            });
            viewed.collect()
        };
        let others = self.others.values();
        let others = others.filter(|p| self.own.receiving.includes(&p.name));
        let all: Vec<ViewedCamera> = others.flat_map(cameras).collect();
        let told = self.reception.made().and_then(|m| m.view.told.as_ref());
        let had = |c: &&ViewedCamera| told.is_some_and(|told| told.contains(c));
        let (had, new): (Vec<_>, Vec<_>) = all.iter().partition(had);
        let wanted = had.into_iter().chain(new).take(MAX_CAMERAS);
        let wanted: Vec<ViewedCamera> = wanted.cloned().collect();
        if all.len() > MAX_CAMERAS && !std::mem::replace(&mut self.crowded, true) {
            self.emit(Event::Crowded {
                cameras: MAX_CAMERAS,
            });
        }
        wanted
    }

    fn send_view(&mut self, now: Instant) {
        let wanted = self.wanted_cameras();
        let Some(made) = self.reception.made_mut() else {
            return;
        };
        let view = &mut made.view;
        let early = view.again.is_some_and(|at| now < at);
        if view.sending || early || view.told.as_ref() == Some(&wanted) {
            return;
        }
        let (ticket, location) = (made.ticket, made.connection.location.clone());
        let (room, mailbox) = (self.queues.room.clone(), self.mailbox.clone());
        let cameras = wanted.clone();
        let taken = self.queues.connections.push(move || {
            let viewing = room.put_view(&location, &cameras);
            mailbox.send(CallMessage::Viewed(ticket, viewing));
        });
        if taken {
            view.sending = true;
            view.overtaken = false;
            view.again = None;
            view.told = Some(wanted);
        }
    }

    /// Requests the present lines from the server, because some news of them may be lost.
    pub(super) fn refresh_view(&mut self) {
        if let Some(made) = self.reception.made_mut() {
            made.view.told = None;
        }
    }

    pub(super) fn on_viewed(&mut self, ticket: Ticket, viewed: Result<Viewing, SignallingError>) {
        let Some(made) = self.reception.made_mut().filter(|m| m.ticket == ticket) else {
            return;
        };
        made.view.sending = false;
        match viewed {
            Ok(mut viewing) => {
                let overtaken = std::mem::take(&mut made.view.overtaken);
                let disputed = |lines: &Vec<_>| overtaken && !made.has_lines(lines);
                if viewing.lines.as_ref().is_some_and(disputed) {
                    // The event's lines may be older or newer than these.
                    viewing.lines = None;
                    self.ask_again();
                }
                self.take_viewing(viewing);
            }
            Err(SignallingError::Refused { status: 404, .. }) => {
                // The server has ended the connection.
                self.stop_receiving();
                self.reception.again = Some(Instant::now() + RETRY);
            }
            Err(error) => {
                self.ask_again();
                if error.is_passing() {
                    self.on_fault(error);
                }
            }
        }
    }

    /// Sends the view again later.
    fn ask_again(&mut self) {
        if let Some(made) = self.reception.made_mut() {
            made.view.told = None;
            made.view.again = Some(Instant::now() + RETRY);
        }
    }

    /// Handles an event about our reception. It is not needed before the connection is
    /// made, because the answer to the first view contains the state.
    pub(super) fn on_reception_news(&mut self, resource: &str, viewing: Viewing) {
        let Some(made) = self.reception.made_mut() else {
            return;
        };
        if made.connection.is_resource(resource) {
            made.view.overtaken |= viewing.lines.is_some();
            self.take_viewing(viewing);
        }
    }

    fn take_viewing(&mut self, viewing: Viewing) {
        let Some(made) = self.reception.made_mut() else {
            return;
        };
        if let Some(lines) = viewing.lines {
            made.set_lines(lines);
        }
        let offers = &mut made.offers;
        if viewing.offer.is_some() && viewing.offer != offers.latest {
            offers.latest.clone_from(&viewing.offer);
            offers.waiting = viewing.offer;
        }
        self.answer_offer();
        self.update_playing();
    }

    /// Answers the waiting offer; if others arrive in the meantime, only the last one
    /// counts.
    fn answer_offer(&mut self) {
        let Some(made) = self.reception.made_mut() else {
            return;
        };
        if made.offers.answering {
            return;
        }
        let Some(offer) = made.offers.waiting.take() else {
            return;
        };
        let (ticket, peer) = (made.ticket, made.connection.peer);
        let location = made.connection.location.clone();
        let (room, remote) = (self.queues.room.clone(), self.remote.clone());
        let mailbox = self.mailbox.clone();
        let taken = self.queues.connections.push(move || {
            let answer = ask(&remote, |reply| Command::AnswerLater { peer, offer, reply });
            let answer = answer.and_then(|answer| answer).map_err(ConnectError::from);
            let answered = answer.and_then(|answer| Ok(room.answer(&location, &answer)?));
            mailbox.send(CallMessage::Answered(ticket, answered));
        });
        made.offers.answering = taken;
        if !taken {
            made.offers.latest = None;
            self.ask_again();
        }
    }

    pub(super) fn on_answered(&mut self, ticket: Ticket, answered: Result<(), ConnectError>) {
        let Some(made) = self.reception.made_mut().filter(|m| m.ticket == ticket) else {
            return;
        };
        made.offers.answering = false;
        match answered {
            Ok(()) | Err(ConnectError::Call(CallError::UnknownPeer)) => {}
            // Lost or too late; the answer to the next view contains the valid offer.
            Err(_) => {
                made.offers.latest = None;
                self.ask_again();
            }
        }
        self.answer_offer();
    }

    pub(super) fn on_reception(&mut self, news: News) {
        match news {
            News::Frame {
                section, frame, at, ..
            } => self.on_frame(Side::Present, section, frame, at),
            News::Path { path, link, .. } => self.reception.on_path(path, link),
            News::Connected => {
                self.answer = Answer::Had;
                self.reception.connected = true;
                self.update_playing();
            }
            News::Unanswered => self.on_unanswered(),
            News::Failed(reason) => {
                self.emit(Event::ReceivingFailed { reason });
                self.stop_receiving();
                self.reception.again = Some(Instant::now() + RETRY);
            }
            News::Ended => self.stop_receiving(),
            // Data channels use the publishing connection.
            News::ChannelOpened(_) | News::ChannelClosed(_) | News::Message(..) => {}
        }
    }

    /// Requests a keyframe of every received camera.
    pub(super) fn request_keyframes(&self) {
        let Some(made) = self.reception.made() else {
            return;
        };
        for (section, line) in &made.lines {
            if line.track != Track::Sound {
                let peer = made.connection.peer;
                self.remote.send(Command::RequestKeyframe(peer, *section));
            }
        }
    }

    pub(super) fn on_frame(
        &mut self,
        side: Side,
        section: Mid,
        frame: ReceivedFrame,
        at: weft_units::Instant,
    ) {
        let reception = match side {
            Side::Present => Some(&mut self.reception),
            Side::Former => self.handover.reception_mut(),
        };
        let links = reception.as_ref().map(|r| r.links_of(&frame));
        let links = links.unwrap_or_default();
        let Some(made) = reception.and_then(Reception::made_mut) else {
            return self.mailbox.frames().release(frame.data.len());
        };
        let peer = made.connection.peer;
        let line = made.lines.get_mut(&section);
        let line = line.filter(|line| self.playing.contains_key(&line.participant));
        let Some(line) = line else {
            return self.mailbox.frames().release(frame.data.len());
        };
        let treatment = line.on_frame(at, frame.keyframe);
        let (from, track) = (line.participant.clone(), line.track);
        // During a move, each server lists our participant on the other server.
        let own = self.own.identity.as_ref();
        let is_ours = own.is_some_and(|own| own.id == from) || self.handover.is_ours(&from);
        let plays = !is_ours && self.handover.plays(side, &from, track);
        if treatment == FrameUse::Play && !plays {
            return self.mailbox.frames().release(frame.data.len());
        }
        match treatment {
            FrameUse::Play => {
                self.count(&from, track, at, &frame);
                if let (Track::Sound, Some(playout)) = (track, &self.outlets.playout) {
                    playout.play(&from, &frame);
                }
                self.emit(Event::Frame(PlayedFrame {
                    from,
                    track,
                    at,
                    frame,
                    links,
                }));
            }
            FrameUse::Drop => self.mailbox.frames().release(frame.data.len()),
            FrameUse::Request => {
                self.remote.send(Command::RequestKeyframe(peer, section));
                self.mailbox.frames().release(frame.data.len());
            }
        }
    }

    fn count(&mut self, id: &str, track: Track, at: weft_units::Instant, frame: &ReceivedFrame) {
        if self.received.len() >= MAX_KNOWN && !self.received.contains_key(id) {
            let others = &self.others;
            self.received.retain(|id, _| others.contains_key(id));
        }
        let received = self.received.entry(id.to_owned()).or_default();
        received.on_frame(track, at, frame);
    }

    /// Reports participants whose reception starts or ends. A participant who adds a
    /// track ends and starts again.
    pub(super) fn update_playing(&mut self) {
        let made = self.reception.made().filter(|_| self.reception.connected);
        let lines = made.into_iter().flat_map(|made| made.lines.values());
        let lines = lines.chain(self.handover.lines());
        let found = lines.filter_map(|line| self.others.get(&line.participant));
        let found = found.filter(|p| self.own.receiving.includes(&p.name));
        let found: Vec<Participant> = found.cloned().collect();
        let ends = |(id, published): &(&String, &Publishing)| {
            let now = found.iter().find(|p| p.id == **id);
            now.is_none_or(|now| now.publishing.has_more_than(published))
        };
        let ended = self.playing.iter().filter(ends);
        for id in ended.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.playing.remove(&id);
            if let Some(playout) = &self.outlets.playout {
                playout.end(&id);
            }
            self.emit(Event::PlayingEnded { id });
        }
        for participant in found {
            let published = participant.publishing.clone();
            if self.playing.contains_key(&participant.id) {
                continue;
            }
            self.playing.insert(participant.id.clone(), published);
            if let Some(made) = self.reception.made_mut() {
                made.begin(&participant.id);
            }
            self.emit(Event::Playing(participant));
        }
    }

    pub(super) fn stop_receiving(&mut self) {
        if let ReceptionState::Made(made) = std::mem::take(&mut self.reception.state) {
            self.end(made.connection);
        }
        self.update_playing();
    }
}
