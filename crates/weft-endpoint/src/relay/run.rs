//! Thread of a relay: connects the encoder to the publication.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use weft_net::{Clock, Remote};
use weft_peer::Section;
use weft_units::Codec;

use super::answer::{RelayError, RelayEvent, Relayed};
use super::encoder::{CameraRelay, Encoder, SoundRelay, total};
use crate::call::Statistics;
use crate::call::event_sender::CallEventSender;
use crate::caller::{self, Command, Listener, News, Sending, Track, ask};
use crate::config::SendConfig;
use crate::connect::ConnectError;
use crate::error::StartError;
use crate::event::Event;
use crate::links::Links;
use crate::notice::Notices;
use crate::persistent::{PersistentConnection, Purpose};
use crate::signalling::MediaEndpoint;

/// Interval between checks of the links' rates. Chosen by us: several in the round trip
/// of a slow link.
const TICK: Duration = Duration::from_millis(50);
/// Time for which the publication waits for the next encoder. Chosen by us: programs
/// reconnect after a few seconds, and viewers stay connected in the meantime.
const AWAY: Duration = Duration::from_secs(10);
/// Silence after which another encoder may replace a connected one. Chosen by us:
/// restarting a killed program takes this long.
const SILENT: weft_units::Duration = weft_units::Duration::from_secs(2);
/// Relative change of the rate that is reported to the encoder. Chosen by us.
const WORTH_TELLING: f64 = 0.05;

/// Message to the thread.
pub enum Message {
    Publish {
        encoder: String,
        offer: String,
        reply: Sender<Result<Relayed, RelayError>>,
    },
    /// News of the connection of the encoder with this name.
    News(String, News),
    Close(String),
    Figures(Sender<Statistics>),
    End,
}

/// Endpoint to publish to, and the links to it.
pub struct Target {
    pub endpoint: MediaEndpoint,
    pub links: Links,
    pub notices: Notices,
    pub send: SendConfig,
    pub clock: Clock,
}

/// Publication of the encoder's tracks.
struct Publication {
    sections: Vec<Section>,
    running: PersistentConnection,
    cameras: Vec<CameraRelay>,
    sound: SoundRelay,
}

/// State of the relay.
pub struct Run<H> {
    target: Target,
    nearby: Remote<Command>,
    messages: Sender<Message>,
    events: Arc<CallEventSender>,
    hear: H,
    encoder: Option<Encoder>,
    publication: Option<Publication>,
    /// Time at which the publication ends unless an encoder connects.
    ends_at: Option<Instant>,
}

impl<H: Fn(RelayEvent)> Run<H> {
    pub fn new(
        target: Target,
        nearby: Remote<Command>,
        messages: Sender<Message>,
        events: Arc<CallEventSender>,
        hear: H,
    ) -> Run<H> {
        Run {
            target,
            nearby,
            messages,
            events,
            hear,
            encoder: None,
            publication: None,
            ends_at: None,
        }
    }

    /// Runs until a message ends it or the server refuses permanently.
    pub fn run(&mut self, incoming: &Receiver<Message>) -> Result<(), ConnectError> {
        let mut next_tick = Instant::now() + TICK;
        let ended = loop {
            let now = Instant::now();
            if now >= next_tick {
                next_tick = now + TICK;
                if let Err(error) = self.look(now) {
                    break Err(error);
                }
            }
            match incoming.recv_timeout(next_tick.saturating_duration_since(now)) {
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break Ok(()),
                Ok(Message::Publish {
                    encoder,
                    offer,
                    reply,
                }) => {
                    let _ = reply.send(self.publish(encoder, offer));
                }
                Ok(Message::News(encoder, news)) if self.is_current(&encoder) => self.on_news(news),
                Ok(Message::Close(encoder)) if self.is_current(&encoder) => {
                    self.end_encoder();
                    let reason = "it ended its publication".to_owned();
                    self.events.send(Event::EncoderLeft { reason });
                }
                Ok(Message::Figures(reply)) => {
                    let publication = self.publication.as_ref();
                    let figures = publication.and_then(|p| p.running.statistics());
                    let _ = reply.send(figures.unwrap_or_default());
                }
                Ok(Message::News(..) | Message::Close(_)) | Err(RecvTimeoutError::Timeout) => {}
            }
        };
        self.end_encoder();
        let left = self.end_publication();
        self.nearby.send(Command::Stop);
        ended.and(left)
    }

    fn is_current(&self, name: &str) -> bool {
        self.encoder
            .as_ref()
            .is_some_and(|encoder| encoder.name == name)
    }

    fn now(&self) -> weft_units::Instant {
        self.target.clock.now()
    }

    /// Accepts an encoder, unless another one is sending.
    fn publish(&mut self, name: String, offer: String) -> Result<Relayed, RelayError> {
        let now = self.now();
        if let Some(current) = &self.encoder {
            if now.saturating_since(current.heard) < SILENT {
                return Err(RelayError::Busy);
            }
            self.lose_encoder("another encoder has taken its place");
        }
        let (messages, from) = (self.messages.clone(), name.clone());
        let news = Listener::new(move |news| {
            let _ = messages.send(Message::News(from.clone(), news));
        });
        let answered = ask(&self.nearby, |reply| Command::Answer {
            offer,
            more: Vec::new(),
            news,
            reply,
        })??;
        let encoder = match Encoder::new(name, &answered, now) {
            Ok(encoder) => encoder,
            Err(error) => {
                self.nearby.send(Command::Close(answered.peer));
                return Err(error);
            }
        };
        let publishing = encoder.publishing();
        self.encoder = Some(encoder);
        Ok(Relayed {
            sdp: answered.sdp,
            publishing,
        })
    }

    fn on_news(&mut self, news: News) {
        match news {
            News::Connected => self.connect(),
            News::Frame { section, frame, .. } => {
                let now = self.now();
                let Some(encoder) = &mut self.encoder else {
                    return;
                };
                encoder.heard = now;
                let Some(publication) = &mut self.publication else {
                    return;
                };
                let command = match encoder.track(section) {
                    None => None,
                    Some(Track::Sound) => Some(publication.sound.on_frame(now, frame)),
                    Some(Track::Camera(camera)) => {
                        let relay = publication.cameras.get_mut(camera);
                        relay.and_then(|relay| relay.on_frame(now, camera, frame))
                    }
                };
                if let Some(command) = command {
                    publication.running.send(command);
                }
            }
            News::Failed(reason) => self.lose_encoder(&reason),
            News::Ended => self.lose_encoder("it has stopped"),
            News::Path { .. } | News::Unanswered => {}
            // Encoders have no data channels.
            News::ChannelOpened(_) | News::ChannelClosed(_) | News::Message(..) => {}
        }
    }

    /// Publishes the encoder's tracks, or continues the publication of an earlier encoder
    /// with the same tracks.
    fn connect(&mut self) {
        let Some(encoder) = self
            .encoder
            .as_mut()
            .filter(|encoder| !encoder.is_connected)
        else {
            return;
        };
        encoder.is_connected = true;
        let name = encoder.name.clone();
        let (sections, codec) = (encoder.outgoing(), encoder.video_codec());
        self.events.send(Event::EncoderConnected {
            codecs: encoder.description(),
        });
        (self.hear)(RelayEvent::Connected { encoder: name });
        self.ends_at = None;
        match &mut self.publication {
            Some(publication) if publication.sections == sections => {
                let cameras = publication.cameras.iter_mut();
                cameras.for_each(CameraRelay::change_encoder);
                publication.sound.change_encoder();
            }
            _ => {
                let _ = self.end_publication();
                match self.start_publication(sections, codec) {
                    Ok(publication) => self.publication = Some(publication),
                    Err(error) => self.lose_encoder(&error.to_string()),
                }
            }
        }
    }

    fn start_publication(
        &self,
        sections: Vec<Section>,
        codec: Option<Codec>,
    ) -> Result<Publication, StartError> {
        let Target {
            endpoint,
            links,
            notices,
            send,
            clock,
        } = &self.target;
        let mut sending = Sending::from(send);
        sending.codec = codec.unwrap_or(sending.codec);
        let video = sections
            .iter()
            .filter(|section| section.kind == sending.codec.kind());
        let cameras: Vec<CameraRelay> = video.map(|_| CameraRelay::new()).collect();
        let controls = cameras
            .iter()
            .map(|camera| Arc::clone(&camera.control).into());
        let controls = controls.collect();
        let driver = caller::start(*clock, links.clone(), sending, controls, notices.clone())?;
        if let Some(tracer) = send.tracer.clone() {
            driver.remote.send(Command::Trace(tracer));
        }
        let events = Arc::clone(&self.events);
        driver.remote.send(Command::UseTurn {
            servers: send.turn_servers.clone(),
            connector: endpoint.turn_connector(),
            remote: driver.remote.clone(),
        });
        let purpose = Purpose::Publish(sections.clone());
        let running = PersistentConnection::start(endpoint.clone(), driver, purpose, events);
        Ok(Publication {
            sections,
            running,
            cameras,
            sound: SoundRelay::new(),
        })
    }

    /// Forwards the server's requests to the encoder, and ends connections that are over.
    fn look(&mut self, at: Instant) -> Result<(), ConnectError> {
        if self.ends_at.is_some_and(|end| at >= end) {
            self.ends_at = None;
            return self.end_publication();
        }
        let now = self.now();
        let Some(publication) = &mut self.publication else {
            return Ok(());
        };
        if publication.running.has_ended() {
            return self.end_publication();
        }
        let Some(encoder) = self.encoder.as_mut().filter(|encoder| encoder.is_connected) else {
            return Ok(());
        };
        for (place, camera) in publication.cameras.iter_mut().enumerate() {
            let section = encoder
                .section(place)
                .filter(|_| camera.wants_keyframe(now));
            if let Some(section) = section {
                let wanted = Command::RequestKeyframe(encoder.peer, section);
                self.nearby.send(wanted);
            }
            if let Some(pace) = camera.pace_change(now) {
                self.events.send(Event::EncoderPace(pace));
            }
        }
        let is_carried = publication
            .cameras
            .iter()
            .all(|camera| camera.rate().as_bps() > 0);
        let rate = total(&publication.cameras);
        let is_news = encoder.told.is_none_or(|told| {
            let change = rate.as_bps().abs_diff(told.as_bps()) as f64;
            change > WORTH_TELLING * told.as_bps() as f64
        });
        if is_carried && is_news {
            encoder.told = Some(rate);
            self.nearby.send(Command::LimitPeer(encoder.peer, rate));
        }
        Ok(())
    }

    /// Ends the encoder's connection for this reason.
    fn lose_encoder(&mut self, reason: &str) {
        let Some(name) = self.encoder.as_ref().map(|encoder| encoder.name.clone()) else {
            return;
        };
        self.end_encoder();
        let reason = reason.to_owned();
        (self.hear)(RelayEvent::Ended {
            encoder: name,
            reason: reason.clone(),
        });
        self.events.send(Event::EncoderLeft { reason });
    }

    fn end_encoder(&mut self) {
        if let Some(encoder) = self.encoder.take() {
            self.nearby.send(Command::Close(encoder.peer));
            self.ends_at = Some(Instant::now() + AWAY);
        }
    }

    fn end_publication(&mut self) -> Result<(), ConnectError> {
        let publication = self.publication.take();
        publication.map_or(Ok(()), |mut publication| publication.running.end())
    }
}
